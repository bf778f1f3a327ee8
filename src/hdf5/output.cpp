// Outputs as datasets in an HDF5 file, each of which grows with each minibatch.
#include <coldpress/data/output.hpp>

#include "data/components.hpp"
#include "hdf5/library.hpp"

#include <coldpress/data/atomic_file.hpp>

#include <algorithm>
#include <utility>

namespace coldpress::data {
namespace {

using hdf5::Id, hdf5::Library;

constexpr Index chunk_bytes = Index{1} << 16;  // the last one is written whole

class Hdf5Output final : public Output {
 public:
  Hdf5Output(std::string const& path, Shape const& row, std::string const& name)
      : Output(row), path_(path), temporary_(path) {
    Library const library;
    // The temporary file exists already, and its writer has locked it.
    Id const access{H5Pcreate(H5P_FILE_ACCESS), H5Pclose};
    H5Pset_file_locking(access.get(), false, true);
    file_ = H5Fcreate(temporary_.temporary().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get());
    if (file_ < 0) failed();
    begin(name, row);
  }
  ~Hdf5Output() override {
    if (file_ >= 0) close();
  }

 private:
  void begin(std::string const& name, Shape const& row) {
    extents_.assign(row.extents, row.extents + row.rank());
    extents_.insert(extents_.begin(), 0);
    auto most = extents_, chunk = extents_;
    most[0] = H5S_UNLIMITED;
    chunk[0] = static_cast<hsize_t>(std::max<Index>(1, chunk_bytes / static_cast<Index>(sizeof(float)) / row.size()));
    Id const plist{H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
    H5Pset_chunk(plist.get(), static_cast<int>(chunk.size()), chunk.data());
    H5Pset_obj_track_times(plist.get(), false);  // the same values are the same bytes
    Id const space{H5Screate_simple(static_cast<int>(extents_.size()), extents_.data(), most.data()), H5Sclose};
    dataset_ = {H5Dcreate2(file_, name.c_str(), H5T_IEEE_F32LE, space.get(), H5P_DEFAULT, plist.get(), H5P_DEFAULT),
                H5Dclose};
    if (dataset_) return;
    std::string const reason = Library::reason();
    close();
    failed(reason);
  }
  void begin_next(std::string const& name, Shape const& row) override {
    Library const library;
    dataset_ = {};
    begin(name, row);
  }
  bool close() {
    Library const library;
    dataset_ = {};
    return H5Fclose(std::exchange(file_, -1)) >= 0;
  }

  [[noreturn]] void failed(std::string const& reason = Library::reason()) const {
    FileError error{"cannot write" + reason};
    error.in_file(path_);
    throw error;
  }

  void write(std::span<float const> values) override {
    if (values.empty()) return;
    Library const library;
    std::vector<hsize_t> start(extents_.size()), count = extents_;
    start[0] = extents_[0];
    count[0] = values.size() / static_cast<std::size_t>(row_shape().size());
    extents_[0] += count[0];
    if (H5Dset_extent(dataset_.get(), extents_.data()) < 0) failed();
    Id const space{H5Dget_space(dataset_.get()), H5Sclose},
        memory{H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose};
    if (H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0 ||
        H5Dwrite(dataset_.get(), H5T_NATIVE_FLOAT, memory.get(), space.get(), H5P_DEFAULT, values.data()) < 0)
      failed();
  }
  void end() override {
    Library const library;
    if (H5Fflush(file_, H5F_SCOPE_GLOBAL) < 0 || !close()) failed();
    temporary_.commit();
  }

  std::string path_;
  AtomicFile temporary_;
  hid_t file_ = -1;
  Id dataset_;
  std::vector<hsize_t> extents_;
};

std::unique_ptr<Output> open_hdf5_output(std::string const& path, Shape const& row, std::string const& name) {
  return std::make_unique<Hdf5Output>(path, row, name);
}

}  // namespace

/// Makes the output known before main(), as hdf5.cpp does for sources.
extern "C" __attribute__((constructor(101))) void coldpress_hdf5_output() {
  components().open_hdf5_output = open_hdf5_output;
}

}  // namespace coldpress::data
