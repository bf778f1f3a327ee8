// Takes the datasets of an HDF5 file as weights by the names that Mocha gives them, and writes such files.
#include <coldpress/convert/mocha.hpp>

#include <coldpress/core/to_string.hpp>
#include <coldpress/data/atomic_file.hpp>
#include <coldpress/persist/network.hpp>

#include "hdf5/library.hpp"
#include "mean.hpp"
#include "weights.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

namespace coldpress::convert {
namespace {

using hdf5::Id, hdf5::Library, hdf5::malformed;

constexpr std::string_view separator = "___";

std::vector<Index> shape_of(hdf5::Dataset const& dataset) { return {dataset.extents.begin(), dataset.extents.end()}; }

void read_values(hdf5::Dataset const& dataset, std::span<float> values) {
  Library const library;
  if (H5Dread(dataset.dataset.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    malformed("cannot read '" + persist::printable(dataset.name) + "'" + Library::reason());
}

/// The names of everything in the file, in order; that of something in a group is its path.
std::vector<std::string> names_in(Id const& file) {
  std::vector<std::string> names;
  auto const add = [](hid_t, char const* name, H5L_info_t const*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  if (H5Lvisit(file.get(), H5_INDEX_NAME, H5_ITER_INC, add, &names) < 0)
    malformed("cannot list its datasets" + Library::reason());
  return names;
}

/// The suffix of the weight that Mocha calls by this name: the first of its layer, or the bias.
std::string suffix_of(std::string_view parameter) {
  if (parameter == "filter" || parameter == "weight") return "-0";
  return parameter == "bias" ? "-0-bias" : "";
}

std::vector<Blob> blobs_in(Id const& file) {
  std::vector<Blob> blobs;
  for (std::string const& name : names_in(file)) {
    auto const split = name.rfind(separator);
    if (split == std::string::npos || split == 0) continue;
    auto const dataset = std::make_shared<hdf5::Dataset>(file.get(), name);
    blobs.push_back({.layer = name.substr(0, split),
                     .suffix = suffix_of(std::string_view{name}.substr(split + separator.size())),
                     .origin = name,
                     .shape = shape_of(*dataset),
                     .read = [dataset](std::span<float> values) { read_values(*dataset, values); }});
  }
  if (blobs.empty()) malformed("has no dataset whose name is LAYER___PARAM, such as conv1___filter");
  return blobs;
}

/// A dataset to be written.
struct Written {
  std::string name;
  Shape shape;
  dynamic::Values values;  // empty: zeros
};

std::vector<Written> datasets_of(persist::Model const& model) {
  std::map<std::string_view, dynamic::LayerType const*> kinds;
  persist::for_each_layer(model.config,
                          [&](dynamic::LayerConfig const& layer) { kinds.emplace(layer.name, &layer.layer_type); });
  auto const weights = persist::wanted(model);
  auto const values = persist::in_order(model, weights);
  std::vector<Written> all;
  std::string refused;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    auto const& weight = weights[i];
    persist::check_finite(weight, values[i]);
    for (std::size_t use = 0; use < weight.layers.size(); ++use) {
      std::string const &layer = weight.layers[use], &name = use == 0 ? weight.name : weight.aliases[use - 1];
      auto const kind = kinds.find(layer);
      auto const is = [&]<class L>(L) { return kind != kinds.end() && std::holds_alternative<L>(*kind->second); };
      bool const bias = name.ends_with("-bias"), convolves = is(Convolution{}), tied = is(TiedLinear{});
      if (tied && !bias) continue;  // Mocha takes it from the other layer
      if (!is(Linear{}) && !tied && !(convolves && (bias || weight.shape.rank() == 4))) {
        refused += (refused.empty() ? "'" : ", '") + persist::printable(name) + "' " + to_string(weight.shape);
        continue;
      }
      char const* const parameter = bias ? "bias" : convolves ? "filter" : "weight";
      all.push_back({layer + std::string{separator} + parameter, weight.shape, values[i]});
    }
  }
  if (!refused.empty()) {
    throw UnsupportedError{"Mocha has only the weights of convolutions of images and of dense layers, and not: " +
                           refused};
  }
  return all;
}

void write(Id const& file, Written const& one) {
  std::vector<hsize_t> const extents(one.shape.extents, one.shape.extents + one.shape.rank());
  std::vector<float> const zeros(one.values.empty() ? static_cast<std::size_t>(one.shape.size()) : 0);
  Id const space{H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose};
  Id const link{H5Pcreate(H5P_LINK_CREATE), H5Pclose};
  H5Pset_create_intermediate_group(link.get(), 1);  // a slash in a layer's name makes a group
  Id const dataset{
      H5Dcreate2(file.get(), one.name.c_str(), H5T_IEEE_F32LE, space.get(), link.get(), H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose};
  float const* const values = zeros.empty() ? one.values.data() : zeros.data();
  if (!dataset || H5Dwrite(dataset.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
    throw FileError{"cannot write the dataset '" + persist::printable(one.name) + "'" + Library::reason()};
}

/// The bytes of an HDF5 file with these datasets, which is made in memory so that it can be written atomically.
std::vector<std::byte> file_of(std::vector<Written> const& datasets) {
  Library const library;
  Id const access{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
  constexpr std::size_t growth = std::size_t{1} << 20;
  H5Pset_fapl_core(access.get(), growth, false);
  Id const file{H5Fcreate("in memory", H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose};
  if (!file) throw FileError{"HDF5 cannot make a file in memory" + Library::reason()};
  for (Written const& one : datasets) write(file, one);
  H5Fflush(file.get(), H5F_SCOPE_GLOBAL);
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(std::max<ssize_t>(0, H5Fget_file_image(file.get(), nullptr, 0))));
  if (bytes.empty() || H5Fget_file_image(file.get(), bytes.data(), bytes.size()) < 0)
    throw FileError{"HDF5 cannot copy the file from memory" + Library::reason()};
  return bytes;
}

}  // namespace

Conversion read_mocha(std::string const& path, dynamic::LayerConfig config, Options const& options) {
  return with_file(path, [&] {
    Library const library;
    Id const file = hdf5::open_file(path);
    return fill(std::move(config), blobs_in(file), options);
  });
}

void write_mocha(std::string const& path, persist::Model const& model) {
  auto const datasets = datasets_of(model);
  with_file(path, [&] { write_atomically(path, file_of(datasets)); });
}

data::NpyArray read_mocha_mean(std::string const& path) {
  return with_file(path, [&] {
    Library const library;
    Id const file = hdf5::open_file(path);
    hdf5::Dataset const mean{file.get(), "mean"};
    return mean_of(mean.name, shape_of(mean), [&](std::span<float> values) { read_values(mean, values); });
  });
}

}  // namespace coldpress::convert
