// The exception types: each carries a sentence and, where known, the file, the layer and the field it is about.
#pragma once

#include <coldpress/core/error_text.hpp>

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <new>
#include <string_view>

namespace coldpress {

#if !defined __cpp_exceptions && !defined __CUDACC_RTC__
/// What a program that is compiled without exceptions does with an error: it calls this function with the sentence, if
/// there is one, and then stops (__builtin_trap). A function that does not return, but restarts a device for example,
/// is its own way out.
using ErrorHandler = void (*)(char const* sentence);
inline ErrorHandler error_handler = nullptr;
[[noreturn]] __attribute__((noinline, cold)) inline void report_error(char const* sentence) {
  if (error_handler != nullptr) error_handler(sentence);
  __builtin_trap();
}
#endif

/// The base of all coldpress exceptions. what() reads "file: layer 'name': field: sentence", without the parts that are
/// not known.
class Error : public std::exception {
 public:
  explicit Error(std::string_view sentence);

  char const* what() const noexcept override { return text_.c_str(); }
  ErrorText const& sentence() const noexcept { return sentence_; }
  ErrorText const& file() const noexcept { return file_; }
  ErrorText const& layer() const noexcept { return layer_; }
  ErrorText const& field() const noexcept { return field_; }

  // Context is added while the exception propagates. The first value is kept, since it is the innermost and most
  // precise.
  void in_file(std::string_view file) { add(file_, file); }
  void in_layer(std::string_view layer) { add(layer_, layer); }
  void in_field(std::string_view field) { add(field_, field); }

 private:
  void add(ErrorText& part, std::string_view value) {
    if (part.empty()) part = value, compose();
  }
  void compose();
  ErrorText sentence_, file_, layer_, field_, text_;
};

#if !defined COLDPRESS_DECLARES_ONCE
COLDPRESS_ONCE Error::Error(std::string_view sentence) : sentence_(sentence) { compose(); }
COLDPRESS_ONCE void Error::compose() {
  struct Part {
    char const* before;
    ErrorText const& text;
    char const* after;
  };
  text_ = {};
  for (auto const& [before, text, after] :
       {Part{"", file_, ": "}, Part{"layer '", layer_, "': "}, Part{"", field_, ": "}, Part{"", sentence_, ""}}) {
    if (!text.empty()) (text_ += before) += text, text_ += after;
  }
}
#endif

/// Shapes that do not fit each other, or data that does not fit a shape.
struct ShapeError : Error {
  using Error::Error;
};
/// A configuration that is invalid: for example, a value out of range, a duplicate name or a missing one.
struct ConfigError : Error {
  using Error::Error;
};
/// A layer, loss or backend that this program cannot run.
struct UnsupportedError : Error {
  using Error::Error;
};
/// A valid configuration that is not the expected one: for example, a file's network that differs from the program's
/// type.
struct MismatchError : Error {
  using Error::Error;
};
/// The operating system refused to open, read, write or rename a file.
struct FileError : Error {
  using Error::Error;
};
/// There is not enough memory for what is read from or written to a file. std::bad_alloc is thrown instead if no file
/// is involved, or if the memory does not even suffice for this exception.
struct MemoryError : Error {
  using Error::Error;
};
/// A device failed: it has too little memory, or its program failed.
struct DeviceError : Error {
  using Error::Error;
};
/// The bytes of a file do not follow its format.
struct FormatError : Error {
  using Error::Error;
};
/// The content of a file does not match its checksum.
struct ChecksumError : FormatError {
  using FormatError::FormatError;
};
/// Training or test data is out of range: a label that is not a class, or a value that is infinite or NaN.
struct DataError : Error {
  using Error::Error;
};
/// Training has diverged: the loss of a step, or a weight after it, is infinite or NaN. The sentence says whether the
/// weights can still be used.
struct DivergenceError : Error {
  DivergenceError(std::string_view sentence, std::uint64_t in_step, double its_loss, std::string_view bad_weight)
      : Error(sentence), step(in_step), loss(its_loss), weight(bad_weight) {}
  std::uint64_t step;  // counted from 1
  double loss;
  ErrorText weight;  // the first weight with a value that is not finite, by its name in a file (linear1-0); or empty
};

/// Throws E with this sentence, and what else it has. In a program without exceptions it calls the error handler.
template <class E, class... More>
[[noreturn]] __attribute__((always_inline)) inline void raise(ErrorText const& sentence, More const&... more) {
#if defined __cpp_exceptions && !defined __CUDACC_RTC__
  throw E{sentence, more...};
#elif defined __CUDACC_RTC__
  for (;;) __trap();
#else
  (static_cast<void>(more), ...);
  report_error(sentence.c_str());
#endif
}

#if defined __cpp_exceptions && !defined __CUDACC_RTC__
/// Runs `action`. If it throws an Error, `annotate(error)` adds where it happened.
template <class Action, class Annotate>
decltype(auto) with_context(Action&& action, Annotate&& annotate) {
  try {
    return action();
  } catch (Error& error) {
    annotate(error);
    throw;
  }
}
/// Throws ConfigError with this sentence about a field, unless what the sentence demands holds.
inline void check_field(bool holds, std::string_view field, std::string_view sentence) {
  if (holds) return;
  ConfigError error{sentence};
  error.in_field(field);
  throw error;
}
/// Runs `action` on a file. Errors name the file, and std::bad_alloc becomes a MemoryError.
template <class Action>
decltype(auto) with_file(std::string_view path, Action&& action) {
  return with_context(
      [&]() -> decltype(auto) {
        try {
          return action();
        } catch (std::bad_alloc const&) {
          throw MemoryError{"there is not enough memory for it"};
        }
      },
      [&](Error& error) { error.in_file(path); });
}
#endif

}  // namespace coldpress
