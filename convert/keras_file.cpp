// Opens .keras archives and HDF5 files, and finds the variables of a layer by the names in either.
#include "keras_file.hpp"

#include <coldpress/core/finite.hpp>
#include <coldpress/persist/model.hpp>

#include "data/input_file.hpp"
#include "data/positioned_file.hpp"
#include "data/zip_file.hpp"
#include "json_node.hpp"
#include "weights.hpp"

#include <algorithm>
#include <array>

namespace coldpress::convert::keras {
namespace {

using hdf5::Id, hdf5::Library, hdf5::malformed;
using persist::printable;

constexpr std::size_t max_config = std::size_t{1} << 26, max_names = std::size_t{1} << 20;
constexpr std::uint64_t max_expansion = 100, always_allowed = std::uint64_t{1} << 20;  // as data::ReadOptions has it
constexpr char const* config_attribute = "model_config";
constexpr char const* weights_group = "model_weights";

bool is_archive(data::PositionedFile const& file) {
  std::array<char, 4> begin{};
  if (file.size() >= begin.size()) file.read(0, std::as_writable_bytes(std::span{begin}));
  return std::string_view{begin.data(), begin.size()} == "PK\3\4";
}

std::string unpacked(std::string const& path, std::string const& name, std::size_t most) {
  constexpr std::size_t piece = std::size_t{1} << 16;
  data::InputFile file{path, data::zip_member(path, name), {}};
  std::string bytes;
  for (;;) {
    std::size_t const done = bytes.size();
    if (done > most) file.malformed("has more than " + std::to_string(most) + " bytes");
    bytes.resize(done + piece);
    std::size_t const got = file.read(std::as_writable_bytes(std::span{bytes}.subspan(done)));
    bytes.resize(done + got);
    if (got < piece) return bytes;
  }
}

Id open_image(std::string const& archive, std::string const& bytes) {
  Library const library;
  Id const access{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
  H5Pset_fapl_core(access.get(), std::size_t{1} << 16, false);
  // The library does not write to the bytes, of which it makes a copy.
  if (H5Pset_file_image(access.get(), const_cast<char*>(bytes.data()), bytes.size()) < 0)
    malformed("HDF5 cannot copy the weights" + Library::reason());
  // HDF5 refuses bytes by the name of a file that there is. There is none below the archive, which is no folder.
  Id file{H5Fopen((archive + "/model.weights.h5").c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose};
  if (!file) malformed("member 'model.weights.h5' is not an HDF5 file that can be opened" + Library::reason());
  return file;
}

/// The text of an attribute of the file.
std::string attribute(Id const& file, char const* name) {
  Id const attribute{H5Aopen(file.get(), name, H5P_DEFAULT), H5Aclose};
  if (!attribute) malformed(std::string{"has no attribute '"} + name + "', so that it is no model of Keras");
  Id const type{H5Aget_type(attribute.get()), H5Tclose}, space{H5Aget_space(attribute.get()), H5Sclose};
  if (H5Tget_class(type.get()) != H5T_STRING || H5Sget_simple_extent_npoints(space.get()) != 1)
    malformed(std::string{"attribute '"} + name + "' is not a text");
  std::string text;
  if (H5Tis_variable_str(type.get()) > 0) {
    char* bytes = nullptr;
    if (H5Aread(attribute.get(), type.get(), &bytes) >= 0 && bytes != nullptr) text = bytes;
    H5free_memory(bytes);
  } else {
    std::size_t const size = H5Tget_size(type.get());
    if (size > max_config) malformed(std::string{"attribute '"} + name + "' has " + std::to_string(size) + " bytes");
    text.resize(size);
    if (H5Aread(attribute.get(), type.get(), text.data()) < 0) text.clear();
    text.resize(std::min(text.size(), text.find('\0')));
  }
  if (text.empty()) malformed(std::string{"cannot read the attribute '"} + name + "'" + Library::reason());
  return text;
}

std::vector<std::string> names_in(Id const& file) {
  Id const group{H5Gopen2(file.get(), weights_group, H5P_DEFAULT), H5Gclose};
  if (!group) malformed(std::string{"has no group '"} + weights_group + "'" + Library::reason());
  std::vector<std::string> names;
  auto const add = [](hid_t, char const* name, H5L_info_t const*, void* to) -> herr_t {
    auto& all = *static_cast<std::vector<std::string>*>(to);
    if (all.size() == max_names) return -1;
    all.emplace_back(name);
    return 0;
  };
  if (H5Lvisit(group.get(), H5_INDEX_NAME, H5_ITER_INC, add, &names) < 0)
    malformed("cannot list its weights" + Library::reason());
  return names;
}

/// Whether the path begins with the first of these components, and has the others in this order.
bool leads_through(std::string_view path, std::vector<std::string> const& names) {
  std::size_t next = 0;
  while (next < names.size() && !path.empty()) {
    // A name may have slashes itself.
    if (path.starts_with(names[next]) && (path.size() == names[next].size() || path[names[next].size()] == '/')) ++next;
    if (next == 0) return false;  // the group of another layer of the outermost model
    auto const slash = path.find('/');
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return next == names.size();
}

/// A variable for a message, with the layer that has it: 'layers/dense/vars/0' of the layer 'inner/scores'.
std::string described(hdf5::Dataset const& dataset, Place const& place) {
  std::string layer;
  for (std::string const& name : place.names) layer += (layer.empty() ? "" : "/") + name;
  return "'" + printable(dataset.name) + "' of the layer '" + printable(layer) + "'";
}

/// Refuses integers, which are weights that were quantised, and floats of 8 bits.
void expect_floats(hdf5::Dataset const& dataset, std::string const& which) {
  Id const type{H5Dget_type(dataset.dataset.get()), H5Tclose};
  bool const floats = H5Tget_class(type.get()) == H5T_FLOAT;
  std::size_t const bits = 8 * H5Tget_size(type.get());
  if (!floats || bits < 16)
    throw UnsupportedError{which + " holds " + (floats ? "floats" : "integers") + " of " + std::to_string(bits) +
                           " bits, expected floats of at least 16 bits"};
}

}  // namespace

File::File(std::string const& path) : path_{path} {
  data::PositionedFile const bytes{path};
  left_ = bytes.size() * max_expansion + always_allowed;
  archive_ = is_archive(bytes);
  if (archive_) {
    open_archive();
    return;
  }
  Library const library;
  file_ = hdf5::open_file(path);
  config_ = attribute(file_, config_attribute);
  datasets_ = names_in(file_);
}

void File::open_archive() {
  config_ = unpacked(path_, "config.json", max_config);
  file_ = open_image(path_, unpacked(path_, "model.weights.h5", static_cast<std::size_t>(left_)));
}

std::string File::version() const {
  if (!archive_) return attribute(file_, "keras_version");
  json::Json const metadata = json::parse_json(unpacked(path_, "metadata.json", max_config));
  return json::Node{metadata, "metadata"}["keras_version"].text();
}

std::string File::name_of(Place const& place, std::size_t number, std::string_view name) const {
  if (archive_) {
    std::string const in_layer = place.path + "/vars/" + std::to_string(number);
    Id const found{H5Gopen2(file_.get(), "layers", H5P_DEFAULT), H5Gclose};
    // Keras 2.12 to 2.15 call the layers' group otherwise.
    return found ? in_layer : "_layer_checkpoint_dependencies" + in_layer.substr(in_layer.find('/'));
  }
  std::string found;
  for (bool const exactly : {true, false}) {
    for (std::string const& dataset : datasets_) {
      std::string_view last{dataset};
      last.remove_prefix(last.rfind('/') + 1);
      if (last.ends_with(":0")) last.remove_suffix(2);
      // Keras 2 calls the kernel of a depthwise convolution depthwise_kernel.
      bool const called = exactly ? last == name : last.ends_with("_" + std::string{name});
      if (!called || !leads_through(dataset, place.names)) continue;
      if (!found.empty())
        malformed("has two datasets for one variable: '" + printable(found) + "' and '" + printable(dataset) + "'");
      found = dataset;
    }
    if (!found.empty()) break;
  }
  if (found.empty())
    malformed("has no dataset '" + std::string{name} + "' for the layer '" + printable(place.names.back()) + "'");
  return std::string{weights_group} + "/" + found;
}

Index File::count(std::string const& what, std::vector<Index> const& shape) {
  std::uint64_t values = 1;
  for (Index const extent : shape) {
    auto const wanted = static_cast<std::uint64_t>(extent);
    if (wanted > left_ / sizeof(float) / values)
      malformed(
          "'" + printable(what) + "' " + persist::text(shape) +
          " and what was read before have more values than the file may unpack to: 100 times its size plus 1 MiB");
    values *= wanted;
  }
  left_ -= values * sizeof(float);
  return static_cast<Index>(values);
}

Array File::read(Place const& place, std::size_t number, std::string_view name, std::vector<Index> const& shape) {
  Library const library;
  hdf5::Dataset const dataset{file_.get(), name_of(place, number, name)};
  if (std::vector<Index> const extents{dataset.extents.begin(), dataset.extents.end()}; extents != shape)
    malformed("'" + printable(dataset.name) + "' has shape " + persist::text(extents) + ", but the layer needs " +
              persist::text(shape));
  std::string const which = described(dataset, place);
  expect_floats(dataset, which);
  Array array{shape, std::vector<float>(static_cast<std::size_t>(count(dataset.name, shape)))};
  if (H5Dread(dataset.dataset.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.values.data()) < 0)
    malformed("cannot read '" + printable(dataset.name) + "'" + Library::reason());
  if (Index const bad = first_not_finite<float>(array.values); bad >= 0)
    throw DataError{which + ": value " + std::to_string(bad) + " is infinite, NaN or beyond the range of a float"};
  if (name.ends_with("variance")) {
    auto const bad = std::ranges::find_if(array.values, [](float value) { return value < 0; });
    if (bad != array.values.end())
      throw DataError{sentence_of(which, ": value ", bad - array.values.begin(), " is ",
                                  coldpress::detail::number_text(*bad), ", and a variance is at least 0")};
  }
  return array;
}

bool has_model(std::string const& path) {
  Library const library;
  Id const file = hdf5::open_file(path);
  return H5Aexists(file.get(), config_attribute) > 0;
}

}  // namespace coldpress::convert::keras
