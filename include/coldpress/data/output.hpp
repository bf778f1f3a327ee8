// Writes what a network computes, batch by batch, to files of several formats.
#pragma once

#include <coldpress/core/shape.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace coldpress::data {

/// Receives rows of values, such as the outputs for one batch of samples after the other.
class Output {
 public:
  virtual ~Output() = default;
  /// Appends whole rows, row-major. Throws ShapeError for a part of a row, and FileError.
  void append(std::span<float const> values);
  /// Ends the array, and begins another one in the same file. Throws UnsupportedError for a format of one array.
  void next(std::string const& name, Shape const& row);
  /// Ends the output; nothing can be appended any more. Without it, a file is not written at all. Throws FileError.
  void finish();

  Shape const& row_shape() const { return row_; }
  Index rows() const { return rows_; }

 protected:
  explicit Output(Shape const& row) : row_(row) {}

 private:
  virtual void write(std::span<float const> values) = 0;
  virtual void begin_next(std::string const& name, Shape const& row);
  virtual void end() {}

  Shape row_;
  Index rows_ = 0;
};

/// Opens a file for an array of rows of this shape. The ending of its name says what is written:
///   .npy           one array of float32, {N, ...}
///   .npz           the same as the array of this name in a zip file, not compressed; next() adds others
///   .csv           one line for each row after a header, y0, y1, ...
///   .h5, .hdf5     the dataset of this name, {N, ...}, in chunks, if coldpress::hdf5 is linked; next() adds others
/// Memory does not grow with the number of rows. The file takes its name in finish(), as write_atomically does; until
/// then an older one is as it was, and after an error nothing is left. Throws ConfigError for another ending,
/// UnsupportedError, and FileError.
std::unique_ptr<Output> open_output(std::string const& path, Shape const& row, std::string const& name = "output");
/// Whether such a file can have several arrays, to judge by the name alone.
bool takes_several_arrays(std::string const& path);
/// Throws what open_output would throw because of the name alone. Writes nothing.
void check_output(std::string const& path);

/// Keeps the rows in memory.
class MemoryOutput final : public Output {
 public:
  explicit MemoryOutput(Shape const& row) : Output(row) {}
  std::vector<float> const& values() const { return values_; }

 private:
  void write(std::span<float const> values) override { values_.insert(values_.end(), values.begin(), values.end()); }
  std::vector<float> values_;
};

}  // namespace coldpress::data
