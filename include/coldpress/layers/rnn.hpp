// The layer Rnn: LSTM, GRU and plain recurrent layers, stacked and in one or two directions.
#pragma once

#include <coldpress/core/each.hpp>
#include <coldpress/core/pass.hpp>
#include <coldpress/layers/dropout.hpp>

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
    return (steps(in[0]) + steps_before() + steps_after()) *
           (spare_offset(has_lengths(in)) + spare_size(features(in[0])));
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
          add_state_gradient(backend, pass.dy, work, layer, d);
        }
        bool at_ends = false;
        if constexpr (other_inputs<decltype(pass)>) {
          at_ends = work.lengths && d == 0 && !has_sequence();
          if (at_ends) upper = work.units(work.gradient(), d);
          if (at_ends && (top || output == RnnOutput::layers))
            pass_to_ends(backend, pass.dy, work, given, work.units(work.gradient(), d), !top);
        }
        if (output == RnnOutput::layers && num_layers > 1 && !at_ends) {
          auto const last = work.last(work.gradient(), d);
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
        if (auto const to = pass.dx[state_input(pass.in, s)]; to.data) give_initial_gradient(backend, work, s, to);
      }
    }
  }
  constexpr void backward_parameters(auto const& backend, auto const& pass) const {
    auto const work = work_of(backend, pass);
    backend.copy(work.samples(pass.x[0]), work.spare(work.features));
    if constexpr (other_inputs<decltype(pass)>) {
      if (work.lengths) clear_over(backend, pass.dy, work, work.spare(work.features));
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
  /// How many values are the state of a layer: h, or h and c.
  constexpr Index states() const { return rnn_type == RnnType::lstm ? 2 : 1; }
  constexpr bool has_sequence() const {
    return output == RnnOutput::sequence || output == RnnOutput::sequence_and_state;
  }
  /// Whether there are gradients of c after the last step.
  constexpr bool has_final_gradient() const {
    return output == RnnOutput::sequence_and_state && rnn_type == RnnType::lstm;
  }
  /// The steps in memory before the first one and after the last one, where initial states and the gradients of the
  /// last c are. A second direction has them the other way round.
  constexpr Index steps_before() const { return initial_state || (has_final_gradient() && directions() == 2) ? 1 : 0; }
  constexpr Index steps_after() const { return has_final_gradient() || (initial_state && directions() == 2) ? 1 : 0; }
  /// Whether there may be other inputs than the sequence: unless the type of the pass shows that there are none.
  template <class Pass>
  static constexpr bool other_inputs = std::tuple_size_v<decltype(std::remove_cvref_t<Pass>::x)> != 1;
  constexpr Index directions() const { return direction_mode == DirectionMode::bi_directional ? 2 : 1; }
  constexpr Index units() const { return hidden_size * directions(); }
  static constexpr Index steps(Shape const& in) { return in.rank() == 2 ? in[0] : 1; }
  static constexpr Index features(Shape const& in) { return in[in.rank() == 2 ? 1 : 0]; }
  constexpr RecurrentWeights weights(Shape const& in) const {
    return {gates_of(rnn_type), features(in), hidden_size,
            num_layers,         directions(), input_mode == InputMode::skip_input};
  }
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
    static_cast<void>(Shape{steps(in) + steps_before() + steps_after(), num_layers, 16, units() + 16}.size());
    if (output == RnnOutput::sequence_and_state)
      static_cast<void>(Shape{steps(in) + num_layers * states(), units()}.size());
  }

  // The memory per sample and step: what each part keeps, and its gradients; one row of h per layer; with several
  // layers, numbers of steps, or states in the output, one more row for the gradient of a layer's h; with dropout, the
  // input of each layer but the first; and a spare row.
  constexpr Index kept_size() const { return Recurrence<float>::kept_size(rnn_type, hidden_size); }
  constexpr Index gradients_size() const { return Recurrence<float>::gradients_size(rnn_type, hidden_size); }
  constexpr Index rows(bool has_lengths) const {
    return num_layers == 1 && !has_lengths && output != RnnOutput::sequence_and_state ? 1
           : dropout_probability > 0                                                  ? 2 * num_layers
                                                                                      : num_layers + 1;
  }
  constexpr Index rows_offset() const { return num_layers * directions() * (kept_size() + gradients_size()); }
  constexpr Index spare_offset(bool has_lengths) const {
    return rows_offset() + rows(has_lengths) * padded_pitch(units());
  }
  constexpr Index spare_size(Index input) const { return padded_pitch(input > units() ? input : units()); }

  /// A minibatch in memory, ordered by step and then by sample.
  template <class Backend, class T, class Variant, bool other_inputs>
  struct Work {
    Rnn const& rnn;
    RecurrentWeights weights;
    Index batch, steps, features;
    T* memory;
    Lengths<T> lengths = {};

    constexpr bool has_initial() const { return other_inputs && rnn.initial_state; }
    /// The steps of what is at an offset, which others may precede and follow.
    constexpr Sequence<T> rows(Index offset, Index columns, Index pitch) const {
      Index const before = rnn.steps_before(), all = before + steps + rnn.steps_after(), step = batch * pitch;
      return {memory + offset * batch * all + before * step, batch, steps, columns, pitch, step};
    }
    constexpr Sequence<T> row(Index number) const {
      Index const size = padded_pitch(rnn.units());
      return rows(rnn.rows_offset() + number * size, rnn.units(), Backend::pitch(rnn.units()));
    }
    constexpr Sequence<T> h(Index layer) const { return row(layer); }
    constexpr Sequence<T> gradient() const { return row(rnn.num_layers); }
    constexpr Sequence<T> dropped(Index layer) const { return row(rnn.num_layers + layer); }
    constexpr Sequence<T> spare(Index columns) const {
      return rows(rnn.spare_offset(static_cast<bool>(lengths)), columns, Backend::pitch(columns));
    }
    /// The input of a layer that is not the first.
    constexpr Sequence<T const> input(Index layer, bool drops) const {
      return drops ? dropped(layer) : h(layer > 0 ? layer - 1 : 0);
    }

    /// Rows of samples as sequences.
    template <class X>
    constexpr auto samples(X x) const {
      return Sequence<std::remove_reference_t<decltype(*x.data)>>{x.data, batch, steps, features, x.pitch, features};
    }
    /// The part of the output, or of its gradient, that belongs to a layer.
    template <class Y>
    constexpr auto outputs(Y y, Index layer) const {
      using Values = Sequence<std::remove_reference_t<decltype(*y.data)>>;
      Index const count = rnn.units();
      if (rnn.has_sequence()) return Values{y.data, batch, steps, count, y.pitch, count};
      if (rnn.output == RnnOutput::last_step) return Values{y.data, batch, 1, count, y.pitch, 0};
      return of_layer(y, layer);
    }
    /// The last h (0) or c (1) of a layer behind the steps of the output.
    template <class Y>
    constexpr auto last_state(Y y, Index which, Index layer) const {
      Index const row = steps + which * rnn.num_layers + layer;
      return Sequence<std::remove_reference_t<decltype(*y.data)>>{
          y.data + row * rnn.units(), batch, 1, rnn.units(), y.pitch, 0};
    }
    /// A layer of {units, layers}.
    template <class Y>
    constexpr auto of_layer(Y y, Index layer) const {
      using Values = Sequence<std::remove_reference_t<decltype(*y.data)>>;
      return Values{y.data + layer, batch, 1, rnn.units(), y.pitch, 0, rnn.num_layers};
    }
    template <class Values>
    constexpr Sequence<Values> units(Sequence<Values> const& all, Index direction) const {
      return all.part(direction * rnn.hidden_size, rnn.hidden_size);
    }
    template <class Values>
    constexpr Sequence<Values> last(Sequence<Values> const& all, Index direction) const {
      return units(all, direction).only(direction == 0 ? steps - 1 : 0);
    }
    __attribute__((always_inline)) constexpr RecurrenceOf<T, Variant, other_inputs> part(Index layer, Index direction,
                                                                                         Sequence<T const> x,
                                                                                         bool keeps) const {
      Index const number = layer * weights.directions + direction, kept = rnn.kept_size(),
                  gradients = rnn.gradients_size(), offset = number * (kept + gradients);
      return {{.type = rnn.rnn_type,
               .reset_after = rnn.reset_after,
               .weights = weights,
               .part = number,
               .x = x,
               .h = units(h(layer), direction),
               .kept = rows(offset, kept, kept),
               .gradients = rows(offset + kept, gradients, gradients),
               .state = nullptr,
               .state_pitch = Recurrence<T>::state_size(rnn.rnn_type, rnn.hidden_size),
               .reversed = direction == 1,
               .keeps = keeps,
               .lengths = lengths,
               .has_initial = has_initial(),
               .has_final_gradient = rnn.has_final_gradient()}};
    }
    /// The last step of a sample, or the first one if it has none.
    constexpr Index end(Index sample) const { return freestanding::max<Index>(lengths.of(sample, steps), 1) - 1; }
  };
  /// Whole sequences, or parts of sequences that continue from a state.
  __attribute__((always_inline)) constexpr void forward_rows(auto const& backend, auto const& pass) const {
    auto const work = work_of(backend, pass);
    if constexpr (other_inputs<decltype(pass)>) {
      for (Index s = 0; s < initial_states(); ++s) take_initial(backend, work, s, pass.x[state_input(pass.in, s)]);
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
          clear_over(backend, pass.y, work, work.outputs(pass.y, 0));
      }
      if (output == RnnOutput::sequence_and_state) give_states(backend, pass.y, work);
      return;
    }
    for (Index layer = output == RnnOutput::layers ? 0 : num_layers - 1; layer < num_layers; ++layer) {
      for (Index d = 0; d < directions(); ++d) {
        auto const to = work.units(work.outputs(pass.y, layer), d);
        if constexpr (other_inputs<decltype(pass)>) {
          if (work.lengths && d == 0) {
            take_ends(backend, pass.y, work, work.units(work.h(layer), d), to);
            continue;
          }
        }
        auto const from = work.last(work.h(layer), d);
        Index const padded = Recurrence<float>::padded(hidden_size);  // for rows that end with this direction
        bool const whole = directions() == 1 && to.column_pitch == 1 && to.sample_pitch >= padded;
        backend.copy(from.part(0, whole ? padded : hidden_size), to);
      }
    }
  }
  /// A block of a stream's steps, one layer after another.
  template <class Backend, class Pass>
  constexpr void forward_block(Backend const& backend, Pass const& pass) const {
    using T = typename Backend::Scalar;
    Index const most = pass.most, last = num_layers - 1;
    Work<Backend, T, typename Pass::Variant, false> const work{*this, weights(pass.in[0]),  1,
                                                               most,  features(pass.in[0]), pass.memory};
    auto const spare = work.spare(work.features);
    Sequence<T const> const one_feature{nullptr, 1, most, 1, 1, 1};
    for (Index layer = 0; layer < num_layers; ++layer) {
      bool const first = layer == 0, copies = first && work.features > 1;
      auto part = work.part(layer, 0, copies ? spare : first ? one_feature : work.input(layer, false), false);
      part.state = pass.state + layer * part.state_pitch;
      SignalRecurrence<decltype(part)> block{.r = part,
                                             .weights = pass.p[0],
                                             .clock = pass.x[0].clock,
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
      backend.recurrent(block);
    }
  }
  template <class Backend, class Pass>
  constexpr auto work_of(Backend const&, Pass const& pass) const {
    using T = typename Backend::Scalar;
    Shape const& in = pass.in[0];
    Work<Backend, T, typename Pass::Variant, other_inputs<Pass>> work{*this,     weights(in),  pass.x[0].rows,
                                                                      steps(in), features(in), pass.memory};
    if constexpr (other_inputs<Pass>) {
      if (has_lengths(pass.in)) work.lengths = {pass.x[1].data, pass.x[1].pitch};
    }
    return work;
  }

  /// Puts the initial h (0) or c (1) where the steps of all parts find it. Behind it come zeros, because kernels read
  /// whole vectors, except behind an h that another direction's follows.
  constexpr void take_initial(auto const& backend, auto const& work, Index which, auto const& x) const {
    Index const padded = Recurrence<float>::padded(hidden_size);
    each_part(backend, x, padded, [&](Index n, auto first, Index last) {
      for (Index layer = 0; layer < num_layers; ++layer) {
        for (Index d = 0; d < directions(); ++d) {
          auto const from = work.units(work.of_layer(x, layer), d),
                     to = work.part(layer, d, work.h(layer), true).initial(which);
          Index const room = which > 0 ? padded : directions() > 1 ? hidden_size : to.sample_pitch;
          for (Index u = first; u < last && u < room; ++u)
            to.at(0, n)[u] = u < hidden_size ? from.at(0, n)[u * from.column_pitch] : 0;
        }
      }
    });
  }
  /// The last h and c of all layers.
  constexpr void give_states(auto const& backend, auto const& y, auto const& work) const {
    for (Index which = 0; which < states(); ++which) {
      for (Index layer = 0; layer < num_layers; ++layer) {
        for (Index d = 0; d < directions(); ++d) {
          auto const from = work.part(layer, d, work.h(layer), true).states(which);
          auto const to = work.units(work.last_state(y, which, layer), d);
          if (work.lengths && d == 0) {
            take_ends(backend, y, work, from, to);
          } else {
            backend.copy(from.only(d == 0 ? work.steps - 1 : 0), to);
          }
        }
      }
    }
  }
  /// Adds the gradients of the output's last h to those of a layer's h, which for the top layer are those of the
  /// output's steps, and stores that of c where the backward pass begins.
  constexpr void add_state_gradient(auto const& backend, auto const& dy, auto const& work, Index layer, Index d) const {
    auto const all = work.units(work.gradient(), d), last = work.units(work.last_state(dy, 0, layer), d);
    if (layer == num_layers - 1) backend.copy(work.units(work.outputs(dy, layer), d), all);
    if (work.lengths && d == 0) {
      pass_to_ends(backend, dy, work, last, all, true);
    } else {
      backend.copy(last, all.only(d == 0 ? work.steps - 1 : 0), true);
    }
    if (!has_final_gradient()) return;
    auto const from = work.units(work.last_state(dy, 1, layer), d),
               to = work.part(layer, d, work.h(layer), true).final_gradient();
    each_part(backend, dy, Recurrence<float>::padded(hidden_size), [&](Index n, auto first, Index end) {
      for (Index u = first; u < end; ++u) to.at(0, n)[u] = u < hidden_size ? from.at(0, n)[u] : 0;
    });
  }
  constexpr void give_initial_gradient(auto const& backend, auto const& work, Index which, auto const& dx) const {
    for (Index layer = 0; layer < num_layers; ++layer) {
      for (Index d = 0; d < directions(); ++d)
        backend.copy(work.part(layer, d, work.h(layer), true).initial_gradient(which),
                     work.units(work.of_layer(dx, layer), d));
    }
  }

  /// to = the step of `from` with which each sample ends. `rows` are any of the minibatch.
  template <class T>
  constexpr void take_ends(auto const& backend, auto const& rows, auto const& work, Sequence<T> const& from,
                           Sequence<T> const& to) const {
    each_part(backend, rows, hidden_size, [&](Index n, auto first, Index last) {
      T const* const x = from.at(work.end(n), n);
      for (Index u = first; u < last; ++u) to.at(0, n)[u * to.column_pitch] = x[u];
    });
  }
  /// The opposite for gradients: `from` becomes the gradient of that step, or is added to it. If it is not added, the
  /// gradients of the other steps are zero.
  template <class T>
  constexpr void pass_to_ends(auto const& backend, auto const& rows, auto const& work, Sequence<T> const& from,
                              Sequence<T> const& to, bool add) const {
    each_part(backend, rows, hidden_size, [&](Index n, auto first, Index last) {
      Index const end = work.end(n);
      for (Index t = add ? end : 0; t < (add ? end + 1 : work.steps); ++t) {
        for (Index u = first; u < last; ++u) {
          T& value = to.at(t, n)[u];
          value = (add ? value : 0) + (t == end ? from.at(0, n)[u * from.column_pitch] : 0);
        }
      }
    });
  }
  /// Writes zeros to the steps of x that samples do not have.
  template <class T>
  constexpr void clear_over(auto const& backend, auto const& rows, auto const& work, Sequence<T> const& x) const {
    each_part(backend, rows, x.columns, [&](Index n, auto first, Index last) {
      for (Index t = work.lengths.of(n, work.steps); t < work.steps; ++t) {
        for (Index c = first; c < last; ++c) x.at(t, n)[c] = 0;
      }
    });
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
