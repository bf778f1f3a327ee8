// The two kinds of Keras' files: the config of a model, and its variables.
#pragma once

#include "hdf5/library.hpp"
#include "keras_contents.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coldpress::convert::keras {

class File final : public Contents {
 public:
  explicit File(std::string const& path);

  std::string const& config() const override { return config_; }
  std::string version() const override;
  Array read(Place const& place, std::size_t number, std::string_view name, std::vector<Index> const& shape) override;
  Index count(std::string const& what, std::vector<Index> const& shape) override;

 private:
  void open_archive();
  std::string name_of(Place const& place, std::size_t number, std::string_view name) const;

  std::string path_, config_;
  hdf5::Id file_;
  bool archive_ = false;
  std::vector<std::string> datasets_;  // of a .h5 file; their paths below the weights
  std::uint64_t left_ = 0;             // bytes of floats that there may still be
};

/// Whether an HDF5 file has the config of a model of Keras.
bool has_model(std::string const& path);

}  // namespace coldpress::convert::keras
