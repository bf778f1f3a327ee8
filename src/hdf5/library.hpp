// The HDF5 library for one thread at a time, and its ids, which close themselves.
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include <hdf5.h>

namespace coldpress::data {

/// Only one thread at a time is in the library, which may be built without locks of its own. The library prints nothing
/// meanwhile.
class Library {
 public:
  Library() : lock_(mutex()) {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  Library(Library const&) = delete;
  ~Library() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

  /// What the library says about its last failure, at the place where it began.
  static std::string reason() {
    std::string text;
    H5Ewalk2(
        H5E_DEFAULT, H5E_WALK_UPWARD,
        [](unsigned, H5E_error2_t const* error, void* to) -> herr_t {
          auto& found = *static_cast<std::string*>(to);
          if (found.empty() && error->desc) found = error->desc;
          return 0;
        },
        &text);
    return text.empty() ? text : ": " + text;
  }

 private:
  static std::recursive_mutex& mutex() {
    static std::recursive_mutex only;
    return only;
  }
  std::lock_guard<std::recursive_mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// An id of the library that is closed in the end.
class Id {
 public:
  Id() = default;
  Id(hid_t id, herr_t (*closer)(hid_t)) : id_(id), close_(closer) {}
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
  /// Closes it now; false if the library cannot, for example because the disk is full.
  bool close() {
    Library const library;
    return close_(std::exchange(id_, -1)) >= 0;
  }
  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

}  // namespace coldpress::data
