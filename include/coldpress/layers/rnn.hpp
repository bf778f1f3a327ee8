// The layer Rnn: LSTM, GRU and plain recurrent layers, stacked and in one or two directions.
#pragma once

#include <coldpress/core/pass.hpp>
#include <coldpress/layers/dropout.hpp>
#include <coldpress/layers/rnn_memory.hpp>

namespace coldpress {

/// Recurrent layers, one on top of another. σ is the logistic function, and ∘ multiplies element by element.
///   LSTM (Hochreiter and Schmidhuber 1997; Gers et al. 2000): i, f, o = σ(W x + b_W + R h + b_R), g = tanh(likewise),
///     c <- f∘c + i∘g, h <- o∘tanh(c).
///   GRU (Cho et al. 2014): r, z = σ(W x + b_W + R h + b_R), h <- (1 - z)∘n + z∘h, where
///     n = tanh(W x + b_W + r∘(R h + b_R)), as cuDNN and PyTorch have it, or, without reset_after,
///     n = tanh(W x + b_W + R (r∘h) + b_R).
///   relu, tanh: h <- relu or tanh(W x + b_W + R h + b_R).
/// A sample is {steps, features}; {features} is one step, and so is Juice's {features, 1, ...}. The state starts at
/// zero, or where the last call of `step` ended. A second direction runs from the last step to the first; its units
/// follow those of the first direction, and its last step is step 0. The weights are one packed parameter
/// (core/recurrent.hpp).
///
/// A second input may be the number of steps of each sample, {1} (core/lengths.hpp). A sample then is a sequence of
/// that many steps: its last step is the last of these, where the second direction begins, and what x has in later
/// steps has no effect. Their outputs and gradients are zero, as is all of a sample without steps.
///
/// `output` "SequenceAndState" is {steps + states, units}: h after every step, then the last h of every layer and, of
/// an LSTM, the last c of every layer. Such a network takes its sequences whole.
///
/// With `initial_state`, the last input is h before the first step that is computed, or the last two are h and c of an
/// LSTM. Each is {units, layers}, as `output` "Layers" gives h after the last step, or {units} of one layer.
struct Rnn {
  static constexpr std::string_view name = "rnn";
  Index hidden_size = 10;
  Index num_layers = 1;
  RnnType rnn_type = RnnType::lstm;
  bool reset_after = true;        // of a GRU: whether its reset gate is applied after the product with h, or before
  float dropout_probability = 0;  // in training, of the values that one layer passes to the next
  std::uint64_t dropout_seed = 0;
  InputMode input_mode = InputMode::linear_input;
  DirectionMode direction_mode = DirectionMode::uni_directional;
  RnnOutput output = RnnOutput::sequence;  // {steps, units}, {units}, {units, layers}, or {steps + states, units}
  std::uint64_t truncation = 0;            // through so many steps, counted from the last, gradients flow; 0: all
  Weight weight = {};                      // initially Glorot; a filler applies to the matrices, biases start at zero
  bool initial_state = false;              // whether the last inputs are the state that sequences start from, or zero

  template <class Needs = Require>
  constexpr Shape output_shape(Shapes in, Needs require = {}) const {
    check(in, require);
    if (require.failed()) return {1};
    if (output == RnnOutput::sequence) return {steps(in[0]), units()};
    if (output == RnnOutput::sequence_and_state) return {steps(in[0]) + num_layers * states(), units()};
    return output == RnnOutput::last_step ? Shape{units()} : Shape{units(), num_layers};
  }
  constexpr auto parameters(Shapes in) const {
    check(in);
    RecurrentWeights const w = weights(in[0]);
    return std::array{Parameter{.name = "weight",
                                .suffix = "-0",
                                .shape = {w.size(), 1, 1},
                                .filler = Glorot{},
                                .fan_in = hidden_size,
                                .fan_out = hidden_size,
                                .recurrent = w,
                                .filled = w.matrices(w.parts())}
                          .with(weight)};
  }
  constexpr Index flops(Shapes in) const {
    RecurrentWeights const w = weights(in[0]);
    return 2 * steps(in[0]) * w.matrices(w.parts());
  }
  constexpr Index state(Shapes in) const {
    return may_stream(in) ? num_layers * Recurrence<float>::state_size(rnn_type, hidden_size) : 0;
  }
  /// Depends on the shape of the sequence alone, not on other inputs.
  template <PassKind kind>
  constexpr RecurrentVariant variant(Shape const& in) const {
    return {rnn_type, reset_after, kind == PassKind::backward ? weights(in) : RecurrentWeights{}};
  }
  constexpr Index memory(Shapes in) const {
    return RnnPlaces<Rnn>{*this}.size(steps(in[0]), features(in[0]), has_lengths(in));
  }
  template <class Backend>
  constexpr Index scratch(Shapes in, Extent extent) const {
    return Backend::recurrent_scratch(weights(in[0]), extent);
  }

  /// Always inlined, so that the compiler knows the sizes: computing them at run time would take longer than one step
  /// of a stream.
  __attribute__((always_inline)) constexpr void forward(auto const& backend, auto const& pass) const {
    if constexpr (is_signal<std::remove_cvref_t<decltype(pass.x[0])>>) {
      forward_block(backend, pass);
    } else {
      forward_rows(backend, pass);
    }
  }
  /// The sweep back through time. It leaves the gradients of all sums in memory.
  constexpr void backward(auto const& backend, auto const& pass) const {
    auto const work = work_of(backend, pass);
    for (Index layer = num_layers - 1; layer >= 0; --layer) {
      bool const top = layer == num_layers - 1;
      for (Index d = 0; d < directions(); ++d) {
        auto const given = work.units(work.outputs(pass.dy, layer), d);
        auto upper = top ? given : work.units(work.gradient(), d);
        if (output == RnnOutput::sequence_and_state) {
          upper = work.units(work.gradient(), d);
          work.add_state_gradient(backend, pass.dy, layer, d);
        }
        bool at_ends = false;
        if constexpr (other_inputs<decltype(pass)>) {
          at_ends = work.lengths && d == 0 && !has_sequence();
          if (at_ends) upper = work.units(work.gradient(), d);
          if (at_ends && (top || output == RnnOutput::layers))
            work.take_last_gradient(backend, pass.dy, given, upper, !top);
        }
        if (output == RnnOutput::layers && num_layers > 1 && !at_ends) {
          auto const last = work.last(work.units(work.gradient(), d), d);
          backend.copy(given, last, !top);
          if (top) upper = last;
        }
        backend.recurrent_gradient(work.part(layer, d, work.input(layer, false), true), pass.p[0], upper,
                                   static_cast<Index>(truncation));
      }
      if constexpr (!has_one_layer<decltype(pass)>) {
        if (layer == 0) break;
        input_gradient(backend, pass, work, layer, work.gradient());
        if (dropout_probability > 0) drop(backend, pass, layer, work.gradient(), work.gradient());
      }
    }
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    auto const work = work_of(backend, pass);
    if (pass.dx[0].data) input_gradient(backend, pass, work, 0, work.samples(pass.dx[0]));
    if constexpr (other_inputs<decltype(pass)>) {
      auto const dx = pass.dx[1];
      if (has_lengths(pass.in) && dx.data) each_sample(backend, dx, [&](Index n) { *dx.row(n) = 0; });
      for (Index s = 0; s < initial_states(); ++s) {
        if (auto const to = pass.dx[state_input(pass.in, s)]; to.data) work.give_initial_gradient(backend, s, to);
      }
    }
  }
  constexpr void backward_parameters(auto const& backend, auto const& pass) const {
    auto const work = work_of(backend, pass);
    backend.copy(work.samples(pass.x[0]), work.spare(work.features));
    if constexpr (other_inputs<decltype(pass)>) {
      if (work.lengths) work.clear_over(backend, pass.dy, work.spare(work.features));
    }
    for (Index layer = 0; layer < num_layers; ++layer) {
      auto const x = layer == 0 ? work.spare(work.features) : work.input(layer, dropout_probability > 0);
      for (Index d = 0; d < directions(); ++d) {
        backend.recurrent_weight_gradient(work.part(layer, d, x, true), pass.sinks[0]);
      }
    }
  }
  static constexpr Capabilities capabilities{.backward_reads_input = true,
                                             .backward_reads_output = false,
                                             .any_steps = true,
                                             .signals = true,
                                             .one_input = true};
  constexpr InputCapabilities capabilities_for(Shapes in) const {
    return {.streaming = may_stream(in) ? StreamSupport::always : StreamSupport::never,
            .mixes_samples = dropout_probability > 0 && num_layers > 1,  // each has random numbers of its own
            .loops_too = in.size() > 1};
  }
  /// The number of inputs that are the initial state, the last ones: h, or h and c.
  constexpr Index initial_states() const { return initial_state ? states() : 0; }
  /// How many values are the state of a layer: h, or h and c.
  constexpr Index states() const { return rnn_type == RnnType::lstm ? 2 : 1; }
  constexpr bool has_sequence() const {
    return output == RnnOutput::sequence || output == RnnOutput::sequence_and_state;
  }
  /// Whether there are gradients of c after the last step.
  constexpr bool has_final_gradient() const {
    return output == RnnOutput::sequence_and_state && rnn_type == RnnType::lstm;
  }
  constexpr Index directions() const { return direction_mode == DirectionMode::bi_directional ? 2 : 1; }
  /// The values of h of both directions.
  constexpr Index units() const { return hidden_size * directions(); }
  /// The order of the weights, for sequences of this shape.
  constexpr RecurrentWeights weights(Shape const& in) const {
    return {gates_of(rnn_type), features(in), hidden_size,
            num_layers,         directions(), input_mode == InputMode::skip_input};
  }
  bool operator==(Rnn const&) const = default;

 private:
  /// Whether the compiler knows that there is one layer.
  template <class Pass>
  static constexpr bool has_one_layer = requires {
    requires std::remove_cvref_t<Pass>::Variant::value.weights.layers == 1;
  };
  constexpr bool has_lengths(Shapes in) const { return static_cast<Index>(in.size()) > 1 + initial_states(); }
  /// The number of the input that is one of these.
  constexpr std::size_t state_input(Shapes in, Index which) const {
    return in.size() - static_cast<std::size_t>(initial_states() - which);
  }
  constexpr bool may_stream(Shapes in) const {
    return direction_mode == DirectionMode::uni_directional && in.size() == 1 &&
           output != RnnOutput::sequence_and_state;
  }
  /// Whether there may be other inputs than the sequence: unless the type of the pass shows that there are none.
  template <class Pass>
  static constexpr bool other_inputs = std::tuple_size_v<decltype(std::remove_cvref_t<Pass>::x)> != 1;
  static constexpr Index steps(Shape const& in) { return in.rank() == 2 ? in[0] : 1; }
  static constexpr Index features(Shape const& in) { return in[in.rank() == 2 ? 1 : 0]; }
  template <class Needs = Require>
  constexpr void check(Shapes inputs, Needs require = {}) const {
    auto const more = static_cast<Index>(inputs.size()) - initial_states();  // than states
    require(initial_states() != 0 || more == 1 || more == 2,
            "rnn: takes one or two inputs: a sequence, and the number of steps of each sample");
    require(initial_states() != 1 || more == 1 || more == 2,
            "rnn: with initial_state, takes a sequence, the number of steps of each sample or not, and the initial h");
    require(initial_states() != 2 || more == 1 || more == 2,
            "rnn: with initial_state, an LSTM takes a sequence, the number of steps of each sample or not, and the "
            "initial h and c");
    if (require.failed()) return;
    require(!has_lengths(inputs) || inputs[1] == Shape{1},
            "rnn: the second input must be the number of steps of each sample, {1}");
    for (Index s = 0; s < initial_states(); ++s) {
      Shape const& state = inputs[state_input(inputs, s)];
      bool const of_one = num_layers == 1 && state.rank() == 1;
      require((of_one || (state.rank() == 2 && state[1] == num_layers)) && state[0] == units(),
              "rnn: an initial h or c must be {units, num_layers}, or {units} of one layer; the units are hidden_size, "
              "or twice as many in two directions");
    }
    require(
        !has_lengths(inputs) || truncation == 0,
        "rnn: truncation counts from the last step of all samples, so it must be 0 where they have numbers of steps");
    Shape const& in = inputs[0];
    require(in.rank() > 0, "rnn: the input has no values");
    for (int axis = 1; in.rank() > 2 && axis < in.rank(); ++axis)
      require(in[axis] == 1, "rnn: a sample is {steps, features}, or {features, 1, ...} with one step");
    require(hidden_size > 0, "rnn: hidden_size must be at least 1");
    require(num_layers > 0 && num_layers <= 1024, "rnn: num_layers must be from 1 to 1024");
    bool const known = rnn_type >= RnnType::lstm && rnn_type <= RnnType::tanh &&
                       input_mode >= InputMode::linear_input && input_mode <= InputMode::skip_input &&
                       direction_mode >= DirectionMode::uni_directional &&
                       direction_mode <= DirectionMode::bi_directional && output >= RnnOutput::sequence &&
                       output <= RnnOutput::sequence_and_state;
    require(known, "rnn: an enumerator is not one of its type");
    require(reset_after || rnn_type == RnnType::gru, "rnn: only a GRU can be without reset_after");
    require(dropout_probability >= 0 && dropout_probability < 1,
            "rnn: dropout_probability must be at least 0 and below 1");
    require(input_mode == InputMode::linear_input || features(in) == hidden_size,
            "rnn: skip_input needs as many features as hidden_size");
    // No size that is computed below overflows, neither that of the weights nor that of the memory.
    static_cast<void>(Shape{num_layers, 16, hidden_size, units()}.size());
    static_cast<void>(Shape{8, units(), features(in)}.size());
    static_cast<void>(Shape{RnnPlaces<Rnn>{*this}.steps(steps(in)), num_layers, 16, units() + 16}.size());
    if (output == RnnOutput::sequence_and_state)
      static_cast<void>(Shape{steps(in) + num_layers * states(), units()}.size());
  }

  /// Whole sequences, or parts of sequences that continue from a state.
  __attribute__((always_inline)) constexpr void forward_rows(auto const& backend, auto const& pass) const {
    auto const work = work_of(backend, pass);
    if constexpr (other_inputs<decltype(pass)>) {
      for (Index s = 0; s < initial_states(); ++s) work.take_initial(backend, s, pass.x[state_input(pass.in, s)]);
    }
    // For a single step, the last layer writes h directly to the output if there is room for whole vectors.
    bool const direct = pass.step == 0 && steps(pass.in[0]) == 1 && output < RnnOutput::layers && directions() == 1 &&
                        !work.has_initial() && pass.y.pitch >= Recurrence<float>::padded(hidden_size);
    for (Index layer = 0; layer < num_layers; ++layer) {
      bool const drops = layer > 0 && pass.step > 0 && dropout_probability > 0;
      if (drops) drop(backend, pass, layer, work.h(layer - 1), work.dropped(layer));
      auto const x = layer == 0 ? work.samples(pass.x[0]) : work.input(layer, drops);
      for (Index d = 0; d < directions(); ++d) {
        auto part = work.part(layer, d, x, pass.step > 0);
        if (direct && layer == num_layers - 1) part.h = work.outputs(pass.y, 0);
        if (decltype(part.state) const state = pass.state) part.state = state + layer * work.batch * part.state_pitch;
        backend.recurrent(part, pass.p[0]);
      }
    }
    if (direct) return;
    if (has_sequence()) {
      backend.copy(work.h(num_layers - 1), work.outputs(pass.y, 0));
      if constexpr (other_inputs<decltype(pass)>) {  // where the second direction passes on its initial state
        if (work.lengths && work.has_initial() && directions() == 2)
          work.clear_over(backend, pass.y, work.outputs(pass.y, 0));
      }
      if (output == RnnOutput::sequence_and_state) work.give_states(backend, pass.y);
      return;
    }
    for (Index layer = output == RnnOutput::layers ? 0 : num_layers - 1; layer < num_layers; ++layer) {
      for (Index d = 0; d < directions(); ++d) {
        auto const to = work.units(work.outputs(pass.y, layer), d);
        Index const padded = Recurrence<float>::padded(hidden_size);  // for rows that end with this direction
        bool const whole = directions() == 1 && to.column_pitch == 1 && to.sample_pitch >= padded;
        work.give_last(backend, pass.y, work.units(work.h(layer), d), d, to, whole ? padded : hidden_size);
      }
    }
  }
  /// A block of a stream's steps, two layers at a time.
  template <class Backend, class Pass>
  constexpr void forward_block(Backend const& backend, Pass const& pass) const {
    using T = typename Backend::Scalar;
    Index const most = pass.most, last = num_layers - 1;
    RnnMemory<Rnn, Backend, T, typename Pass::Variant, false> const work{*this, weights(pass.in[0]),  1,
                                                                         most,  features(pass.in[0]), pass.memory};
    auto const spare = work.spare(work.features);
    Sequence<T const> const one_feature{nullptr, 1, most, 1, 1, 1};
    auto const block_of = [&](Index layer) {
      bool const first = layer == 0, copies = first && work.features > 1;
      auto part = work.part(layer, 0, copies ? spare : first ? one_feature : work.input(layer, false), false);
      part.state = pass.state + layer * part.state_pitch;
      typename SignalRecurrence<decltype(part)>::Layer block{.r = part,
                                                             .weights = pass.p[0],
                                                             .x = {},
                                                             .rows = copies ? spare.data : nullptr,
                                                             .y = {},
                                                             .y_distance = pass.y.pitch};
      if (first) block.x = pass.x[0];
      if (output == RnnOutput::layers) {
        block.y = {pass.y.data + layer * pass.y.pitch, hidden_size, pass.y.clock, pass.y.pitch, pass.y.mask};
        block.y_distance = num_layers * pass.y.pitch;
      } else if (layer == last) {
        block.y = pass.y;
      }
      return block;
    };
    for (Index layer = 0; layer < num_layers; layer += 2) {
      auto const lower = block_of(layer), upper = block_of(layer < last ? layer + 1 : layer);
      backend.recurrent(SignalRecurrence<decltype(lower.r)>{{lower, upper}, layer < last ? 2 : 1, pass.x[0].clock});
    }
  }
  template <class Backend, class Pass>
  constexpr auto work_of(Backend const&, Pass const& pass) const {
    using T = typename Backend::Scalar;
    Shape const& in = pass.in[0];
    RnnMemory<Rnn, Backend, T, typename Pass::Variant, other_inputs<Pass>> work{*this,     weights(in),  pass.x[0].rows,
                                                                                steps(in), features(in), pass.memory};
    if constexpr (other_inputs<Pass>) {
      if (has_lengths(pass.in)) work.lengths = {pass.x[1].data, pass.x[1].pitch};
    }
    return work;
  }

  /// y = x times this layer's dropout mask in the training step.
  template <class T>
  constexpr void drop(auto const& backend, auto const& pass, Index layer, Sequence<T> const& x,
                      Sequence<T> const& y) const {
    for (Index t = 0; t < x.steps; ++t) {
      auto const op = Dropout{.probability = dropout_probability}.op(
          mix(pass.key, static_cast<std::uint64_t>(layer * x.steps + t)));
      backend.map(Rows<T const>{x.at(t, 0), x.samples, x.columns, x.sample_pitch},
                  Rows<T>{y.at(t, 0), y.samples, y.columns, y.sample_pitch},
                  PostOps<Chain<DropoutOp>, T>{chain_of(op), pass.step});
    }
  }
  /// dx of a layer, from the gradients of its sums.
  template <class T>
  constexpr void input_gradient(auto const& backend, auto const& pass, auto const& work, Index layer,
                                Sequence<T> const& dx) const {
    auto const spare = work.spare(dx.columns);
    for (Index d = 0; d < directions(); ++d) {
      backend.recurrent_input_gradient(work.part(layer, d, spare, true), pass.p[0],
                                       Rows<T>{spare.data, work.batch * work.steps, spare.columns, spare.sample_pitch});
      backend.copy(spare, dx, d > 0);
    }
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Rnn, hidden_size, num_layers, rnn_type, reset_after, dropout_probability, dropout_seed,
                 input_mode, direction_mode, output, truncation, weight, initial_state);
