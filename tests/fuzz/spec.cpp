// Names of data, with their options. Nothing is opened but lists of HDF5 files.
#include <coldpress/data/dataset.hpp>

#include "fuzz.hpp"

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  std::string const spec{reinterpret_cast<char const*>(bytes.data()), bytes.size()};
  demand(!data::files_of(spec).empty(), "data have no file");
  demand(data::is_spec(spec), "what is parsed is not known as a spec");
  demand(data::from_folder("", spec) == spec, "data are named in another way from their own folder");
  demand(data::files_of(data::from_folder("/folder", spec)).size() >= data::files_of(spec).size() ||
             spec.starts_with("hdf5:"),
         "data have other files from another folder");
}
