// A network whose type is its description: parameters, and how to run them.
#pragma once

#include <coldpress/backend/cpu.hpp>
#include <coldpress/core/memory.hpp>
#include <coldpress/graph/execute.hpp>
#include <coldpress/graph/static_program.hpp>
#include <coldpress/optim/filler.hpp>

#include <iterator>
#include <span>

namespace coldpress {

/// Values of a minibatch, one sample after another. A view: it lives as long as the workspace it is in and until that
/// is used again.
template <class T>
struct Samples {
  std::span<T const> values;
  Index batch;

  operator std::span<T const>() const { return values; }
  T operator[](Index i) const { return values[static_cast<std::size_t>(i)]; }
  std::span<T const> sample(Index i) const {
    auto const size = values.size() / static_cast<std::size_t>(batch);
    return values.subspan(static_cast<std::size_t>(i) * size, size);
  }
  std::size_t size() const { return values.size(); }
  T const* data() const { return values.data(); }
  auto begin() const { return values.begin(); }
  auto end() const { return values.end(); }
};

/// How an argument becomes a span of samples. Contiguous ranges do; coldpress/xtensor.hpp adds arrays and expressions.
template <class X, class T>
struct SamplesOf {
  std::span<T const> values;
  static_assert(
      requires(X const& x) {
        { std::data(x) } -> std::convertible_to<T const*>;
      },
      "network: samples must be contiguous numbers of the network's type (float); coldpress/xtensor.hpp takes xtensor "
      "expressions too");
  explicit SamplesOf(X const& x) : values(std::data(x), std::size(x)) {}
};

/// Net: Sequential<...>. `in`: shape of one sample. The batch is Batch<N> (everything inside the object) or known at
/// run time. Throws ShapeError where an input is no whole number of samples.
template <class Net, Shape in, class BatchSize = AnyBatch, class BackendType = Cpu>
class Network {
  static_assert(Net{}.output_shape(in).size() > 0);  // first of all, for a short error: shapes are checked here,
  static_assert(StaticGraph<Net, in>::parameters.owners >= 0);  // and parameters here

 public:
  using Backend = BackendType;
  using T = typename Backend::Scalar;
  using Graph = StaticGraph<Net, in>;
  using Batch = BatchSize;
  using Type = Net;
  static constexpr Shape input_shape = in;
  static constexpr Shape output_shape = Graph::nodes[Graph::size - 1].shape;

  template <class Program>
  class BasicWorkspace;
  using Inference = StaticProgram<Graph, Backend, false>;
  using Training = StaticProgram<Graph, Backend, true, true>;

  /// What one thread needs to infer.
  using Workspace = BasicWorkspace<Inference>;
  /// What forward_training keeps for backward, and the gradients.
  class TrainingWorkspace;
  /// What a sequence leaves behind for its next step.
  class State;

  /// Parameters from the layers' fillers and the seed.
  explicit Network(std::uint64_t seed = 0) : seed_(seed) {
    parameters_.reserve(parameter_size);
    for (int i = 0; i < weight_count; ++i) {
      Stream const stream{seed, 0, std::string_view{weight_name(i)}};
      fill(weight(i), stream, [&](Index e, float value) { parameters_.data()[place(i, e)] = static_cast<T>(value); });
    }
  }

  /// The outputs of a minibatch, in this network's own workspace: {batch, output_shape}.
  template <class X>
  Samples<T> forward(X const& x) {
    return forward(x, workspace_);
  }
  /// The same, const: any number of threads, each with a workspace of its own.
  template <class X>
  Samples<T> forward(X const& x, Workspace& workspace) const {
    SamplesOf<X, T> const samples{x};
    if constexpr (requires { samples.borrowed(); }) {
      require(Inference::output() >= 0 || samples.borrowed(),
              "forward: a network of views needs an array, not an expression");
    }
    auto const run = start(Inference{}, samples.values, workspace, 0);
    coldpress::forward(run);
    return output(run);
  }
  /// The next part of a sequence: a sample is as many steps as `in` says (one, for Shape{features}), and layers with a
  /// memory go on where the last call ended. The batch is that of the first call.
  template <class X>
  Samples<T> step(X const& x) {
    return step(x, state_, workspace_);
  }
  /// The same, const: any number of sequences, each with a state of its own.
  template <class X>
  Samples<T> step(X const& x, State& state, Workspace& workspace) const {
    static_assert(Inference::plan().streams, "step: a layer of this network needs the whole sequence at once");
    SamplesOf<X, T> const samples{x};
    auto run = start(Inference{}, samples.values, workspace, 0);
    run.state = state.at(run.batch);
    coldpress::forward(run);
    return output(run);
  }
  /// The next step starts a new sequence.
  void reset() { state_.reset(); }
  /// Forward that keeps what backward needs. `step` is the position in the random stream of Dropout; it starts at 1.
  template <class X>
  Samples<T> forward_training(X const& x, TrainingWorkspace& workspace, std::uint64_t step = 1) const {
    require(step > 0, "forward_training: steps start at 1");
    SamplesOf<X, T> const samples{x};
    if constexpr (requires { samples.borrowed(); }) {
      require(samples.borrowed(),
              "forward_training: backward reads the input again, so it must be an array in memory, not an expression");
    }
    auto const run = start(Training{}, samples.values, workspace, step);
    workspace.input_ = samples.values;
    workspace.step_ = step;
    coldpress::forward(run);
    return output(run);
  }
  /// From the gradient of the output to that of the input, which is returned; parameters' gradients are in the
  /// workspace. The input given to forward_training must still be there.
  template <class DY>
  Samples<T> backward(DY const& dy, TrainingWorkspace& workspace) const {
    SamplesOf<DY, T> const gradient{dy};
    require(workspace.step_ > 0, "backward: comes after forward_training");
    auto const run = start(Training{}, workspace.input_, workspace, workspace.step_);
    require(static_cast<Index>(gradient.values.size()) == run.batch * output_shape.size(),
            "backward: the gradient must have as many values as the output");
    seed_gradient(run, Training::output(), gradient.values.data());
    coldpress::backward(run, [&](Slots slots) { return GradientSinks<T>{{workspace.gradients_.data()}, slots}; });
    Buffer const& dx = Training::plan().input_gradients[0];
    return {{run.at(dx), static_cast<std::size_t>(run.batch * dx.pitch)}, run.batch};
  }
  /// Room for `batch` samples: nothing is allocated in forward up to that many.
  void reserve(Index batch) { workspace_.reserve(batch); }

  /// Numbers that training changes.
  static constexpr Index parameter_count = [] {
    Index count = 0;
    for (int const i : Graph::weights) count += Graph::parameters.list[i].shape.size();
    return count;
  }();

  // Weights in canonical order and shape, named as in a file: linear1-0 of {out, in}, linear1-0-bias.
  static constexpr int weight_count = Graph::parameters.owners;
  static constexpr Name weight_name(int i) {
    Name name = Graph::names[Graph::parameters.node[Graph::weights[i]]];
    name.append(weight(i).suffix);
    return name;
  }
  static constexpr Shape weight_shape(int i) { return weight(i).shape; }
  static constexpr Parameter const& weight(int i) { return Graph::parameters.list[Graph::weights[i]]; }
  /// The position of the weight of that name; throws ConfigError.
  static int weight_index(std::string_view name) {
    for (int i = 0; i < weight_count; ++i) {
      if (weight_name(i).view() == name) return i;
    }
    throw ConfigError{std::string{"the network has no weight '"}.append(name).append("'")};
  }
  void read_weight(int i, std::span<T> values) const { read(parameters_.data(), i, values); }
  void write_weight(int i, std::span<T const> values) { write(parameters_.data(), i, values); }

  /// The same for any buffer that is laid out as the parameters are: gradients, the state of an optimizer.
  static void read(T const* buffer, int i, std::span<T> values) {
    check(i, values.size());
    for (Index e = 0; e < weight_shape(i).size(); ++e) {
      values[static_cast<std::size_t>(e)] = buffer[place(i, e)];
    }
  }
  static void write(T* buffer, int i, std::span<T const> values) {
    check(i, values.size());
    for (Index e = 0; e < weight_shape(i).size(); ++e) {
      buffer[place(i, e)] = values[static_cast<std::size_t>(e)];
    }
  }

  /// All parameters as one flat buffer in the backend's layout, with its padding: for optimizers.
  static constexpr Index parameter_size = Inference::parameter_size;
  std::span<T> parameters() { return {parameters_.data(), static_cast<std::size_t>(parameter_size)}; }
  std::span<T const> parameters() const { return {parameters_.data(), static_cast<std::size_t>(parameter_size)}; }
  /// Of Dropout's random streams, and of the initial values.
  std::uint64_t seed() const { return seed_; }
  void set_seed(std::uint64_t seed) { seed_ = seed; }

  /// A pass of `program` over samples, for whoever plans one of his own (the Solver does).
  template <class Program, class Space>
  auto start(Program const&, std::span<T const> samples, Space& workspace, std::uint64_t step) const {
    Index const size = in.size(), count = static_cast<Index>(samples.size());
    require(count > 0 && count % size == 0, "network: the input must be a whole number of samples, at least one");
    require(parameter_size == 0 || parameters_.data() != nullptr, "network: has been moved from");
    auto const batch = Batch::count(count / size);
    workspace.reserve(batch);
    Backend backend{};
    if constexpr (Program::memory.scratch > 0) backend.scratch = workspace.scratch();
    static constexpr Program program{};
    return Run<Program, Backend, std::remove_const_t<decltype(batch)>>{
        program, backend, parameters_.data(), workspace.values(), {samples.data()}, batch, seed_, step};
  }

 private:
  static constexpr Index place(int i, Index element) {
    return Inference::memory.slots[Graph::weights[i]].offset + Backend::offset(weight(i), element);
  }
  template <class Run>
  static Samples<T> output(Run const& run) {
    auto const y = run.value(run.program.output());
    return {{y.data, static_cast<std::size_t>(y.rows * y.columns)}, y.rows};
  }
  static void check(int i, std::size_t size) {
    require(i >= 0 && i < weight_count, "network: no weight of this number");
    require(static_cast<Index>(size) == weight_shape(i).size(),
            "network: a weight must be given as many values as its shape has");
  }
  Memory<T, Batch, parameter_size> parameters_;
  Workspace workspace_;
  State state_;
  std::uint64_t seed_;
};

/// What the layers remember of the sequences so far.
template <class Net, Shape in, class BatchSize, class BackendType>
class Network<Net, in, BatchSize, BackendType>::State {
 public:
  void reset() {
    std::fill_n(values_.data(), values_.size(), T{});
    batch_ = 0;
  }

 private:
  friend Network;
  T* at(Index batch) {
    require(batch_ == 0 || batch_ == batch, "step: the batch may change only after reset");
    values_.reserve(Inference::plan().state * batch);
    batch_ = batch;
    return values_.data();
  }
  Memory<T, BatchSize, Inference::plan().state * BatchSize::capacity> values_;
  Index batch_ = 0;
};

/// Memory for one pass at a time of `Program`.
template <class Net, Shape in, class BatchSize, class BackendType>
template <class Program>
class Network<Net, in, BatchSize, BackendType>::BasicWorkspace {
 public:
  void reserve(Index batch) { values_.reserve(Program::plan().workspace * batch + Program::memory.scratch); }
  T* values() { return values_.data() + Program::memory.scratch; }
  T const* values() const { return values_.data() + Program::memory.scratch; }
  T* scratch() { return values_.data(); }

 private:
  Memory<T, BatchSize, Program::plan().workspace * BatchSize::capacity + Program::memory.scratch> values_;
};

template <class Net, Shape in, class BatchSize, class BackendType>
class Network<Net, in, BatchSize, BackendType>::TrainingWorkspace : public BasicWorkspace<Training> {
 public:
  TrainingWorkspace() { gradients_.reserve(parameter_size); }
  /// Gradients of all parameters, laid out as Network::parameters().
  std::span<T const> gradients() const { return {gradients_.data(), static_cast<std::size_t>(parameter_size)}; }

 private:
  friend Network;
  Memory<T, BatchSize, parameter_size> gradients_;
  std::span<T const> input_;
  std::uint64_t step_ = 0;
};

}  // namespace coldpress
