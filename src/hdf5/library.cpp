// The lock and the error texts of the HDF5 library, and what a dataset in a file is like.
#include "hdf5/library.hpp"

#include "data/system.hpp"

namespace coldpress::hdf5 {
namespace {

std::recursive_mutex& mutex() {
  static std::recursive_mutex only;
  return only;
}

}  // namespace

Library::Library() : lock_(mutex()) {
  H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}
Library::~Library() {
  // What a thread's failures leave would keep the library from closing at the end of the program.
  H5Eclear2(H5E_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, print_, data_);
}

std::string Library::reason() {
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

Id open_file(std::string const& path) {
  open_to_read(path);  // which says why it cannot be read
  Id file{H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
  if (!file) malformed("is not an HDF5 file that can be opened" + Library::reason());
  return file;
}

Version version_of(Id const& file) {
  int* descriptor = nullptr;
  struct stat status;
  if (H5Fget_vfd_handle(file.get(), H5P_DEFAULT, reinterpret_cast<void**>(&descriptor)) < 0 ||
      ::fstat(*descriptor, &status) != 0)
    malformed("has no status" + Library::reason());
  std::int64_t const second = 1'000'000'000;
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec * second + status.st_mtim.tv_nsec};
}

Dataset::Dataset(hid_t file, std::string name_) : name(std::move(name_)) {
  // Links to other files are not followed.
  Id const access{H5Pcreate(H5P_DATASET_ACCESS), H5Pclose};
  H5Pset_elink_cb(
      access.get(), [](auto...) -> herr_t { return -1; }, nullptr);
  dataset = {H5Dopen2(file, name.c_str(), access.get()), H5Dclose};
  if (!dataset) malformed("cannot open the dataset '" + name + "'" + Library::reason());
  Id const plist{H5Dget_create_plist(dataset.get()), H5Pclose};
  if (H5Pget_layout(plist.get()) == H5D_VIRTUAL || H5Pget_external_count(plist.get()) > 0)
    malformed("the values of '" + name + "' are in other files");
  Id const type{H5Dget_type(dataset.get()), H5Tclose};
  auto const kind = H5Tget_class(type.get());
  if (kind != H5T_INTEGER && kind != H5T_FLOAT) malformed("'" + name + "' holds values that are not numbers");
  space = {H5Dget_space(dataset.get()), H5Sclose};
  int const rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 0) malformed("'" + name + "' has no extents");
  extents.resize(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  for (hsize_t const extent : extents) {
    if (extent == 0) malformed("'" + name + "' contains no values");
    if (extent > hsize_t{1} << 40)
      malformed("'" + name + "' has an extent of " + std::to_string(extent) + ", expected at most 2^40");
  }
  if (H5Sget_simple_extent_npoints(space.get()) <= 0) malformed("'" + name + "' contains no values");  // a null space
}

}  // namespace coldpress::hdf5
