#include <coldpress/data/dataset.hpp>

#include <coldpress/data/batches.hpp>
#include <coldpress/data/npy.hpp>

#include "data/files.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace coldpress;
using namespace coldpress::data;

namespace {

std::string const images = unhex(
    "00000803"
    "00000002"
    "00000001"
    "00000003"
    "0033667f80ff");
std::string const labels = unhex(
    "00000801"
    "00000002"
    "0704");

Dataset counting(Index size) {
  Dataset dataset{{{2}}, {{1}}, {}, {}};
  for (Index i = 0; i < size; ++i) {
    dataset.samples.insert(dataset.samples.end(), {static_cast<float>(i), static_cast<float>(-i)});
    dataset.targets.push_back(static_cast<float>(10 * i));
  }
  return dataset;
}

}  // namespace

TEST_CASE("mnist: reads both files, scales pixels, prefers the plain file") {
  TemporaryFolder const folder;
  folder.put("train-images-idx3-ubyte", images);
  folder.put("train-labels-idx1-ubyte", labels);
  folder.put("train-labels-idx1-ubyte.gz", "not looked at");
  Dataset const dataset = open("mnist:" + folder / "");
  CHECK(dataset.size() == 2);
  CHECK(dataset.sample_shape == Shape{1, 3});
  CHECK(dataset.target_shape == Shape{1});
  CHECK(dataset.samples == std::vector<float>{0, 51.f / 255, 102.f / 255, 127.f / 255, 128.f / 255, 1});
  CHECK(dataset.targets == std::vector<float>{7, 4});
  CHECK(dataset.sample(1)[2] == 1);
  CHECK(dataset.target(0)[0] == 7);

  CHECK(contains(message<FileError>([&] { open("mnist-test:" + folder / ""); }),
                 "t10k-images-idx3-ubyte: cannot open: No such file or directory"));
  folder.put("train-labels-idx1-ubyte", unhex("00000801"
                                              "00000001"
                                              "07"));
  CHECK(contains(message<FormatError>([&] { open("mnist:" + folder / ""); }), "holds 1 label for the 2 images of"));
  folder.put("train-images-idx3-ubyte", unhex("00000803"
                                              "00000000"
                                              "0000001c"
                                              "0000001c"));
  CHECK(contains(message<FormatError>([&] { open("mnist:" + folder / ""); }), "contains no values"));
}

TEST_CASE("csv: takes the first column as target") {
  TemporaryFolder const folder;
  Dataset const dataset = open("csv:" + folder.put("file.csv", "t,a,b\n1,2,3\n4,5,6\n"));
  CHECK(dataset.sample_shape == Shape{2});
  CHECK(dataset.target_shape == Shape{1});
  CHECK(dataset.samples == std::vector<float>{2, 3, 5, 6});
  CHECK(dataset.targets == std::vector<float>{1, 4});
  CHECK(contains(message<FormatError>([&] { open("csv:" + folder.put("one.csv", "1\n2\n")); }),
                 "has one column, expected a target and at least one feature"));
}

TEST_CASE("npy: takes samples and targets of any shape") {
  TemporaryFolder const folder;
  std::string const x = folder / "x.npy", y = folder / "y.npy", spec = "npy:" + x + "," + y;
  std::vector<float> const values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  auto const write = [&](std::vector<Index> const& x_extents, std::vector<Index> const& y_extents) {
    auto const size = [](std::vector<Index> const& extents) {
      return static_cast<std::size_t>(std::accumulate(extents.begin(), extents.end(), Index{1}, std::multiplies{}));
    };
    write_npy(x, x_extents, std::span{values}.first(size(x_extents)));
    write_npy(y, y_extents, std::span{values}.first(size(y_extents)));
  };
  write({2, 3, 2}, {2});
  Dataset const images_and_classes = open(spec);
  CHECK(images_and_classes.sample_shape == Shape{3, 2});
  CHECK(images_and_classes.target_shape == Shape{1});
  CHECK(images_and_classes.sample(1)[0] == 7);
  write({4}, {4, 3});
  Dataset const numbers = open(spec);
  CHECK(numbers.sample_shape == Shape{1});
  CHECK(numbers.target_shape == Shape{3});
  CHECK(numbers.target(3)[2] == 12);

  write({4}, {3});
  CHECK(contains(message<FormatError>([&] { open(spec); }), y + ": holds 3 targets for the 4 samples of " + x));
  write({}, {1});
  CHECK(contains(message<FormatError>([&] { open(spec); }), x + ": has 0 extents"));
  write({1, 1, 1, 1, 1, 1, 1, 1, 2}, {1});
  CHECK(open(spec).sample_shape == Shape{1, 1, 1, 1, 1, 1, 1, 2});
  write({1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {1});
  CHECK(contains(message<FormatError>([&] { open(spec); }), x + ": has 10 extents"));
  write({0, 2}, {0});
  CHECK(contains(message<FormatError>([&] { open(spec); }), x + ": contains no values"));
  write({2}, {2});
  write_npy(y, std::vector<Index>{2}, std::vector<float>{1, std::numeric_limits<float>::quiet_NaN()});
  CHECK(contains(message<DataError>([&] { open(spec); }), y + ": value 0 of sample 1 is nan, expected finite values"));
  float const infinity = std::numeric_limits<float>::infinity();
  write_npy(y, std::vector<Index>{2}, std::vector<float>{-infinity, 1});
  CHECK(contains(message<DataError>([&] { open(spec); }), y + ": value 0 of sample 0 is -inf, expected finite values"));
  CHECK(contains(message<ConfigError>([] { open("npy:a,b,c"); }), "'a,b,c' names 3 files, expected at most 2"));

  // Samples alone.
  write({2, 3}, {2});
  auto const source = open_source("npy:" + x);
  CHECK(source->size() == 2);
  CHECK(source->target_shape() == Shape{});
  CHECK(load(*source).samples == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("a spec names its files, and may be said from another folder") {
  using Names = std::vector<std::string>;
  CHECK(files_of("csv:a") == Names{"a"});
  CHECK(files_of("npy:a,b/c") == Names{"a", "b/c"});
  CHECK(files_of("mnist-test:d") == Names{"d/t10k-images-idx3-ubyte", "d/t10k-images-idx3-ubyte.gz",
                                          "d/t10k-labels-idx1-ubyte", "d/t10k-labels-idx1-ubyte.gz"});
  CHECK(files_of("mnist:d")[1] == "d/train-images-idx3-ubyte.gz");
  CHECK(from_folder("f", "csv:a") == "csv:f/a");
  CHECK(from_folder("f", "npy:a,/b") == "npy:f/a,/b");
  CHECK(from_folder("", "mnist:d") == "mnist:d");
  CHECK(from_folder("e,f", "csv:a") == "csv:e,f/a");  // one file may have a comma in its name
  CHECK(from_folder("e,f", "mnist:d") == "mnist:e,f/d");
  CHECK(from_folder("e,f", "npy:a,b") == R"(npy:"e,f/a","e,f/b")");
  CHECK(files_of(from_folder("e,f\"?", "npy:a,b?")) == Names{"e,f\"?/a", "e,f\"?/b"});
  CHECK(files_of(from_folder("f", R"(npy:"a?x=1",b)")) == Names{"f/a?x=1", "f/b"});
  CHECK_THROWS_AS(files_of("tape:x"), ConfigError);
  CHECK(from_folder("f", "npy:x") == "npy:f/x");
  CHECK_THROWS_AS(from_folder("f", "npy:x,"), ConfigError);
}

TEST_CASE("a spec may end with options, which begin at its last question mark") {
  using Names = std::vector<std::string>;
  CHECK(files_of("hdf5:a.h5,b.h5?x=u&y=v") == Names{"a.h5", "b.h5"});
  CHECK(files_of("hdf5:odd?.h5?") == Names{"odd?.h5"});
  CHECK(files_of("csv:odd?.csv?") == Names{"odd?.csv"});
  CHECK(from_folder("f", "hdf5:a.h5,b.h5?x=u&shuffle=5") == "hdf5:f/a.h5,f/b.h5?x=u&shuffle=5");
  CHECK(contains(message<ConfigError>([] { files_of("npy:a?x=1"); }), "npy: has no option 'x', since it has none"));
  CHECK(
      contains(message<ConfigError>([] { files_of("hdf5:a?z=1"); }), "has no option 'z'; it has x, y, block, shuffle"));
  CHECK(contains(message<ConfigError>([] { files_of("hdf5:a?x"); }), "the option 'x' has no value"));
  CHECK(contains(message<ConfigError>([] { files_of("hdf5:a?x="); }), "the option 'x' has no value"));
  CHECK(contains(message<ConfigError>([] { files_of("hdf5:a?x=1&x=2"); }), "the option 'x' is given twice"));
  for (char const* bad : {"hdf5:?x=1", "hdf5:a,,b", "hdf5:a,", "csv:?", "npy:,y.npy", "npy:x.npy,"})
    CHECK(contains(message<ConfigError>([&] { files_of(bad); }), "has no name of a file"));

  TemporaryFolder const folder;
  CHECK(open("csv:" + folder.put("odd?.csv", "1,2\n") + "?").size() == 1);
  std::string const list = folder.put("list.txt", "a.h5\r\n\nsub/b.h5");
  CHECK(files_of("hdf5:" + list + ",c.h5") == Names{list, "c.h5", folder / "a.h5", folder / "sub/b.h5"});
  CHECK(files_of("hdf5:missing.txt") == Names{"missing.txt"});

  // This program is not linked with the optional components.
  CHECK(message<UnsupportedError>([] { open("hdf5:a.h5"); }) ==
        "this program reads no HDF5 files: it was built without coldpress::hdf5");
  CHECK(message<UnsupportedError>([] { open("images:a"); }) ==
        "this program reads no pictures: it was built without coldpress::images");
  auto const help = spec_help();
  REQUIRE(help.size() == 13);
  CHECK(help.back().spec == "text:FILE");
  CHECK(help.back().options[0].name == "steps");
  CHECK(is_spec("npy:x"));
  CHECK_FALSE(is_spec("npy"));
  CHECK_FALSE(is_spec("npyx:y"));
}

TEST_CASE("in quotes, an element of a list may have commas, ampersands, question marks and doubled quotes") {
  using Names = std::vector<std::string>;
  CHECK(files_of(R"(npy:"a,b.npy",c.npy)") == Names{"a,b.npy", "c.npy"});
  CHECK(files_of(R"(npy:c.npy,"say ""x"", y.npy")") == Names{"c.npy", R"(say "x", y.npy)"});
  CHECK(files_of(R"(npy:"e,f?",g)") == Names{"e,f?", "g"});
  CHECK(files_of(R"(npy:"e,f?",g?)") == Names{"e,f?", "g"});
  CHECK(from_folder("", R"(npy:"a",b)") == R"(npy:"a",b)");
  CHECK(files_of(R"(npy:a 5" b,c)") == Names{R"(a 5" b)", "c"});  // quotes count only where an element begins
  CHECK(files_of(R"(csv:a,"b)") == Names{R"(a,"b)"});             // and only in lists
  TemporaryFolder const folder;
  std::string const table =
      "csv:" + folder.put("t.csv", "id,\"price, net\",\"a&b?\",\"say \"\"x\"\"\"\n1,2,3,4\n5,6,7,8\n");
  auto const samples = [&](std::string const& options) { return open(table + options).samples; };
  using Values = std::vector<float>;
  CHECK(samples(R"(?ignore="price, net",id&targets=none)") == Values{3, 4, 7, 8});
  CHECK(samples(R"(?targets="price, net","a&b?"&ignore="say ""x""")") == Values{1, 5});
  CHECK(open(table + R"(?label="price, net"&ignore=1)").samples == Values{3, 4, 7, 8});
  CHECK(open(table + R"(?label=price, net&ignore=1)").samples == Values{3, 4, 7, 8});  // it is no list
  CHECK(contains(message<ConfigError>([&] { samples(R"(?ignore="price, net)"); }),
                 "the option 'ignore': '\"price, net' has a quote that does not end"));
  CHECK(contains(message<ConfigError>([&] { samples(R"(?ignore="price, net"x,id)"); }),
                 "the option 'ignore': 'x,id' comes after a quote's end, where a comma was expected"));
  CHECK(contains(message<ConfigError>([] { files_of(R"(npy:"a,b)"); }), "has a quote that does not end"));
}

TEST_CASE("defaults are added to a spec that does not have these options") {
  std::pair<std::string, std::string> const defaults[] = {{"width", "3"}, {"height", "2"}};
  CHECK(with_defaults("images:a", defaults) == "images:a?width=3&height=2");
  CHECK(with_defaults("images:a?", defaults) == "images:a?width=3&height=2");
  CHECK(with_defaults("images:odd?.png?", defaults) == "images:odd?.png?width=3&height=2");
  CHECK(with_defaults("images:a?height=5&skip=1", defaults) == "images:a?height=5&skip=1&width=3");
  CHECK_THROWS_AS(with_defaults("tape:a", defaults), ConfigError);
}

TEST_CASE("an unknown spec is told the known ones") {
  for (char const* bad : {"", "mnist", "json:file", "CSV:file", ":"})
    CHECK(message<ConfigError>([&] { open(bad); }) ==
          "the data '" + std::string{bad} +
              "' is not one of mnist:DIR, mnist-test:DIR, cifar10:DIR, "
              "cifar10-test:DIR, cifar100:DIR, cifar100-test:DIR, "
              "images:DIR, csv:FILE, npy:X,Y, npz:FILE, hdf5:FILE,..., sound:INPUT,OUTPUT, text:FILE");
  CHECK(message<ConfigError>([] { open("mnist:"); }) == "the data 'mnist:' is not complete: write mnist:DIR");
}

TEST_CASE("a file without a format is told the one that its name says") {
  for (auto const& [text, meant] : {std::pair{"a.csv", "csv:a.csv"},
                                    {"d/a.csv?label=x.y", "csv:d/a.csv?label=x.y"},
                                    {"x.npy", "npy:x.npy"},
                                    {"x.npz", "npz:x.npz"},
                                    {"x.h5", "hdf5:x.h5"}}) {
    CHECK(spec_for(text) == meant);
    CHECK(message<ConfigError>([&, name = text] {
            open(name);
          }).ends_with(std::string{", text:FILE; did you mean '"} + meant + "'?"));
  }
  for (char const* text : {"", "a", "a.bin", "csv:a.csv", ".csv/a", "a?b=c.csv"}) CHECK(spec_for(text).empty());
}

TEST_CASE("check refuses a dataset whose values do not fit its shapes") {
  CHECK_NOTHROW(check(counting(3)));
  Dataset broken = counting(3);
  broken.targets.pop_back();
  CHECK(contains(message<ShapeError>([&] { check(broken); }), "3 samples and 2 targets"));
  broken.samples.pop_back();
  CHECK(contains(message<ShapeError>([&] { check(broken); }), "5 values of samples, expected a multiple of {2}"));
  CHECK_THROWS_AS(check(Dataset{}), ShapeError);
  CHECK(Dataset{}.size() == 0);
}

TEST_CASE("split gives every sample to one part, with its target") {
  Dataset const dataset = counting(10);
  Split const parts = split(dataset, 0.3, 7);
  CHECK(parts.training.size() == 7);
  CHECK(parts.held_out.size() == 3);
  std::vector<float> seen;
  for (Dataset const* part : {&parts.training, &parts.held_out}) {
    CHECK_NOTHROW(check(*part));
    for (Index i = 0; i < part->size(); ++i) {
      seen.push_back(part->sample(i)[0]);
      CHECK(part->sample(i)[1] == -seen.back());
      CHECK(part->target(i)[0] == 10 * seen.back());
    }
  }
  CHECK_FALSE(std::ranges::is_sorted(seen));
  std::ranges::sort(seen);
  for (Index i = 0; i < 10; ++i) CHECK(seen[static_cast<std::size_t>(i)] == static_cast<float>(i));

  CHECK(split(dataset, 0.3, 7).held_out.samples == parts.held_out.samples);
  CHECK(split(dataset, 0.3, 8).training.samples != parts.training.samples);
  for (double const fraction : {0., 0.01, 0.99, 1., -1., 2., std::numeric_limits<double>::quiet_NaN()})
    CHECK(contains(message<ConfigError>([&] { split(dataset, fraction, 0); }), "leaves one of the parts empty"));
}

TEST_CASE("what is held out is not what training on the whole would begin with, in any of its epochs") {
  Dataset const dataset = counting(64);
  for (std::uint64_t const seed : {0u, 1u, 7u, 42u}) {
    INFO("seed " << seed);
    Split const parts = split(dataset, 0.25, seed);
    std::vector<float> held_out, training;
    for (Index i = 0; i < 16; ++i) held_out.push_back(parts.held_out.sample(i)[0]);
    for (Index i = 0; i < 48; ++i) training.push_back(parts.training.sample(i)[0]);
    Batches batches{dataset, 64, seed};
    for (int epoch = 0; epoch < 20; ++epoch) {
      std::vector<float> order;
      auto const batch = batches.next();
      REQUIRE(batch.position == Batches::Position{static_cast<std::uint64_t>(epoch), 0});
      for (Index i = 0; i < 64; ++i) order.push_back(batch.samples[static_cast<std::size_t>(2 * i)]);
      CHECK_FALSE(std::equal(held_out.begin(), held_out.end(), order.begin()));
      CHECK_FALSE(std::equal(training.begin(), training.end(), order.begin() + 16));
    }
  }
}

TEST_CASE("real digits are read") {
  char const* const data = std::getenv("COLDPRESS_TEST_DATA");
  if (!data) {
    WARN("skipped: COLDPRESS_TEST_DATA is not set");
    return;
  }
  std::string const folder = std::string{data} + "/mnist-8k";
  Dataset const training = open("mnist:" + folder), test = open("mnist-test:" + folder);
  CHECK(training.size() == 7000);
  CHECK(test.size() == 1000);
  CHECK(training.sample_shape == Shape{28, 28});
  CHECK(*std::ranges::max_element(training.samples) == 1);
  CHECK(*std::ranges::min_element(training.samples) == 0);
  std::vector<int> classes(10);
  for (float const target : training.targets) ++classes.at(static_cast<std::size_t>(target));
  CHECK(*std::ranges::min_element(classes) > 500);
}
