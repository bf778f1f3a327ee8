// Parameters as layers declare them: name, shape and initialisation.
#pragma once

#include <coldpress/core/recurrent.hpp>

namespace coldpress {

/// How a parameter is initialised. It is made from one of the structs below; Filler{} means the layer's default.
struct Filler {
  enum class Kind { own, constant, glorot, xavier, gaussian, juice_bias, orthogonal };
  Kind kind = Kind::own;
  float a = 0, b = 0;
  bool operator==(Filler const&) const = default;
};
constexpr auto spellings(Filler::Kind) {
  return std::array<std::string_view, 7>{"own", "constant", "glorot", "xavier", "gaussian", "juice_bias", "orthogonal"};
}

/// The penalty on large weights that is added to the objective: decay w² / 2 (l2) or decay |w| (l1).
enum class Regularization { l2, l1 };
/// The penalty for one weight; `own` means the solver's.
enum class Regularizer { own, l2, l1 };
constexpr auto spellings(Regularization) { return std::array<std::string_view, 2>{"l2", "l1"}; }
constexpr auto spellings(Regularizer) { return std::array<std::string_view, 3>{"own", "l2", "l1"}; }

/// A bound on the L2 norm of weights. After every `every`-th update, counted from 1, the weights of each output unit or
/// filter (or a whole bias) are scaled down to this norm if theirs is larger. 0 means no bound. Mocha's L2Cons; Srebro
/// and Shraibman 2005.
struct MaxNorm {
  float norm = 0;
  Index every = 1;
  bool operator==(MaxNorm const&) const = default;
};

/// The user's settings for a parameter of a layer: Linear{.output_size = 10, .weight = Gaussian{.deviation = 0.01f}},
/// or Linear{.output_size = 10, .weight = {.lr_mult = 0}, .bias = {.filler = Constant{1}, .decay_mult = 0}}.
struct Weight {
  Filler filler = {};
  float lr_mult = 1;     // multiplies the learning rate; 0: the parameter never changes
  float decay_mult = 1;  // multiplies the weight decay
  Regularizer regularizer = Regularizer::own;
  MaxNorm max_norm = {};
  bool operator==(Weight const&) const = default;
};

/// Sets every element to `value`.
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
/// A normal distribution.
struct Gaussian {
  float mean = 0, deviation = 1;
  constexpr operator Filler() const { return {Filler::Kind::gaussian, mean, deviation}; }
  constexpr operator Weight() const { return {*this}; }
};
/// `gain` times a matrix whose rows or columns, whichever are fewer, are orthonormal. Rows are output units or filters
/// (Saxe et al. 2013).
struct Orthogonal {
  float gain = 1;
  constexpr operator Filler() const { return {Filler::Kind::orthogonal, gain, 0}; }
  constexpr operator Weight() const { return {*this}; }
};
/// Juice's initialisation of biases: it draws one u in [0, 1) per layer and sets every element to sqrt(2 u).
struct JuiceBias {
  constexpr operator Filler() const { return {Filler::Kind::juice_bias, 0, 0}; }
  constexpr operator Weight() const { return {*this}; }
};

/// One parameter of a layer. The shape and the order of the elements are canonical (Juice's). fan_in and fan_out are
/// those in the formulas of the initialisers. The multipliers, the regularizer and the bound are those of Weight.
struct Parameter {
  std::string_view name = {};    // within its layer: "weight", "bias"
  std::string_view suffix = {};  // Juice's ending of the name in a file: "-0", "-0-bias"
  Shape shape = {};
  Filler filler = {};
  Index fan_in = 0, fan_out = 0;
  float lr_mult = 1, decay_mult = 1;
  Regularizer regularizer = Regularizer::own;
  MaxNorm max_norm = {};
  float average = 0;                // above 0: this is a running statistic; see is_statistic
  RecurrentWeights recurrent = {};  // the order of its elements, if it is not that of the shape
  Index filled = 0;                 // the number of elements that are filled, while the others start at 0; 0: all
  bool row_major = false;           // every backend stores it in canonical order, as a table whose rows are looked up
  bool by_step = false;             // a matrix for each step of a sequence, stored like the one tap of a convolution

  /// The parameter with the user's settings. Throws ShapeError if they do not suit a parameter of this shape.
  constexpr Parameter with(Weight const& wish) const {
    Parameter parameter = *this;
    if (wish.filler.kind != Filler::Kind::own) parameter.filler = wish.filler;
    parameter.lr_mult = wish.lr_mult, parameter.decay_mult = wish.decay_mult;
    parameter.regularizer = wish.regularizer, parameter.max_norm = wish.max_norm;
    require(wish.filler.kind != Filler::Kind::orthogonal || (shape.rank() > 1 && recurrent.gates == 0),
            "weight: Orthogonal is possible only for a matrix");
    require(wish.max_norm.norm == 0 || recurrent.gates == 0, "weight: max_norm is not possible for recurrent weights");
    return parameter;
  }
  /// Whether this is a running statistic, which is observed and not learned. What backward_parameters gives for it is
  /// not a gradient but an observed value, and each step moves the statistic towards it by the fraction `average`,
  /// regardless of optimizer, decay, clipping and minibatch size.
  constexpr bool is_statistic() const { return average > 0; }
};

/// Whether both store the same elements in the same order, on every backend.
constexpr bool same_order(Parameter const& a, Parameter const& b) {
  return a.shape == b.shape && a.recurrent == b.recurrent && a.row_major == b.row_major && a.by_step == b.by_step;
}

/// How the weights of a new network are initialised: by their fillers, or with zeros if they will all be written
/// anyway.
enum class WeightsStart { filled, zero };

/// The place of a parameter in a flat buffer, in values.
struct Slot {
  Index offset = 0, size = 0;
  int owner = 0;          // the first parameter that it shares weights with, or itself
  bool shared = false;    // an earlier parameter has the same weights
  bool adds = false;      // in a backward pass, an earlier use has already written its gradient
  bool reached = false;   // some use of it contributes a gradient
  bool observes = false;  // this use of it contributes a gradient, or observes a running statistic
};
struct Slots {
  Slot const* slots;
  Parameter const* parameters;
};

/// The parameters of a layer in which some are optional: the first `count` entries of the list.
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
