#include <coldpress/data/csv.hpp>
#include <coldpress/data/dataset.hpp>
#include <coldpress/data/idx.hpp>
#include <coldpress/data/npy.hpp>

#include "data/files.hpp"
#include "support/heap.hpp"

#include <algorithm>
#include <thread>

#include <sys/ioctl.h>
#include <unistd.h>
#include <zlib.h>

using namespace coldpress;
using namespace coldpress::data;

namespace {

std::size_t largest = 0;
bool const watched = (test::heap.refuses = [](std::size_t size) {
  largest = std::max(largest, size);
  return false;
});

constexpr int many = 8000000;  // bytes of zeros, which gzip packs to a thousandth

void pack(std::string const& path, std::string const& bytes) {
  gzFile const file = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) == static_cast<int>(bytes.size()));
  REQUIRE(gzclose(file) == Z_OK);
}
std::string idx_header(std::uint32_t count) {
  std::string header{"\0\0\x08\x01", 4};
  for (int shift = 24; shift >= 0; shift -= 8) header += static_cast<char>(count >> shift);
  return header;
}
std::string npy_header(std::string const& type, int count) {
  std::string const text =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + std::to_string(count) + ",), }\n";
  return std::string{"\x93NUMPY\1\0", 8} + static_cast<char>(text.size()) + '\0' + text;
}
/// What no compressor makes smaller.
std::string noise(std::size_t bytes) {
  std::string text(bytes, 0);
  std::uint32_t state = 1;
  for (char& c : text) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return text;
}

}  // namespace

TEST_CASE("a compressed file unpacks to 100 times its size and 1 MiB and no further, unless max_expansion says so") {
  TemporaryFolder const folder;
  std::string table;
  for (int row = 0; row < many / 4; ++row) table += "0,0\n";
  pack(folder / "table.csv.gz", table);
  pack(folder / "array.idx.gz", idx_header(many) + std::string(many, '\0'));
  pack(folder / "array.npy", npy_header("|u1", many) + std::string(many, '\0'));
  auto const refused = [&](std::string const& name, auto read) {
    std::string const path = folder / name;
    auto const size = std::filesystem::file_size(path);
    auto const said = message<FormatError>([&] { read(path, ReadOptions{}); });
    INFO(said);
    CHECK(said.starts_with(path));
    CHECK(contains(said, ": " + std::to_string(100 * size + (1 << 20)) + " bytes, 100 times its " +
                             std::to_string(size) + " bytes plus 1 MiB"));
    CHECK(contains(said, "max_expansion"));
    CHECK_NOTHROW(read(path, ReadOptions{.max_expansion = 1032}));
  };
  refused("table.csv.gz", [](std::string const& path, ReadOptions options) {
    if (read_csv(path, options).rows() != many / 4) throw DataError{"rows"};
  });
  refused("table.csv.gz", [](std::string const& path, ReadOptions options) { data::open("csv:" + path, options); });
  refused("array.idx.gz", [](std::string const& path, ReadOptions options) { read_idx(path, 1, options); });
  refused("array.npy", [](std::string const& path, ReadOptions options) { read_npy(path, options); });

  pack(folder / "small.csv.gz", table.substr(0, 1000000));  // whatever the ratio
  CHECK(read_csv(folder / "small.csv.gz").rows() == 250000);
}

TEST_CASE("what a header promises takes no memory before it has come, where a compressed file could hold it") {
  TemporaryFolder const folder;
  // 100 KB may unpack to 11 MB, which would be 44 MB of floats; 100 KB come.
  std::string const values = noise(100000);
  pack(folder / "array.npy", npy_header("|u1", 10000000) + values);
  pack(folder / "array.idx.gz", idx_header(10000000) + values);
  largest = 0;
  CHECK(contains(message<FormatError>([&] { read_npy(folder / "array.npy"); }), "ends before the 10000000 values"));
  CHECK(
      contains(message<FormatError>([&] { read_idx(folder / "array.idx.gz", 1); }), "ends before the 10000000 values"));
  CHECK(largest < (std::size_t{2} << 20));

  folder.put("plain.npy", npy_header("|u1", 10000000) + values);
  CHECK(contains(message<FormatError>([&] { read_npy(folder / "plain.npy"); }), "more than the file can hold"));
  CHECK(largest < (std::size_t{2} << 20));
}

TEST_CASE("compressed arrays come whole, in however many pieces") {
  TemporaryFolder const folder;
  std::string const values = noise(3000000);
  pack(folder / "array.npy", npy_header("|u1", 3000000) + values);
  pack(folder / "array.idx.gz", idx_header(3000000) + values);
  auto const array = read_npy(folder / "array.npy");
  auto const bytes = read_idx(folder / "array.idx.gz", 1);
  REQUIRE(array.values.size() == values.size());
  REQUIRE(bytes.values.size() == values.size());
  bool same = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto const value = static_cast<unsigned char>(values[i]);
    same = same && array.values[i] == static_cast<float>(value) && bytes.values[i] == value;
  }
  CHECK(same);
}

TEST_CASE("a compressed file that ends within its last values is refused") {
  TemporaryFolder const folder;
  for (int const promised : {10, 4096 + 10}) {  // 4096 are read at a time
    pack(folder / "array.npy", npy_header("|u1", promised) + noise(static_cast<std::size_t>(promised) - 3));
    CHECK(contains(message<FormatError>([&] { read_npy(folder / "array.npy"); }),
                   "ends before the " + std::to_string(promised) + " values"));
    pack(folder / "array.idx.gz",
         idx_header(static_cast<std::uint32_t>(promised)) + noise(static_cast<std::size_t>(promised) - 3));
    CHECK(contains(message<FormatError>([&] { read_idx(folder / "array.idx.gz", 1); }),
                   "ends before the " + std::to_string(promised) + " values"));
  }
}

namespace {
/// What read_csv makes of bytes that come through a pipe, `at_once` at most at a time.
CsvTable read_from_pipe(std::string const& bytes, std::size_t at_once) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  int const input = ::dup(0);
  REQUIRE(::dup2(ends[0], 0) == 0);
  std::thread writer{[&] {
    for (std::size_t done = 0; done < bytes.size();) {
      auto const written = ::write(ends[1], bytes.data() + done, std::min(at_once, bytes.size() - done));
      if (written < 1) break;
      done += static_cast<std::size_t>(written);
      for (int waiting = 1; waiting > 0 && ::ioctl(ends[1], FIONREAD, &waiting) == 0;) std::this_thread::yield();
    }
    ::close(ends[1]);
  }};
  CsvTable table;
  CHECK_NOTHROW(table = read_csv("/dev/stdin"));
  for (char rest[4096]; ::read(ends[0], rest, sizeof rest) > 0;) continue;  // where it was refused, the writer ends too
  writer.join();
  input < 0 ? ::close(0) : ::dup2(input, 0);
  ::close(ends[0]), ::close(input);
  return table;
}
}  // namespace

TEST_CASE("a pipe may give compressed data a byte at a time") {
  TemporaryFolder const folder;
  pack(folder / "table.csv.gz", "t,a\n1,2\n3,4\n");
  CHECK(read_from_pipe(content(folder / "table.csv.gz"), 1).values == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("what a pipe's compressed data may unpack to counts from what has come of it") {
  TemporaryFolder const folder;
  std::string table;
  for (unsigned char const byte : noise(1000000))
    table += std::to_string(byte) + "\n";  // more than the 1 MiB always allowed
  pack(folder / "table.csv.gz", table);
  CHECK(read_from_pipe(content(folder / "table.csv.gz"), 4096).rows() == 1000000);
}
