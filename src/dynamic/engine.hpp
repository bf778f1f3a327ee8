// Runs a graph on one backend: the executor of run/execute.hpp with programs in tables. Backward passes and training
// steps are in trainer.hpp.
#pragma once

#include "gathered.hpp"
#include "parameter_store.hpp"
#include "pass_results.hpp"
#include "recording.hpp"
#include "space.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/run/execute.hpp>
#include <coldpress/run/labels.hpp>
#include <coldpress/run/samples.hpp>

#include <algorithm>
#include <atomic>

namespace coldpress::dynamic {

template <class Backend>
class Engine;
template <class Backend>
class Trainer;
template <class Backend>
class EngineStream;

/// Makes the object that trains an engine's network. It is null in programs without that code, and set by
/// link_training() or by a backend that is linked together with its trainer.
template <class Backend>
inline std::atomic<std::unique_ptr<Training> (*)(Engine<Backend>&)> trainer_maker = nullptr;

/// Makes a stream of an engine's network; null in programs without that code, and for devices.
template <class Backend>
inline std::atomic<std::unique_ptr<StreamPasses<float>> (*)(Engine<Backend>&, Index)> stream_maker = nullptr;

template <class Backend>
class Engine final : public Executable {
 public:
  Engine(std::unique_ptr<Graph> graph, Backend backend, std::shared_ptr<Executor> executor, std::uint64_t seed,
         WeightsStart start)
      : Executable(EngineTransfer<Backend>::device_of(backend)),
        graph_(std::move(graph)),
        backend_(backend),
        transfer_(backend),
        executor_(std::move(executor)),
        seed_(seed),
        inference_(transfer_, *graph_, backend, PlanOptions{}, seed),
        parameters_(*graph_, inference_.program, transfer_, backend_),
        carried_(memory()),
        zeros_(memory()),
        gathered_(*graph_, transfer_),
        results_(transfer_, graph_->outputs.size(), static_cast<std::size_t>(graph_->inputs())) {
    if (rounds() && graph_->has_custom_parameters())
      throw UnsupportedError{"network: a registered layer has parameters, which it reads as floats, not as bfloat16"};
    if (!EngineTransfer<Backend>::runs_custom_layers && graph_->has_custom_layers())
      throw UnsupportedError{"network: a registered layer is code for the CPU, which the GPU cannot run"};
    for (int k = 0; k < graph_->inputs(); ++k)
      input_shapes_.push_back(graph_->nodes[static_cast<std::size_t>(k)].shape);
    for (int node : graph_->outputs) output_shapes_.push_back(graph_->nodes[static_cast<std::size_t>(node)].shape);
    kept_.reserve(input_shapes_.size());
    if (start == WeightsStart::filled) parameters_.fill(seed);
  }

  ~Engine() override { transfer_.end(); }

  std::span<Shape const> input_shapes() const override { return input_shapes_; }
  std::span<Shape const> output_shapes() const override { return output_shapes_; }
  std::vector<Weight> const& weights() const override { return parameters_.weights(); }

  void read(int buffer, int weight, std::span<float> values) const override {
    parameters_.read(buffer, weight, values);
  }
  void write(int buffer, int weight, std::span<float const> values) override {
    parameters_.write(buffer, weight, values);
  }
  void clear(int buffer) override { parameters_.clear(buffer); }
  bool is_finite() const override { return parameters_.is_finite(); }
  void set_frozen(int weight, bool frozen) override { parameters_.set_frozen(weight, frozen); }

  void reserve(Index batch, Mode mode) override {
    transfer_.start(0);
    make(inference_, inference_.room_for(batch));
    if (streams_ == 0) carried_.reserve(inference_.program.plan().state * batch);
    if constexpr (has_tape) {
      if (taped_) reserve_tapes(batch);
    }
    if (mode == Mode::inference) return;
    if (trainer_maker<Backend>.load(std::memory_order_relaxed) && !rounds()) linked_training();
    Space& space = training();
    Room const room = space.room_for(batch);
    if (room.values > space.memory.size()) forget();  // growing would lose the values that backward reads
    make(space, room);
    parameters_.base(gradient);
    reserve_zeros(space.program.plan(), batch);
  }
  std::span<Values const> forward(std::span<Values const> inputs, Mode mode, Homes homes) override {
    if (mode == Mode::inference) {
      inputs = take(inference_, inputs);
      return infer(recorder_.of(inputs), inputs, nullptr, homes);
    }
    Space& space = training();
    inputs = take(space, inputs);
    auto const run = start(space, inputs, homes, step_ + 1);
    forget();
    compute(space, run);
    kept_.assign(inputs.begin(), inputs.end()), ++step_;
    return remember(run);
  }
  std::span<Values const> stream(std::span<Values const> inputs) override {
    // After reset streams_ is 0, and a stream that was never recorded fits no call.
    Recording const& stream = recorder_.stream();
    inputs = take(inference_, inputs);
    if (streams_ == stream.batch && plays(stream, inputs, carried_.data())) return play(stream, inputs);
    return stream_anew(inputs);
  }
  __attribute__((noinline)) std::span<Values const> stream_anew(std::span<Values const> inputs) {
    check_streams();
    Index const batch = samples(inference_.program, inputs);
    if (streams_ != 0 && streams_ != batch) coldpress::detail::refuse_other_batch(batch, streams_);
    carried_.reserve(inference_.program.plan().state * batch);
    streams_ = batch;
    infer(recorder_.stream(), inputs, carried_.data(), nullptr);
    return outputs();
  }
  void reset() override {
    transfer_.clear(carried_);
    streams_ = 0;
  }
  std::unique_ptr<StreamPasses<float>> stream_passes(Index most) override {
    auto* const make = stream_maker<Backend>.load(std::memory_order_relaxed);
    if (!make)
      throw UnsupportedError{"stream: a network on " + (device().empty() ? "this backend" : "'" + device() + "'") +
                             " computes no blocks of steps; it has step()"};
    return make(*this, most);
  }
  std::span<Values const> evaluate(std::span<Values const> inputs, Homes homes) override {
    if (!evaluation_)
      evaluation_ = std::make_unique<Space>(transfer_, *graph_, backend_, PlanOptions{.losses = true}, seed_);
    samples(evaluation_->program, inputs);
    check_labels(evaluation_->program, inputs, {}, homes);
    gathered_.start_evaluation();
    auto run = start(*evaluation_, take(*evaluation_, inputs), homes, 0);
    run.sums = gathered_.sums(Mode::inference);
    forget();
    if (!transfer_.evaluation(evaluation_->passes, run)) {
      compute(*evaluation_, run);
      loss_and_gradient(run, [](int, float) {});
    }
    return remember(run);
  }
  std::vector<double> sums(Mode mode) const override { return gathered_.read_sums(mode); }
  std::vector<std::pair<std::string, double>> statistics_of(std::span<double const> sums) const override {
    return gathered_.statistics_of(sums);
  }
  void reset_statistics(Mode mode) override { gathered_.reset(mode); }
  bool has_losses() const override { return graph_->has_losses(); }
  std::vector<std::pair<std::string, float>> const& losses() const override { return gathered_.losses(); }
  std::shared_ptr<SharedTensor::Home> upload(Values values) override { return transfer_.upload(values); }
  std::span<Values const> outputs() const override { return results_.outputs(); }
  std::span<Values const> input_gradients() const override { return results_.input_gradients(); }
  Made made(std::size_t k) const override { return results_.made(k); }
  std::uint64_t step() const override { return step_; }
  void set_step(std::uint64_t step) override { step_ = step; }
  std::uint64_t seed() const override { return seed_; }
  std::unique_ptr<Executable> another() const override {
    return std::make_unique<Engine>(std::make_unique<Graph>(*graph_), backend_, executor_, seed_, WeightsStart::zero);
  }

 private:
  friend class Trainer<Backend>;
  friend class EngineStream<Backend>;
  using Space = dynamic::Space<Backend>;
  using Memory = typename ParameterStore<Backend>::Memory;
  Memory memory() const { return transfer_.template memory<Memory>(); }
  using EngineRun = TableRun<Backend>;
  static constexpr bool has_tape = requires(Backend backend) { backend.tape; };
  void compute(Space& space, EngineRun const& run) const {
    if (!transfer_.forward(space.passes, run)) coldpress::forward(run);
  }
  /// Whether a recording can be replayed for this call.
  bool plays(Recording const& recording, std::span<Values const> inputs, float const* carried) const {
    return inputs.size() == input_shapes_.size() && recording.fits(inputs) && recording.state == carried &&
           recording.memory == inference_.memory.data();
  }
  std::span<Values const> play(Recording const& recording, std::span<Values const> inputs) {
    forget();
    recording.tape.play(inputs);
    return results_.show(recording.outputs);
  }
  std::span<Values const> infer(Recording& recording, std::span<Values const> inputs, float* carried, Homes homes) {
    if (plays(recording, inputs, carried)) return play(recording, inputs);
    forget();
    auto run = start(inference_, inputs, homes, 0);
    run.state = carried;
    if constexpr (has_tape) {
      if (taped_) {
        record(recording, run, inputs);
        recording.tape.play(inputs);
        return results_.outputs_there();
      }
    }
    compute(inference_, run);
    return remember(run);
  }
  /// Reserves tapes for up to `batch` samples: as long as the longest recording for batch sizes that are divided into
  /// blocks in every possible way.
  void reserve_tapes(Index batch) {
    constexpr Index ways = 3 * block_size;
    bool const streams = inference_.program.plan().streams && streams_ == 0;
    std::size_t size = 0, stream_size = 0;
    std::vector<Values> inputs(input_shapes_.size());
    for (Index some = batch; some > 0; --some) {
      if (some <= batch - ways && some > ways) some = ways;
      for (std::size_t k = 0; k < inputs.size(); ++k)
        inputs[k] = {cpu::HeapTape::stand_in(k), static_cast<std::size_t>(some * input_shapes_[k].size())};
      Room const room = inference_.room_for(some);
      Recording recording;
      record(recording, run_in(inference_, room, some, 0), inputs);
      size = std::max(size, recording.tape.size());
      if (!streams) continue;
      auto run = run_in(inference_, room, some, 0);
      run.state = carried_.data();
      record(recording, run, inputs);
      stream_size = std::max(stream_size, recording.tape.size());
    }
    recorder_.reserve(size, streams ? std::optional{stream_size} : std::nullopt, output_shapes_.size());
    results_.drop();
  }
  void record(Recording& recording, EngineRun const& run, std::span<Values const> inputs) {
    recorder_.record(
        recording, run, inference_.memory.data(), inputs, [&](EngineRun const& taped) { compute(inference_, taped); },
        [&](EngineRun const& taped) { return remember(taped); });
  }

  void check_streams() const {
    Program const& program = inference_.program;
    if (program.plan().streams) return;
    program.for_each_group([&](int g) {
      auto const head = static_cast<std::size_t>(program.group(g).head);
      if (program.group(g).head >= 0 && !program.nodes()[head].streams)
        refuse("step: layer '", program.names()[head], "' takes its input, samples of ", program.head_inputs(g)[0],
               ", whole, so a sequence cannot come in parts");
    });
  }
  Training& linked_training() override {
    if (!trainer_) trainer_ = trainer_maker<Backend>.load(std::memory_order_relaxed)(*this);
    return *trainer_;
  }
  bool rounds() const {
    if constexpr (requires { backend_.halves; }) {
      return backend_.halves;
    } else {
      return false;
    }
  }
  /// The number of samples in a minibatch. Throws ShapeError if the inputs disagree. An input that nothing reads may be
  /// empty.
  Index samples(Program const& program, std::span<Values const> inputs) const {
    if (inputs.size() != input_shapes_.size())
      refuse("network: takes ", counted(input_shapes_.size(), "input"), ", got ", inputs.size());
    Index batch = 0;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (inputs[k].empty() && k > 0 && !program.plan().reads[k]) continue;
      int const number = static_cast<int>(k);
      Index const samples = count_samples(inputs[k].size(), input_shapes_[k].size(), input_shapes_[k], number);
      if (k == 0) batch = samples;
      check_equally_many(samples, number, batch);
    }
    return batch;
  }
  /// The inputs of a pass, of which those that it would overwrite are copied. What is refused changes nothing.
  std::span<Values const> take(Space& space, std::span<Values const> inputs) {
    if (results_.lists(inputs)) {
      given_.assign(inputs.begin(), inputs.end());
      inputs = given_;
    }
    if (!space.has_results(inputs)) return inputs;
    samples(space.program, inputs);
    if (&space == training_.get()) forget();  // backward would read these inputs instead of those before
    return space.copy_results(space.inputs, inputs);
  }
  static SharedTensor::Home* home(Homes homes, std::size_t k) { return homes ? homes[k] : nullptr; }
  /// Checks labels on the host. They are fetched from a device unless they were checked before.
  void check_labels(Program const& program, std::span<Values const> inputs, Values targets, Homes homes) const {
    program.for_each_labelled([&](auto const& reader, Shape in, int input) {
      auto const k = static_cast<std::size_t>(input);
      Values labels = k == inputs.size() ? targets : inputs[k];
      std::vector<float> fetched;
      if (auto* const from = home(homes, k)) {
        if (auto const* const facts = from->facts(); facts && facts->are_labels_of(reader, in)) return;
        fetched.resize(labels.size()), from->pull(fetched), labels = fetched;
      }
      check_targets(reader, in, labels);
    });
  }
  /// Starts a pass, which computes up to `at_once` samples at once. If `kept` is above 0, the inputs are those of the
  /// previous call, and so are the first `kept` results.
  EngineRun start(Space& space, std::span<Values const> inputs, Homes homes, std::uint64_t step, std::size_t kept = 0,
                  Index at_once = PTRDIFF_MAX) {
    Index const batch = samples(space.program, inputs);
    Room const room = space.room_for(std::min(batch, at_once));
    transfer_.start(kept);
    if (kept == 0 && !EngineTransfer<Backend>::keeps_brought) forget();
    EngineRun run = run_in(space, room, batch, step);
    for (std::size_t k = 0; k < inputs.size(); ++k)
      run.inputs[k] = kept == 0 ? transfer_.bring(inputs[k], k, home(homes, k)) : transfer_.brought(inputs[k], k);
    return run;
  }
  /// A pass over `batch` samples, without its inputs.
  EngineRun run_in(Space& space, Room const& room, Index batch, std::uint64_t step) {
    make(space, room);
    return {space.program.passes(),
            space.equipped(backend_, room, executor_.get()),
            parameters_.data(),
            space.memory.data() + room.scratch,
            {},
            batch,
            seed_,
            step};
  }
  /// The plan for training by hand. It is made when first needed, because most networks are never trained by hand.
  Space& training() {
    if (!training_) {
      PlanOptions const options{.training = true, .input_gradient = true, .keep_gradients = true};
      training_ = std::make_unique<Space>(transfer_, *graph_, backend_, options, seed_);
    }
    return *training_;
  }
  void make(Space& space, Room const& room) {
    if (room.values > space.memory.size()) results_.drop();
    space.memory.reserve(room.values);
  }
  void forget() { kept_.clear(), results_.drop_input_gradients(), passed_back_ = false; }
  /// Remembers where the outputs are. They are fetched when they are read.
  std::span<Values const> remember(EngineRun const& run) {
    for (std::size_t k = 0; k < output_shapes_.size(); ++k) {
      auto const y = run.value(run.program.output(static_cast<int>(k)));
      results_.put(k, {y.data, static_cast<std::size_t>(y.rows * y.columns)});
    }
    transfer_.submit();
    return results_.outputs_there();
  }
  void reserve_zeros(PlanSummary const& plan, Index batch) {
    Index largest = 0;
    for (Shape const& shape : input_shapes_) largest = std::max(largest, shape.size());
    zeros_.reserve(plan.reaches_all ? 0 : batch * largest);
  }
  std::unique_ptr<Graph> graph_;
  Backend backend_;
  mutable EngineTransfer<Backend> transfer_;
  std::shared_ptr<Executor> executor_;
  std::uint64_t seed_, step_ = 0;
  Space inference_;
  std::vector<Shape> input_shapes_, output_shapes_;
  ParameterStore<Backend> parameters_;
  Memory carried_, zeros_;
  bool const taped_ = has_tape && inference_.program.calls_primitives();
  Recorder recorder_;
  Index streams_ = 0;  // the number of sequences that have begun
  Gathered<Backend> gathered_;
  std::unique_ptr<Space> training_, evaluation_;  // made when first needed
  std::vector<Values> given_;                     // a copy of a list of results that are inputs
  std::vector<Values> kept_;                      // the inputs of the last forward pass in training
  mutable PassResults<Backend> results_;
  bool passed_back_ = false;  // backward_input was called since the last forward pass
  std::unique_ptr<Training> trainer_;
};

}  // namespace coldpress::dynamic
