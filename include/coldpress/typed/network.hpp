// A network whose type is its description: its parameters, and the functions that run it.
#pragma once

#include <coldpress/core/executor.hpp>
#include <coldpress/core/filler.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/run/host_transfer.hpp>
#include <coldpress/run/labels.hpp>
#include <coldpress/run/metric_accumulator.hpp>
#include <coldpress/run/passes.hpp>
#include <coldpress/run/samples.hpp>
#include <coldpress/typed/linked_program.hpp>

#if defined __CUDACC__
namespace coldpress {
struct Cpu;  // nvcc does not support the vectors of g++
}
#elif defined COLDPRESS_LINKED_KERNELS
#include <coldpress/kernels/linked_cpu.hpp>
#else
#include <coldpress/backend/cpu.hpp>
#endif

// The backend of networks that name none: Cpu, whose kernels are compiled into the program, or LinkedCpu in programs
// that link coldpress::kernels. Files with different defaults can be linked into one program, because their networks
// have different names.
#if defined COLDPRESS_LINKED_KERNELS && !defined __CUDACC__
#define COLDPRESS_KERNELS kernels_linked
namespace coldpress::inline kernels_linked {
using DefaultBackend = LinkedCpu;
}
#else
#define COLDPRESS_KERNELS kernels_compiled_in
namespace coldpress::inline kernels_compiled_in {
using DefaultBackend = Cpu;
}
#endif

namespace coldpress {

namespace detail {
/// Checks the shapes of all layers of a Sequential. Those of a function are checked when it runs.
template <class Net>
constexpr bool makes_something(Shape const& in) {
  if constexpr (requires { Net::function; }) {
    return true;
  } else {
    return Net{}.output_shape(in).size() > 0;
  }
}
}  // namespace detail

inline namespace COLDPRESS_KERNELS {

/// A network of type Net, which is a Sequential<...> or the Graph<...> of a function. `in` is the shape of one sample,
/// or Inputs{...} for several inputs. The batch size is Batch<N>, with all memory inside the object, or is known at run
/// time. Functions throw ShapeError if an input is not a whole number of samples.
template <class Net, Inputs in, class BatchSize = DynamicBatch, class BackendType = DefaultBackend>
class Network {
  static_assert(detail::makes_something<Net>(in[0]));           // first, for a short error message: checks the shapes,
  static_assert(StaticGraph<Net, in>::parameters.owners >= 0);  // and this the names and parameters

 public:
  using Backend = typename ComputingOf<BackendType>::type;
  using Storage = HostTransfer<BackendType>;
  using T = typename Backend::Scalar;
  using Given = typename Storage::template Given<T>;
  using Graph = StaticGraph<Net, in>;
  using Batch = BatchSize;
  using Type = Net;
  static constexpr int input_count = in.count, output_count = static_cast<int>(Graph::outputs.size());
  static constexpr Inputs inputs = in;
  static constexpr Shape input_shape = in[0];
  /// The shape of output k, in the order in which the function returns them, and that of the first output.
  static constexpr Shape shape_of_output(int k) {
    return Graph::nodes[static_cast<std::size_t>(Graph::outputs[static_cast<std::size_t>(k)])].shape;
  }
  static constexpr Shape output_shape = shape_of_output(0);
  /// The number of the output with this name, or -1.
  static constexpr int output_index(std::string_view name) {
    for (int k = 0; k < output_count; ++k) {
      if (Graph::names[static_cast<std::size_t>(Graph::outputs[static_cast<std::size_t>(k)])].view() == name) return k;
    }
    return -1;
  }

  template <class Program>
  class BasicWorkspace;
  /// The most blocks of images in a minibatch.
  static constexpr Index blocks = !keeps_blocks<Backend>     ? 0
                                  : BatchSize::capacity == 0 ? PTRDIFF_MAX
                                                             : BatchSize::capacity / block_size;
  using Inference = typename ProgramOf<Graph, Backend, PlanOptions{.blocks = blocks}>::type;
  using Training =
      typename ProgramOf<Graph, Backend, PlanOptions{.training = true, .input_gradient = true, .blocks = blocks}>::type;

  using Evaluating = typename ProgramOf<Graph, Backend, PlanOptions{.losses = true, .blocks = blocks}>::type;

  /// The memory that one thread needs for inference.
  using Workspace = BasicWorkspace<Inference>;
  /// What forward_training keeps for backward, and the gradients.
  class TrainingWorkspace;
  /// What the layers remember of a sequence between steps.
  class State;
  /// The memory that evaluate needs, and the sums of the statistics.
  class Evaluation;

  /// Initialises the parameters by the layers' fillers and the seed. `storage` says where the network is; for a GPU, on
  /// which device.
  explicit Network(std::uint64_t seed = 0, Storage const& storage = {}, WeightsStart start = WeightsStart::filled)
      : storage_(storage), seed_(seed) {
    parameters_.reserve(parameter_size);
    for (int i = 0; i < weight_count && start == WeightsStart::filled; ++i) {
      Stream const stream{seed, 0, std::string_view{weight_name(i)}};
      storage_.change(parameters_.data() + offset(i), stored_size(i), [&](T* at) {
        fill<fillers>(
            weight(i), stream, [&](Index e, float value) __attribute__((noinline, cold)) {
              Backend::put(weight(i), at, e, static_cast<T>(value));
            });
      });
    }
  }

  /// Returns the first output for a minibatch, {batch, output_shape}, in this network's own workspace. Each input is an
  /// argument; the last ones may be left out if only losses read them.
  template <class X, class... More>
  requires(!(std::is_base_of_v<Workspace, More> || ...)) Samples<T> forward(X const& x, More const&... more) {
    return infer(detail::all_samples<T>(x, more...), workspace_);
  }
  /// The same as a const function, which any number of threads may call, each with its own workspace. Several inputs
  /// are given as a std::tuple.
  template <class X>
  Samples<T> forward(X const& x, Workspace& workspace) const {
    return infer(detail::all_samples<T>(x), workspace);
  }
  /// An output of the last forward, by its name in the network's function.
  template <FixedString name>
  Samples<T> output() const {
    return output<name>(workspace_);
  }
  template <FixedString name, class Space>
  static Samples<T> output(Space const& workspace) {
    constexpr int index = output_index(name.view());
    static_assert(index >= 0, "output: the network has no output of this name");
    return workspace.output(index);
  }
  /// Forward that also computes the losses and statistics of the network's function. It takes every input. The
  /// statistics are over the samples of all such calls since the last reset. Throws DataError for labels that are not a
  /// class.
  template <class X, class... More>
  requires(!(std::is_base_of_v<Evaluation, More> || ...)) Samples<T> evaluate(X const& x, More const&... more) {
    return evaluate_all(detail::all_samples<T>(x, more...), evaluation_);
  }
  /// The same as a const function, which any number of threads may call, each with its own evaluation. Several inputs
  /// are given as a std::tuple.
  template <class X>
  Samples<T> evaluate(X const& x, Evaluation& evaluation) const {
    return evaluate_all(detail::all_samples<T>(x), evaluation);
  }
  /// A statistic by its name in the network's function, or the mean of a loss; NaN before the first evaluate.
  template <FixedString name>
  double statistic() const {
    return evaluation_.template report<name>();
  }
  void reset_statistics() { evaluation_.reset(); }
  /// Computes the next part of a sequence. A sample has as many steps as `in` says (one, for Shape{features}), and
  /// layers with a state continue where the last call ended. The batch size must be that of the first call. It is
  /// inlined, since a call would take longer than some of its layers.
  template <class X>
  __attribute__((always_inline)) Samples<T> step(X const& x) {
    return step(x, state_, workspace_);
  }
  /// The same as a const function, for any number of sequences, each with its own state.
  template <class X>
  __attribute__((always_inline)) Samples<T> step(X const& x, State& state, Workspace& workspace) const {
    static_assert(
        Inference::plan().streams,
        "step: a layer of this network needs its whole input at once, so a sequence cannot be given in parts");
    auto const samples = detail::all_samples<T>(x);
    static_assert(reads_only<Inference, samples.count>(),
                  "step: give a value for each input that the outputs depend on, and for no other");
    check_borrowed(samples);
    return pass(samples.template spans<Given>(), workspace, [&](Index batch) { return state.at(batch); });
  }
  /// Makes the next step start a new sequence.
  void reset() { state_.reset(); }
  /// Whether the backend stores weights in a form that gradients can change.
  static constexpr bool trains = [] {
    if constexpr (requires { Backend::trains; }) {
      return Backend::trains;
    } else {
      return true;
    }
  }();
  /// Forward that keeps what backward needs. `step` is the position in the random stream of Dropout; it starts at 1.
  template <class X>
  Samples<T> forward_training(X const& x, TrainingWorkspace& workspace, std::uint64_t step = 1) const {
    static_assert(trains,
                  "forward_training: this network's backend stores rounded weights, which are only for inference");
    require(step > 0, "forward_training: steps start at 1");
    auto const samples = detail::all_samples<T>(x);
    require(samples.borrowed(),
            "forward_training: backward reads the input again, so it must be an array in memory, not an expression");
    auto const spans = samples.template spans<Given>();
    auto const run = start<Training>(spans, workspace, step);
    static_assert(reads_only<Training, samples.count>(),
                  "forward_training: give a value for each input that the outputs depend on, and for no other");
    workspace.inputs_ = {};
    freestanding::copy_n(spans.data(), samples.count, workspace.inputs_.data());
    workspace.step_ = step;
    storage_.play(ForwardOf{}, run);
    return workspace.remember(run);
  }
  /// Computes the gradients from those of the outputs, which are a std::tuple if there are several. Returns the
  /// gradient of the first input. Those of other inputs and of the parameters are in the workspace. The inputs that
  /// were given to forward_training must still exist.
  template <class DY>
  Samples<T> backward(DY const& dy, TrainingWorkspace& workspace) const {
    auto const gradients = detail::all_samples<T>(dy);
    static_assert(gradients.count == output_count, "backward: give a gradient for each output of the network");
    auto const spans = gradients.template spans<Given>();
    require(workspace.step_ > 0, "backward: call forward_training first");
    auto const run = start<Training>(workspace.inputs_, workspace, workspace.step_);
    for (int k = 0; k < output_count; ++k)
      check_values("backward: the gradient of an output", spans[static_cast<std::size_t>(k)].size(), run.batch,
                   shape_of_output(k));
    std::array<T const*, output_count> seeds{};
    for (std::size_t k = 0; k < seeds.size(); ++k) seeds[k] = workspace.buffers_.bring(spans[k], input_count + k);
    storage_.play(BackwardOf{}, run, seeds, workspace.gradients_.data());
    for (int k = 0; k < input_count; ++k) {
      Buffer const& dx = Training::plan().input_gradients[k];
      workspace.input_gradients_[static_cast<std::size_t>(k)] = {
          {run.at(dx), static_cast<std::size_t>(dx.used() ? run.batch * dx.pitch : 0)}, run.batch};
    }
    workspace.step_ = 0;  // gradients have overwritten values that a second backward would need
    return workspace.input_gradient(0);
  }
  /// Reserves memory for `batch` samples: forward and step then allocate nothing for up to this many.
  void reserve(Index batch) { workspace_.reserve(batch), state_.reserve(batch); }
  /// Sets the executor for calls that use the internal workspace, and for its Solver's steps; null means the calling
  /// thread alone. Other workspaces have their own run_on. The executor is borrowed, and the results have the same bits
  /// with any.
  void run_on(Executor* executor) {
    workspace_.run_on(executor);
    if constexpr (Graph::sums > 0) evaluation_.run_on(executor);
  }
  Executor* executor() const { return workspace_.executor(); }

  /// The number of values that training changes.
  static constexpr Index parameter_count = [] {
    Index count = 0;
    for (int const i : Graph::weights) count += Graph::parameters.list[i].shape.size();
    return count;
  }();

  // The weights in canonical order and shape, named as in a file: linear1-0 {out, in} and linear1-0-bias.
  static constexpr int weight_count = Graph::parameters.owners;
  static constexpr Name weight_name(int i) {
    Name name = Graph::names[Graph::parameters.node[Graph::weights[i]]];
    name.append(weight(i).suffix);
    return name;
  }
  static constexpr Shape weight_shape(int i) { return weight(i).shape; }
  static constexpr Parameter const& weight(int i) { return Graph::parameters.list[Graph::weights[i]]; }
  /// The number of the weight with this name. Throws ConfigError if there is none.
  static int weight_index(std::string_view name) {
    for (int i = 0; i < weight_count; ++i) {
      if (weight_name(i).view() == name) return i;
    }
    throw ConfigError{std::string{"the network has no weight '"}.append(name).append("'")};
  }
  void read_weight(int i, std::span<T> values) const { read(parameters_.data(), i, values); }
  void write_weight(int i, std::span<T const> values) { write(parameters_.data(), i, values); }

  /// The same for any buffer with the layout of the parameters, such as gradients or the state of an optimizer.
  void read(T const* buffer, int i, std::span<T> values) const {
    check(i, values.size());
    storage_.read(buffer + offset(i), stored_size(i), [&](T const* at) {
      for (Index e = 0; e < weight_shape(i).size(); ++e)
        values[static_cast<std::size_t>(e)] = Backend::get(weight(i), at, e);
    });
  }
  void write(T* buffer, int i, std::span<T const> values) const {
    check(i, values.size());
    storage_.change(buffer + offset(i), stored_size(i), [&](T* at) {
      for (Index e = 0; e < weight_shape(i).size(); ++e)
        Backend::put(weight(i), at, e, values[static_cast<std::size_t>(e)]);
    });
  }

  /// All parameters as one flat buffer in the backend's layout, including its padding, for optimizers.
  static constexpr Index parameter_size = Inference::parameter_size;
  std::span<T> parameters() {
    check_not_moved();
    return {parameters_.data(), static_cast<std::size_t>(parameter_size)};
  }
  std::span<T const> parameters() const {
    check_not_moved();
    return {parameters_.data(), static_cast<std::size_t>(parameter_size)};
  }
  Storage const& storage() const { return storage_; }
  /// Copies samples or targets to the network's GPU, where they stay as long as the returned object exists. forward,
  /// evaluate, train_minibatch and the others accept that object instead of values on the host, and then copy nothing.
  /// The values are checked here, once.
  template <class X>
  auto upload(X const& x) const requires requires(Storage const& on, std::span<T const> values) {
    on.upload(values);
  }
  { return storage_.upload(SamplesOf<X, T>{x}.values); }
  /// The seed of the initial values and of Dropout's random streams.
  std::uint64_t seed() const { return seed_; }
  void set_seed(std::uint64_t seed) { seed_ = seed; }

  /// Starts a pass of a program over the samples of each input, for classes with a program of their own such as Solver.
  /// The targets may be one more input.
  template <class Program, class Values, std::size_t n, class Space>
  auto start(std::array<Values, n> const& samples, Space& workspace, std::uint64_t step) const {
    constexpr auto given = freestanding::min<std::size_t>(n, input_count);
    constexpr Index size = in[0].size();
    Index const count = count_samples(samples[0].size(), size, in[0]);
    for (std::size_t k = 1; k < given; ++k) {
      if (samples[k].empty() && !Program::plan().reads[k]) continue;  // only losses read it
      int const number = static_cast<int>(k);
      check_equally_many(count_samples(samples[k].size(), in[number].size(), in[number], number), number, count);
    }
    check_not_moved();
    auto const batch = [&] {
      if constexpr (is_linked<Backend>) {
        return Index{Batch::count(count)};
      } else {
        return Batch::count(count);
      }
    }();
    workspace.reserve(batch);
    Backend backend{};
    if constexpr (Program::scratch_size > 0) backend.scratch = workspace.scratch();
    if constexpr (requires { backend.executor; }) workspace.attach(backend);
    Program::lend_workers(backend);
    Program const& program = workspace.program(backend, seed_);
    Run<Program, Backend, std::remove_const_t<decltype(batch)>> run{
        program, backend, parameters_.data(), workspace.values(), {}, batch, seed_, step};
    for (std::size_t k = 0; k < freestanding::min<std::size_t>(n, Program::inputs_capacity); ++k)
      run.inputs[k] = workspace.buffers_.bring(samples[k], k);
    return run;
  }
  /// Calls f(k) for each output, where k is a constant.
  template <class F>
  static void for_each_output(F f) {
    [&]<int... k>(std::integer_sequence<int, k...>) { (f(std::integral_constant<int, k>{}), ...); }
    (std::make_integer_sequence<int, output_count>{});
  }

 private:
  template <class Inputs>
  coldpress::Samples<T> infer(Inputs const& samples, Workspace& workspace) const {
    static_assert(reads_only<Inference, Inputs::count>(),
                  "forward: give a value for each input that the outputs depend on, and for no other");
    check_borrowed(samples);
    return pass(samples.template spans<Given>(), workspace, [](Index) -> T* { return nullptr; });
  }
  /// Forward. carried(batch) is the state of the layers.
  template <std::size_t n, class Carried>
  __attribute__((always_inline)) coldpress::Samples<T> pass(std::array<Given, n> samples, Workspace& workspace,
                                                            Carried carried) const {
    if constexpr (Workspace::repeats) {
      Batch::count(count_samples(samples[0].size(), in[0].size(), in[0]));
      auto& calls = workspace.calls_;
      T* const state = carried(1);
      samples[0] = calls.take(samples[0]);
      if (calls.are_of(parameters_.data(), state, seed_)) {
        calls.make();
        return workspace.output(0);
      }
      auto const make = [&](decltype(Backend::tape) tape) {
        auto run = start<Inference>(samples, workspace, 0);
        run.state = state, run.backend.tape = tape;
        storage_.play(ForwardOf{}, run);
        workspace.note(run);
      };
      workspace.executor() ? make(nullptr) : calls.keep(parameters_.data(), state, seed_, make);
      return workspace.output(0);
    } else {
      auto run = start<Inference>(samples, workspace, 0);
      run.state = carried(run.batch);
      storage_.play(ForwardOf{}, run);
      return workspace.remember(run);
    }
  }
  template <class Inputs>
  coldpress::Samples<T> evaluate_all(Inputs const& samples, Evaluation& evaluation) const {
    static_assert(Inputs::count == input_count, "evaluate: give a value for each input of the network");
    auto const spans = samples.template spans<Given>();
    check_labels<Graph>(spans);
    auto run = start<Evaluating>(spans, evaluation, 0);
    run.sums = evaluation.sums();
    storage_.play(EvaluationOf{}, run);
    return evaluation.remember(run);
  }
  template <class Samples>
  static void check_borrowed(Samples const& samples) {
    constexpr bool passes_through = [] {
      for (int node : Graph::outputs) {
        if (Inference::planned.group_of[static_cast<std::size_t>(node)] < 0) return true;
      }
      return false;
    }();
    require(!passes_through || samples.borrowed(), "forward: a network of views needs an array, not an expression");
  }
  template <class Program>
  static constexpr Index kept_calls = [] {
    if constexpr (is_linked<Backend> && std::is_same_v<Program, Inference> && Batch::capacity == 1 &&
                  input_count == 1 && in[0].size() <= 256) {
      return Program::calls;
    } else {
      return Index{0};
    }
  }();
  /// Whether a program reads no inputs except the first `given`.
  template <class Program, int given>
  static constexpr bool reads_only() {
    for (int k = given; k < input_count; ++k) {
      if (Program::plan().reads[k]) return false;
    }
    return given <= input_count;
  }
  static constexpr Fillers fillers = [] {
    Fillers all = 0;
    for (int const i : Graph::weights) all |= fillers_of(Graph::parameters.list[i].filler.kind);
    return all;
  }();
  static constexpr Index offset(int i) { return Inference::memory.slots[Graph::weights[i]].offset; }
  static constexpr Index stored_size(int i) { return Inference::memory.slots[Graph::weights[i]].size; }
  void check_not_moved() const {
    require(parameter_size == 0 || parameters_.data() != nullptr, "network: has been moved from");
  }
  void check(int i, std::size_t size) const {
    check_not_moved();
    if (i < 0 || i >= weight_count) refuse("network: no weight has number ", i, "; there are ", weight_count);
    if (static_cast<Index>(size) != weight_shape(i).size())
      refuse("network: weight '", std::string{weight_name(i).view()}, "' of shape ", weight_shape(i), " has ",
             weight_shape(i).size(), " values, got ", size);
  }
  template <Index size>
  using Memory = typename Storage::template Memory<T, Batch, size>;
  struct Nothing {
    explicit Nothing(Storage const&) {}
  };
  [[no_unique_address]] Storage storage_;
  Memory<parameter_size> parameters_ = storage_.template memory<Memory<parameter_size>>();
  Workspace workspace_{storage_};
  State state_{storage_};
  [[no_unique_address]] std::conditional_t<(Graph::sums > 0), Evaluation, Nothing> evaluation_{storage_};
  std::uint64_t seed_;
};

/// The state of the layers after the steps of the sequences so far.
template <class Net, Inputs in, class BatchSize, class BackendType>
class Network<Net, in, BatchSize, BackendType>::State {
 public:
  State() requires std::is_empty_v<Storage> : State(Storage{}) {}
  explicit State(Storage const& storage) : storage_(storage) {}
  void reset() {
    storage_.clear(values_);
    batch_ = 0;
  }
  /// Reserves memory for this many sequences, if none is under way.
  void reserve(Index batch) {
    if (batch_ == 0) values_.reserve(Inference::plan().state * batch);
  }

 private:
  friend Network;
  T* at(Index batch) {
    if (batch_ != 0 && batch_ != batch) detail::refuse_other_batch(batch, batch_);
    values_.reserve(Inference::plan().state * batch);
    batch_ = batch;
    return values_.data();
  }
  using Values = Memory<Inference::plan().state * BatchSize::capacity>;
  [[no_unique_address]] Storage storage_;
  Values values_ = storage_.template memory<Values>();
  Index batch_ = 0;
};

/// The memory for one pass of `Program` at a time.
template <class Net, Inputs in, class BatchSize, class BackendType>
template <class Program>
class Network<Net, in, BatchSize, BackendType>::BasicWorkspace {
 public:
  BasicWorkspace() requires std::is_empty_v<Storage> : BasicWorkspace(Storage{}) {}
  /// On a GPU, pass net.storage().
  explicit BasicWorkspace(Storage const& storage) : buffers_(storage), values_(storage.template memory<Values>()) {}
  /// Whether it records the kernel calls of a pass and repeats them without working them out again. This is possible if
  /// a pass over one small sample is nothing but kernel calls.
  static constexpr bool repeats = kept_calls<Program> > 0;
  void reserve(Index batch) { values_.reserve(Program::plan().workspace * batch + Program::scratch_size); }
  T* values() { return values_.data() + Program::scratch_size; }
  T const* values() const { return values_.data() + Program::scratch_size; }
  T* scratch() { return values_.data(); }
  /// Sets the executor of its passes; null means the calling thread alone. It is borrowed, and several workspaces may
  /// share it. The scratch of its workers, if layers need any, is on the heap.
  void run_on(Executor* executor) {
    executor_ = executor;
    if constexpr (repeats) calls_.forget();
  }
  Executor* executor() const { return executor_; }
  void attach(Context& context) {
    if constexpr (Program::memory.worker_scratch > 0) {
      context.attach(executor_, others_, Program::memory.worker_scratch);
    } else {
      context.executor = executor_;
    }
  }
  /// The program of its passes. A backend with linked kernels finds the kernels here.
  Program const& program(Backend& backend, std::uint64_t seed) {
    if constexpr (is_linked<Backend>) {
      backend.template link<Program::trains>();
      program_.prepare(backend, seed);
      return program_;
    } else {
      static_cast<void>(backend), static_cast<void>(seed);
      static constexpr Program constant{};
      return constant;
    }
  }
  /// Remembers where the outputs of a run are, and returns the first.
  template <class Run>
  Samples<T> remember(Run const& run) {
    note(run);
    // It is not read back from outputs_, which would wait until all of its parts are in memory.
    return fetched(made(run, std::integral_constant<int, 0>{}), 0);
  }
  /// The same, but nothing is fetched from a device until it is read.
  template <class Run>
  void note(Run const& run) {
    buffers_.forget();
    for_each_output([&](auto k) { outputs_[static_cast<std::size_t>(int{k})] = made(run, k); });
  }
  /// Output k of the last run.
  Samples<T> output(int k) const { return fetched(outputs_[static_cast<std::size_t>(k)], k); }

 protected:
  Samples<T> fetched(Samples<T> const& samples, int place) const {
    return {buffers_.fetch(samples.values, static_cast<std::size_t>(place)), samples.batch};
  }

 private:
  friend Network;
  template <class Run, class K>
  static Samples<T> made(Run const& run, K k) {
    auto const y = run.value(run.program.output(k));
    return {{y.data, static_cast<std::size_t>(y.rows * y.columns)}, y.rows};
  }
  using Values = typename Storage::template Workspace<
      T, Batch, Program::plan().workspace * BatchSize::capacity + Program::scratch_size, Program::starts_with_zeros>;
  using Buffers = typename Storage::template Buffers<T>;
  std::array<Samples<T>, output_count> outputs_{};
  [[no_unique_address]] Buffers buffers_;
  Values values_;
  [[no_unique_address]] Program program_{};
  Executor* executor_ = nullptr;
  struct Nothing {};
  [[no_unique_address]] std::conditional_t<(Program::memory.worker_scratch > 0), HeapMemory<T>, Nothing> others_;
  [[no_unique_address]] typename KeptCalls<Backend, in[0].size(), kept_calls<Program>>::type calls_;
};

template <class Net, Inputs in, class BatchSize, class BackendType>
class Network<Net, in, BatchSize, BackendType>::Evaluation : public BasicWorkspace<Evaluating>,
                                                             public MetricAccumulator<Graph, Storage> {
 public:
  Evaluation() requires std::is_empty_v<Storage> : Evaluation(Storage{}) {}
  explicit Evaluation(Storage const& storage)
      : BasicWorkspace<Evaluating>(storage), MetricAccumulator<Graph, Storage>(storage) {}
};

template <class Net, Inputs in, class BatchSize, class BackendType>
class Network<Net, in, BatchSize, BackendType>::TrainingWorkspace : public BasicWorkspace<Training> {
 public:
  TrainingWorkspace() requires std::is_empty_v<Storage> : TrainingWorkspace(Storage{}) {}
  explicit TrainingWorkspace(Storage const& storage)
      : BasicWorkspace<Training>(storage), gradients_(storage.template memory<Memory<parameter_size>>()) {
    gradients_.reserve(parameter_size);
  }
  /// The gradients of all parameters, in the layout of Network::parameters().
  std::span<T const> gradients() const { return {gradients_.data(), static_cast<std::size_t>(parameter_size)}; }
  std::span<T> gradients() { return {gradients_.data(), static_cast<std::size_t>(parameter_size)}; }
  /// The gradient of input k; empty if none reaches it.
  Samples<T> input_gradient(int k) const {
    return this->fetched(input_gradients_[static_cast<std::size_t>(k)], output_count + k);
  }

 private:
  friend Network;
  Memory<parameter_size> gradients_;
  std::array<Given, input_count> inputs_{};
  std::array<Samples<T>, input_count> input_gradients_{};
  std::uint64_t step_ = 0;
};

}  // namespace COLDPRESS_KERNELS
}  // namespace coldpress
