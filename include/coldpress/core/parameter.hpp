// Parameters as layers declare them: name, shape, and how they start.
#pragma once

#include <coldpress/core/recurrent.hpp>

#include <string_view>

namespace coldpress {

/// How a parameter starts. Made from one of the structs below; Filler{} is the layer's own choice.
struct Filler {
  enum class Kind { own, constant, glorot, xavier, gaussian, juice_bias };
  Kind kind = Kind::own;
  float a = 0, b = 0;
  bool operator==(Filler const&) const = default;
};

/// What a user may say of a layer's parameter: Linear{.output_size = 10, .weight = Gaussian{.deviation = 0.01f}}, or
/// Linear{.output_size = 10, .weight = {.lr_mult = 0}, .bias = {.filler = Constant{1}, .decay_mult = 0}}.
struct Weight {
  Filler filler = {};
  float lr_mult = 1;     // of the learning rate; 0: it never changes
  float decay_mult = 1;  // of the weight decay
  bool operator==(Weight const&) const = default;
};

/// What a penalty on the size of weights adds to the objective: decay w² / 2, or decay |w|.
enum class Regularization { l2, l1 };

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
/// What Juice does to biases: one u in [0, 1) a layer, and every element sqrt(2 u).
struct JuiceBias {
  constexpr operator Filler() const { return {Filler::Kind::juice_bias, 0, 0}; }
  constexpr operator Weight() const { return {*this}; }
};

/// One parameter of a layer. Shape and order are canonical (Juice's), fan_in and fan_out those of the initialisers'
/// formulas; the factors are those of Weight.
struct Parameter {
  std::string_view name = {};    // within its layer: "weight", "bias"
  std::string_view suffix = {};  // Juice's ending of the name in a file: "-0", "-0-bias"
  Shape shape = {};
  Filler filler = {};
  Index fan_in = 0, fan_out = 0;
  float lr_mult = 1, decay_mult = 1;
  RecurrentWeights recurrent = {};  // its order, where it is not that of the shape
  Index filled = 0;                 // elements that the filler is for, the others start at 0; 0: all
  bool row_major = false;           // every backend keeps it in canonical order: a table whose rows are looked up

  /// As the user wants it.
  constexpr Parameter with(Weight const& wish) const {
    Parameter parameter = *this;
    if (wish.filler.kind != Filler::Kind::own) parameter.filler = wish.filler;
    parameter.lr_mult = wish.lr_mult, parameter.decay_mult = wish.decay_mult;
    return parameter;
  }
};

/// Whether the same values mean the same in both, on every backend.
constexpr bool same_order(Parameter const& a, Parameter const& b) {
  return a.shape == b.shape && a.recurrent == b.recurrent && a.row_major == b.row_major;
}

/// Where a parameter is in a flat buffer.
struct Slot {
  Index offset = 0, size = 0;
  bool shared = false;   // an earlier parameter is the same one
  bool adds = false;     // in a backward pass another use of it comes before
  bool reached = false;  // a gradient gets there
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
