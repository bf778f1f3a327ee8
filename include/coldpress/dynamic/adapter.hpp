// A static network behind the dynamic API: the same bits, with its type erased.
#pragma once

#include <coldpress/dynamic/layer.hpp>
#include <coldpress/dynamic/separate_loss.hpp>
#include <coldpress/dynamic/to_config.hpp>
#include <coldpress/graph/network.hpp>
#include <coldpress/optim/solver.hpp>

#include <array>

namespace coldpress::dynamic {

/// `Holder`: Net (owned) or Net& (borrowed).
template <class Holder>
class Adapted final : public Executable {
 public:
  using Net = std::remove_reference_t<Holder>;
  static_assert(!std::is_const_v<Net>, "adapt: the network must not be const, since the dynamic API can train it");
  static_assert(std::is_same_v<typename Net::T, float>, "adapt: the dynamic API computes in float");

  explicit Adapted(Holder&& net) : net_(std::forward<Holder>(net)), gradients_(Net::parameter_size) {
    using Graph = typename Net::Graph;
    for (int i = 0; i < Net::weight_count; ++i) {
      Weight& weight = weights_.emplace_back(Weight{.name = std::string{Net::weight_name(i).view()},
                                                    .shape = Net::weight_shape(i),
                                                    .lr_mult = Net::weight(i).lr_mult});
      for (int use = Graph::weights[i]; use < Graph::parameter_count; ++use) {
        if (Graph::parameters.owner[use] != Graph::weights[i]) continue;
        weight.layers.emplace_back(Graph::names[Graph::parameters.node[use]].view());
        if (use != Graph::weights[i])
          weight.aliases.push_back(weight.layers.back() + std::string{Graph::parameters.list[use].suffix});
      }
    }
  }

  std::span<Shape const> input_shapes() const override { return {&Net::input_shape, 1}; }
  std::span<Shape const> output_shapes() const override { return {&Net::output_shape, 1}; }
  std::vector<Weight> const& weights() const override { return weights_; }
  void read(int buffer, int weight, std::span<float> values) const override {
    Net::read(const_cast<Adapted*>(this)->base(buffer), weight, values);
  }
  void write(int buffer, int weight, std::span<float const> values) override {
    Net::write(base(buffer), weight, values);
  }
  void clear(int buffer) override { std::fill_n(base(buffer), Net::parameter_size, 0.0f); }
  void set_frozen(int weight, bool frozen) override { frozen_[Net::Graph::weights[weight]] = frozen; }

  std::span<Values const> forward(std::span<Values const> inputs, Mode mode) override {
    bool const training = mode == Mode::training;
    Values const x = only(inputs);
    output_ = training ? net_.forward_training(x, training_, step_ + 1) : net_.forward(x, inference_);
    kept_ = training, passed_back_ = false;
    if (training) ++step_;
    return outputs();
  }
  std::span<Values const> stream(std::span<Values const> inputs) override {
    if constexpr (Net::Inference::plan().streams) {
      output_ = net_.step(only(inputs), state_, inference_);
      kept_ = passed_back_ = false;
    } else {
      throw ShapeError{"step: a layer of this network needs the whole sequence at once"};
    }
    return outputs();
  }
  void reset() override { state_.reset(); }
  std::span<Values const> backward_input(std::span<Values const> output_gradients) override {
    require(kept_, "backward: comes after forward in training mode");
    input_gradient_ = net_.backward(only(output_gradients), training_);
    passed_back_ = true;
    return {&input_gradient_, 1};
  }
  void backward_parameters() override {
    require(passed_back_, "backward_parameters: comes after backward_input");
    std::copy_n(training_.gradients().data(), Net::parameter_size, gradients_.data());
  }
  void subtract_gradients() override {
    subtract(base(data), gradients_.data(), Net::Training::slots(), Net::Graph::parameter_count, frozen_.data());
  }

  float train_minibatch(std::span<Values const> inputs, Values targets, Objective const& objective,
                        TrainingOptions const& options, Progress& progress) override {
    return std::visit(
        [&](auto const& optimizer) { return train(only(inputs), targets, objective, optimizer, options, progress); },
        options.optimizer);
  }
  std::span<Values const> outputs() const override { return {&output_, 1}; }
  std::span<Values const> input_gradients() const override { return {&input_gradient_, passed_back_ ? 1u : 0u}; }
  std::uint64_t step() const override { return step_; }
  void set_step(std::uint64_t step) override { step_ = step; }
  std::uint64_t seed() const override { return net_.seed(); }

 private:
  static Values only(std::span<Values const> values) {
    require(values.size() == 1, "network: has one input and one output");
    return values[0];
  }
  template <class Optimizer>
  float train(Values x, Values targets, Objective const& objective, Optimizer const& optimizer,
              TrainingOptions const& options, Progress& progress) {
    if (!objective_ || !(objective_->objective() == objective))
      objective_.emplace(objective, Backend::like_static().name());
    typename Net::Backend const backend{};
    Index const batch = static_cast<Index>(x.size()) / Net::input_shape.size();
    objective_->check(Net::output_shape, targets, batch);
    Executable::forward(x, Mode::training);
    float const mean = (*objective_)(backend, output_, Net::output_shape, targets, batch);
    Executable::backward_input(objective_->gradient());
    UpdateSink<Optimizer, float> sink{optimizer, 0, base(data), {}};
    for (int s = 0; s < Optimizer::states; ++s) sink.state[s] = base(state + s);
    Turn<Optimizer, float> const turn{sink, options, options.minibatch_size, progress, batch, frozen_.data()};
    float const* const fresh = training_.gradients().data();
    float* const sums = gradients_.data();
    for (Index i = 0; i < Net::parameter_size; ++i) sums[i] = turn.adds() ? sums[i] + fresh[i] : fresh[i];
    turn.finish(backend, sums, Net::Training::slots(), Net::Graph::parameter_count);
    progress = turn.after();
    kept_ = passed_back_ = false;
    return mean;
  }
  float* base(int buffer) {
    if (buffer == data) return net_.parameters().data();
    if (buffer == gradient) return gradients_.data();
    if (static_cast<int>(states_.size()) <= buffer - state)
      states_.resize(static_cast<std::size_t>(buffer - state) + 1);
    HeapMemory<float>& memory = states_[static_cast<std::size_t>(buffer - state)];
    memory.reserve(Net::parameter_size);
    return memory.data();
  }

  Holder net_;
  typename Net::Workspace inference_;
  typename Net::TrainingWorkspace training_;
  typename Net::State state_;
  HeapMemory<float> gradients_;
  std::optional<SeparateObjective> objective_;
  std::vector<HeapMemory<float>> states_;
  std::vector<Weight> weights_;
  std::array<bool, Net::Graph::parameter_count> frozen_{};
  Values output_, input_gradient_;
  std::uint64_t step_ = 0;
  bool kept_ = false, passed_back_ = false;  // forward in training, and backward_input after it, were the last
};

template <class Net>
Layer Layer::adapt(Net&& net) {
  using Network = std::remove_cvref_t<Net>;
  return {to_config<typename Network::Type, Network::input_shape>(),
          std::make_unique<Adapted<Net>>(std::forward<Net>(net))};
}

}  // namespace coldpress::dynamic
