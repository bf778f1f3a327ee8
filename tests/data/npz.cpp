#include <coldpress/data/npy.hpp>

#include <coldpress/data/batches.hpp>
#include <coldpress/data/output.hpp>

#include "data/python_files.hpp"

#include <thread>

using namespace coldpress;
using namespace coldpress::data;

namespace {

struct NpzFiles : PythonFiles {
  NpzFiles() : PythonFiles("make_npz.py", "numpy") {}
};

void check_numbers(Dataset const& dataset) {
  REQUIRE(dataset.size() == 100);
  CHECK(dataset.sample_shape == Shape{3});
  CHECK(dataset.target_shape == Shape{1});
  bool right = true;
  for (std::size_t i = 0; i < 300; ++i) right = right && dataset.samples[i] == static_cast<float>(i);
  for (std::size_t i = 0; i < 100; ++i) right = right && dataset.targets[i] == static_cast<float>(2 * i);
  CHECK(right);
}

std::vector<float> epoch_of(Source const& source) {
  std::vector<float> seen;
  Batches batches{shuffled(source, 7), 16};
  for (auto const& batch : batches.epoch()) seen.insert(seen.end(), batch.samples.begin(), batch.samples.end());
  return seen;
}

}  // namespace

TEST_CASE("arrays of NumPy are read, stored or compressed") {
  NpzFiles const files;
  if (!files.made) return;
  for (char const* const name : {"stored.npz", "deflated.npz", "mixed.npz", "64-bits.npz", "zip64.npz"}) {
    INFO(name);
    check_numbers(open("npz:" + files.path(name)));
  }
  check_numbers(open("npz:" + files.path("types.npz") + "?x=x_train&y=y_train"));
  check_numbers(open("npy:" + files.path("x.npy") + "," + files.path("y.npy")));
  CHECK(open_npz(files.path("stored.npz"), "x")->target_shape() == Shape{});
  // More than are converted at a time.
  Dataset const many = open("npz:" + files.path("many.npz"));
  bool right = many.samples.size() == 15000 && many.targets.size() == 5000;
  for (std::size_t i = 0; right && i < 15000; ++i)
    right = many.samples[i] == static_cast<float>(i) && (i >= 5000 || many.targets[i] == static_cast<float>(i));
  CHECK(right);
  CHECK(files_of("npz:a.npz?x=b") == std::vector<std::string>{"a.npz"});
}

TEST_CASE("values of every type of NumPy are the nearest floats") {
  NpzFiles const files;
  if (!files.made) return;
  for (char const* const name : {"b1", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"}) {
    INFO(name);
    Dataset const dataset = open("npz:" + files.path(name) + ".npz");
    CHECK(dataset.size() >= 2);
    CHECK(dataset.samples == dataset.targets);  // which NumPy has converted
  }
}

TEST_CASE("rows on the disk are shuffled like those in memory, by several threads at a time") {
  NpzFiles const files;
  if (!files.made) return;
  Dataset const dataset = open("npz:" + files.path("deflated.npz"));
  auto const memory = borrow(dataset);
  for (char const* const name : {"stored.npz", "types.npz?x=x_train&y=y_train"}) {
    auto const source = open_source("npz:" + files.path(name));
    CHECK(source->description().blocks.empty());
    std::vector<float> other;
    std::thread thread{[&] { other = epoch_of(*source); }};
    CHECK(epoch_of(*source) == epoch_of(*memory));
    thread.join();
    CHECK(other == epoch_of(*memory));
    CHECK(targets_of(*source) == dataset.targets);
  }
}

TEST_CASE("what is wrong with an array is said with the file and the array") {
  NpzFiles const files;
  if (!files.made) return;
  auto const refused = [&](std::string const& name) {
    std::string const path = files.path(name.substr(0, name.find('?'))) + ": ";
    std::string const said = message<FormatError>([&] { open("npz:" + files.path(name)); });
    REQUIRE(said.starts_with(path));
    return said.substr(path.size());
  };
  CHECK(refused("types.npz") ==
        "has no member 'x.npy'; it has 'x_train.npy', 'y_train.npy', 'other.npy'; others are named as in "
        "npz:FILE?x=NAME,NAME&y=NAME");
  CHECK(refused("counts.npz") == "member 'y.npy': holds 99 targets for the 100 samples of member 'x.npy'");
  CHECK(refused("fortran.npz") ==
        "member 'x.npy': is in Fortran order, expected C order, as numpy.ascontiguousarray(array) gives it");
  CHECK(refused("bzip2.npz") == "member 'x.npy': is compressed by method 12, expected 0 (stored) or 8 (deflate)");
  CHECK(refused("twice.npz") == "has two members called 'x.npy'");
  CHECK(contains(refused("zeros.npz"),
                 "member 'x.npy': the header promises {1000, 1000} values, more than the file "
                 "can hold"));
  CHECK(open("npz:" + files.path("zeros.npz"), {.max_expansion = 2000}).size() == 1000);
  CHECK(refused("x.npy") == "is not a zip file, or is cut short: it does not end with the place of a directory");
  CHECK(message<DataError>([&] { open("npz:" + files.path("nan.npz")); }) ==
        files.path("nan.npz") + ": member 'x.npy': value 1 of sample 10 is nan, expected finite values");
  CHECK(contains(message<FileError>([&] { open("npz:" + files.path("missing.npz")); }), "missing.npz: cannot open"));
}

TEST_CASE("a directory cannot promise more than the file has, from which its limit would follow") {
  NpzFiles const files;
  if (!files.made) return;
  for (char const* const name : {"stored.npz", "deflated.npz"}) {
    std::string bytes = content(files.path(name));
    std::size_t const entry = bytes.find("PK\1\2");
    REQUIRE(entry != std::string::npos);
    bytes.replace(entry + 20, 8, "\xff\xff\xff\x7f\xff\xff\xff\x7f");
    std::string const path = files.folder.put("promise.npz", bytes);
    CHECK(message<FormatError>([&] { open("npz:" + path); }) ==
          path + ": member 'x.npy': has more bytes than the file");
  }
}

TEST_CASE("spoilt zip files are typed errors, or what they were") {
  NpzFiles const files;
  if (!files.made) return;
  for (char const* const name : {"stored.npz", "deflated.npz", "64-bits.npz", "zip64.npz"}) {
    std::string const bytes = content(files.path(name));
    int refused = 0;
    auto const read = [&](std::string const& spoilt) {
      std::filesystem::remove(files.path("spoilt.npz"));  // writing over a file would wait for the disk
      std::string const path = files.folder.put("spoilt.npz", spoilt);
      try {
        open("npz:" + path);
        return true;
      } catch (Error const& error) {
        CHECK((dynamic_cast<FormatError const*>(&error) || dynamic_cast<DataError const*>(&error)));
        CHECK(error.file() == path);
        ++refused;
        return false;
      }
    };
    for (std::size_t size = 0; size < bytes.size(); size += 7) {
      INFO(name << " cut to " << size << " bytes");
      CHECK_FALSE(read(bytes.substr(0, size)));
    }
    refused = 0;
    for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 5) {
      INFO(name << ", bit " << bit);
      std::string spoilt = bytes;
      spoilt[bit / 8] = static_cast<char>(spoilt[bit / 8] ^ (1 << bit % 8));
      read(spoilt);
    }
    CHECK(refused > 100);
  }
}

TEST_CASE("every bit of an array is checked, stored or compressed") {
  NpzFiles const files;
  if (!files.made) return;
  for (char const* const name : {"stored.npz", "deflated.npz"}) {
    std::string const bytes = content(files.path(name));
    Dataset const whole = open("npz:" + files.path(name));
    // Of the directory, only what is needed is looked at; members end before it.
    std::size_t const directory = bytes.find("PK\1\2");
    REQUIRE(directory != std::string::npos);
    for (std::size_t bit = 8 * 64; bit < 8 * directory; bit += 3) {
      INFO(name << ", bit " << bit);
      std::string spoilt = bytes;
      spoilt[bit / 8] = static_cast<char>(spoilt[bit / 8] ^ (1 << bit % 8));
      std::filesystem::remove(files.path("spoilt.npz"));
      try {
        Dataset const read = open("npz:" + files.folder.put("spoilt.npz", spoilt));
        CHECK(read.samples == whole.samples);
        CHECK(read.targets == whole.targets);
      } catch (Error const&) {
      }
    }
  }
  // Before anything is computed of them.
  std::string spoilt = content(files.path("stored.npz"));
  spoilt[spoilt.find("y.npy") - 40] ^= 1;  // of the last sample
  std::string const path = files.folder.put("last.npz", spoilt);
  CHECK(message<FormatError>([&] { open_source("npz:" + path); }) ==
        path + ": member 'x.npy': is damaged: its checksum is another one");
}

TEST_CASE("a file that becomes shorter after it was opened is a typed error where it is read") {
  NpzFiles const files;
  if (!files.made) return;
  auto const source = open_source("npy:" + files.path("x.npy") + "," + files.path("y.npy"));
  std::filesystem::resize_file(files.path("x.npy"), 1000);
  CHECK(contains(message<FormatError>([&] { load(*source); }),
                 "x.npy: ends after 1000 bytes, but had 1328 when it was opened"));
}
