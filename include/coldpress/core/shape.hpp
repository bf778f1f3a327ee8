// The shape of one sample; the batch is never part of it.
#pragma once

#include <coldpress/core/digits.hpp>
#include <coldpress/core/error.hpp>
#include <coldpress/core/fields.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>

namespace coldpress {

/// Counts values, also on processors of 32 bits, where a product of extents may need more.
using Index = std::int64_t;

/// Throws ShapeError, or reports it in a program without exceptions. It is not inlined, since a check rarely fails. It
/// is for host code; a GPU runs only what the host has checked, and there it stops the kernel.
#if defined COLDPRESS_DECLARES_ONCE
[[noreturn]] __attribute__((cold)) void refuse(char const* sentence);
#else
[[noreturn]] COLDPRESS_ONCE void refuse(char const* sentence) { raise<ShapeError>(sentence); }
#endif

/// Stops compilation if a constant breaks a rule, and throws ShapeError if a run-time value does.
__attribute__((always_inline)) constexpr void require(bool holds, char const* sentence) {
  if (!holds) {
#if !defined __CUDACC__
    if (__builtin_is_constant_evaluated()) __builtin_trap();  // g++ says less about it than about a function
#endif
    refuse(sentence);
  }
}

/// The function `require` as an object, which is the default where a function takes its `require` as an argument.
struct Require {
  __attribute__((always_inline)) constexpr void operator()(bool holds, char const* sentence, Index = 0) const {
    require(holds, sentence);
  }
  static constexpr bool failed() { return false; }
};

/// Remembers the first sentence whose condition does not hold. A layer whose output_shape takes its `require` as an
/// argument can be asked for it, so that the compiler can print the sentence together with the layer's name.
struct FirstRefusal {
  char const** sentence;
  Index* needed;  // the number that a value should have, where the sentence is about one
  constexpr void operator()(bool holds, char const* why, Index number = 0) const {
    if (!holds && *sentence == nullptr) *sentence = why, *needed = number;
  }
  /// Whether to stop before computing nonsense.
  constexpr bool failed() const { return *sentence != nullptr; }
};

/// The extents of one sample in row-major order, ended by a zero: Shape{3, 32, 32}. It is an aggregate, so that it can
/// be a template argument.
struct Shape {
  static constexpr int max_rank = 8;
  Index extents[max_rank];

  constexpr int rank() const {
    int r = 0;
    while (r < max_rank && extents[r] != 0) ++r;
    return r;
  }
  /// Whether rank() is r, which is from 1 to 7, without counting.
  constexpr bool has_rank(int r) const { return extents[r - 1] != 0 && extents[r] == 0; }
  constexpr Index operator[](int axis) const { return extents[axis]; }
  /// The extent of the last axis; 0 for the empty shape.
  constexpr Index last() const {
    Index extent = 0;
    for (int axis = 0; axis < max_rank && extents[axis] != 0; ++axis) extent = extents[axis];
    return extent;
  }
  /// The number of values; 0 for the empty shape. Throws ShapeError beyond 2^40, so that sizes in bytes never overflow.
  constexpr Index size() const {
    Index n = extents[0] == 0 ? 0 : 1;
    for (int axis = 0; axis < rank(); ++axis) {
      require(extents[axis] > 0, "shape: an extent must be at least 1");
      require(extents[axis] <= (Index{1} << 40) / n, "shape: more than 2^40 values");
      n *= extents[axis];
    }
    return n;
  }
  bool operator==(Shape const&) const = default;
};

#if !defined __CUDACC_RTC__
/// Appends a number or a shape to a text: 7, {1, 28, 28}.
template <class Text>
void append(Text& text, long long number) {
  text += Digits{number}.view();
}
template <class Text>
void append(Text& text, Shape const& shape) {
  text += "{";
  for (int axis = 0; axis < shape.rank(); ++axis) text += axis ? ", " : "", append(text, shape[axis]);
  text += "}";
}

/// A part of a sentence: a text, a shape or a whole number. It is one type for all three, so that a program compiles
/// only one function that joins them, and has only two members, since programs that refuse something compile many.
class SentencePart {
 public:
  SentencePart(char const* words) : text_(words), kind_(words_and_zero) {}
  template <class Words>
  requires std::is_class_v<Words> && std::is_convertible_v<Words const&, std::string_view> SentencePart(
      Words const& words)
      : SentencePart(std::string_view{words}, 0) {}
  SentencePart(Shape const& shape) : shape_(&shape), kind_(a_shape) {}
  template <class Number>
  requires std::is_integral_v<Number> SentencePart(Number number)
      : number_(static_cast<long long>(number)), kind_(a_number) {}

  void append_to(ErrorText& sentence) const {
    if (kind_ == a_shape) {
      append(sentence, *shape_);
    } else if (kind_ == a_number) {
      append(sentence, number_);
    } else {
      sentence +=
          kind_ == words_and_zero ? std::string_view{text_} : std::string_view{text_, static_cast<std::size_t>(kind_)};
    }
  }

 private:
  SentencePart(std::string_view words, int) : text_(words.data()), kind_(static_cast<Index>(words.size())) {}
  static constexpr Index words_and_zero = -1, a_shape = -2, a_number = -3;
  union {
    char const* text_;
    Shape const* shape_;
    long long number_;
  };
  Index kind_;  // or the length of a text without a zero at its end
};

/// The parts as one sentence, and a ShapeError with it.
#if defined COLDPRESS_DECLARES_ONCE
__attribute__((cold)) ErrorText joined(std::initializer_list<SentencePart> parts);
[[noreturn]] __attribute__((cold)) void refuse_joined(std::initializer_list<SentencePart> parts);
#else
COLDPRESS_ONCE ErrorText joined(std::initializer_list<SentencePart> parts) {
  ErrorText sentence;
  for (SentencePart const& part : parts) part.append_to(sentence);
  return sentence;
}
[[noreturn]] COLDPRESS_ONCE void refuse_joined(std::initializer_list<SentencePart> parts) {
  raise<ShapeError>(joined(parts));
}
#endif
/// Joins the parts into a sentence.
template <class... Parts>
__attribute__((always_inline)) inline ErrorText sentence_of(Parts const&... parts) {
  return joined({parts...});
}
#endif
/// Throws ShapeError with a sentence joined from its parts, which says what was found and what was expected. It is for
/// values that are known only at run time.
template <class... Parts>
[[noreturn]] __attribute__((noinline, cold)) void refuse(char const* what, Parts const&... parts) {
#if defined __CUDACC_RTC__
  refuse(what);
#else
  refuse_joined({what, parts...});
#endif
}

/// An extent that is a compile-time constant. A plain Index is a run-time value; kernels take both.
template <Index n>
using Fixed = std::integral_constant<Index, n>;

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Shape, extents);
