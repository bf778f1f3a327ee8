#include <coldpress/data/hdf5.hpp>

#include <coldpress/data/prefetcher.hpp>
#include <coldpress/data/transform.hpp>

#include "data/blocks.hpp"
#include "data/hdf5_files.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>

using namespace coldpress;
using namespace coldpress::data;

namespace {

void check_numbers(Dataset const& dataset, Index count) {
  REQUIRE(dataset.size() == count);
  bool right = true;
  for (Index i = 0; i < count; ++i) {
    for (Index j = 0; j < 3; ++j)
      right = right && dataset.sample(i)[static_cast<std::size_t>(j)] == static_cast<float>(3 * i + j);
    right = right && dataset.target(i)[0] == static_cast<float>(2 * i);
  }
  CHECK(right);
}

std::vector<float> first_samples(Batches batches, int epochs) {
  std::vector<float> seen;
  for (int epoch = 0; epoch < epochs; ++epoch)
    for (auto const& batch : batches.epoch()) {
      for (std::size_t i = 0; i < batch.samples.size(); i += 3) seen.push_back(batch.samples[i] / 3);
      for (std::size_t i = 0; i < batch.targets.size(); ++i) CHECK(2 * batch.samples[3 * i] / 3 == batch.targets[i]);
    }
  return seen;
}

}  // namespace

TEST_CASE("files of h5py are read, whatever their layout and type") {
  Hdf5Files const files;
  if (!files.made) return;
  for (char const* const name : {"contiguous.h5", "chunked.h5", "compressed.h5", "doubles.h5"}) {
    INFO(name);
    check_numbers(load(*open_hdf5({.files = {files.path(name)}})), 100);
    for (Index const block : {1, 7, 64, 1000})
      check_numbers(load(*open_hdf5({.files = {files.path(name)}, .block = block})), 100);
  }
  check_numbers(open("hdf5:" + files.path("named.h5") + "?x=inputs/x&y=inputs/y"), 100);
  auto const images = open_source("hdf5:" + files.path("images.h5"));
  CHECK(images->sample_shape() == Shape{1, 3});
  CHECK(images->target_shape() == Shape{1});
}

TEST_CASE("several files are one data set, by commas or by a list") {
  Hdf5Files const files;
  if (!files.made) return;
  std::string const three = files.path("a.h5") + "," + files.path("b.h5") + "," + files.path("c.h5");
  check_numbers(open("hdf5:" + three), 100);
  check_numbers(open("hdf5:" + files.path("list.txt")), 100);
  auto const source = open_source("hdf5:" + three + "?block=8&shuffle=24");
  CHECK(source->description().blocks == std::vector<Index>{0, 8, 16, 24, 30, 38, 46, 54, 62, 70, 75, 83, 91, 99, 100});
  CHECK(files_of("hdf5:" + files.path("list.txt")) ==
        std::vector<std::string>{files.path("list.txt"), files.path("a.h5"), files.path("b.h5"), files.path("c.h5")});
}

TEST_CASE("an epoch has each sample once, in an order that resumes at every position, across files and windows") {
  Hdf5Files const files;
  if (!files.made) return;
  auto const source = open_source("hdf5:" + files.path("list.txt") + "?block=4&shuffle=16");
  auto const whole = first_samples(Batches{shuffled(*source, 5), 8}, 3);
  REQUIRE(whole.size() == 300);
  std::set<std::vector<float>> orders;
  for (auto epoch = whole.begin(); epoch != whole.end(); epoch += 100) {
    std::set<float> const once(epoch, epoch + 100);
    CHECK(once.size() == 100);
    orders.insert({epoch, epoch + 100});
  }
  CHECK(orders.size() == 3);
  for (Index const at : {0, 8, 16, 40, 96}) {
    Batches batches{shuffled(*source, 5), 8};
    batches.seek({1, at});
    auto const rest = first_samples(std::move(batches), 2);
    CHECK(std::equal(rest.begin(), rest.end(), whole.begin() + 100 + at));
  }
  // Read ahead by a thread, while another thread reads the same source.
  std::vector<float> seen;
  Prefetcher prefetched{Batches{shuffled(*source, 5), 8}};
  std::thread other{[&] { load(*source); }};
  for (int epoch = 0; epoch < 3; ++epoch)
    for (auto const& batch : prefetched.epoch())
      for (std::size_t i = 0; i < batch.samples.size(); i += 3) seen.push_back(batch.samples[i] / 3);
  other.join();
  CHECK(seen == whole);
}

TEST_CASE("what fits into the memory for shuffling has the order of the same data in memory") {
  Hdf5Files const files;
  if (!files.made) return;
  auto const source = open_source("hdf5:" + files.path("compressed.h5"));
  Dataset const dataset = load(*source);
  CHECK(first_samples(Batches{shuffled(*source, 3), 16}, 2) == first_samples(Batches{dataset, 16, 3}, 2));
}

TEST_CASE("the mean that is subtracted comes from a file of Mocha") {
  Hdf5Files const files;
  if (!files.made) return;
  Dataset const dataset{{{2, 3}}, {{1}}, std::vector<float>(6, 1), {0}};
  auto const raw = borrow(dataset);
  auto const transforms = fit({SubtractMean{.file = files.path("mean.hdf5")}}, *raw);
  CHECK(load(*transformed(*raw, transforms)).samples == std::vector<float>{1, 0.75f, 0.5f, 0.25f, 0, -0.25f});
  CHECK(contains(message<FormatError>([&] { fit({SubtractMean{.file = files.path("a.h5")}}, *raw); }), "'mean'"));
}

TEST_CASE("more files than are kept open are read") {
  Hdf5Files const files;
  if (!files.made) return;
  Hdf5Data many;
  for (int i = 0; i < 30; ++i) {
    std::filesystem::copy_file(files.path("a.h5"), files.path("copy" + std::to_string(i) + ".h5"));
    many.files.push_back(files.path("copy" + std::to_string(i) + ".h5"));
  }
  auto const source = open_hdf5(many);
  CHECK(source->size() == 900);
  CHECK(first_samples(Batches{shuffled(*source, 1), 64}, 2).size() == 1800);
}

TEST_CASE("what cannot be used is refused with the file and what is wrong") {
  Hdf5Files const files;
  if (!files.made) return;
  auto const refused = [&](std::string const& name, std::string const& options = "") {
    std::string const said = message<FormatError>([&] { open_source("hdf5:" + files.path(name) + options); });
    CHECK(said.starts_with(files.path(name) + ": "));
    return said;
  };
  CHECK(contains(refused("contiguous.h5", "?x=pixels"), "cannot open the dataset 'pixels'"));
  CHECK(contains(refused("too-few-targets.h5"), "'data' has 20 samples, but 'label' has 19 targets"));
  CHECK(contains(refused("text.h5"), "'label' holds values that are not numbers"));
  CHECK(contains(refused("empty.h5"), "'data' contains no values"));
  CHECK(contains(refused("linked.h5"), "cannot open the dataset 'data': "));
  CHECK(contains(refused("virtual.h5"), "the values of 'data' are in other files"));
  CHECK(contains(refused("external.h5"), "the values of 'data' are in other files"));
  CHECK(contains(message<FormatError>([&] { open_source("hdf5:" + files.path("a.h5") + "," + files.path("wide.h5")); }),
                 "wide.h5: has samples of {6} with targets of {1}, but the first file has {3} with {1}"));
  CHECK(contains(message<DataError>([&] { load(*open_source("hdf5:" + files.path("nan.h5"))); }),
                 "nan.h5: value 1 of sample 10 of 'data' is nan, expected finite values"));
  files.folder.put("not.h5", "no HDF5");
  CHECK(contains(refused("not.h5"), "is not an HDF5 file that can be opened"));
  CHECK(contains(message<FileError>([&] { open_source("hdf5:" + files.path("missing.h5")); }),
                 "missing.h5: cannot open"));
  CHECK_THROWS_AS(open_hdf5({}), ConfigError);
  CHECK(contains(message<ConfigError>([&] { open_source("hdf5:a.h5?block=0"); }), "the option block is '0'"));
}

TEST_CASE("a file that is cut short or replaced between two epochs is a typed error where the batch is taken") {
  Hdf5Files const files;
  if (!files.made) return;
  std::string const path = files.path("compressed.h5");
  auto const source = open_source("hdf5:" + path + "?block=8&shuffle=8");
  Batches const before{shuffled(*source, 1), 8};  // has opened nothing yet
  std::filesystem::copy_file(files.path("a.h5"), path, std::filesystem::copy_options::overwrite_existing);
  Prefetcher replaced{Batches{shuffled(*source, 1), 8}};
  CHECK(contains(message<FormatError>([&] { replaced.next(); }), path + ": has changed since it was opened first"));
  auto const other = open_source("hdf5:" + files.path("chunked.h5"));
  std::filesystem::resize_file(files.path("chunked.h5"), 3000);
  Prefetcher cut{Batches{shuffled(*other, 1), 8}};
  CHECK(contains(message<FormatError>([&] { cut.next(); }), files.path("chunked.h5") + ": "));
}

TEST_CASE("a file that is cut short or written to within an epoch is a typed error, not zeros") {
  Hdf5Files const files;
  if (!files.made) return;
  auto const refused_after = [&](std::string const& name, auto change) {
    std::string const path = files.path(name);
    auto const source = open_source("hdf5:" + path + "?block=8&shuffle=8");
    Batches batches{shuffled(*source, 1), 8};
    batches.next();
    change(path);
    std::string const said = message<FormatError>([&] {
      for (int i = 0; i < 12; ++i) batches.next();
    });
    CHECK(contains(said, path + ": has changed since it was opened first"));
  };
  refused_after("contiguous.h5", [](std::string const& path) {
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1000);
  });
  refused_after("doubles.h5", [](std::string const& path) {
    std::fstream{path, std::ios::in | std::ios::out | std::ios::binary}.seekp(-8, std::ios::end).write("8 bytes.", 8);
  });
}

TEST_CASE("a file that is cut anywhere is a typed error that names it") {
  Hdf5Files const files;
  if (!files.made) return;
  std::string const bytes = content(files.path("a.h5"));
  for (std::size_t size = 0; size < bytes.size(); size += bytes.size() / 200 + 1) {
    INFO("cut to " << size << " bytes");
    try {
      load(*open_hdf5({.files = {files.folder.put("cut.h5", bytes.substr(0, size))}}));
      FAIL_CHECK("was read");
    } catch (FormatError const& error) {
      CHECK(error.file() == files.path("cut.h5"));
    }
  }
}
