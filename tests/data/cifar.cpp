#include <coldpress/data/dataset.hpp>

#include <coldpress/data/batches.hpp>

#include "data/files.hpp"

using namespace coldpress;
using namespace coldpress::data;

namespace {

/// Record i of the published layout: its labels, then the red, green and blue planes, row by row. A pixel tells where
/// it is.
unsigned char pixel(Index record, Index plane, Index place) {
  return static_cast<unsigned char>((7 * record + 100 * plane + place) % 256);
}
std::string record(Index i, std::string const& labels) {
  std::string bytes = labels;
  for (Index plane = 0; plane < 3; ++plane)
    for (Index place = 0; place < 1024; ++place) bytes += static_cast<char>(pixel(i, plane, place));
  return bytes;
}

struct Ten {
  TemporaryFolder folder;
  Ten() {
    for (int file = 1; file <= 5; ++file) {
      std::string bytes;
      for (int i = 0; i < 2; ++i) {
        int const number = 2 * (file - 1) + i;
        bytes += record(number, std::string(1, static_cast<char>(9 - number)));
      }
      folder.put("data_batch_" + std::to_string(file) + ".bin", bytes);
    }
    folder.put("test_batch.bin", record(77, std::string(1, '\5')));
  }
  std::string spec(std::string const& format) const { return format + ":" + folder / ""; }
};

}  // namespace

TEST_CASE("cifar10: reads five batches and one") {
  Ten const files;
  auto const source = open_source(files.spec("cifar10"));
  CHECK(source->sample_shape() == Shape{3, 32, 32});
  CHECK(source->target_shape() == Shape{1});
  CHECK(source->description().classes.empty());
  Dataset const dataset = load(*source);
  REQUIRE(dataset.size() == 10);
  for (Index i = 0; i < 10; ++i) {
    CHECK(dataset.target(i)[0] == static_cast<float>(9 - i));
    for (Index plane = 0; plane < 3; ++plane)
      for (Index const place : {0, 31, 32, 1023})
        CHECK(dataset.sample(i)[static_cast<std::size_t>(1024 * plane + place)] ==
              static_cast<float>(pixel(i, plane, place)) / 255);
  }
  CHECK(targets_of(*source) == dataset.targets);
  Dataset const test = open(files.spec("cifar10-test"));
  CHECK(test.size() == 1);
  CHECK(test.targets[0] == 5);
  CHECK(test.samples[0] == static_cast<float>(pixel(77, 0, 0)) / 255);
}

TEST_CASE("cifar10: is shuffled like the same samples in memory") {
  Ten const files;
  auto const source = open_source(files.spec("cifar10"));
  Dataset const dataset = load(*source);
  Batches from_files{shuffled(*source, 3), 4}, from_memory{dataset, 4, 3};
  for (int i = 0; i < 9; ++i) {
    auto const a = from_files.next(), b = from_memory.next();
    CHECK(std::equal(a.samples.begin(), a.samples.end(), b.samples.begin(), b.samples.end()));
    CHECK(std::equal(a.targets.begin(), a.targets.end(), b.targets.begin(), b.targets.end()));
  }
}

TEST_CASE("cifar10: takes the names of the classes") {
  Ten const files;
  files.folder.put("batches.meta.txt", "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n");
  auto const classes = open_source(files.spec("cifar10"))->description().classes;
  REQUIRE(classes.size() == 10);
  CHECK(classes[9] == "truck");
  CHECK(files_of(files.spec("cifar10")).size() == 6);
  files.folder.put("batches.meta.txt", "airplane\n");
  CHECK(contains(message<FormatError>([&] { open_source(files.spec("cifar10")); }),
                 "batches.meta.txt: names 1 class, expected 10"));
}

TEST_CASE("cifar100: has two kinds of labels") {
  TemporaryFolder const folder;
  folder.put("train.bin", record(0, {19, 99}) + record(1, {3, 4}));
  folder.put("test.bin", record(5, {1, 2}));
  std::string const spec = "cifar100:" + folder / "";
  CHECK(open(spec).targets == std::vector<float>{99, 4});
  CHECK(open(spec + "?labels=coarse").targets == std::vector<float>{19, 3});
  CHECK(open(spec + "?labels=coarse").samples == open(spec).samples);
  CHECK(open("cifar100-test:" + folder / "").targets == std::vector<float>{2});
  CHECK(message<ConfigError>([&] { open(spec + "?labels=all"); }) ==
        "the option labels is 'all', expected fine or coarse");
  CHECK(contains(message<ConfigError>([&] { open("cifar10:x?labels=fine"); }), "has no option 'labels'"));
}

TEST_CASE("cifar10: refuses what does not have the layout") {
  Ten const files;
  std::string const third = files.folder / "data_batch_3.bin", bytes = content(third);
  auto const refused = [&] { return message<FormatError>([&] { open_source(files.spec("cifar10")); }); };
  files.folder.put("data_batch_3.bin", bytes.substr(1));
  CHECK(refused() == third + ": has 6145 bytes, expected a multiple of the 3073 bytes of a picture with its label");
  files.folder.put("data_batch_3.bin", "");
  CHECK(contains(refused(), third + ": has 0 bytes"));
  std::string wrong = bytes;
  wrong[3073] = '\12';
  files.folder.put("data_batch_3.bin", wrong);
  CHECK(message<DataError>([&] { open(files.spec("cifar10")); }) ==
        third + ": the label of picture 1 is 10, expected 0 to 9");
  files.folder.put("data_batch_3.bin", bytes);
  auto const source = open_source(files.spec("cifar10"));
  std::filesystem::resize_file(third, 3073);
  CHECK(contains(message<FormatError>([&] { load(*source); }),
                 third + ": ends after 3073 bytes, but had 6146 when it was opened"));
  std::filesystem::remove(third);
  CHECK(contains(message<FileError>([&] { open_source(files.spec("cifar10")); }), third + ": cannot open"));
}
