// Parameters as layers declare them: name, shape, and how they start.
#pragma once

#include <coldpress/core/shape.hpp>

#include <string_view>

namespace coldpress {

/// How a parameter starts. Made from one of the structs below: Linear{.output_size = 10, .weight = Gaussian{.deviation
/// = 0.01f}}.
struct Filler {
  enum class Kind { constant, glorot, xavier, gaussian, juice_bias };
  Kind kind;
  float a, b;
  bool operator==(Filler const&) const = default;
};

/// Every element `value`.
struct Constant {
  float value;
  constexpr operator Filler() const { return {Filler::Kind::constant, value, 0}; }
};
/// Uniform in [-r, r], r = sqrt(6 / (fan_in + fan_out)): Juice's Glorot (Glorot and Bengio 2010).
struct Glorot {
  constexpr operator Filler() const { return {Filler::Kind::glorot, 0, 0}; }
};
/// Uniform in [-r, r], r = sqrt(3 / fan_in): Mocha's and Caffe's Xavier.
struct Xavier {
  constexpr operator Filler() const { return {Filler::Kind::xavier, 0, 0}; }
};
/// Normal distribution.
struct Gaussian {
  float mean = 0, deviation = 1;
  constexpr operator Filler() const { return {Filler::Kind::gaussian, mean, deviation}; }
};
/// What Juice does to biases: one u in [0, 1) a layer, and every element sqrt(2 u).
struct JuiceBias {
  constexpr operator Filler() const { return {Filler::Kind::juice_bias, 0, 0}; }
};

/// One parameter of a layer. Shape and order are canonical (Juice's), fan_in and fan_out those of the initialisers'
/// formulas.
struct Parameter {
  std::string_view name;    // within its layer: "weight", "bias"
  std::string_view suffix;  // Juice's ending of the name in a file: "-0", "-0-bias"
  Shape shape;
  Filler filler;
  Index fan_in, fan_out;
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
