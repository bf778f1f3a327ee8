// A network whose type is its description: its parameters, and the functions that run it.
#pragma once

#include <coldpress/core/executor.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/layers/identity.hpp>
#include <coldpress/run/host_transfer.hpp>
#include <coldpress/run/labels.hpp>
#include <coldpress/run/metric_accumulator.hpp>
#include <coldpress/run/passes.hpp>
#include <coldpress/run/samples.hpp>
#include <coldpress/run/stored_parameter.hpp>
#include <coldpress/typed/constant_weights.hpp>
#include <coldpress/typed/default_backend.hpp>
#include <coldpress/typed/diagnosis.hpp>
#include <coldpress/typed/program_of.hpp>

namespace coldpress {

namespace detail {
/// Where a layer's own code refuses its inputs, calls that code, or else the whole function of the network, so that the
/// compiler prints the call that is not a constant expression.
template <bool by_layer, Sentence, class Net, Inputs in, int kind, int place>
struct Refused {
  static constexpr bool again = true;
};
template <Sentence about, class Net, Inputs in, int kind, int place>
requires(kind >= 0) struct Refused<true, about, Net, in, kind, place> {
  static constexpr Diagnosis said = diagnosis_of<Net, in, true>();
  static constexpr bool again = ask_layer(place, said.type.data(), caught<Net, in, kind, place>,
                                          {said.shapes, static_cast<std::size_t>(said.inputs)});
};
#if !defined __clang__
template <Sentence about, class Net, Inputs in, int place>
struct Refused<true, about, Net, in, -1, place> {
  static constexpr bool again = runs<Net, in>(std::make_index_sequence<in.count>{});
};
#endif
}  // namespace detail

inline namespace COLDPRESS_KERNELS {

/// A network of type Net, which is a Sequential<...> or the Graph<...> of a function. `in` is the shape of one sample,
/// or Inputs{...} for several inputs. The batch size is Batch<N>, with all memory inside the object, or is known at run
/// time. Functions throw ShapeError if an input is not a whole number of samples.
template <class Net, Inputs in, class BatchSize = DynamicBatch, class BackendType = DefaultBackend>
class Network {
 public:
  using Backend = typename ComputingOf<BackendType>::type;
  using Transfer = HostTransfer<BackendType>;
  using T = typename Backend::Scalar;
  using Given = typename Transfer::template Given<T>;
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
  /// Whether a sample is a single step of a sequence, Shape{features} or with a first extent of one.
  static constexpr bool takes_steps() {
    for (int k = 0; k < input_count; ++k) {
      if (in[k].rank() > 1 && in[k][0] != 1) return false;
    }
    return true;
  }
  /// Which layer cannot be given a sequence in parts. Empty if all can.
  static constexpr Sentence needs_its_whole_input() {
    Sentence all{};
    for (int g = 0; g < Inference::plan().groups && !Inference::plan().streams; ++g) {
      int const head = Inference::group(g).head;
      if (head < 0 || Inference::planned.nodes[head].streams) continue;
      return all.add_part(Graph::names[head].view()).add(" needs its whole input at once");
    }
    return all;
  }
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

  /// Initialises the parameters by the layers' fillers and the seed. `transfer` says where the network is; for a GPU,
  /// on which device.
  explicit Network(std::uint64_t seed = 0, Transfer const& transfer = {},
                   WeightsStart start = WeightsStart::filled) requires(!has_constant_weights<BackendType>)
      : transfer_(transfer), seed_(seed) {
    parameters_.reserve(parameter_size);
    for (int i = 0; i < weight_count && start == WeightsStart::filled; ++i) {
      RandomStream const stream{seed, 0, std::string_view{weight_name(i)}};
      transfer_.change(parameters_.data() + offset(i), stored_size(i),
                       [&](T* at) { fill_parameter<Backend, fillers>(weight(i), stream, at); });
    }
  }

  /// The weights that a network with ConstantWeights borrows.
  using Weights = WeightsOf<T, Inference::parameter_size>;
  /// Computes with these weights, which are neither copied nor changed. `seed` is that of random layers.
  constexpr explicit Network(Weights const& weights, std::uint64_t seed = 0) requires has_constant_weights<BackendType>
      : parameters_(weights.values), seed_(seed) {}
  Network(Weights&&, std::uint64_t = 0) = delete;  // a temporary would not last
  /// Puts weights into the layout of the backend. Each argument is an array with the values of one weight, in the order
  /// and the layout of a file: weight_name(i), weight_shape(i).
  template <class... Values>
  static constexpr Weights arranged(Values const&... values) {
    static_assert(sizeof...(values) == weight_count, "arranged: give an array for each weight of the network");
    check_sizes<Values...>(std::make_integer_sequence<int, weight_count>{});
    Weights all{};
    int i = 0;
    (arrange(all, i++, std::data(values), static_cast<Index>(std::size(values))), ...);
    return all;
  }

  /// Returns the first output for a minibatch, {batch, output_shape}, in this network's own workspace. Each input is an
  /// argument; the last ones may be left out if only losses read them. The result is a view, which the next call with
  /// this workspace may overwrite or, for a larger batch, leave dangling: copy what has to last. It may be an input of
  /// that call.
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
    static_assert(sizeof(NetworkError<needs_its_whole_input()>) > 0);
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
    if constexpr (has_constant_weights<BackendType>) {
      return false;
    } else if constexpr (requires { Backend::trains; }) {
      return Backend::trains;
    } else {
      return true;
    }
  }();
  /// Forward that keeps what backward needs. `step` is the position in the random stream of Dropout; it starts at 1.
  /// Throws ShapeError for a step of 0, and for an expression that is not in memory, because backward reads the input
  /// again.
  template <class X>
  Samples<T> forward_training(X const& x, TrainingWorkspace& workspace, std::uint64_t step = 1) const {
    static_assert(trains,
                  "forward_training: the weights of this network are constant, or rounded by its backend, and only for "
                  "inference");
    require(step > 0, "forward_training: steps start at 1");
    auto const samples = detail::all_samples<T>(x);
    require(samples.borrowed(),
            "forward_training: backward reads the input again, so it must be an array in memory, not an expression");
    auto spans = samples.template spans<Given>();
    auto const run = start<Training>(spans, workspace, step);
    static_assert(reads_only<Training, samples.count>(),
                  "forward_training: give a value for each input that the outputs depend on, and for no other");
    workspace.gradients_.reserve(parameter_size);  // it may have been moved from
    std::array<Given, input_count> given{};
    freestanding::copy_n(spans.data(), samples.count, given.data());
    workspace.keep(given);
    workspace.step_ = 0;  // until everything that backward reads is there
    transfer_.play(ForwardOf{}, run);
    workspace.step_ = step;
    return workspace.remember(run);
  }
  /// Computes the gradients from those of the outputs, which are a std::tuple if there are several. Returns the
  /// gradient of the first input. Those of other inputs and of the parameters are in the workspace. The inputs that
  /// were given to forward_training must still exist. Throws ShapeError unless it comes once after each
  /// forward_training, with gradients of the outputs' shapes.
  template <class DY>
  Samples<T> backward(DY const& dy, TrainingWorkspace& workspace) const {
    auto const gradients = detail::all_samples<T>(dy);
    static_assert(gradients.count == output_count, "backward: give a gradient for each output of the network");
    auto spans = gradients.template spans<Given>();
    require(workspace.step_ > 0, "backward: call forward_training first");
    BasicWorkspace<Training>& memory = workspace;  // has room already
    auto given = workspace.kept();
    auto const run = start<Training>(given, memory, workspace.step_);
    for (int k = 0; k < output_count; ++k)
      check_values("backward: the gradient of an output", spans[static_cast<std::size_t>(k)].size(), run.batch,
                   shape_of_output(k));
    workspace.copy_results_given_to_backward(spans);
    std::array<T const*, output_count> seeds{};
    for (std::size_t k = 0; k < seeds.size(); ++k) seeds[k] = workspace.buffers_.bring(spans[k], input_count + k);
    workspace.step_ = 0;  // gradients overwrite values that a second backward would need
    transfer_.play(BackwardOf{}, run, seeds, workspace.gradients_.data());
    for (int k = 0; k < input_count; ++k) {
      Buffer const& dx = Training::plan().input_gradients[k];
      workspace.input_gradients_[static_cast<std::size_t>(k)] =
          workspace.place({{run.at(dx), static_cast<std::size_t>(dx.used() ? run.batch * dx.pitch : 0)}, run.batch});
    }
    return workspace.input_gradient(0);
  }
  /// Reserves memory for `batch` samples: forward and step then allocate nothing for up to this many, unless they are
  /// given results of the network.
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

  // The weights in canonical order and shape, named as in a file: linear1-0 {out, in} and linear1-0-bias. Reading and
  // writing throw ShapeError for another number of values, or if there is no weight i.
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
    raise<ConfigError>(sentence_of("the network has no weight '", name, "'"));
  }
  void read_weight(int i, std::span<T> values) const { read(parameters_.data(), i, values); }
  void write_weight(int i, std::span<T const> values) requires(!has_constant_weights<BackendType>) {
    write(parameters_.data(), i, values);
  }

  /// The same for any buffer with the layout of the parameters, such as gradients or the state of an optimizer.
  void read(T const* buffer, int i, std::span<T> values) const {
    check(i, values.size());
    transfer_.read(buffer + offset(i), stored_size(i),
                   [&](T const* at) { read_parameter<Backend>(weight(i), at, values.data()); });
  }
  void write(T* buffer, int i, std::span<T const> values) const {
    check(i, values.size());
    transfer_.change(buffer + offset(i), stored_size(i),
                     [&](T* at) { write_parameter<Backend>(weight(i), at, values.data()); });
  }

  /// All parameters as one flat buffer in the backend's layout, including its padding, for optimizers.
  static constexpr Index parameter_size = Inference::parameter_size;
  std::span<T> parameters() requires(!has_constant_weights<BackendType>) {
    check_not_moved();
    return {parameters_.data(), static_cast<std::size_t>(parameter_size)};
  }
  std::span<T const> parameters() const {
    check_not_moved();
    return {parameters_.data(), static_cast<std::size_t>(parameter_size)};
  }
  Transfer const& transfer() const { return transfer_; }
  /// Copies samples or targets to the network's GPU, where they stay as long as the returned object exists. forward,
  /// evaluate, train_minibatch and the others accept that object instead of values on the host, and then copy nothing.
  /// Whatever the checks need to know about the values is found out here, once.
  template <class X>
  auto upload(X const& x) const requires requires(Transfer const& on, std::span<T const> values) {
    on.upload(values);
  }
  { return transfer_.upload(SamplesOf<X, T>{x}.values); }
  /// The seed of the initial values and of Dropout's random streams.
  std::uint64_t seed() const { return seed_; }
  void set_seed(std::uint64_t seed) { seed_ = seed; }

  /// Starts a pass of a program over the samples of each input. It is public for classes that have their own program,
  /// such as Solver. The targets may be one more input. Inputs that the pass would overwrite are replaced by copies.
  template <class Program, bool streams = false, class Values, std::size_t n, class Space>
  auto start(std::array<Values, n>& samples, Space& workspace, std::uint64_t step) const {
    constexpr auto given = freestanding::min<std::size_t>(n, input_count);
    auto const batch = [&] {
      auto const count = count_batch<Batch>(samples[0].size(), in[0].size(), in[0]);
      if constexpr (is_linked<Backend>) {
        return Index{count};
      } else {
        return count;
      }
    }();
    for (std::size_t k = 1; k < given; ++k) {
      if (samples[k].empty() && !Program::plan().reads[k]) continue;  // only losses read it
      int const number = static_cast<int>(k);
      check_equally_many(count_samples(samples[k].size(), in[number].size(), in[number], number), number, batch);
    }
    check_not_moved();
    workspace.copy_results(samples);
    workspace.reserve(batch);
    Backend backend{};
    if constexpr (Program::scratch_size > 0) backend.scratch = workspace.scratch();
    if constexpr (requires { backend.executor; }) workspace.attach(backend);
    Program::lend_workers(backend);
    auto const& program = workspace.program(backend, seed_);
    using Carried = std::conditional_t<streams || !compiles_variants<Backend>, T*, std::nullptr_t>;
    Run<std::remove_cvref_t<decltype(program)>, Backend, std::remove_const_t<decltype(batch)>, Carried> run{
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
    return pass(samples.template spans<Given>(), workspace, [](Index) { return nullptr; });
  }
  /// Forward. carried(batch) is the state of the layers.
  template <std::size_t n, class Carried>
  __attribute__((always_inline)) coldpress::Samples<T> pass(std::array<Given, n> samples, Workspace& workspace,
                                                            Carried carried) const {
    if constexpr (Workspace::repeats) {
      count_batch<Batch>(samples[0].size(), in[0].size(), in[0]);
      auto& calls = workspace.calls_;
      T* const state = carried(1);
      samples[0] = calls.take(samples[0]);
      if (calls.are_of(parameters_.data(), state, seed_)) {
        calls.make();
        return workspace.output(0);
      }
      auto const make = [&](decltype(Backend::tape) tape) {
        auto run = start<Inference, true>(samples, workspace, 0);
        run.state = state, run.backend.tape = tape;
        transfer_.play(ForwardOf{}, run);
        workspace.note(run);
      };
      workspace.executor() ? make(nullptr) : calls.keep(parameters_.data(), state, seed_, make);
      return workspace.output(0);
    } else {
      constexpr bool streams = !std::is_null_pointer_v<decltype(carried(Index{}))>;
      auto run = start<Inference, streams>(samples, workspace, 0);
      run.state = carried(run.batch);
      transfer_.play(ForwardOf{}, run);
      return workspace.remember(run);
    }
  }
  template <class Inputs>
  coldpress::Samples<T> evaluate_all(Inputs const& samples, Evaluation& evaluation) const {
    static_assert(Inputs::count == input_count, "evaluate: give a value for each input of the network");
    auto spans = samples.template spans<Given>();
    check_labels<Graph>(spans);
    auto run = start<Evaluating>(spans, evaluation, 0);
    run.sums = evaluation.sums();
    transfer_.play(EvaluationOf{}, run);
    return evaluation.remember(run);
  }
  template <class Samples>
  static void check_borrowed(Samples const& samples) {
    require(!passes_through || samples.borrowed(), "forward: a network of views needs an array, not an expression");
  }
  /// Whether an output is a view of an input.
  static constexpr bool passes_through = [] {
    for (int node : Graph::outputs) {
      if (Inference::planned.group_of[static_cast<std::size_t>(node)] < 0) return true;
    }
    return false;
  }();
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
  /// The fillers that are compiled; linked kernels come with all.
  static constexpr Fillers fillers = [] {
    if constexpr (is_linked<Backend>) return all_fillers;
    Fillers all = 0;
    for (int const i : Graph::weights) all |= fillers_of(Graph::parameters.list[i].filler.kind);
    return all;
  }();
  static constexpr Index offset(int i) { return Inference::memory.slots[Graph::weights[i]].offset; }
  /// The number of values of an array, if its type says so; otherwise 0.
  template <class V>
  static constexpr Index size_of_array = [] {
    if constexpr (std::is_array_v<V>) {
      return static_cast<Index>(std::extent_v<V>);
    } else if constexpr (requires { std::tuple_size<V>::value; }) {
      return static_cast<Index>(std::tuple_size_v<V>);
    } else {
      return Index{0};
    }
  }();
  template <class... Values, int... i>
  static constexpr void check_sizes(std::integer_sequence<int, i...>) {
    static_assert(
        ((size_of_array<Values> == 0 || size_of_array<Values> == weight_shape(i).size()) && ...),
        "arranged: an array has a different number of values than its weight; the order is that of a file, in "
        "which a matrix comes before its bias");
  }
  static constexpr void arrange(Weights& all, int i, T const* values, Index size) {
    require(size == weight_shape(i).size(), "arranged: an array has a different number of values than its weight");
    Parameter const& parameter = weight(i);
    T* const storage = all.values + offset(i);
    Backend const backend{};
    for (Index e = 0; e < size; ++e) backend.put(parameter, storage, e, values[e]);
  }
  static constexpr Index stored_size(int i) { return Inference::memory.slots[Graph::weights[i]].size; }
  void check_not_moved() const {
    require(parameter_size == 0 || parameters_.data() != nullptr, "network: has been moved from");
  }
  void check(int i, std::size_t size) const {
    check_not_moved();
    if (i < 0 || i >= weight_count) refuse("network: no weight has number ", i, "; there are ", weight_count);
    if (static_cast<Index>(size) != weight_shape(i).size())
      refuse("network: weight '", weight_name(i).view(), "' of shape ", weight_shape(i), " has ",
             weight_shape(i).size(), " values, got ", size);
  }
  template <Index size>
  using Memory = typename Transfer::template Memory<T, Batch, size>;
  struct Nothing {
    explicit Nothing(Transfer const&) {}
  };
  [[no_unique_address]] Transfer transfer_;
  using Parameters = std::conditional_t<has_constant_weights<BackendType>, BorrowedMemory<T>, Memory<parameter_size>>;
  Parameters parameters_ = transfer_.template memory<Parameters>();
  Workspace workspace_{transfer_};
  State state_{transfer_};
  [[no_unique_address]] std::conditional_t<(Graph::sums > 0), Evaluation, Nothing> evaluation_{transfer_};
  std::uint64_t seed_;
};

/// A network that does not compile. It says why, and accepts whatever else the program does with it.
template <class Net, Inputs in, class BatchSize, class BackendType>
requires(!(detail::compiles<Net, in> && detail::right_batch<BatchSize>)) class Network<Net, in, BatchSize, BackendType>
    : public Network<Sequential<Identity{}>, Shape{1}, DynamicBatch, BackendType> {
  using Base = Network<Sequential<Identity{}>, Shape{1}, DynamicBatch, BackendType>;
  using Result = Samples<typename Base::T>;

 public:
  static constexpr bool is_wrong = true;
  template <class... Any>
  explicit Network(Any const&...);
  template <class... Any>
  Result forward(Any const&...) const;
  template <class... Any>
  Result evaluate(Any const&...) const;
  template <class... Any>
  Result step(Any const&...) const;
  template <class... Any>
  Result forward_training(Any const&...) const;
  template <class... Any>
  Result backward(Any const&...) const;
  template <FixedString name, class... Any>
  Result output(Any const&...) const;
  template <FixedString name>
  double statistic() const;

 private:
  static constexpr detail::Diagnosis said = detail::diagnosis_of<Net, in, detail::right_batch<BatchSize>>();
  // These come last, since clang stops at the first that fails. The first always holds: it only makes the compiler give
  // the reason, without a second error.
  static_assert(
      __builtin_constant_p(detail::Refused<said.by_layer, said.text(), Net, in, said.kind, said.place>::again) || true);
#if defined __clang__
  static_assert(!said.by_layer || said.kind >= 0 ||
                detail::runs<Net, in>(std::make_index_sequence<static_cast<std::size_t>(in.count)>{}));
  static_assert(said.by_layer || detail::print < said.place == 0 ? -1 : said.inputs > (said));
#else
  static_assert(sizeof(NetworkError < said.by_layer ? Sentence{} : said.text() >) > 0);
#endif
};

}  // namespace COLDPRESS_KERNELS
}  // namespace coldpress

#include <coldpress/typed/workspaces.hpp>
