#include <coldpress/data/hdf5.hpp>
#include <coldpress/data/output.hpp>

#include "data/hdf5_files.hpp"

#include <csignal>
#include <numeric>

#include <sys/resource.h>

using namespace coldpress;
using namespace coldpress::data;

namespace {

std::vector<float> numbers(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

}  // namespace

TEST_CASE("an output in HDF5 is what h5py reads, and this library") {
  Hdf5Files const files;
  if (!files.made) return;
  for (char const* const name : {"y.h5", "y.hdf5"}) {
    auto const values = numbers(6 * 50000);
    auto const output = open_output(files.path(name), {2, 3});
    for (std::span<float const> left{values}; !left.empty();) {
      auto const part = left.first(std::min<std::size_t>(left.size(), 6 * 777));
      output->append(part);
      left = left.subspan(part.size());
    }
    output->finish();
    CHECK(load(*open_hdf5({.files = {files.path(name)}, .samples = "output", .targets = "output"})).samples == values);
    std::string const script =
        "import sys, h5py, numpy; y = h5py.File(sys.argv[1])['output']; assert y.dtype == numpy.float32 and (y[:] == "
        "numpy.arange(300000).reshape(50000, 2, 3)).all() and y.chunks";
    int code = 1;
    for (char const* const python : {"python3", "/usr/bin/python3"})
      code = code == 0
                 ? 0
                 : std::system((std::string{python} + " -c \"" + script + "\" '" + files.path(name) + "'").c_str());
    CHECK(code == 0);
  }
}

TEST_CASE("an output in HDF5 has several datasets, one after another") {
  TemporaryFolder const folder;
  auto const values = numbers(120);
  std::string const path = folder / "y.h5";
  CHECK(takes_several_arrays(path));
  auto const output = open_output(path, {6}, "first");
  output->append(std::span{values}.first(60));
  output->next("second", {3, 2});
  for (int i = 0; i < 2; ++i) output->append(std::span{values}.last(30));
  output->finish();
  auto const read = [&](char const* name) {
    return load(*open_hdf5({.files = {path}, .samples = name, .targets = name})).samples;
  };
  CHECK(read("first") == std::vector<float>(values.begin(), values.begin() + 60));
  std::vector<float> twice(values.end() - 30, values.end());
  twice.insert(twice.end(), values.end() - 30, values.end());
  CHECK(read("second") == twice);
}

TEST_CASE("an HDF5 output that is not finished changes nothing, and leaves nothing") {
  TemporaryFolder const folder;
  std::string const path = folder.put("y.h5", "old");
  { open_output(path, {6})->append(numbers(60000)); }
  CHECK(content(path) == "old");
  CHECK(folder.names().size() == 1);
  CHECK(contains(message<FileError>([&] { open_output(folder / "no/y.h5", {6}); }), "no/y.h5: "));
}

TEST_CASE("a full disk is a typed error of an HDF5 output") {
  TemporaryFolder const folder;
  std::string const path = folder.put("y.h5", "old");
  auto const open_files = [] {
    namespace fs = std::filesystem;
    return std::distance(fs::directory_iterator{"/proc/self/fd"}, fs::directory_iterator{});
  };
  auto const open_before = open_files();
  rlimit before;
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit const small{20000, before.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  {
    auto const output = open_output(path, {6});
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK(contains(message<FileError>([&] {
                     for (int i = 0; i < 100; ++i) output->append(numbers(6000));
                     output->finish();
                   }),
                   path + ": cannot write"));
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  }
  CHECK(content(path) == "old");
  CHECK(folder.names().size() == 1);
  CHECK(open_files() == open_before);  // otherwise the removed file would keep its space
  auto const again = open_output(path, {6});
  again->append(numbers(6));
  again->finish();
  CHECK(load(*open_hdf5({.files = {path}, .samples = "output", .targets = "output"})).samples == numbers(6));
}
