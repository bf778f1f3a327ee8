// Trains an engine's network: backward passes and updates. Programs that never train do not link it.
#pragma once

#include "engine.hpp"

#include <coldpress/run/microbatches.hpp>

namespace coldpress::dynamic {

template <class Backend>
class Trainer final : public Training {
 public:
  explicit Trainer(Engine<Backend>& engine) : engine_(engine) {
    if (engine_.rounds())
      throw UnsupportedError{"network: its weights are in bfloat16, for inference alone; train one of floats"};
    if constexpr (requires { engine.backend_.prepare_training(); }) engine.backend_.prepare_training();
  }
  static std::unique_ptr<Training> make(Engine<Backend>& engine) { return std::make_unique<Trainer>(engine); }

  std::span<Values const> backward_input(std::span<Values const> output_gradients, Homes homes) override {
    auto const& outputs = engine_.output_shapes_;
    Index const batch = kept_batch();
    if (output_gradients.size() != outputs.size())
      refuse("backward: expected a gradient for each of ", outputs.size(), " outputs, got ", output_gradients.size());
    for (std::size_t k = 0; k < outputs.size(); ++k)
      check_values("backward: the gradient of an output", output_gradients[k].size(), batch, outputs[k]);
    if (Space& space = *engine_.training_; space.has_results(output_gradients))
      output_gradients = space.copy_results(space.gradients, output_gradients);
    auto const run = resume(outputs.size());
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      auto const there =
          engine_.transfer_.bring(output_gradients[k], engine_.input_shapes_.size() + 1 + k, engine_.home(homes, k));
      seed_gradient(run, run.program.output(static_cast<int>(k)), there);
    }
    coldpress::backward(run, gradients(), Pass::inputs);
    engine_.passed_back_ = true;
    remember_input_gradients(run);
    engine_.transfer_.submit();
    return engine_.results_.input_gradients_there();
  }
  void backward_parameters() override {
    require(engine_.passed_back_, "backward_parameters: call backward_input first");
    coldpress::backward(resume(SIZE_MAX), gradients(), Pass::parameters);
    engine_.transfer_.submit();
  }
  void subtract_gradients() override {
    Program const& program = engine_.inference_.program;
    subtract(engine_.backend_, engine_.parameters_.data(), engine_.parameters_.base(Executable::gradient),
             program.slots(), program.parameter_count(), engine_.parameters_.frozen());
    engine_.transfer_.submit();
  }

  void gather_state(TrainingOptions const& options, int states, bool waiting, bool on_all_ranks) override {
    Whereabouts& where = engine_.parameters_.where;  // the option may have changed since the last step
    bool const divided = options.shard_optimizer || where.state == Whereabouts::shares;
    microbatches_.distribute_over(options.communicator, divided, where);
    microbatches_.gather(states, waiting, on_all_ranks, buffers());
  }
  void train_minibatch(std::span<Values const> inputs, Values targets, std::optional<Objective> const& objective,
                       TrainingOptions const& options, Progress& progress, Homes homes) override {
    Graph const& graph = *engine_.graph_;
    bool const in_parts = options.microbatch > 0;
    given_.assign(inputs.begin(), inputs.end()), given_.push_back(targets);  // the inputs may be a list of results
    inputs = std::span{given_}.first(inputs.size());
    if (options.communicator && !in_parts)
      throw ConfigError{"solver: the ranks of a communicator share the parts of a minibatch; microbatch is 0"};
    if (in_parts && !knows_loss<Backend>)
      throw UnsupportedError{"solver: microbatch is for networks on the host; on a device a step is one pass"};
    if (in_parts && graph.force_backward)
      throw UnsupportedError{"solver: with a microbatch there are no gradients of the inputs (force_backward)"};
    microbatches_.distribute_over(options.communicator, options.shard_optimizer, engine_.parameters_.where);
    prepare(objective);
    auto& transfer = engine_.transfer_;
    auto& gathered = engine_.gathered_;
    auto& parameters = engine_.parameters_;
    Program const& program = space_->program;
    Index const batch = engine_.samples(program, inputs);
    if (objective) check_values("train_minibatch: the targets", targets.size(), batch, program.target_shape());
    engine_.check_labels(program, inputs, targets, homes);
    if (space_->has_results(given_, microbatches_)) {
      auto const given = space_->copy_results(space_->inputs, given_, microbatches_);
      inputs = given.first(inputs.size()), targets = given.back();
    }
    auto run = engine_.start(*space_, inputs, homes, engine_.step_ + 1, 0, in_parts ? options.microbatch : PTRDIFF_MAX);
    run.sums = gathered.sums(Mode::training);
    if (objective)
      run.inputs[inputs.size()] = transfer.bring(targets, inputs.size(), engine_.home(homes, inputs.size()));
    gathered.start_step();
    auto const each_loss = [&](int g, float value) {
      gathered.add_loss(static_cast<std::size_t>(program.group(g).loss), value);
    };
    std::visit(
        [&](auto const& optimizer) {
          using Optimizer = std::remove_cvref_t<decltype(optimizer)>;
          UpdateSink<Optimizer, float> sink{optimizer, 0, parameters.data(), {}};
          microbatches_.place_states(sink, buffers());
          auto const* const frozen = transfer.flags(parameters.frozen(), program.parameter_count());
          UpdateStep<Optimizer, float> update_step{sink, options, options.minibatch_size, progress, run.batch, frozen};
          bool const fused = update_step.fuses() && !program.shares() && !graph.has_custom_parameters() &&
                             (fuses_update_of<Backend, Optimizer> || transfer.fuses());
          // This may run out of memory. Nothing has changed yet.
          float* const gradients = fused ? nullptr : parameters.base(Executable::gradient);
          bool taken = true;
          auto const step_in_parts = [&] {
            if constexpr (knows_loss<Backend>) {  // others have been refused
              microbatches_.reserve(run, {options.microbatch, program.scratch(), program.parameter_size(), graph.sums,
                                          options.bfloat16_gradients, options.sync_batch_normalization});
              return microbatches_.train_step(run, update_step, buffers(), each_loss);
            } else {
              return 0.0f;
            }
          };
          if (in_parts) {
            float const loss = step_in_parts();
            taken = loss - loss == 0;
          } else if (!transfer.step(space_->passes, run, update_step, gradients, each_loss)) {
            float const loss = train_step(run, update_step, gradients, each_loss);
            taken = !knows_loss<Backend> || loss - loss == 0;
          }
          if (taken) progress = update_step.after(), ++engine_.step_;
        },
        options.optimizer);
    gathered.end_step();
    engine_.forget();
    if (graph.force_backward) remember_input_gradients(run);
    engine_.remember(run);
    if (in_parts) {
      microbatches_.for_each_output(run, [&](std::size_t k, float const* values) {
        engine_.results_.put(k, {values, engine_.results_.outputs_there()[k].size()});
      });
    }
  }

 private:
  using Space = dynamic::Space<Backend>;
  using EngineRun = typename Engine<Backend>::EngineRun;

  /// The buffers that ranks may divide; see StateShares.
  struct Buffers {
    ParameterStore<Backend>& parameters;
    Whereabouts& where;
    float* gradients() const { return parameters.base(Executable::gradient); }
    float const* known_state(int s) const { return parameters.known(Executable::state + s); }
    float* state(int s) const { return parameters.base(Executable::state + s); }
    void drop_states() const { parameters.drop_states(); }
  };
  Buffers buffers() { return {engine_.parameters_, engine_.parameters_.where}; }

  /// Plans training for an objective, or for the network's own losses.
  void prepare(std::optional<Objective> const& objective) {
    if (space_ && trained_for_ == objective) return;
    Graph const& graph = *engine_.graph_;
    if (!objective && !graph.has_losses()) throw ConfigError{"the network has no loss, and there is no objective"};
    PlanOptions const options{.training = true, .losses = true, .input_gradient = graph.force_backward};
    auto fresh = std::make_unique<Space>(engine_.transfer_, graph, engine_.backend_, options, engine_.seed_,
                                         objective ? &*objective : nullptr);
    fresh->program.link_training();
    if (!fresh->program.learns()) throw ConfigError{"no gradient reaches any weight: nothing would learn"};
    // The copy may run out of memory, so it is made before anything changes. It is on the heap, because g++ would warn
    // that parts of an optional one may be uninitialised.
    auto fresh_objective = std::make_unique<std::optional<Objective>>(objective);
    if (space_) {  // its memory and its layers will be destroyed
      engine_.transfer_.start(0);
      engine_.results_.drop();
      engine_.transfer_.forget_layers();
    }
    space_ = std::move(fresh);
    trained_for_ = std::move(*fresh_objective);
  }
  Index kept_batch() const {
    require(!engine_.kept_.empty(), "backward: call forward in training mode first");
    return engine_.samples(engine_.training_->program, engine_.kept_);
  }
  EngineRun resume(std::size_t kept) {
    engine_.training_->program.link_training();
    return engine_.start(*engine_.training_, engine_.kept_, nullptr, engine_.step_, kept);
  }
  GradientSinks<float> gradients() {
    engine_.parameters_.where.gradients = Whereabouts::whole;
    return {{engine_.parameters_.base(Executable::gradient)}, engine_.training_->program.slots()};
  }
  /// Remembers the gradients of the inputs: zeros for an input that no gradient reaches.
  void remember_input_gradients(EngineRun const& run) {
    engine_.reserve_zeros(run.program.plan(), run.batch);
    for (std::size_t k = 0; k < engine_.input_shapes_.size(); ++k) {
      Buffer const& dx = run.program.plan().input_gradients[k];
      auto const size = static_cast<std::size_t>(run.batch * engine_.input_shapes_[k].size());
      engine_.results_.put(engine_.output_shapes_.size() + k, {dx.used() ? run.at(dx) : engine_.zeros_.data(), size});
    }
  }

  Engine<Backend>& engine_;
  std::unique_ptr<Space> space_;  // for the objective of the last step
  std::optional<Objective> trained_for_;
  Microbatches<float> microbatches_;
  std::vector<Values> given_;  // the inputs and the targets of a step while it is taken
};

}  // namespace coldpress::dynamic
