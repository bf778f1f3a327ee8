// The sentence that the compiler prints about a network that does not compile.
#pragma once

#include <coldpress/core/digits.hpp>
#include <coldpress/core/shape.hpp>
#include <coldpress/graph/node.hpp>

namespace coldpress {

/// A text that the compiler composes and prints as part of a type's name.
struct Sentence {
  static constexpr int most = 480;
  char text[most];

  constexpr int length() const {
    int n = 0;
    while (n < most && text[n] != 0) ++n;
    return n;
  }
  // Not overloaded, since overload resolution would cost every program.
  constexpr Sentence& add(char const* more) {
    int n = length();
    for (; *more != 0 && n < most - 1; ++more) text[n++] = *more;
    return *this;
  }
  constexpr Sentence& add_part(std::string_view more) {
    int n = length();
    for (std::size_t i = 0; i < more.size() && n < most - 1; ++i) text[n++] = more.data()[i];
    return *this;
  }
  constexpr Sentence& add_number(Index number) { return add_part(Digits{number}.view()); }
  constexpr Sentence& add_shape(Shape const& shape) {
    add("{");
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (axis > 0) add(", ");
      add_number(shape[axis]);
    }
    return add("}");
  }
};

/// g++ prints this name, and with it the sentence, in its error. It has no definition, which is the error.
template <Sentence sentence>
struct NetworkError;
template <>
struct NetworkError<Sentence{}> {};

namespace detail {

/// The name of a type as the compiler writes it. The loops are by hand, because every program would instantiate those
// of std::string_view.
template <class L>
constexpr std::string_view type_text() {
  char const* begin = __PRETTY_FUNCTION__;
  while (begin[0] != '=' || begin[1] != ' ') ++begin;
  begin += 2;
  std::size_t n = 0;
  while (begin[n] != ';' && begin[n] != ']') ++n;
  return {begin, n};
}
/// The name of a layer's type in messages: its `name`, or that of the C++ type.
template <class L>
constexpr std::string_view kind_of() {
  if constexpr (requires {
                  { L::name } -> std::convertible_to<std::string_view>;
                }) {
    return L::name;
  } else {
    return type_text<L>();
  }
}

struct Diagnosis {
  char const* sentence = nullptr;  // a literal, because clang prints nothing else; null: nothing is wrong
  Index needed = 0;                // the number that the sentence is about; 0: it is about none
  int place = 0;                   // of the layer among the layers, from 1; 0: the sentence is about no layer
  int kind = -1;                   // the type of that layer, in the list of types
  bool objective = false;          // the sentence is about the loss of a Solver
  std::string_view type = {};      // the layer's
  std::string_view name = {};      // the layer's; empty: it was not given one
  int number = 0;                  // among the unnamed layers of its type
  int inputs = 0;                  // the layer's inputs
  Shape shapes[max_inputs] = {};
  std::string_view from[max_inputs] = {};  // the names that these were given
  int got = -1, takes = -1;                // numbers of inputs of the network
  bool by_layer = false;                   // the layer's own code, or the function's, says why

  constexpr Sentence text() const {
    Sentence all{};
    if (sentence == nullptr) return all;
    if (objective) {
      all.add("the loss ").add_part(type);
    } else if (place > 0) {
      all.add("layer ").add_number(place).add(" (");
      if (name.empty()) {
        all.add_part(type).add_number(number);
      } else {
        all.add_part(name).add(", ").add_part(type);
      }
      all.add(")");
    }
    for (int k = 0; k < inputs; ++k) {
      all.add(k == 0 ? " gets " : " and ").add_shape(shapes[k]);
      if (!from[k].empty()) all.add(" from ").add_part(from[k]);
    }
    if (place > 0 || objective) all.add(": ");
    all.add(by_layer ? "the reason is in the last call of require" : sentence);
    if (needed > 0) all.add(" (").add_number(needed).add(")");
    if (got >= 0) {
      all.add(": Network gives ").add_number(got);
      if (takes >= 0) all.add(", and it takes ").add_number(takes);
    }
    return all;
  }
};

}  // namespace detail
}  // namespace coldpress
