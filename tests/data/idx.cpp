#include <coldpress/data/idx.hpp>

#include "data/files.hpp"

#include <algorithm>

using namespace coldpress;
using namespace coldpress::data;

namespace {

std::string const plain = unhex(
    "0000080100000003"
    "070009");
// The same, compressed by Python's gzip.
std::string const compressed = unhex("1f8b08000000000002036360e060646060606667e00400a512d3720b000000");

std::string refusal(std::string_view bytes, int rank) {
  TemporaryFolder const folder;
  return message<FormatError>([&] { read_idx(folder.put("file", bytes), rank); });
}

}  // namespace

TEST_CASE("read_idx reads plain and compressed files") {
  TemporaryFolder const folder;
  for (auto const& bytes : {plain, compressed}) {
    IdxArray const array = read_idx(folder.put("file", bytes), 1);
    CHECK(array.extents == std::vector<Index>{3});
    CHECK(array.values == std::vector<std::uint8_t>{7, 0, 9});
  }
  IdxArray const images = read_idx(folder.put("images", unhex("00000803"
                                                              "00000002"
                                                              "00000001"
                                                              "00000003"
                                                              "0102030405ff")),
                                   3);
  CHECK(images.extents == std::vector<Index>{2, 1, 3});
  CHECK(images.values == std::vector<std::uint8_t>{1, 2, 3, 4, 5, 255});
  CHECK(contains(message<FileError>([&] { read_idx(folder / "none", 1); }), "cannot open: No such file or directory"));
}

TEST_CASE("read_idx reads files of more values than it reads at a time, to the end") {
  TemporaryFolder const folder;
  std::string values(3 * 1000 * 500, '\0');
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<char>(i % 251);
  IdxArray const array = read_idx(folder.put("file", unhex("00000803"
                                                           "00000003"
                                                           "000003e8"
                                                           "000001f4") +
                                                         values),
                                  3);
  CHECK(array.extents == std::vector<Index>{3, 1000, 500});
  REQUIRE(array.values.size() == values.size());
  CHECK(std::equal(values.begin(), values.end(), array.values.begin(),
                   [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; }));
}

TEST_CASE("read_idx says what is wrong") {
  CHECK(contains(refusal("P5 28 28", 1), "is not an IDX file"));
  CHECK(contains(refusal(unhex("000108010000000107"), 1), "is not an IDX file"));
  CHECK(contains(refusal(unhex("00000d010000000000"), 1), "IDX type 13, expected 8"));
  CHECK(contains(refusal(plain, 3), "has 1 extent, expected 3"));
  CHECK(contains(refusal(unhex("0000080200000001"
                               "0000000107"),
                         1),
                 "has 2 extents, expected 1"));
  CHECK(contains(refusal(plain + "x", 1), "continues after the values"));
  CHECK(contains(refusal(compressed + "x", 1), "the compressed data"));
  CHECK(contains(refusal(compressed + compressed, 1), "continues after the values"));
  CHECK(contains(refusal(compressed.substr(0, 20), 1), "the compressed data ends early"));
}

TEST_CASE("read_idx believes no promise that the file cannot keep") {
  CHECK(contains(refusal(unhex("00000803ffffffffffffffffffffffff00"), 3),
                 "{4294967295, 4294967295, 4294967295} values, more than"));
  // As large, but empty.
  TemporaryFolder const folder;
  CHECK(read_idx(folder.put("file", unhex("00000803ffffffff00000000ffffffff")), 3).values.empty());
}

TEST_CASE("a small compressed file can neither promise nor hold more than it should") {
  // 2^32 - 1 values promised in 29 bytes.
  CHECK(contains(refusal(unhex("1f8b08000000000002036360e060fc0f04ec0c9c00ca9df5020b000000"), 1),
                 "more than the file can hold"));
  // Three values promised, 60,000 more in 99 bytes, and 4,000 times 60,000 in what follows.
  std::string bomb = unhex("1f8b0800000000000203edc1311100300800b1e7bae05f31363a24a99dea05" + std::string(120, '0') +
                           "f09903e6edf38068ea0000");
  std::string const member =
      unhex("1f8b0800000000000203edc13101000000c2a0f54f6d0d0fa" + std::string(117, '0') + "be0c05aa275160ea0000");
  for (int i = 0; i < 4000; ++i) bomb += member;
  CHECK(contains(refusal(bomb, 1), "continues after the values"));
}

TEST_CASE("read_idx survives spoilt files") {
  spoil(plain, [](std::string const& path) { read_idx(path, 1); });
  spoil(compressed, [](std::string const& path) { read_idx(path, 1); });
}
