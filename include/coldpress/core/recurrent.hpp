// Recurrent layers: their kinds, the order of their packed weights, and sequences in memory.
#pragma once

#include <coldpress/core/rows.hpp>
#include <coldpress/core/spelling.hpp>

namespace coldpress {

enum class RnnType { lstm, gru, relu, tanh };
/// Whether the first layer has a W_x, or adds its input to the sums as it is.
enum class InputMode { linear_input, skip_input };
enum class DirectionMode { uni_directional, bi_directional };
/// What a recurrent layer hands on: every step of the top layer, its last step, or the last step of every layer.
enum class RnnOutput { sequence, last_step, layers };

// The enumerators as files spell them, after Juice.
constexpr auto spellings(RnnType) { return std::array<std::string_view, 4>{"LSTM", "GRU", "ReLU", "Tanh"}; }
constexpr auto spellings(InputMode) { return std::array<std::string_view, 2>{"LinearInput", "SkipInput"}; }
constexpr auto spellings(DirectionMode) { return std::array<std::string_view, 2>{"UniDirectional", "BiDirectional"}; }
constexpr auto spellings(RnnOutput) { return std::array<std::string_view, 3>{"Sequence", "LastStep", "Layers"}; }

constexpr Index gates_of(RnnType type) { return type == RnnType::lstm ? 4 : type == RnnType::gru ? 3 : 1; }

/// The packed weights of a recurrent layer in cuDNN's and Juice's order. A part is one direction of one layer. First
/// all matrices: of each part in turn W_x of all gates, then W_h of all gates, each matrix {hidden, inputs} row-major.
/// Then all biases: of each part b_W of all gates, then b_R. Gates are i, f, g, o (LSTM) and r, z, h~ (GRU).
struct RecurrentWeights {
  Index gates = 0;  // 0: these are no recurrent weights
  Index input = 0, hidden = 0, layers = 0, directions = 1;
  bool skip = false;  // the first layer has no W_x

  constexpr Index parts() const { return layers * directions; }
  /// Columns of W_x of a part.
  constexpr Index inputs(Index part) const { return part >= directions ? directions * hidden : skip ? 0 : input; }
  constexpr Index biases() const { return gates * hidden; }  // of each kind, of a part
  /// Where the matrices of a part start, and after the last part the biases.
  constexpr Index matrices(Index part) const {
    Index const first = part < directions ? part : directions;
    return gates * hidden * (first * (inputs(0) + hidden) + (part - first) * (directions + 1) * hidden);
  }
  constexpr Index size() const { return matrices(parts()) + parts() * 2 * biases(); }

  enum class Kind { input_matrix, hidden_matrix, input_bias, hidden_bias };
  struct Place {
    Index part;
    Kind kind;
    Index gate, unit, column;  // column of the matrix; 0 of a bias
    bool operator==(Place const&) const = default;
  };
  /// What an element of the packed weights is.
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

/// The matrices and biases of a part in canonical order: gate q's element is w[(q * hidden + unit) * columns + column].
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

/// Which of the sums of a unit a gate's terms of x and of h go to; those of a GRU are n_x, r, z, n_h.
constexpr Index sum_of_x(Index gates, Index gate) { return gates == 3 ? (gate + 1) % 3 : gate; }
constexpr Index sum_of_h(Index gates, Index gate) { return gates == 3 ? gate + 1 : gate; }

/// Values of several samples over several steps.
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

/// One part of a recurrent layer at work. Units are padded to whole cache lines in what it keeps of a step, in the
/// gradients and in its state.
///   LSTM keeps i, f, g, o, c, tanh c; a GRU n, r, z, m with n = tanh(n_x + r m); tanh and relu nothing but h.
///   Gradients are those of the gates' sums (n_x, r, z, m of a GRU), and what else flows to the step before.
template <class T>
struct Recurrence {
  RnnType type;
  RecurrentWeights weights;
  Index part;
  Sequence<T const> x;
  Sequence<T> h, kept, gradients;  // column 0 of h is the part's first unit; steps and samples of gradients: one matrix
  T* state;  // of a sample [h, c], rows state_pitch apart: from there and to there; null: from zero
  Index state_pitch;
  bool reversed;  // from the last step to the first
  bool keeps;     // what backward needs

  /// Of some samples.
  constexpr Recurrence some(Index first, Index count) const {
    Recurrence all = *this;
    all.x = x.some(first, count), all.h = h.some(first, count);
    all.kept = kept.some(first, count), all.gradients = gradients.some(first, count);
    if (state) all.state += first * state_pitch;
    return all;
  }
  /// The step that comes as number n.
  constexpr Index step(Index n) const { return reversed ? x.steps - 1 - n : n; }

  static constexpr Index padded(Index units) { return (units + 15) / 16 * 16; }
  constexpr Index units() const { return padded(weights.hidden); }
  /// Values of one step of one sample in `kept`.
  static constexpr Index kept_size(RnnType type, Index hidden) {
    return padded_pitch(padded(hidden) * (type == RnnType::lstm ? 6 : type == RnnType::gru ? 4 : 0));
  }
  /// Values of the same in `gradients`.
  static constexpr Index gradients_size(RnnType type, Index hidden) {
    return padded_pitch(padded(hidden) * (gates_of(type) > 1 ? 5 : 1));
  }
  static constexpr Index state_size(RnnType type, Index hidden) {
    return padded(hidden) * (type == RnnType::lstm ? 2 : 1);
  }
};

}  // namespace coldpress
