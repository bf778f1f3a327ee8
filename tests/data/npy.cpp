#include <coldpress/data/npy.hpp>

#include "data/files.hpp"

#include <cmath>
#include <cstring>
#include <limits>

using namespace coldpress;
using namespace coldpress::data;

namespace {

/// A file as NumPy writes it, with the given header and values.
std::string npy(std::string header, std::string const& values, int version = 1) {
  std::size_t const before = version == 1 ? 10 : 12;
  header.resize((before + header.size() + 1 + 63) / 64 * 64 - before - 1, ' ');
  header += '\n';
  std::string bytes =
      "\x93NUMPY" + std::string{static_cast<char>(version), '\0', static_cast<char>(header.size()), '\0'};
  if (version > 1) bytes += std::string(2, '\0');
  return bytes + header + values;
}

std::string header(std::string const& type, std::string const& shape) {
  return "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
}

NpyArray read(std::string const& bytes) {
  TemporaryFolder const folder;
  return read_npy(folder.put("file.npy", bytes));
}

std::string refusal(std::string const& bytes) {
  return message<FormatError>([&] { read(bytes); });
}

using Values = std::vector<float>;
using Extents = std::vector<Index>;

}  // namespace

// The bytes of all values in this test case were written by NumPy.
TEST_CASE("read_npy reads every type as floats") {
  NpyArray const f4 = read(npy(header("<f4", "(2, 2)"), unhex("0000c03f000000c00000803ee6b1617f")));
  CHECK(f4.extents == Extents{2, 2});
  CHECK(f4.values == Values{1.5f, -2, 0.25f, 3e38f});
  NpyArray const f8 = read(npy(header("<f8", "(2,)"), unhex("9a9999999999b93f00000000000004c0"), 2));
  CHECK(f8.extents == Extents{2});
  CHECK(f8.values == Values{0.1f, -2.5f});
  NpyArray const i8 = read(npy(header("<i8", "(2, 1)"), unhex("fdffffffffffffff0000000000010000"), 3));
  CHECK(i8.extents == Extents{2, 1});
  CHECK(i8.values == Values{-3, 1099511627776.f});
  CHECK(read(npy(header("<i4", "(1,)"), unhex("feffffff"))).values == Values{-2});
  CHECK(read(npy(header("|u1", "(3,)"), unhex("0080ff"))).values == Values{0, 128, 255});
  NpyArray const scalar = read(npy(header("|u1", "()"), unhex("07")));
  CHECK(scalar.extents.empty());
  CHECK(scalar.values == Values{7});
  CHECK(read(npy(header("<f4", "(0, 5)"), "")).values.empty());
}

TEST_CASE("read_npy takes the header in any order and spelling that Python would") {
  CHECK(read(npy("{\"shape\":(2),'fortran_order' : False,\"descr\":'|u1'}", unhex("0102"))).values == Values{1, 2});
}

TEST_CASE("read_npy says what is wrong") {
  CHECK(contains(refusal("PK\3\4 zipped"), "is not a .npy file"));
  CHECK(contains(refusal(npy(header("<f4", "(1,)"), "abcd", 4)), "version 4.0, expected 1.0, 2.0 or 3.0"));
  std::string minor = npy(header("<f4", "(1,)"), "abcd");
  minor[7] = 1;
  CHECK(contains(refusal(minor), "version 1.1, expected 1.0, 2.0 or 3.0"));
  CHECK(contains(refusal(npy(header(">f4", "(1,)"), "abcd")),
                 "type '>f4', expected one of <f4, <f8, <f2, |b1, |u1, |i1, <u2, <i2, <u4, <i4, <u8, <i8"));
  CHECK(contains(refusal(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1), }", "abcd")),
                 "is in Fortran order, expected C order"));
  CHECK(contains(refusal(npy(header("<f4", "(2,)"), "abcd")), "more than the file can hold"));
  CHECK(contains(refusal(npy(header("<f4", "(1,)"), "abcde")), "continues after the values"));
  CHECK(contains(refusal(npy(header("<f4", "(-1,)"), "")), "shape that is not a list"));
  CHECK(contains(refusal(npy(header("<f4", "(99999999999999999999, 2)"), "")),
                 "the header has the extent '99999999999999999999', expected at most 9223372036854775807"));
  CHECK(contains(refusal(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "abcd")),
                 "is a structured array, expected one of numbers: array['NAME'] is that of one field"));
  CHECK(contains(refusal(npy("{'descr': '<f4', 'shape': (1,), }", "abcd")), "lacks one of the keys"));
  CHECK(contains(refusal(npy("{'descr': '<f4', 'descr': '<f4', 'shape': (1,), }", "abcd")),
                 "the unknown or repeated key 'descr'"));
  CHECK(contains(refusal(npy(header("<f4", "(1,)") + " x", "abcd")), "continues after its closing brace"));
  CHECK(contains(refusal(npy(header("<f8", "(1,)"), unhex("9c7500883ce4377e"))),
                 "value 0 is beyond the range of a float"));
}

TEST_CASE("a double that is no float is named by its place in the file, and infinite ones are infinite floats") {
  auto const file = [](std::vector<double> const& values) {
    std::string bytes(8 * values.size(), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return npy(header("<f8", "(" + std::to_string(values.size()) + ",)"), bytes);
  };
  std::vector<double> values(10000, 0.5);  // more than is read at a time
  values[0] = std::numeric_limits<double>::infinity(), values[9000] = -values[0], values[1] = std::nan("");
  auto const read_back = read(file(values)).values;
  CHECK((std::isinf(read_back[0]) && read_back[0] > 0));
  CHECK((std::isinf(read_back[9000]) && read_back[9000] < 0));
  CHECK(std::isnan(read_back[1]));
  values[9001] = -1e39;
  CHECK(contains(refusal(file(values)), "value 9001 is beyond the range of a float"));
}

TEST_CASE("read_npy believes no promise that the file cannot keep") {
  CHECK(contains(refusal(npy(header("<f4", "(4294967296, 4294967296, 4294967296)"), "abcd")),
                 "more than the file can hold"));
  CHECK(contains(refusal(npy(header("<i8", "(2305843009213693952,)"), "abcd")), "more than the file can hold"));
  CHECK(contains(refusal("\x93NUMPY\2" + std::string{"\0\xff\xff\xff\xff", 5} + "{}"),
                 "has a header of 4294967295 bytes"));
}

TEST_CASE("what write_npy writes is read back, and is what NumPy writes") {
  TemporaryFolder const folder;
  std::string const path = folder / "file.npy";
  Values const values{1.5f, -2, 0.25f, 3e38f};
  write_npy(path, Extents{2, 2}, values);
  CHECK(content(path) == npy(header("<f4", "(2, 2)"), unhex("0000c03f000000c00000803ee6b1617f")));
  write_npy(path, Extents{4}, values);
  CHECK(content(path) == npy(header("<f4", "(4,)"), unhex("0000c03f000000c00000803ee6b1617f")));
  for (auto const& extents : {Extents{4}, Extents{4, 1}, Extents{1, 2, 1, 2}}) {
    write_npy(path, extents, values);
    CHECK(content(path).size() == 128 + 16);
    NpyArray const array = read_npy(path);
    CHECK(array.extents == extents);
    CHECK(array.values == values);
  }
  write_npy(path, Extents{}, Values{7});
  CHECK(read_npy(path).values == Values{7});
  write_npy(path, Extents{3, 0}, {});
  CHECK(read_npy(path).extents == Extents{3, 0});
  float const special[] = {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), -0.0f};
  write_npy(path, Extents{3}, special);
  NpyArray const array = read_npy(path);
  CHECK(std::isinf(array.values[0]));
  CHECK(std::isnan(array.values[1]));
  CHECK(std::signbit(array.values[2]));
}

TEST_CASE("write_npy refuses extents that do not count the values, and leaves the file") {
  TemporaryFolder const folder;
  std::string const path = folder.put("file.npy", "old");
  for (auto const& extents : {Extents{3}, Extents{2, 2, 2}, Extents{-2, -2}, Extents{0}, Extents{}, Extents(33, 1),
                              Extents{Index{1} << 32, Index{1} << 32, 4}})
    CHECK(contains(message<ShapeError>([&] {
                     write_npy(path, extents, Values{1, 2, 3, 4});
                   }),
                   "does not hold 4 values"));
  CHECK(content(path) == "old");
}

TEST_CASE("an array has up to 32 extents, written and read, and no more") {
  TemporaryFolder const folder;
  std::string const path = folder / "file.npy";
  write_npy(path, Extents(32, 1), Values{5});
  CHECK(read_npy(path).extents == Extents(32, 1));
  CHECK(read_npy(path).values == Values{5});
  CHECK(contains(message<ShapeError>([&] { write_npy(path, Extents(33, 1), Values{6}); }), "does not hold 1 value"));
  CHECK(read_npy(path).values == Values{5});

  auto const ones = [](int count) {
    std::string tuple = "(";
    for (int i = 0; i < count; ++i) tuple += "1,";
    return npy(header("|u1", tuple + ")"), "\7");
  };
  CHECK(read(ones(32)).extents.size() == 32);
  CHECK(contains(refusal(ones(33)), "shape that is not a list of at most 32 extents"));
}

TEST_CASE("a header of more than 255 bytes is written and read") {
  TemporaryFolder const folder;
  std::string const path = folder / "file.npy";
  Extents extents(32, Index{1} << 40);
  extents[0] = 0;  // no value, however large the others are
  write_npy(path, extents, {});
  CHECK(content(path).size() > 256 + 10);
  CHECK(content(path).size() % 64 == 0);
  CHECK(read_npy(path).extents == extents);
}

TEST_CASE("a header of 65535 bytes is read, and no longer one") {
  auto const with_header = [](std::size_t length) {
    std::string bytes = "\x93NUMPY" + std::string{"\2\0", 2};
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(length >> shift);
    std::string text = header("|u1", "(1,)");
    text.resize(length - 1, ' ');
    return bytes + text + "\n\7";
  };
  CHECK(read(with_header(65535)).values == Values{7});
  CHECK(contains(refusal(with_header(65536)), "has a header of 65536 bytes, expected at most 65535"));
}

TEST_CASE("read_npy survives spoilt files") {
  auto const reader = [](std::string const& path) { read_npy(path); };
  for (char const* type : {"<f4", "<f8", "<i4", "<i8", "|u1"}) {
    std::size_t const width = type[1] == 'u' ? 1 : static_cast<std::size_t>(type[2] - '0');
    spoil(npy(header(type, "(2, 1)"), std::string(2 * width, '\1')), reader);
  }
  spoil(npy(header("|u1", "(2,)"), "ab", 2), reader);
}
