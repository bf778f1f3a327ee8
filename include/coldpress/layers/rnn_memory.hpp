// The memory of the layer Rnn in a pass: where its values are, and what comes into it and out of it.
#pragma once

#include <coldpress/core/each.hpp>
#include <coldpress/core/recurrent.hpp>

namespace coldpress {

/// The places in the memory of an Rnn, counted in values per sample and step: what each part keeps, and its gradients;
/// one row of h per layer; with several layers, numbers of steps, or states in the output, one more row for the
/// gradient of a layer's h; with dropout, the input of each layer but the first; and a spare row.
template <class Rnn>
struct RnnPlaces {
  Rnn const& rnn;

  /// The steps in memory before the first one and after the last one, where initial states and the gradients of the
  /// last c are. A second direction has them the other way round.
  constexpr Index steps_before() const {
    return rnn.initial_state || (rnn.has_final_gradient() && rnn.directions() == 2) ? 1 : 0;
  }
  constexpr Index steps_after() const {
    return rnn.has_final_gradient() || (rnn.initial_state && rnn.directions() == 2) ? 1 : 0;
  }
  constexpr Index kept_size() const { return Recurrence<float>::kept_size(rnn.rnn_type, rnn.hidden_size); }
  constexpr Index gradients_size() const { return Recurrence<float>::gradients_size(rnn.rnn_type, rnn.hidden_size); }
  constexpr Index rows(bool has_lengths) const {
    return rnn.num_layers == 1 && !has_lengths && rnn.output != RnnOutput::sequence_and_state ? 1
           : rnn.dropout_probability > 0                                                      ? 2 * rnn.num_layers
                                                                                              : rnn.num_layers + 1;
  }
  constexpr Index rows_offset() const { return rnn.num_layers * rnn.directions() * (kept_size() + gradients_size()); }
  constexpr Index spare_offset(bool has_lengths) const {
    return rows_offset() + rows(has_lengths) * padded_pitch(rnn.units());
  }
  /// All steps in memory of a sequence that has so many.
  constexpr Index steps(Index of_sequence) const { return steps_before() + of_sequence + steps_after(); }
  /// The values of a sample of so many steps of so many features.
  constexpr Index size(Index of_sequence, Index features, bool has_lengths) const {
    Index const spare = features > rnn.units() ? features : rnn.units();
    return steps(of_sequence) * (spare_offset(has_lengths) + padded_pitch(spare));
  }
};

/// A minibatch in memory, ordered by step and then by sample. Without `other_inputs`, the compiler knows that there are
/// neither numbers of steps nor initial states.
template <class Rnn, class Backend, class T, class Variant, bool other_inputs>
struct RnnMemory {
  Rnn const& rnn;
  RecurrentWeights weights;
  Index batch, steps, features;
  T* memory;
  Lengths<T> lengths = {};

  constexpr RnnPlaces<Rnn> places() const { return {rnn}; }
  constexpr bool has_initial() const { return other_inputs && rnn.initial_state; }
  /// The steps of what is at an offset, which others may precede and follow.
  constexpr Sequence<T> rows(Index offset, Index columns, Index pitch) const {
    Index const step = batch * pitch, before = places().steps_before() * step;
    return {memory + offset * batch * places().steps(steps) + before, batch, steps, columns, pitch, step};
  }
  constexpr Sequence<T> row(Index number) const {
    Index const size = padded_pitch(rnn.units());
    return rows(places().rows_offset() + number * size, rnn.units(), Backend::pitch(rnn.units()));
  }
  constexpr Sequence<T> h(Index layer) const { return row(layer); }
  constexpr Sequence<T> gradient() const { return row(rnn.num_layers); }
  constexpr Sequence<T> dropped(Index layer) const { return row(rnn.num_layers + layer); }
  constexpr Sequence<T> spare(Index columns) const {
    return rows(places().spare_offset(static_cast<bool>(lengths)), columns, Backend::pitch(columns));
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
  /// The step of a direction's values that is computed last.
  template <class Values>
  constexpr Sequence<Values> last(Sequence<Values> const& all, Index direction) const {
    return all.only(direction == 0 ? steps - 1 : 0);
  }
  __attribute__((always_inline)) constexpr RecurrenceOf<T, Variant, other_inputs> part(Index layer, Index direction,
                                                                                       Sequence<T const> x,
                                                                                       bool keeps) const {
    Index const number = layer * weights.directions + direction, kept = places().kept_size(),
                gradients = places().gradients_size(), offset = number * (kept + gradients);
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
  /// A part of which nothing but its memory is asked.
  __attribute__((always_inline)) constexpr auto part(Index layer, Index direction) const {
    return part(layer, direction, h(layer), true);
  }

  // What goes between this memory and the inputs and outputs of the layer. `y` and `dy` are all rows of an output.

  /// Puts the initial h (0) or c (1) where the steps of all parts find it. Behind it come zeros, because kernels read
  /// whole vectors, except behind an h that another direction's follows.
  constexpr void take_initial(auto const& backend, Index which, auto const& x) const {
    Index const padded = Recurrence<float>::padded(rnn.hidden_size);
    each_part(backend, x, padded, [&](Index n, auto first, Index end) {
      for (Index layer = 0; layer < rnn.num_layers; ++layer) {
        for (Index d = 0; d < rnn.directions(); ++d) {
          auto const from = units(of_layer(x, layer), d), to = part(layer, d).initial(which);
          Index const room = which > 0 ? padded : rnn.directions() > 1 ? rnn.hidden_size : to.sample_pitch;
          for (Index u = first; u < end && u < room; ++u)
            to.at(0, n)[u] = u < rnn.hidden_size ? from.at(0, n)[u * from.column_pitch] : 0;
        }
      }
    });
  }
  constexpr void give_initial_gradient(auto const& backend, Index which, auto const& dx) const {
    for (Index layer = 0; layer < rnn.num_layers; ++layer) {
      for (Index d = 0; d < rnn.directions(); ++d)
        backend.copy(part(layer, d).initial_gradient(which), units(of_layer(dx, layer), d));
    }
  }

  /// to = the step of a direction's h or c that is computed last of each sample, in so many columns.
  constexpr void give_last(auto const& backend, auto const& y, Sequence<T> const& from, Index direction,
                           Sequence<T> const& to, Index columns) const {
    if constexpr (other_inputs) {
      if (lengths && direction == 0) {
        return each_part(backend, y, rnn.hidden_size, [&](Index n, auto first, Index end) {
          T const* const x = from.at(last_step(n), n);
          for (Index u = first; u < end; ++u) to.at(0, n)[u * to.column_pitch] = x[u];
        });
      }
    }
    backend.copy(last(from, direction).part(0, columns), to);
  }
  /// The last h and c of all layers, behind the steps of the output.
  constexpr void give_states(auto const& backend, auto const& y) const {
    for (Index which = 0; which < rnn.states(); ++which) {
      for (Index layer = 0; layer < rnn.num_layers; ++layer) {
        for (Index d = 0; d < rnn.directions(); ++d) {
          give_last(backend, y, part(layer, d).states(which), d, units(last_state(y, which, layer), d),
                    rnn.hidden_size);
        }
      }
    }
  }
  /// The opposite of give_last for gradients of a sample's own last step, in the first direction: `from` becomes the
  /// gradient of that step, or is added to it. If it is not added, the gradients of the other steps are zero.
  constexpr void take_last_gradient(auto const& backend, auto const& dy, auto const& from, Sequence<T> const& to,
                                    bool add) const {
    each_part(backend, dy, rnn.hidden_size, [&](Index n, auto first, Index end) {
      Index const own = last_step(n);
      for (Index t = add ? own : 0; t < (add ? own + 1 : steps); ++t) {
        for (Index u = first; u < end; ++u) {
          T& value = to.at(t, n)[u];
          value = (add ? value : 0) + (t == own ? from.at(0, n)[u * from.column_pitch] : 0);
        }
      }
    });
  }
  /// Adds the gradients of the output's last h to those of a layer's h, which for the top layer are those of the
  /// output's steps, and stores that of c where the backward pass begins.
  constexpr void add_state_gradient(auto const& backend, auto const& dy, Index layer, Index d) const {
    auto const all = units(gradient(), d), of_h = units(last_state(dy, 0, layer), d);
    if (layer == rnn.num_layers - 1) backend.copy(units(outputs(dy, layer), d), all);
    if (lengths && d == 0) {
      take_last_gradient(backend, dy, of_h, all, true);
    } else {
      backend.copy(of_h, last(all, d), true);
    }
    if (!rnn.has_final_gradient()) return;
    auto const of_c = units(last_state(dy, 1, layer), d), to = part(layer, d).final_gradient();
    each_part(backend, dy, Recurrence<float>::padded(rnn.hidden_size), [&](Index n, auto first, Index end) {
      for (Index u = first; u < end; ++u) to.at(0, n)[u] = u < rnn.hidden_size ? of_c.at(0, n)[u] : 0;
    });
  }

  /// Writes zeros to the steps of x that samples do not have.
  constexpr void clear_over(auto const& backend, auto const& y, Sequence<T> const& x) const {
    each_part(backend, y, x.columns, [&](Index n, auto first, Index end) {
      for (Index t = lengths.of(n, steps); t < steps; ++t) {
        for (Index c = first; c < end; ++c) x.at(t, n)[c] = 0;
      }
    });
  }

 private:
  /// The last step of a sample, or the first one if it has none.
  constexpr Index last_step(Index sample) const { return freestanding::max<Index>(lengths.of(sample, steps), 1) - 1; }
};

}  // namespace coldpress
