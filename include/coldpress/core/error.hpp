// Typed errors. Every one carries a sentence and, as far as known, the file, the layer and the field it is about.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <utility>

namespace coldpress {

/// Base of all coldpress exceptions. what() reads "file: layer 'name': field: sentence", leaving out what is not known.
class Error : public std::exception {
 public:
  explicit Error(std::string sentence) : sentence_(std::move(sentence)) { compose(); }

  char const* what() const noexcept override { return text_.c_str(); }
  std::string const& sentence() const noexcept { return sentence_; }
  std::string const& file() const noexcept { return file_; }
  std::string const& layer() const noexcept { return layer_; }
  std::string const& field() const noexcept { return field_; }

  // Context is added on the way up; the innermost place, which knew best, is kept.
  void in_file(std::string const& file) { add(file_, file); }
  void in_layer(std::string const& layer) { add(layer_, layer); }
  void in_field(std::string const& field) { add(field_, field); }

 private:
  void add(std::string& part, std::string const& value) {
    if (part.empty()) part = value, compose();
  }
  struct Part {
    char const* before;
    std::string const& text;
    char const* after;
  };
  __attribute__((cold)) void compose() {  // one loop: every program compiles it
    text_.clear();
    for (auto const& [before, text, after] :
         {Part{"", file_, ": "}, Part{"layer '", layer_, "': "}, Part{"", field_, ": "}, Part{"", sentence_, ""}}) {
      if (!text.empty()) text_.append(before).append(text).append(after);
    }
  }
  std::string sentence_, file_, layer_, field_, text_;
};

/// Shapes that do not fit each other, or data that does not fit a shape.
struct ShapeError : Error {
  using Error::Error;
};
/// A configuration that means nothing: a value out of range, a name given twice or not at all.
struct ConfigError : Error {
  using Error::Error;
};
/// A layer, loss or backend that this program cannot run.
struct UnsupportedError : Error {
  using Error::Error;
};
/// A configuration that is right but not the one asked for: the file's network is not the program's type.
struct MismatchError : Error {
  using Error::Error;
};
/// The operating system refused: open, read, write, rename.
struct FileError : Error {
  using Error::Error;
};
/// There is not enough memory for what a file holds, or is to hold. Where there is not even enough to say so, it is
/// std::bad_alloc, as it is where no file is concerned.
struct MemoryError : Error {
  using Error::Error;
};
/// A device refused: it has not enough memory, or what it ran failed.
struct DeviceError : Error {
  using Error::Error;
};
/// The bytes of a file are not what its format says.
struct FormatError : Error {
  using Error::Error;
};
/// The content of a file does not match its checksum.
struct ChecksumError : FormatError {
  using FormatError::FormatError;
};
/// Training or test data out of range: a label that is no class, a value that is infinite or NaN.
struct DataError : Error {
  using Error::Error;
};
/// Training has left the finite numbers: the loss of a step is infinite or NaN, or a weight after it. The sentence
/// says whether the weights can still be used.
struct DivergenceError : Error {
  DivergenceError(std::string sentence, std::uint64_t in_step, double its_loss, std::string bad_weight)
      : Error(std::move(sentence)), step(in_step), loss(its_loss), weight(std::move(bad_weight)) {}
  std::uint64_t step;  // counted from 1
  double loss;
  std::string weight;  // the first one with a value that is not finite, as in a file: linear1-0; empty: there is none
};

/// Runs `action`; an Error that leaves it is told where it happened by `annotate(error)`.
template <class Action, class Annotate>
decltype(auto) with_context(Action&& action, Annotate&& annotate) {
  try {
    return action();
  } catch (Error& error) {
    annotate(error);
    throw;
  }
}
/// Runs `action` on a file: errors name it, and memory that runs out is a MemoryError.
template <class Action>
decltype(auto) with_file(std::string const& path, Action&& action) {
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

}  // namespace coldpress
