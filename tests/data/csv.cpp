#include <coldpress/data/csv.hpp>

#include "data/files.hpp"

#include <limits>

using namespace coldpress;
using namespace coldpress::data;

namespace {

CsvTable read(std::string_view text) {
  TemporaryFolder const folder;
  return read_csv(folder.put("file.csv", text));
}

/// The message, without the file's name.
std::string refusal(std::string_view text) {
  TemporaryFolder const folder;
  std::string const path = folder.put("file.csv", text);
  std::string const what = message<FormatError>([&] { read_csv(path, {.max_expansion = 1032}); });
  REQUIRE(what.starts_with(path + ": "));
  return what.substr(path.size() + 2);
}

using Values = std::vector<float>;

}  // namespace

TEST_CASE("read_csv reads tables with and without a header line") {
  CsvTable const table = read("Target  , b1,b2 \n1,2.5,-3e-2\n 4 ,\t+5, .5\n");
  CHECK(table.names == std::vector<std::string>{"Target", "b1", "b2"});
  CHECK(table.columns == 3);
  CHECK(table.rows() == 2);
  CHECK(table.values == Values{1, 2.5f, -0.03f, 4, 5, 0.5f});
  CsvTable const bare = read("1,2\n3,4");
  CHECK(bare.names.empty());
  CHECK(bare.rows() == 2);
  CHECK(bare.values == Values{1, 2, 3, 4});
}

TEST_CASE("read_csv takes the spellings of other programs") {
  CHECK(read("\xef\xbb\xbf\"a, b\",\"c\"\r\n\"1\",2\r\n\r\n \n").names == std::vector<std::string>{"a, b", "c"});
  CHECK(read("\xef\xbb\xbf"
             "1,2\r\n3,4\r\n")
            .values == Values{1, 2, 3, 4});
  // The nearest float, also where that is subnormal or zero.
  CHECK(read("0.1,1e-42,1e-60,3.4028234e38").values == Values{0.1f, 1e-42f, 0, std::numeric_limits<float>::max()});
  // Compressed by Python's gzip.
  CHECK(read(unhex("1f8b080000000000020333d431e532d631e10200ffa369b208000000")).values == Values{1, 5, 3, 4});
}

TEST_CASE("read_csv names line and column of what is wrong") {
  CHECK(refusal("a,b\n1,2\n3,x y\n") == "line 3, column 2 ('b'): 'x y' is not a number");
  CHECK(refusal("1,2\n3,4,5\n") == "line 2, column 3: the line ends here, with 3 fields, but the first line has 2");
  CHECK(refusal("a,b,c\n3,4\n") ==
        "line 2, column 2 ('b'): the line ends here, with 2 fields, but the first line has 3");
  CHECK(refusal("a,b\n1,\n") == "line 2, column 2 ('b'): the field is empty");
  CHECK(refusal(",b\n1,2\n") == "line 1, column 1: the field is empty");
  CHECK(refusal("1,nan\n") == "line 1, column 2: 'nan' is not a finite float");
  CHECK(refusal("1,2\n-inf,2\n") == "line 2, column 1: '-inf' is not a finite float");
  CHECK(refusal("1e39,2\n") == "line 1, column 1: '1e39' is not a finite float");
  CHECK(refusal("1e999,2\n") == "line 1, column 1: '1e999' is not a finite float");
  CHECK(refusal("1,a\n2,3\n") == "line 1, column 2: 'a' is not a number");
  CHECK(refusal("1,2\n0x10,3\n") == "line 2, column 1: '0x10' is not a number");
  CHECK(refusal("1,2\n+-1,3\n") == "line 2, column 1: '+-1' is not a number");
  CHECK(refusal("1;2\n3;4\n") == "line 2, column 1 ('1;2'): '3;4' is not a number");
  CHECK(refusal("1,2\n\n3,4\n") == "line 2 is empty");
  CHECK(refusal("1,2\n\n \n3,4\n") == "line 2 is empty");
  CHECK(refusal("nan,b\n1,2\n") == "line 1, column 1: 'nan' is not a finite float");
  CHECK(refusal("1,2\n\xef\xbb\xbf"
                "3,4\n") ==
        "line 2, column 1: '\xef\xbb\xbf"
        "3' is not a number");
  CHECK(refusal("1,2\n\"3,4\n") == "line 2, column 1: the closing quote is missing");
  CHECK(refusal("1,2\n\"3\"4,4\n") == "line 2, column 1: there is text after the closing quote");
  CHECK(refusal("a,b\n") == "has no row of numbers");
  CHECK(refusal("") == "has no row of numbers");
  CHECK(refusal("1,2\n3,\33[2J\n") == "line 2, column 2: '?[2J' is not a number");
  CHECK(refusal("1,2\n3," + std::string(50, 'x')) ==
        "line 2, column 2: '" + std::string(40, 'x') + "...' is not a number");
  TemporaryFolder const folder;
  CHECK(contains(message<FileError>([&] { read_csv(folder / "none.csv"); }), "cannot open: No such file or directory"));
}

TEST_CASE("read_csv does not unpack a line without end") {
  // 60,000 times the digit 1, in 94 bytes; 24 million digits.
  std::string const member =
      unhex("1f8b0800000000000203edc13101000000c2a04ceb5fce1a1e4001" + std::string(114, '0') + "7c19fdee02f960ea0000");
  std::string bomb;
  for (int i = 0; i < 400; ++i) bomb += member;
  CHECK(refusal(bomb) == "line 1 is longer than 16777216 bytes");
}

TEST_CASE("a line may have 2^24 bytes and no more") {
  std::string line(std::size_t{1} << 24, ' ');
  line[0] = '1', line[1] = ',', line.back() = '2';
  CHECK(read(line).values == Values{1, 2});
  CHECK(refusal(" " + line) == "line 1 is longer than 16777216 bytes");
}

TEST_CASE("read_csv survives spoilt files") {
  auto const reader = [](std::string const& path) { read_csv(path); };
  spoil(unhex("1f8b080000000000020333d431e532d631e10200ffa369b208000000"), reader);
  // Text has no end of its own, so that only flipped bits can be tried.
  TemporaryFolder const folder;
  std::string const text = "t, \"b\"\n1.5,-2e3\n3,4\n";
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string spoilt = text;
    spoilt[bit / 8] = static_cast<char>(spoilt[bit / 8] ^ (1 << bit % 8));
    std::string const path = folder.put("spoilt", spoilt);
    try {
      CsvTable const table = read_csv(path);
      CHECK(table.rows() >= 1);
    } catch (FormatError const& error) {
      CHECK(error.file() == path);
    }
  }
}

TEST_CASE("read_csv reads a real table with a header padded with blanks") {
  char const* const data = std::getenv("COLDPRESS_TEST_DATA");
  if (!data) {
    WARN("skipped: COLDPRESS_TEST_DATA is not set");
    return;
  }
  CsvTable const table = read_csv(std::string{data} + "/mackey-glass/norm_mackeyglass_test.csv.gz");
  CHECK(table.rows() == 8798);
  CHECK(table.columns == 11);
  CHECK(table.names.front() == "Target");
  CHECK(table.names.back() == "b10");
  CHECK(table.values[0] == 0.000272733471215349f);
}
