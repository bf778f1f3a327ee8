// What optional components add to data. Each sets its functions before main(), where a program links it.
#pragma once

#include <coldpress/data/hdf5.hpp>
#include <coldpress/data/images.hpp>
#include <coldpress/data/output.hpp>
#include <coldpress/data/sound.hpp>

namespace coldpress::data {

/// Null where the component is not linked.
struct Components {
  std::unique_ptr<Source> (*open_hdf5)(Hdf5Data) = nullptr;
  std::unique_ptr<Output> (*open_hdf5_output)(std::string const& path, Shape const& row,
                                              std::string const& name) = nullptr;
  std::unique_ptr<Source> (*open_images)(ImageFolder) = nullptr;
  Sound (*read_sound)(std::string const& path) = nullptr;
  void (*write_sound)(std::string const& path, Sound const&, SoundFormat) = nullptr;
};
Components& components();

}  // namespace coldpress::data
