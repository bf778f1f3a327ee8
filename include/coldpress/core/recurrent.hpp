// Recurrent layers: their kinds, the order of their packed weights, and sequences in memory.
#pragma once

#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/lengths.hpp>
#include <coldpress/core/rows.hpp>
#include <coldpress/core/spelling.hpp>

namespace coldpress {

enum class RnnType { lstm, gru, relu, tanh };
/// Whether the first layer has a matrix W_x, or adds its input to the gates' sums as it is.
enum class InputMode { linear_input, skip_input };
enum class DirectionMode { uni_directional, bi_directional };
/// The output of a recurrent layer: every step of the top layer, its last step, the last step of every layer, or every
/// step of the top layer and then the state of every layer after the last one.
enum class RnnOutput { sequence, last_step, layers, sequence_and_state };

// The enumerators as files spell them, after Juice.
constexpr auto spellings(RnnType) { return std::array<std::string_view, 4>{"LSTM", "GRU", "ReLU", "Tanh"}; }
constexpr auto spellings(InputMode) { return std::array<std::string_view, 2>{"LinearInput", "SkipInput"}; }
constexpr auto spellings(DirectionMode) { return std::array<std::string_view, 2>{"UniDirectional", "BiDirectional"}; }
constexpr auto spellings(RnnOutput) {
  return std::array<std::string_view, 4>{"Sequence", "LastStep", "Layers", "SequenceAndState"};
}

constexpr Index gates_of(RnnType type) { return type == RnnType::lstm ? 4 : type == RnnType::gru ? 3 : 1; }

/// The packed weights of a recurrent layer, in the order of cuDNN and Juice. A part is one direction of one layer.
/// First come all matrices: for each part W_x of all gates, then W_h of all gates, where each matrix is {hidden,
/// inputs} in row-major order. Then come all biases: for each part b_W of all gates, then b_R. The gates are i, f, g, o
/// for an LSTM and r, z, h~ for a GRU.
struct RecurrentWeights {
  Index gates = 0;  // 0: these are not recurrent weights
  Index input = 0, hidden = 0, layers = 0, directions = 1;
  bool skip = false;  // the first layer has no W_x

  constexpr Index parts() const { return layers * directions; }
  /// The number of columns of a part's W_x.
  constexpr Index inputs(Index part) const { return part >= directions ? directions * hidden : skip ? 0 : input; }
  constexpr Index biases() const { return gates * hidden; }  // of each of the two kinds, per part
  /// The offset of a part's matrices. With parts() as the argument, it is that of the biases.
  constexpr Index matrices(Index part) const {
    Index const first = part < directions ? part : directions;
    return gates * hidden * (first * (inputs(0) + hidden) + (part - first) * (directions + 1) * hidden);
  }
  constexpr Index size() const { return matrices(parts()) + parts() * 2 * biases(); }

  enum class Kind { input_matrix, hidden_matrix, input_bias, hidden_bias };
  struct Place {
    Index part;
    Kind kind;
    Index gate, unit, column;  // column: of the matrix, or 0 for a bias
    bool operator==(Place const&) const = default;
  };
  /// The place of an element of the packed weights.
  constexpr Place place(Index element) const {
    Index const all_matrices = matrices(parts());
    if (element >= all_matrices) {
      element -= all_matrices;
      Index const part = element / (2 * biases()), bias = element % (2 * biases());
      return {part, bias < biases() ? Kind::input_bias : Kind::hidden_bias, bias % biases() / hidden, bias % hidden, 0};
    }
    Index part = 0;
    while (matrices(part + 1) <= element) ++part;
    element -= matrices(part);
    Index const of_inputs = gates * hidden * inputs(part);
    bool const of_input = element < of_inputs;
    Index const columns = of_input ? inputs(part) : hidden;
    if (!of_input) element -= of_inputs;
    return {part, of_input ? Kind::input_matrix : Kind::hidden_matrix, element / (hidden * columns),
            element / columns % hidden, element % columns};
  }
  bool operator==(RecurrentWeights const&) const = default;
};

/// The matrices and biases of a part in canonical order: the element of gate q is w[(q * hidden + unit) * columns +
/// column].
template <class T>
struct PackedPart {
  T *of_x, *of_h, *bias_x, *bias_h;
  Index inputs, hidden;

  constexpr PackedPart(RecurrentWeights const& w, Index part, T* weights)
      : of_x(weights + w.matrices(part)),
        of_h(of_x + w.biases() * w.inputs(part)),
        bias_x(weights + w.matrices(w.parts()) + 2 * part * w.biases()),
        bias_h(bias_x + w.biases()),
        inputs(w.inputs(part)),
        hidden(w.hidden) {}
};

/// Whether the layer is a GRU whose reset gate is applied to h before the product with it.
constexpr bool resets_before(RnnType type, bool reset_after) { return type == RnnType::gru && !reset_after; }

/// The sum of a unit to which a gate adds its terms of x or of h. The sums of a GRU are n_x, r, z, n_h.
constexpr Index sum_of_x(Index gates, Index gate) { return gates == 3 ? (gate + 1) % 3 : gate; }
constexpr Index sum_of_h(Index gates, Index gate) { return gates == 3 ? gate + 1 : gate; }

/// The values of several samples over several steps.
template <class T>
struct Sequence {
  T* data;
  Index samples, steps, columns;
  Index sample_pitch, step_pitch, column_pitch = 1;

  constexpr T* at(Index step, Index sample) const { return data + step * step_pitch + sample * sample_pitch; }
  constexpr Sequence part(Index first, Index count) const {
    return {data + first * column_pitch, samples, steps, count, sample_pitch, step_pitch, column_pitch};
  }
  constexpr Sequence some(Index first, Index count) const {
    return {at(0, first), count, steps, columns, sample_pitch, step_pitch, column_pitch};
  }
  constexpr Sequence only(Index step) const {
    return {at(step, 0), samples, 1, columns, sample_pitch, step_pitch, column_pitch};
  }
  constexpr operator Sequence<T const>() const requires(!std::is_const_v<T>) {
    return {data, samples, steps, columns, sample_pitch, step_pitch, column_pitch};
  }
};

/// The arguments for computing one part of a recurrent layer. In `kept`, `gradients` and `state`, units are padded to
/// whole cache lines.
///   Per step, an LSTM keeps i, f, g, o, c, tanh c; a GRU n, r, z, m with n = tanh(n_x + r m), or n, r, z, r∘h if its
///   reset gate is applied before the product, where z and r∘h are stored in inference, too; tanh and relu only h.
///   Gradients are those of the gates' sums (for a GRU n_x, r, z, n_h), and what else flows to the step before.
template <class T>
struct Recurrence {
  static constexpr bool other_inputs = true;  // numbers of steps, or initial states

  RnnType type;
  bool reset_after;  // of a GRU
  RecurrentWeights weights;
  Index part;
  Sequence<T const> x;
  Sequence<T> h, kept, gradients;  // column 0 of h is the part's first unit; gradients are one contiguous matrix
  T* state;  // [h, c] per sample in rows of state_pitch: read and written; null: h and c start at zero
  Index state_pitch;
  bool reversed;  // computes from the last step to the first
  bool keeps;     // stores what backward needs
  // Steps at and after the length of a sample have zeros in h, `kept` and `gradients`, whatever x has there. A reversed
  // part so begins at the last step that the sample has, and there h and c are the initial ones. There is no state
  // then.
  Lengths<T> lengths = {};
  // Whether h, c in `kept`, and `gradients` have one more step, step(-1): the initial state, and then its gradient,
  // that of h in the first sum's place and that of c, as in every step, behind the sums. There is no state then.
  bool has_initial = false;
  // Whether there is a gradient of c after the last step of an LSTM: `gradients` then have one more step,
  // step(x.steps), with it behind the sums, as in every step.
  bool has_final_gradient = false;

  /// The same for some of the samples.
  constexpr Recurrence some(Index first, Index count) const {
    Recurrence all = *this;
    all.x = x.some(first, count), all.h = h.some(first, count);
    all.kept = kept.some(first, count), all.gradients = gradients.some(first, count);
    if (state) all.state += first * state_pitch;
    all.lengths = lengths.from(first);
    return all;
  }
  /// Whether a sample has ended before a step.
  constexpr bool over(Index step, Index sample) const { return lengths && step >= lengths.of(sample, x.steps); }
  /// Whether there are h and c before the step that is computed n-th.
  constexpr bool follows(Index n) const { return n > 0 || has_initial; }
  /// Whether the steps that a sample does not have pass on its initial state to those that are computed later.
  constexpr bool passes_initial(Index sample) const {
    return has_initial && reversed && lengths.of(sample, x.steps) > 0;
  }
  /// Whether the steps that a sample does not have pass on the gradient of its last c.
  constexpr bool passes_final_gradient(Index sample) const {
    return has_final_gradient && !reversed && lengths.of(sample, x.steps) > 0;
  }
  /// The first step that is computed of a sample which has any.
  constexpr Index first_of(Index sample) const {
    return reversed ? freestanding::max<Index>(lengths.of(sample, x.steps), 1) - 1 : 0;
  }
  /// Whether a gradient is cut before the first step.
  constexpr bool cuts_initial(Index truncation) const { return truncation > 0 && x.steps % truncation == 0; }
  /// h (0) or c (1) after each step.
  constexpr Sequence<T> states(Index which) const { return which > 0 ? kept.part(4 * units(), weights.hidden) : h; }
  /// The initial h (0) or c (1), and its gradient.
  constexpr Sequence<T> initial(Index which) const { return states(which).only(step(-1)); }
  constexpr Sequence<T> initial_gradient(Index which) const {
    return gradients.part(which > 0 ? 4 * units() : 0, weights.hidden).only(step(-1));
  }
  /// The gradient of c after the last step.
  constexpr Sequence<T> final_gradient() const {
    return gradients.part(4 * units(), weights.hidden).only(step(x.steps));
  }
  /// r∘h of a GRU whose reset gate is applied before the product.
  constexpr Sequence<T> reset_state() const { return kept.part(3 * units(), weights.hidden); }
  /// The step that is computed n-th, from 0.
  constexpr Index step(Index n) const { return reversed ? x.steps - 1 - n : n; }

  /// So many units fill whole vectors on every CPU.
  static constexpr Index padded(Index units) { return padded_size(units); }
  constexpr Index units() const { return padded(weights.hidden); }
  /// The number of values in `kept` per step and sample.
  static constexpr Index kept_size(RnnType type, Index hidden) {
    return padded_pitch(padded(hidden) * (type == RnnType::lstm ? 6 : type == RnnType::gru ? 4 : 0));
  }
  /// The number of values in `gradients` per step and sample.
  static constexpr Index gradients_size(RnnType type, Index hidden) {
    return padded_pitch(padded(hidden) * (gates_of(type) > 1 ? 5 : 1));
  }
  static constexpr Index state_size(RnnType type, Index hidden) {
    return padded(hidden) * (type == RnnType::lstm ? 2 : 1);
  }
};
/// What decides which kernels a recurrent layer needs.
struct RecurrentVariant {
  RnnType type;
  bool reset_after;
  RecurrentWeights weights;  // in backward passes; otherwise without gates
};
/// The same as Recurrence, with the variant as a std::integral_constant, or another class if the compiler does not know
/// it, and with what the compiler knows of what it may have.
template <class T, class Variant, bool more = true>
struct RecurrenceOf : Recurrence<T> {
  using Known = Variant;
  static constexpr bool other_inputs = more;
  constexpr bool over(Index step, Index sample) const {
    if constexpr (more) {
      return Recurrence<T>::over(step, sample);
    } else {
      return false;
    }
  }
  constexpr bool follows(Index n) const {
    if constexpr (more) {
      return Recurrence<T>::follows(n);
    } else {
      return n > 0;
    }
  }
};

/// A block of a stream's steps in one of the layers of an Rnn, or in two of them, the second above the first.
template <class R = Recurrence<float>>
struct SignalRecurrence {
  struct Layer {
    R r;  // its sequences have room for the longest block
    float const* weights;
    Signal<float const> x;  // the input; if it has no data, the input is already in r.x
    float* rows;       // receives the steps of x, where r.x reads them; null: x is one feature, which needs no copy
    Signal<float> y;   // receives h, unless it has no data
    Index y_distance;  // from one feature of y to the next

    /// The same with a recurrence of which the compiler knows more, or less.
    template <class To>
    constexpr typename SignalRecurrence<To>::Layer as() const {
      return {r, weights, x, rows, y, y_distance};
    }
  };
  Layer layers[2];
  int count;
  StepClock const* clock;
};

}  // namespace coldpress
