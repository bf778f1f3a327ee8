// Runs a static network behind the dynamic API, with the same bits.
#pragma once

#include <coldpress/dynamic/layer.hpp>
#include <coldpress/dynamic/separate_loss.hpp>
#include <coldpress/dynamic/to_config.hpp>
#include <coldpress/typed/network.hpp>
#include <coldpress/typed/solver.hpp>

#include <array>

namespace coldpress::dynamic {

/// An Executable that calls a static network. `Holder` is Net (owned) or Net& (borrowed).
template <class Holder>
class Adapted final : public Executable, private Training {
 public:
  using Net = std::remove_reference_t<Holder>;
  static_assert(!std::is_const_v<Net>, "adapt: the network must not be const, since the dynamic API can train it");
  static_assert(std::is_same_v<typename Net::T, float>, "adapt: the dynamic API computes in float");

  explicit Adapted(Holder&& net) : net_(std::forward<Holder>(net)), gradients_(Net::parameter_size) {
    using Graph = typename Net::Graph;
    for (int i = 0; i < Net::weight_count; ++i) {
      Weight& weight = weights_.emplace_back(Weight{.name = std::string{Net::weight_name(i).view()},
                                                    .shape = Net::weight_shape(i),
                                                    .lr_mult = Net::weight(i).lr_mult,
                                                    .is_statistic = Net::weight(i).is_statistic()});
      for (int use = Graph::weights[i]; use < Graph::parameter_count; ++use) {
        if (Graph::parameters.owner[use] != Graph::weights[i]) continue;
        weight.layers.emplace_back(Graph::names[Graph::parameters.node[use]].view());
        if (use != Graph::weights[i])
          weight.aliases.push_back(weight.layers.back() + std::string{Graph::parameters.list[use].suffix});
      }
    }
  }

  std::span<Shape const> input_shapes() const override { return {Net::inputs.shapes, inputs_}; }
  std::span<Shape const> output_shapes() const override { return shapes_of_outputs; }
  std::vector<Weight> const& weights() const override { return weights_; }
  void read(int buffer, int weight, std::span<float> values) const override {
    net_.read(const_cast<Adapted*>(this)->base(buffer), weight, values);
  }
  void write(int buffer, int weight, std::span<float const> values) override {
    net_.write(base(buffer), weight, values);
  }
  void clear(int buffer) override { std::fill_n(base(buffer), Net::parameter_size, 0.0f); }
  bool is_finite() const override { return first_not_finite<float>(net_.parameters()) < 0; }
  std::unique_ptr<StreamPasses<float>> stream_passes(Index) override {
    throw UnsupportedError{"stream: this network is a type, for which coldpress::Stream is made"};
  }
  void set_frozen(int weight, bool frozen) override {
    if (weight < 0 || weight >= Net::weight_count)
      refuse("network: no weight has number ", weight, "; there are ", Net::weight_count);
    frozen_[Net::Graph::weights[weight]] = frozen;
  }

  void reserve(Index batch, Mode mode) override {
    inference_.reserve(batch), state_.reserve(batch);
    // Memory that grows loses the values that a backward pass would read.
    if (mode == Mode::training) training_.reserve(batch), batch_ = batch, zeros(Shape{1}), kept_ = passed_back_ = false;
  }
  std::span<Values const> forward(std::span<Values const> inputs, Mode mode, Homes) override {
    bool const training = mode == Mode::training;
    if (training) {
      net_.forward_training(all(inputs), training_, step_ + 1);
      take_outputs(training_);
    } else {
      net_.forward(all(inputs), inference_);
      take_outputs(inference_);
    }
    kept_ = training, passed_back_ = false;
    if (training) batch_ = batch_of(inputs), ++step_;
    return outputs();
  }
  std::span<Values const> stream(std::span<Values const> inputs) override {
    if constexpr (Net::Inference::plan().streams) {
      net_.step(all(inputs), state_, inference_);
      take_outputs(inference_);
      kept_ = passed_back_ = false;
    } else {
      throw ShapeError{
          "step: a layer of this network needs its whole input at once, so a sequence cannot be given in parts"};
    }
    return outputs();
  }
  void reset() override { state_.reset(); }
  std::span<Values const> backward_input(std::span<Values const> output_gradients, Homes) override {
    require(kept_, "backward: call forward in training mode first");
    if (output_gradients.size() != outputs_)
      refuse("backward: expected a gradient for each of ", outputs_, " outputs, got ", output_gradients.size());
    std::array<Values, outputs_> gradients;
    std::copy_n(output_gradients.begin(), outputs_, gradients.begin());
    net_.backward(gradients, training_);
    for (std::size_t k = 0; k < inputs_; ++k) {
      Values const dx = training_.input_gradient(static_cast<int>(k));
      input_gradients_[k] = dx.empty() ? zeros(Net::inputs[static_cast<int>(k)]) : dx;
    }
    passed_back_ = true;
    return input_gradients_;
  }
  void backward_parameters() override {
    require(passed_back_, "backward_parameters: call backward_input first");
    std::copy_n(training_.gradients().data(), Net::parameter_size, gradients_.data());
  }
  void subtract_gradients() override {
    subtract(ready<typename Net::Backend>(), base(data), gradients_.data(), Net::Training::slots(),
             Net::Graph::parameter_count, frozen_.data());
  }

  void train_minibatch(std::span<Values const> inputs, Values targets, std::optional<Objective> const& objective,
                       TrainingOptions const& options, Progress& progress, Homes) override {
    if (options.communicator)
      throw UnsupportedError{
          "solver: an adapted network is not divided among ranks; give the network type a coldpress::Solver"};
    if (options.microbatch > 0)
      throw UnsupportedError{"solver: an adapted network computes a minibatch at once, and microbatch is " +
                             std::to_string(options.microbatch) +
                             "; give the network type a coldpress::Solver with this option"};
    if (objective && Net::Graph::sums > 0)
      throw UnsupportedError{
          "adapt: a static network with losses or statistics of its own cannot have an objective in addition"};
    std::uint64_t const before = step_;
    objective ? compare(inputs, targets, *objective) : run_losses(inputs);
    kept_ = passed_back_ = false;
    if (float const sum = loss(); !(sum - sum == 0)) {
      step_ = before;
      return;
    }
    Slots const slots = objective ? FirstOutputProgram::slots() : OwnLossesProgram::slots();  // to which gradients flow
    std::visit([&](auto const& optimizer) { update(optimizer, options, progress, slots); }, options.optimizer);
  }
  std::span<Values const> evaluate(std::span<Values const> inputs, Homes) override {
    net_.evaluate(all(inputs), evaluation_);
    take_outputs(evaluation_);
    kept_ = passed_back_ = false;
    return outputs();
  }
  std::vector<double> sums(Mode mode) const override {
    std::vector<double> all(static_cast<std::size_t>(Net::Graph::sums));
    accumulator(*this, mode).read_sums(all.data());
    return all;
  }
  std::vector<std::pair<std::string, double>> statistics_of(std::span<double const> sums) const override {
    std::vector<std::pair<std::string, double>> all;
    Metrics::for_each(sums.data(), [&](std::string_view name, double value) { all.emplace_back(name, value); });
    return all;
  }
  void reset_statistics(Mode mode) override { accumulator(*this, mode).reset(); }
  bool has_losses() const override { return Net::Graph::has_losses; }
  std::vector<std::pair<std::string, float>> const& losses() const override { return losses_; }
  std::span<Values const> outputs() const override { return made_; }
  std::span<Values const> input_gradients() const override {
    return std::span{input_gradients_}.first(passed_back_ ? inputs_ : 0);
  }
  Made made(std::size_t k) const override {
    return {k < outputs_ ? made_[k] : passed_back_ ? input_gradients_[k - outputs_] : Values{}};
  }
  std::uint64_t step() const override { return step_; }
  void set_step(std::uint64_t step) override { step_ = step; }
  std::uint64_t seed() const override { return net_.seed(); }

 private:
  Training& linked_training() override { return *this; }
  static constexpr std::size_t inputs_ = Net::input_count, outputs_ = Net::output_count;
  static constexpr auto shapes_of_outputs = [] {
    std::array<Shape, outputs_> shapes{};
    for (std::size_t k = 0; k < outputs_; ++k) shapes[k] = Net::shape_of_output(static_cast<int>(k));
    return shapes;
  }();
  std::array<Values, inputs_> all(std::span<Values const> values) {
    if (values.size() != inputs_) refuse("network: takes ", inputs_, " inputs, got ", values.size());
    std::array<Values, inputs_> inputs;
    std::copy_n(values.begin(), inputs_, inputs.begin());
    return inputs;
  }
  static Index batch_of(std::span<Values const> inputs) {
    return static_cast<Index>(inputs[0].size()) / Net::input_shape.size();
  }
  void take_outputs(auto const& workspace) {
    for (std::size_t k = 0; k < outputs_; ++k) made_[k] = workspace.output(static_cast<int>(k));
  }
  /// A gradient of zeros, for samples of a shape that no gradient reaches.
  Values zeros(Shape const& shape) {
    Index largest = 0;
    for (Shape const& input : input_shapes()) largest = std::max(largest, input.size());
    for (Shape const& output : shapes_of_outputs) largest = std::max(largest, output.size());
    zeros_.reserve(batch_ * largest);
    return {zeros_.data(), static_cast<std::size_t>(batch_ * shape.size())};
  }
  /// Compares the first output with the targets. This and run_losses leave the gradients in training_.
  void compare(std::span<Values const> inputs, Values targets, Objective const& objective) {
    if (training_.holds(targets.data())) {
      std::span all{&targets, 1};
      target_copies_.copy(all, [](float const*) { return true; });
    }
    if (!objective_ || !(objective_->objective() == objective))
      objective_.emplace(objective, Backend::like_static().name());
    all(inputs);
    objective_->check(Net::output_shape, targets, batch_of(inputs));
    forward(inputs, Mode::training, nullptr);
    float const mean = (*objective_)(ready<typename Net::Backend>(), made_[0], Net::output_shape, targets, batch_);
    std::array<Values, outputs_> gradients;
    gradients[0] = objective_->gradient();
    for (std::size_t k = 1; k < outputs_; ++k) gradients[k] = zeros(shapes_of_outputs[k]);
    backward_input(gradients, nullptr);
    losses_.assign(1, {"", mean});
  }
  void run_losses(std::span<Values const> inputs) {
    if constexpr (Net::Graph::has_losses) {
      check_labels<typename Net::Graph>(all(inputs));
      auto given = all(inputs);
      auto run = net_.template start<OwnLossesProgram>(given, own_, step_ + 1);
      run.sums = trained_.sums();
      losses_.clear();
      coldpress::forward(run);
      loss_and_gradient(run, [&](auto g, float value) {
        losses_.emplace_back(std::string{Net::Graph::names[OwnLossesProgram::group(g).loss].view()}, value);
      });
      coldpress::backward(run, GradientSinks<float>{{training_.gradients().data()}, run.program.slots()});
      own_.remember(run);
      take_outputs(own_);
      batch_ = batch_of(inputs), ++step_;
    } else {
      throw ConfigError{"the network has no loss, and there is no objective"};
    }
  }
  template <class Optimizer>
  void update(Optimizer const& optimizer, TrainingOptions const& options, Progress& progress, Slots slots) {
    UpdateSink<Optimizer, float> sink{optimizer, 0, base(data), {}};
    for (int s = 0; s < Optimizer::states; ++s) sink.state[s] = base(state + s);
    UpdateStep<Optimizer, float> const update_step{sink,     options, options.minibatch_size,
                                                   progress, batch_,  frozen_.data()};
    float const* const fresh = training_.gradients().data();
    float* const sums = gradients_.data();
    for (Index i = 0; i < Net::parameter_size; ++i) sums[i] = update_step.adds() ? sums[i] + fresh[i] : fresh[i];
    update_step.finish(ready<typename Net::Backend>(), sums, slots, Net::Graph::parameter_count);
    progress = update_step.after();
  }
  static_assert(std::is_empty_v<typename Net::Transfer>, "adapt: takes networks in the host's memory");
  using Metrics = MetricAccumulator<typename Net::Graph, typename Net::Transfer>;
  template <class Self>
  static auto& accumulator(Self& self, Mode mode) {
    std::conditional_t<std::is_const_v<Self>, Metrics const, Metrics>& evaluated = self.evaluation_;
    return mode == Mode::training ? self.trained_ : evaluated;
  }
  float* base(int buffer) {
    if (buffer == data) return net_.parameters().data();
    if (buffer == gradient) return gradients_.data();
    if (buffer < 0) refuse("network: no buffer of weights has number ", buffer);
    if (static_cast<int>(states_.size()) <= buffer - state)
      states_.resize(static_cast<std::size_t>(buffer - state) + 1);
    HeapMemory<float>& memory = states_[static_cast<std::size_t>(buffer - state)];
    memory.reserve(Net::parameter_size);
    return memory.data();
  }

  Holder net_;
  typename Net::Workspace inference_;
  typename Net::TrainingWorkspace training_;
  InputCopies<HeapMemory<float>, false> target_copies_;
  typename Net::State state_;
  typename Net::Evaluation evaluation_;
  Metrics trained_{typename Net::Transfer{}};  // over training steps
  /// The graph with only the first output, because an objective compares only that.
  struct FirstOutput : Net::Graph {
    static constexpr std::array outputs{Net::Graph::outputs[0]};
  };
  using FirstOutputProgram = typename ProgramOf<FirstOutput, typename Net::Backend,
                                                PlanOptions{.training = true, .blocks = Net::blocks}>::type;
  using OwnLossesProgram =
      typename ProgramOf<typename Net::Graph, typename Net::Backend,
                         PlanOptions{.training = true, .losses = Net::Graph::has_losses, .blocks = Net::blocks}>::type;
  typename Net::template BasicWorkspace<OwnLossesProgram> own_;
  HeapMemory<float> gradients_, zeros_;
  std::optional<SeparateObjective> objective_;
  std::vector<HeapMemory<float>> states_;
  std::vector<Weight> weights_;
  std::vector<std::pair<std::string, float>> losses_;  // those of the last step
  std::array<Values, outputs_> made_;
  std::array<Values, inputs_> input_gradients_;
  Index batch_ = 0;
  std::array<bool, Net::Graph::parameter_count> frozen_{};
  std::uint64_t step_ = 0;
  bool kept_ = false, passed_back_ = false;  // whether the last calls were forward in training, and backward_input
};

template <class Net>
Layer Layer::adapt(Net&& net) {
  using Adaptee = std::remove_cvref_t<Net>;
  return {to_config<typename Adaptee::Type, Adaptee::inputs>(), std::make_unique<Adapted<Net>>(std::forward<Net>(net))};
}

}  // namespace coldpress::dynamic
