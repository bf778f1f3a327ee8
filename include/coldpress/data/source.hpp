// Where samples are stored: in memory, or in files from which they are read as they are needed.
#pragma once

#include <coldpress/data/dataset.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace coldpress::data {

/// A data set whose samples can be read in any order. It does not change, so any number of threads may use it, each
/// with a Reader of its own. To read a format of your own, derive from Source and Source::Reader.
class Source {
 public:
  /// One of several arrays of which samples are made, or targets, and the shape of its part of a sample.
  struct Array {
    std::string name;
    Shape shape;
    bool operator==(Array const&) const = default;
  };
  struct Description {
    Shape sample_shape, target_shape;
    Index size = 0;                         // in samples, at least 1
    std::vector<std::string> classes = {};  // if the targets are labels with names: the names, by label
    /// Samples that are best read together form a block, such as the chunks of a compressed file. This has the first
    /// sample of each block, and `size` at its end. It is empty if each sample can be read on its own.
    std::vector<Index> blocks = {};
    /// The number of samples, in whole blocks, that are shuffled together; 0: as many as fit in 32 MiB.
    Index shuffled_together = 0;
    /// Samples that were left out because they are broken, as sentences that begin with the file.
    std::vector<std::string> skipped = {};
    /// If a sample is made of several arrays, or its target is: these, whose values follow each other in the sample, of
    /// which the shape is flat then.
    std::vector<Array> sample_arrays = {}, target_arrays = {};
  };

  /// Reads samples for one thread. It must not outlive its source.
  class Reader {
   public:
    virtual ~Reader() = default;
    /// Copies `count` samples from number `first` on, and their targets, row-major. A null pointer leaves out the
    /// samples. If the source has blocks, these are the samples of one block. Throws FileError, FormatError or
    /// DataError; afterwards it can still be used.
    virtual void read(Index first, Index count, float* samples, float* targets) = 0;
  };

  virtual ~Source() = default;
  virtual std::unique_ptr<Reader> reader() const = 0;
  /// What people know sample `i` by: its number, unless it is in a file of its own.
  virtual std::string name_of(Index i) const { return std::to_string(i); }

  Description const& description() const { return description_; }
  Shape const& sample_shape() const { return description_.sample_shape; }
  Shape const& target_shape() const { return description_.target_shape; }
  Index size() const { return description_.size; }

 protected:
  /// Throws ShapeError for an empty data set, ConfigError for blocks that do not cover it.
  explicit Source(Description description);

 private:
  Description description_;
};

/// A data set in memory as a source. `dataset` must outlive it. Throws what check(dataset) throws.
std::unique_ptr<Source> borrow(Dataset const& dataset);
std::unique_ptr<Source> borrow(Dataset const&&) = delete;
/// The same, but the source owns the data set.
std::unique_ptr<Source> own(Dataset dataset);

/// The data that `spec` names, as open(spec) describes it. Formats that are kept in memory are read at once. Throws
/// what open(spec) throws.
std::unique_ptr<Source> open_source(std::string const& spec, ReadOptions options = {});
/// The same for callers that need no targets. Targets that are stored separately (npy, npz, hdf5) are not read and need
/// not exist; their shape is then {}.
std::unique_ptr<Source> open_samples(std::string const& spec, ReadOptions options = {});

/// Reads all samples into memory.
Dataset load(Source const& source);
/// The targets of all samples, row-major, without reading the samples where they are stored separately.
std::vector<float> targets_of(Source const& source);

/// The samples of `source` with the numbers `rows`, which are in ascending order. `source` must outlive it. Throws
/// ConfigError for other numbers or for none.
std::unique_ptr<Source> subset(Source const& source, std::vector<Index> rows);

struct SourceSplit {
  std::unique_ptr<Source> training, held_out;
};
/// Holds out `fraction` of the samples, drawn at random by the seed; `source` must outlive both parts. If `stratified`,
/// each label is held out in proportion: its share differs by less than one sample from the exact one. Throws
/// ConfigError unless both parts get at least one sample, and DataError if a target is not a label.
SourceSplit split(Source const& source, double fraction, std::uint64_t seed, bool stratified);

}  // namespace coldpress::data
