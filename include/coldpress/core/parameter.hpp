// Parameters as layers declare them: name, shape, and how they start.
#pragma once

#include <coldpress/core/recurrent.hpp>

namespace coldpress {

/// How a parameter starts. Made from one of the structs below; Filler{} is the layer's own choice.
struct Filler {
  enum class Kind { own, constant, glorot, xavier, gaussian, juice_bias, orthogonal };
  Kind kind = Kind::own;
  float a = 0, b = 0;
  bool operator==(Filler const&) const = default;
};
constexpr auto spellings(Filler::Kind) {
  return std::array<std::string_view, 7>{"own", "constant", "glorot", "xavier", "gaussian", "juice_bias", "orthogonal"};
}

/// What a penalty on the size of weights adds to the objective: decay w² / 2, or decay |w|.
enum class Regularization { l2, l1 };
/// That of one weight; own: the solver's.
enum class Regularizer { own, l2, l1 };
constexpr auto spellings(Regularization) { return std::array<std::string_view, 2>{"l2", "l1"}; }
constexpr auto spellings(Regularizer) { return std::array<std::string_view, 3>{"own", "l2", "l1"}; }

/// A bound on the size of weights: after each update whose number, from 1, `every` divides, the weights of an output
/// unit or filter (of a bias, all) are scaled down to this L2 norm where theirs is above. 0: no bound. Mocha's L2Cons;
/// Srebro and Shraibman 2005.
struct MaxNorm {
  float norm = 0;
  Index every = 1;
  bool operator==(MaxNorm const&) const = default;
};

/// What a user may say of a layer's parameter: Linear{.output_size = 10, .weight = Gaussian{.deviation = 0.01f}}, or
/// Linear{.output_size = 10, .weight = {.lr_mult = 0}, .bias = {.filler = Constant{1}, .decay_mult = 0}}.
struct Weight {
  Filler filler = {};
  float lr_mult = 1;     // of the learning rate; 0: it never changes
  float decay_mult = 1;  // of the weight decay
  Regularizer regularizer = Regularizer::own;
  MaxNorm max_norm = {};
  bool operator==(Weight const&) const = default;
};

/// Every element `value`.
struct Constant {
  float value;
  constexpr operator Filler() const { return {Filler::Kind::constant, value, 0}; }
  constexpr operator Weight() const { return {*this}; }
};
/// Uniform in [-r, r], r = sqrt(6 / (fan_in + fan_out)): Juice's Glorot (Glorot and Bengio 2010).
struct Glorot {
  constexpr operator Filler() const { return {Filler::Kind::glorot, 0, 0}; }
  constexpr operator Weight() const { return {*this}; }
};
/// Uniform in [-r, r], r = sqrt(3 / fan_in): Mocha's and Caffe's Xavier.
struct Xavier {
  constexpr operator Filler() const { return {Filler::Kind::xavier, 0, 0}; }
  constexpr operator Weight() const { return {*this}; }
};
/// Normal distribution.
struct Gaussian {
  float mean = 0, deviation = 1;
  constexpr operator Filler() const { return {Filler::Kind::gaussian, mean, deviation}; }
  constexpr operator Weight() const { return {*this}; }
};
/// gain times a matrix whose rows or columns, whichever are fewer, are orthonormal; rows are output units or filters
/// (Saxe et al. 2013).
struct Orthogonal {
  float gain = 1;
  constexpr operator Filler() const { return {Filler::Kind::orthogonal, gain, 0}; }
  constexpr operator Weight() const { return {*this}; }
};
/// What Juice does to biases: one u in [0, 1) a layer, and every element sqrt(2 u).
struct JuiceBias {
  constexpr operator Filler() const { return {Filler::Kind::juice_bias, 0, 0}; }
  constexpr operator Weight() const { return {*this}; }
};

/// One parameter of a layer. Shape and order are canonical (Juice's), fan_in and fan_out those of the initialisers'
/// formulas; factors, regularizer and bound are those of Weight.
struct Parameter {
  std::string_view name = {};    // within its layer: "weight", "bias"
  std::string_view suffix = {};  // Juice's ending of the name in a file: "-0", "-0-bias"
  Shape shape = {};
  Filler filler = {};
  Index fan_in = 0, fan_out = 0;
  float lr_mult = 1, decay_mult = 1;
  Regularizer regularizer = Regularizer::own;
  MaxNorm max_norm = {};
  float average = 0;                // above 0: a statistic; see is_statistic
  RecurrentWeights recurrent = {};  // its order, where it is not that of the shape
  Index filled = 0;                 // elements that the filler is for, the others start at 0; 0: all
  bool row_major = false;           // every backend keeps it in canonical order: a table whose rows are looked up

  /// As the user wants it. Throws ShapeError where that is not for a parameter of this shape.
  constexpr Parameter with(Weight const& wish) const {
    Parameter parameter = *this;
    if (wish.filler.kind != Filler::Kind::own) parameter.filler = wish.filler;
    parameter.lr_mult = wish.lr_mult, parameter.decay_mult = wish.decay_mult;
    parameter.regularizer = wish.regularizer, parameter.max_norm = wish.max_norm;
    require(wish.filler.kind != Filler::Kind::orthogonal || (shape.rank() > 1 && recurrent.gates == 0),
            "weight: Orthogonal is for those that are a matrix");
    require(wish.max_norm.norm == 0 || recurrent.gates == 0, "weight: those of a recurrent layer have no max_norm");
    return parameter;
  }
  /// Whether it is not learned but observed: what backward_parameters hands over is no gradient, and a step moves the
  /// values by `average` of the way there, whatever the optimizer, decay, clipping and minibatch size.
  constexpr bool is_statistic() const { return average > 0; }
};

/// Whether the same values mean the same in both, on every backend.
constexpr bool same_order(Parameter const& a, Parameter const& b) {
  return a.shape == b.shape && a.recurrent == b.recurrent && a.row_major == b.row_major;
}

/// How the weights of a new network start: as their fillers say, or at zero, for who writes them all himself.
enum class WeightsStart { filled, zero };

/// Where a parameter is in a flat buffer.
struct Slot {
  Index offset = 0, size = 0;
  int owner = 0;          // the first parameter that it is the same as, or itself
  bool shared = false;    // an earlier parameter is the same one
  bool adds = false;      // in a backward pass another use of it comes before
  bool reached = false;   // a gradient gets there
  bool observes = false;  // by this use itself
};
struct Slots {
  Slot const* slots;
  Parameter const* parameters;
};

/// The parameters of a layer that can do without some: the first `count`.
template <int most>
struct Parameters {
  Parameter list[most];
  int count;

  constexpr std::size_t size() const { return static_cast<std::size_t>(count); }
  constexpr Parameter const& operator[](int i) const { return list[i]; }
  constexpr Parameter const* begin() const { return list; }
  constexpr Parameter const* end() const { return list + count; }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Filler, kind, a, b);
COLDPRESS_FIELDS(coldpress::MaxNorm, norm, every);
COLDPRESS_FIELDS(coldpress::Weight, filler, lr_mult, decay_mult, regularizer, max_norm);
