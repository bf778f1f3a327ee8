#include <coldpress/data/output.hpp>

#include <coldpress/data/csv.hpp>
#include <coldpress/data/npy.hpp>

#include "data/files.hpp"

#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <numeric>

#include <sys/resource.h>

using namespace coldpress;
using namespace coldpress::data;

namespace {

/// 0, 1, 2 ... in rows of 6, in parts of so many rows.
std::vector<float> numbers(Index rows) {
  std::vector<float> values(static_cast<std::size_t>(6 * rows));
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}
void fill(Output& output, std::vector<float> const& values, std::size_t rows_at_once) {
  for (std::span<float const> left{values}; !left.empty();) {
    auto const part = left.first(std::min(left.size(), 6 * rows_at_once));
    output.append(part);
    left = left.subspan(part.size());
  }
}

}  // namespace

TEST_CASE("a .npy file that is written in parts is the one that write_npy writes") {
  TemporaryFolder const folder;
  for (Index const rows : {1, 7, 100, 12345}) {
    auto const values = numbers(rows);
    write_npy(folder / "whole.npy", std::vector<Index>{rows, 2, 3}, values);
    for (std::size_t const at_once : {1, 64, 100000}) {
      auto const output = open_output(folder / "parts.npy", {2, 3});
      fill(*output, values, at_once);
      output->finish();
      CHECK(output->rows() == rows);
      CHECK(content(folder / "parts.npy") == content(folder / "whole.npy"));
    }
  }
  auto const none = open_output(folder / "none.npy", {2, 3});
  none->finish();
  CHECK(read_npy(folder / "none.npy").extents == std::vector<Index>{0, 2, 3});
}

TEST_CASE("a .npz file is read by its reader, and by Python's zipfile") {
  TemporaryFolder const folder;
  auto const values = numbers(1000);
  auto const output = open_output(folder / "y.npz", {6});
  fill(*output, values, 33);
  output->finish();
  CHECK(load(*open_npz(folder / "y.npz", "output")).samples == values);
  // Python checks the checksum and both directories.
  if (std::system("python3 -c 'import zipfile' 2>/dev/null") != 0) {
    WARN("skipped: there is no python3");
    return;
  }
  std::string const script =
      "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; assert z.namelist() == "
      "['output.npy']; b = z.read('output.npy'); assert b[:6] == b'\\x93NUMPY' and len(b) == 128 + 24000";
  CHECK(std::system(("python3 -c \"" + script + "\" '" + folder / "y.npz'").c_str()) == 0);
}

TEST_CASE("a .npz file has several arrays, one after another, and other files say that they have one") {
  TemporaryFolder const folder;
  auto const values = numbers(20);  // rows of six
  auto const output = open_output(folder / "y.npz", {6}, "first");
  output->append(std::span{values}.first(60));
  output->next("second", {3, 2});
  CHECK(output->rows() == 0);
  CHECK(output->row_shape() == Shape{3, 2});
  output->append(std::span{values}.last(60));
  output->append(std::span{values}.first(6));
  output->finish();
  std::vector<float> both(values.begin() + 60, values.end());
  both.insert(both.end(), values.begin(), values.begin() + 6);
  CHECK(load(*open_npz(folder / "y.npz", "first")).samples == std::vector<float>(values.begin(), values.begin() + 60));
  CHECK(load(*open_npz(folder / "y.npz", "second")).samples == both);
  for (char const* const name : {"y.npy", "y.csv"}) {
    CHECK_FALSE(takes_several_arrays(name));
    CHECK_THROWS_AS(open_output(folder / name, {6})->next("second", {1}), UnsupportedError);
  }
  CHECK(takes_several_arrays("y.npz"));
}

TEST_CASE("a .csv file has every digit that a float needs") {
  TemporaryFolder const folder;
  std::vector<float> values{0.1f, -3e-42f, std::numeric_limits<float>::max(), 1.0f / 3, 16777216, -0.0f};
  auto const output = open_output(folder / "y.csv", {3, 2});
  for (int i = 0; i < 30000; ++i) output->append(values);
  output->finish();
  CsvTable const table = read_csv(folder / "y.csv");
  CHECK(table.names == std::vector<std::string>{"y0", "y1", "y2", "y3", "y4", "y5"});
  REQUIRE(table.rows() == 30000);
  for (std::size_t i = 0; i < 30000; i += 1000)
    CHECK(std::memcmp(&table.values[6 * i], values.data(), 6 * sizeof(float)) == 0);
  auto const other = open_output(folder / "z.csv", {2});
  other->append(std::vector<float>{std::nanf(""), -std::numeric_limits<float>::infinity()});
  other->finish();
  CHECK(content(folder / "z.csv") == "y0,y1\nnan,-inf\n");
}

TEST_CASE("an output in memory keeps the rows") {
  MemoryOutput output{{2, 3}};
  auto const values = numbers(10);
  fill(output, values, 3);
  output.finish();
  CHECK(output.values() == values);
  CHECK(output.rows() == 10);
}

TEST_CASE("until it is finished an output changes nothing, and leaves nothing after an error") {
  TemporaryFolder const folder;
  for (char const* const name : {"y.npy", "y.npz", "y.csv"}) {
    std::string const path = folder.put(name, "old");
    {
      auto const output = open_output(path, {2, 3});
      output->append(numbers(1000));
      CHECK(content(path) == "old");
      CHECK(contains(message<ShapeError>([&] { output->append(std::vector<float>(7)); }),
                     "7 values are appended to an output of rows of {2, 3}, expected whole rows"));
    }
    CHECK(content(path) == "old");
    CHECK(folder.names().size() == 1);

    // The disk is full.
    rlimit before;
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    rlimit const small{10000, before.rlim_max};
    std::signal(SIGXFSZ, SIG_IGN);
    {
      auto const output = open_output(path, {2, 3});
      REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
      CHECK(contains(message<FileError>([&] { output->append(numbers(100000)); }), path + ": cannot write: "));
      REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    }
    CHECK(content(path) == "old");
    CHECK(folder.names().size() == 1);
    std::filesystem::remove(path);
  }
}

TEST_CASE("a name that says no format, or no place, is refused in advance") {
  TemporaryFolder const folder;
  for (char const* const bad : {"y", "y.txt", "y.npy.gz", "npy"}) {
    CHECK(contains(message<ConfigError>([&] { check_output(bad); }),
                   std::string{bad} + ": the name of an output ends in .npy, .npz, .csv, .h5, .hdf5"));
    CHECK_THROWS_AS(open_output(bad, {1}), ConfigError);
  }
  CHECK_NOTHROW(check_output("missing/y.npy"));
  CHECK(contains(message<FileError>([&] { open_output(folder / "missing/y.npy", {1}); }), "missing/y.npy: "));
  // This program is not linked with coldpress::hdf5.
  CHECK(message<UnsupportedError>([] { check_output("y.h5"); }) ==
        "y.h5: this program writes no HDF5 files: it was built without coldpress::hdf5");
}
