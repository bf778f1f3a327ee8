// The memory of a network type's passes: the network's own, and one more for each thread that runs it.
#pragma once

#include <coldpress/run/input_copies.hpp>
#include <coldpress/typed/network.hpp>

namespace coldpress {
inline namespace COLDPRESS_KERNELS {

/// The state of the layers after the steps of the sequences so far.
template <class Net, Inputs in, class BatchSize, class BackendType>
class Network<Net, in, BatchSize, BackendType>::State {
 public:
  State() requires std::is_empty_v<Transfer> : State(Transfer{}) {}
  explicit State(Transfer const& transfer) : transfer_(transfer) {}
  void reset() {
    transfer_.clear(values_);
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
    if (batch_ != batch) batch_ = batch;
    return values_.data();
  }
  using Values = Memory<Inference::plan().state * BatchSize::capacity>;
  [[no_unique_address]] Transfer transfer_;
  Values values_ = transfer_.template memory<Values>();
  Index batch_ = 0;
};

/// The memory for one pass of `Program` at a time.
template <class Net, Inputs in, class BatchSize, class BackendType>
template <class Program>
class Network<Net, in, BatchSize, BackendType>::BasicWorkspace {
 public:
  BasicWorkspace() requires std::is_empty_v<Transfer> : BasicWorkspace(Transfer{}) {}
  /// On a GPU, pass net.transfer().
  explicit BasicWorkspace(Transfer const& transfer) : buffers_(transfer), values_(transfer.template memory<Values>()) {}
  /// Whether it records the kernel calls of a pass and repeats them without working them out again. This is possible if
  /// a pass over one small sample is nothing but kernel calls.
  static constexpr bool repeats = kept_calls<Program> > 0;
  void reserve(Index batch) { values_.reserve(Program::plan().workspace * batch + Program::scratch_size); }
  /// Whether a value is in this memory.
  bool holds(T const* value) const { return is_among(value, values_.data(), values_.size()); }
  /// Replaces inputs that are results of a pass in this memory, or in that of `others`, by copies: the next pass would
  /// overwrite them. Returns whether there were some. The inputs of a GPU are in memory of their own.
  template <class Inputs, class... Others>
  bool copy_results([[maybe_unused]] Inputs& given, Others const&... others) {
    if constexpr (copied > 0) {
      return input_copies_.replace(given, [&](T const* value) { return holds(value) || (others.holds(value) || ...); });
    } else {
      return false;
    }
  }
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
    if constexpr (lends_scratch) {
      context.attach(executor_, others_, Program::memory.worker_scratch);
    } else if constexpr (has_threads) {
      context.executor = executor_;
    }
  }
  /// The program of its passes.
  auto const& program(Backend& backend, std::uint64_t seed) { return prepared(program_, backend, seed); }
  /// Remembers where the outputs of a run are, and returns the first.
  template <class Run>
  Samples<T> remember(Run const& run) {
    note(run);
    // It is not read back from outputs_, which would wait until all of its parts are in memory.
    Samples<T> const first = made(run, std::integral_constant<int, 0>{});
    return {buffers_.fetch(first.values, 0), first.batch};
  }
  /// The same, but nothing is fetched from a device until it is read.
  template <class Run>
  void note(Run const& run) {
    buffers_.forget();
    for_each_output([&](auto k) { outputs_[static_cast<std::size_t>(int{k})] = place(made(run, k)); });
  }
  /// Remembers where the outputs of a step in parts are.
  template <class Run, class Parts>
  void note(Run const& run, Parts const& parts) {
    note(run);
    parts.for_each_output(run, [&](std::size_t k, T const* values) {
      outputs_[k] = {In::elsewhere, {{values, outputs_[k].samples.values.size()}, outputs_[k].samples.batch}, 0};
    });
  }
  /// Output k of the last run.
  Samples<T> output(int k) const { return fetched(outputs_[static_cast<std::size_t>(k)], k); }

 protected:
  enum class In { values, copies, elsewhere };
  /// Where samples are: if in the memory of a workspace, then how far in, so that a copy of the workspace has its own.
  struct Place {
    In memory = In::elsewhere;
    Samples<T> samples = {};
    Index offset = 0;
  };
  Place place(Samples<T> const& samples) const {
    T const* const first = samples.values.data();
    if (holds(first)) return {In::values, samples, first - values_.data()};
    if constexpr (copied > 0) {
      if (input_copies_.holds(first)) return {In::copies, samples, first - input_copies_.data()};
    }
    return {In::elsewhere, samples, 0};
  }
  std::span<T const> at(Place const& there) const {
    std::size_t const size = there.samples.values.size();
    if (there.memory == In::values) {
      if (values_.size() <= there.offset) return {};  // it was moved from
      return {values_.data() + there.offset, size};
    }
    if constexpr (copied > 0) {
      if (there.memory == In::copies) {
        if (input_copies_.data() == nullptr) return {};
        return {input_copies_.data() + there.offset, size};
      }
    }
    return there.samples.values;
  }
  Samples<T> fetched(Place const& there, int number) const {
    return {buffers_.fetch(at(there), static_cast<std::size_t>(number)), there.samples.batch};
  }

 private:
  friend Network;
  template <class Run, class K>
  static Samples<T> made(Run const& run, K k) {
    auto const y = run.value(run.program.output(k));
    return {{y.data, static_cast<std::size_t>(y.rows * y.columns)}, y.rows};
  }
  using Values = typename Transfer::template Workspace<
      T, Batch, Program::plan().workspace * BatchSize::capacity + Program::scratch_size, Program::starts_with_zeros>;
  using Buffers = typename Transfer::template Buffers<T>;
  std::array<Place, output_count> outputs_{};
  [[no_unique_address]] Buffers buffers_;
  Values values_;
  [[no_unique_address]] Program program_{};
  Executor* executor_ = nullptr;
  /// The values of a sample of each input. It is a function of its own because nvcc takes no such lambda here.
  template <int... k>
  static constexpr std::array<Index, sizeof...(k)> sizes_of(std::integer_sequence<int, k...>) {
    return {Index{Program::columns(std::integral_constant<int, -1 - k>{})}...};
  }
  /// The values of a sample of those inputs that may be results of an earlier pass. On the heap, any number stands for
  /// them.
  static constexpr Index copied = [] {
    if constexpr (!std::is_same_v<Given, std::span<T const>> || repeats) return Index{0};
    if constexpr (BatchSize::capacity == 0) return Index{1};  // many small results may be one large input
    Index largest = 0, all = 0;
    for (int k = 0; k < output_count; ++k) largest = freestanding::max(largest, shape_of_output(k).size());
    for (int k = 0; k < input_count; ++k) {
      if (Program::plan().input_gradients[k].used()) largest = freestanding::max(largest, in[k].size());
    }
    for (Index const size : sizes_of(std::make_integer_sequence<int, Program::inputs_capacity>{}))
      all += size <= largest ? size : 0;
    return all;
  }();
  using Copies = InputCopies<coldpress::Memory<T, Batch, copied * BatchSize::capacity>, passes_through>;
  struct Nothing {};
  [[no_unique_address]] std::conditional_t<(copied > 0), Copies, Nothing> input_copies_;
  static constexpr bool lends_scratch = has_threads && Program::memory.worker_scratch > 0;
  [[no_unique_address]] std::conditional_t<lends_scratch, HeapMemory<T>, Nothing> others_;
  [[no_unique_address]] typename KeptCalls<Backend, in[0].size(), kept_calls<Program>>::type calls_;
};

template <class Net, Inputs in, class BatchSize, class BackendType>
class Network<Net, in, BatchSize, BackendType>::Evaluation : public BasicWorkspace<Evaluating>,
                                                             public MetricAccumulator<Graph, Transfer> {
 public:
  Evaluation() requires std::is_empty_v<Transfer> : Evaluation(Transfer{}) {}
  explicit Evaluation(Transfer const& transfer)
      : BasicWorkspace<Evaluating>(transfer), MetricAccumulator<Graph, Transfer>(transfer) {}
};

template <class Net, Inputs in, class BatchSize, class BackendType>
class Network<Net, in, BatchSize, BackendType>::TrainingWorkspace : public BasicWorkspace<Training> {
 public:
  TrainingWorkspace() requires std::is_empty_v<Transfer> : TrainingWorkspace(Transfer{}) {}
  explicit TrainingWorkspace(Transfer const& transfer)
      : BasicWorkspace<Training>(transfer), gradients_(transfer.template memory<Memory<parameter_size>>()) {
    gradients_.reserve(parameter_size);
  }
  /// As that of BasicWorkspace. Copies of other inputs take the place of those that backward would read.
  template <class Inputs>
  void copy_results(Inputs& given) {
    if (BasicWorkspace<Training>::copy_results(given)) step_ = 0;
  }
  /// Backward then needs another forward_training, since memory that grows loses what it would read.
  void reserve(Index batch) { BasicWorkspace<Training>::reserve(batch), step_ = 0; }
  /// The gradients of all parameters, in the layout of Network::parameters().
  std::span<T const> gradients() const { return {gradients_.data(), size_of_gradients()}; }
  std::span<T> gradients() { return {gradients_.data(), size_of_gradients()}; }
  /// The gradient of input k; empty if none reaches it.
  Samples<T> input_gradient(int k) const {
    return this->fetched(input_gradients_[static_cast<std::size_t>(k)], output_count + k);
  }

 private:
  friend Network;
  /// The same for the gradients of the outputs, which are replaced while the inputs still have to be read.
  template <class Gradients>
  void copy_results_given_to_backward([[maybe_unused]] Gradients& gradients) {
    if constexpr (on_host) gradient_copies_.replace(gradients, [&](T const* value) { return this->holds(value); });
  }
  static constexpr Index size_of_outputs = [] {
    Index all = 0;
    for (int k = 0; k < output_count; ++k) all += shape_of_output(k).size();
    return all;
  }();
  Memory<parameter_size> gradients_;
  using Place = typename BasicWorkspace<Training>::Place;
  static constexpr bool on_host = std::is_same_v<Given, std::span<T const>>;
  struct NoCopies {};
  [[no_unique_address]] std::conditional_t<
      on_host, InputCopies<coldpress::Memory<T, Batch, size_of_outputs * BatchSize::capacity>, false>, NoCopies>
      gradient_copies_;
  /// Remembers what backward will read. The inputs of a GPU are where they were given.
  void keep(std::array<Given, input_count> const& given) {
    for (std::size_t k = 0; k < given.size(); ++k) {
      if constexpr (on_host) {
        inputs_[k] = this->place({given[k], 0});
      } else {
        inputs_[k] = given[k];
      }
    }
  }
  std::array<Given, input_count> kept() const {
    std::array<Given, input_count> given{};
    for (std::size_t k = 0; k < given.size(); ++k) {
      if constexpr (on_host) {
        given[k] = this->at(inputs_[k]);
      } else {
        given[k] = inputs_[k];
      }
    }
    return given;
  }
  std::array<std::conditional_t<on_host, Place, Given>, input_count> inputs_{};
  std::array<Place, input_count> input_gradients_{};
  /// Those of a workspace that was moved from are empty.
  std::size_t size_of_gradients() const { return static_cast<std::size_t>(gradients_.data() ? parameter_size : 0); }
  /// The step that backward belongs to, or 0. A workspace that was moved from has none.
  struct Step {
    std::uint64_t number;
    Step(std::uint64_t of) : number(of) {}
    Step(Step const&) = default;
    Step(Step&& other) noexcept : number(std::exchange(other.number, 0)) {}
    Step& operator=(Step other) noexcept {
      number = other.number;
      return *this;
    }
    operator std::uint64_t() const { return number; }
  };
  Step step_ = 0;
};

}  // namespace COLDPRESS_KERNELS
}  // namespace coldpress
