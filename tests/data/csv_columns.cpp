// The format csv: with its options.
#include <coldpress/data/dataset.hpp>

#include "data/files.hpp"

using namespace coldpress;
using namespace coldpress::data;

namespace {

using Values = std::vector<float>;
using Names = std::vector<std::string>;

constexpr std::string_view iris =
    "id,length,width,species\n"
    "1,5.1,3.5,setosa\n"
    "2,7,3.2,versicolor\n"
    "3,6.3,3.3,\"virginica\"\n"
    "4,4.9,3,setosa\n";

Dataset read(std::string_view text, std::string const& options) {
  TemporaryFolder const folder;
  return open("csv:" + folder.put("file.csv", text) + options);
}

/// The message, without the file's name.
template <class Expected = FormatError>
std::string refusal(std::string_view text, std::string const& options) {
  TemporaryFolder const folder;
  std::string const path = folder.put("file.csv", text);
  std::string const what = message<Expected>([&] { open("csv:" + path + options); });
  REQUIRE(what.starts_with(path + ": "));
  return what.substr(path.size() + 2);
}

}  // namespace

TEST_CASE("a label column of text makes classes, sorted by name") {
  Dataset const dataset = read(iris, "?label=species&ignore=id");
  CHECK(dataset.sample_shape == Shape{2});
  CHECK(dataset.target_shape == Shape{1});
  CHECK(dataset.samples == Values{5.1f, 3.5f, 7, 3.2f, 6.3f, 3.3f, 4.9f, 3});
  CHECK(dataset.targets == Values{0, 1, 2, 0});
  CHECK(dataset.classes == Names{"setosa", "versicolor", "virginica"});
}

TEST_CASE("the numbers of classes do not depend on the order of the rows") {
  Dataset const dataset = read("b,1\na,2\nB,3\n10,4\n2,5\n", "?label=1");
  CHECK(dataset.classes == Names{"10", "2", "B", "a", "b"});
  CHECK(dataset.targets == Values{4, 3, 2, 0, 1});
}

TEST_CASE("labels that are numbers of classes stay as they are") {
  Dataset const dataset = read("x,y\n1,7\n2,0\n3,2.0\n", "?label=y");
  CHECK(dataset.targets == Values{7, 0, 2});
  CHECK(dataset.classes.empty());
  // Others are texts.
  Dataset const signs = read("1,1\n2,-1\n", "?label=2");
  CHECK(signs.targets == Values{1, 0});
  CHECK(signs.classes == Names{"-1", "1"});
}

TEST_CASE("classes may be given, so that another file has the same numbers") {
  Dataset const dataset = read(iris, "?label=species&ignore=id&classes=virginica,other,versicolor,setosa");
  CHECK(dataset.targets == Values{3, 2, 0, 3});
  CHECK(dataset.classes == Names{"virginica", "other", "versicolor", "setosa"});
  CHECK(refusal(iris, "?label=species&ignore=id&classes=setosa,virginica") ==
        "line 3, column 4 ('species'): 'versicolor' is none of the classes in the option classes");
  CHECK(message<ConfigError>([] { read(iris, "?label=species&classes=a,b,a"); }) == "the class 'a' is named twice");
  CHECK(contains(message<ConfigError>([] { read(iris, "?label=species&classes=a,"); }), "a class has no name"));
}

TEST_CASE("several columns of targets, by name or number, in their order") {
  Dataset const dataset = read("a,b,c,d\n1,2,3,4\n5,6,7,8\n", "?targets=d,2");
  CHECK(dataset.target_shape == Shape{2});
  CHECK(dataset.targets == Values{4, 2, 8, 6});
  CHECK(dataset.samples == Values{1, 3, 5, 7});
  // A name comes before a number.
  CHECK(read("2,a,1\n7,8,9\n", "?header=1&targets=1").targets == Values{9});
  // Without options the first column is the target, or the first that is not ignored.
  CHECK(read("a,b,c\n1,2,3\n", "").targets == Values{1});
  CHECK(read("a,b,c\n1,2,3\n", "?ignore=a").targets == Values{2});
}

/// What is said of a text in a column in place of a number.
std::string for_texts(std::string const& column) {
  return "; the option label=" + column + " makes classes of texts, and ignore=" + column + " leaves the column out";
}

TEST_CASE("a text in place of a number is told the options for texts, and one column those of a delimiter") {
  CHECK(refusal("kind,a\ncat,1\n", "") == "line 2, column 1 ('kind'): 'cat' is not a number" + for_texts("kind"));
  CHECK(read("kind,a\ncat,1\n", "?label=kind").classes == Names{"cat"});
  CHECK(refusal("y,a b\n1,cat\n", "") == "line 2, column 2 ('a b'): 'cat' is not a number" + for_texts("2"));
  CHECK(read("y,a b,c\n1,cat,2\n", "?ignore=2").samples == Values{2});
  CHECK(refusal("kind,a\ncat,dog\n", "?label=kind") ==
        "line 2, column 2 ('a'): 'dog' is not a number; the option ignore=a leaves the column out");
  CHECK(refusal("kind,a\n1,dog\n", "?targets=kind") ==  // which excludes a label
        "line 2, column 2 ('a'): 'dog' is not a number; the option ignore=a leaves the column out");
  CHECK(refusal("1,2\n3,0x4\n", "") == "line 2, column 2: '0x4' is not a number");  // no text
  std::string const one = "has one column, expected a target and at least one feature";
  CHECK(refusal("1\n2\n", "") == one);
  CHECK(refusal("1;2;3\n", "") == one + "; if a ; separates its fields, add the option delimiter=;");
  CHECK(refusal("a;b\n1;2\n", "") == one + "; if a ; separates its fields, add the option delimiter=;");
  CHECK(refusal("a\tb\n1\t2\n", "") == one + "; if a tab separates its fields, add the option delimiter=tab");
}

TEST_CASE("the header may be asked for or denied") {
  CHECK(read("1,2\n3,4\n", "?header=1").samples == Values{4});
  CHECK(read("1,2\n3,4\n", "?header=0").samples == Values{2, 4});
  CHECK(read("a,b\n3,4\n", "?header=1&label=a").targets == Values{3});
  CHECK(refusal("a,b\n3,4\n", "?header=0") == "line 1, column 1: 'a' is not a number" + for_texts("1"));
  CHECK(read("x,1\ny,2\n", "?label=1&header=0").classes == Names{"x", "y"});
  CHECK(refusal("1,2\n", "?header=1") == "has no row of numbers");
  CHECK(message<ConfigError>([] { read("1,2\n", "?header=yes"); }) == "the option header is 'yes', expected 1 or 0");
}

TEST_CASE("a first line of names and numbers is not taken for a row in silence") {
  constexpr std::string_view years = "kind,2019,2020\na,1,2\nb,3,4\na,5,6\n";
  std::string const doubt = "; if this line has the names of the columns, add the option header=1";
  CHECK(refusal(years, "") == "line 1, column 1: 'kind' is not a number" + doubt);
  CHECK(refusal(years, "?label=1") ==
        "line 1 has numbers and a label that no other line has, 'kind'; say by the option header=1 that it has the "
        "names of the columns, or by header=0 that it is a row");
  Dataset const named = read(years, "?label=kind&header=1");
  CHECK(named.samples == Values{1, 2, 3, 4, 5, 6});
  CHECK(named.classes == Names{"a", "b"});
  CHECK(read(years, "?label=1&header=0").size() == 4);
  // Later lines are no names.
  CHECK(refusal("1,2\nx,3\n", "") == "line 2, column 1: 'x' is not a number" + for_texts("1"));
  CHECK(read("c,1\na,2\nb,3\n", "?label=1").size() == 3);  // each label is there once
}

TEST_CASE("a table may have samples alone") {
  Dataset const alone = read("a,b\n1,2\n3,4\n", "?targets=none");
  CHECK(alone.sample_shape == Shape{2});
  CHECK(alone.target_shape == Shape{});
  CHECK(alone.samples == Values{1, 2, 3, 4});
  CHECK(alone.targets.empty());
  CHECK(read("1\n3\n", "?targets=none").samples == Values{1, 3});
  CHECK(read("none,b\n1,2\n", "?targets=none").targets == Values{1});  // a column of this name
}

TEST_CASE("the delimiter may be another one") {
  CHECK(read("a;b\n1;2\n", "?delimiter=;").samples == Values{2});
  CHECK(read("1\t2\n3\t4\n", "?delimiter=tab").samples == Values{2, 4});
  CHECK(read("name|x\n\"a|b\"|1\nc|2\n", "?delimiter=|&label=name").classes == Names{"a|b", "c"});
  CHECK(contains(message<ConfigError>([&] { read("1,2\n", "?delimiter=\""); }), "the option 'delimiter': "));
  for (char const* const bad : {"1", ".", "-", "e", "\"\"\"\"", ";;", " "})
    CHECK(contains(message<ConfigError>([&] { read("1,2\n", std::string{"?delimiter="} + bad); }),
                   "the option delimiter is"));
}

TEST_CASE("quotes within a field are doubled") {
  CHECK(read("\"say \"\"a\"\", b\",1\n\"\"\"\",2\n", "?label=1").classes == Names{"\"", "say \"a\", b"});
}

TEST_CASE("missing values are refused with their row and column, unless the column is ignored") {
  CHECK(refusal("a,b,c\n1,2,3\n4,,6\n", "") == "line 3, column 2 ('b'): the field is empty");
  CHECK(refusal("a,b,c\n1,2,3\n4,\"\",6\n", "") == "line 3, column 2 ('b'): the field is empty");
  CHECK(refusal("a,b,c\n1,2,3\n4,NA,6\n", "") == "line 3, column 2 ('b'): 'NA' is not a number" + for_texts("b"));
  CHECK(refusal("a,b,c\n1,2,3\n4,nan,6\n", "") == "line 3, column 2 ('b'): 'nan' is not a finite float");
  CHECK(refusal("a,b,c\n1,2,x\n4,5,\n", "?label=c") == "line 3, column 3 ('c'): the field is empty");
  CHECK(read("a,b,c\n1,2,3\n4,,6\n", "?ignore=b").samples == Values{3, 6});
  // As pandas writes a table with its index.
  CHECK(read(",b,c\n0,2,3\n1,5,6\n", "?ignore=1&targets=c").targets == Values{3, 6});
}

TEST_CASE("options that do not fit the table or each other are refused") {
  CHECK(refusal<ConfigError>(iris, "?label=kind") ==
        "has no column 'kind'; it has 1 to 4, called 'id', 'length', 'width', 'species'");
  CHECK(refusal<ConfigError>("1,2\n", "?targets=3") == "has no column '3'; it has 1 to 2");
  CHECK(refusal<ConfigError>("1,2\n", "?targets=0") == "has no column '0'; it has 1 to 2");
  CHECK(refusal<ConfigError>("a,a\n1,2\n", "?targets=a") == "has two columns called 'a'");
  CHECK(refusal<ConfigError>("a,b\n1,2\n", "?targets=a,1") == "the column '1' is named twice in the options");
  CHECK(refusal<ConfigError>("a,b\n1,2\n", "?targets=a,b") == "has no column left for the samples");
  CHECK(refusal<ConfigError>("a,b\n1,2\n", "?ignore=a,b") == "has no column left for the samples");
  CHECK(contains(refusal<ConfigError>("a,b\n1,2\n", "?label=a&targets=b"), "exclude each other"));
  CHECK(contains(refusal<ConfigError>("a,b\n1,2\n", "?classes=a"), "no meaning without the option label"));
}

TEST_CASE("a column of many different texts is no label") {
  std::string text;
  for (int i = 0; i < 65537; ++i) text += "n" + std::to_string(i) + ",1\n";
  CHECK(contains(refusal(text, "?label=1"), "line 65537, column 1: there are more than 65536 different labels"));
}
