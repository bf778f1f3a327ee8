// What everything that uses the HDF5 library needs: its lock, ids that close themselves, and datasets of numbers.
#pragma once

#include <coldpress/core/error.hpp>
#include <coldpress/core/shape.hpp>

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <hdf5.h>
#include <sys/types.h>

namespace coldpress::hdf5 {

/// Only one thread at a time is in the library, which may be built without locks of its own. The library prints nothing
/// meanwhile.
class Library {
 public:
  Library();
  Library(Library const&) = delete;
  ~Library();

  /// What the library says about its last failure, at the place where it began.
  static std::string reason();

 private:
  std::lock_guard<std::recursive_mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// An id of the library that is closed in the end.
class Id {
 public:
  Id() = default;
  Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Id() {
    if (id_ < 0) return;
    Library const library;
    close_(id_);
  }
  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

[[noreturn]] inline void malformed(std::string const& sentence) { throw FormatError{sentence}; }

/// Opens a file to read. Throws FileError, which names it, if the system refuses, and FormatError if it is not HDF5.
Id open_file(std::string const& path);

/// What changes when an open file is written to or cut short. Behind the end of a file that is cut, the library reads
/// zeros.
struct Version {
  dev_t device = 0;
  ino_t file = 0;
  off_t size = 0;
  std::int64_t written = 0;  // when, in nanoseconds
  bool operator==(Version const&) const = default;
};
Version version_of(Id const& file);

/// A dataset of numbers in a file. The constructor throws FormatError if it is missing, holds no numbers or no values,
/// or stores them in other files; links to other files are not followed.
struct Dataset {
  std::string name;
  Id dataset, space;
  std::vector<hsize_t> extents;  // each from 1 to 2^40; none for a single number

  Dataset(hid_t file, std::string name);
};

}  // namespace coldpress::hdf5
