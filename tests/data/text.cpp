#include <coldpress/data/text.hpp>

#include "data/files.hpp"

using namespace coldpress;
using namespace coldpress::data;

namespace {

/// The samples and targets of a source, each as a text.
std::vector<std::pair<std::string, std::string>> texts_of(Source const& source) {
  auto const steps = static_cast<std::size_t>(source.sample_shape().size());
  std::vector<float> samples(steps), targets(steps);
  auto const reader = source.reader();
  std::vector<std::pair<std::string, std::string>> all;
  auto const text = [](std::vector<float> const& values) {
    std::string bytes;
    for (float const value : values) bytes += static_cast<char>(static_cast<unsigned char>(value));
    return bytes;
  };
  for (Index i = 0; i < source.size(); ++i) {
    reader->read(i, 1, samples.data(), targets.data());
    all.emplace_back(text(samples), text(targets));
  }
  return all;
}

}  // namespace

TEST_CASE("a text is cut into samples, whose targets are the bytes that come next") {
  TemporaryFolder const folder;
  std::string const path = folder.put("a.txt", "abcdefghijk");
  auto const source = open_text(path, {.steps = 3});
  CHECK(source->sample_shape() == Shape{3});
  CHECK(source->target_shape() == Shape{3, 1});
  CHECK(texts_of(*source) ==
        std::vector<std::pair<std::string, std::string>>{{"abc", "bcd"}, {"def", "efg"}, {"ghi", "hij"}});
  CHECK(texts_of(*open_text(path, {.steps = 10})) ==
        std::vector<std::pair<std::string, std::string>>{{"abcdefghij", "bcdefghijk"}});
}

TEST_CASE("samples of a text may overlap, or leave bytes out") {
  TemporaryFolder const folder;
  std::string const path = folder.put("a.txt", "abcdef");
  CHECK(texts_of(*open_text(path, {.steps = 3, .stride = 1})) ==
        std::vector<std::pair<std::string, std::string>>{{"abc", "bcd"}, {"bcd", "cde"}, {"cde", "def"}});
  CHECK(texts_of(*open_text(path, {.steps = 1, .stride = 4})) ==
        std::vector<std::pair<std::string, std::string>>{{"a", "b"}, {"e", "f"}});
}

TEST_CASE("bytes of any value are numbers from 0 to 255") {
  TemporaryFolder const folder;
  std::string const path = folder.put("a.bin", std::string{"\x00\xff\x80\n", 4});
  std::vector<float> samples(3), targets(3);
  open_source("text:" + path + "?steps=3")->reader()->read(0, 1, samples.data(), targets.data());
  CHECK(samples == std::vector<float>{0, 255, 128});
  CHECK(targets == std::vector<float>{255, 128, 10});
}

TEST_CASE("a name of data may have the options of a text") {
  TemporaryFolder const folder;
  std::string const path = folder.put("a.txt", std::string(1000, 'x'));
  CHECK(open_source("text:" + path)->sample_shape() == Shape{128});
  CHECK(open_source("text:" + path)->size() == 7);
  CHECK(open_source("text:" + path + "?steps=9&stride=3")->size() == 331);  // (1000 - 1 - 9) / 3 + 1
  CHECK(message<ConfigError>([&] { open_source("text:" + path + "?stride=0"); }) != "");
}

TEST_CASE("a file that is too short for a text's sample is refused, and so are numbers out of range") {
  TemporaryFolder const folder;
  std::string const path = folder.put("a.txt", "abc");
  CHECK(contains(message<FormatError>([&] { open_text(path, {.steps = 3}); }),
                 path + ": has 3 bytes, but a sample of 3 steps and its targets need 4"));
  CHECK(contains(message<FormatError>([&] { open_text(folder.put("b", "a"), {}); }), "has 1 byte, but"));
  CHECK(message<ConfigError>([&] { open_text(path, {.steps = 0}); }) == "text: steps is 0, expected 1 to 16777216");
  CHECK(message<ConfigError>([&] { open_text(path, {.steps = 1, .stride = -1}); }) ==
        "text: stride is -1, expected 1 to 16777216");
  CHECK_THROWS_AS(open_text(folder / "none", {}), FileError);
}

TEST_CASE("a text that has become shorter is an error where it is read") {
  TemporaryFolder const folder;
  std::string const path = folder.put("a.txt", "abcdefgh");
  auto const source = open_text(path, {.steps = 3});
  folder.put("a.txt", "abcd");
  std::vector<float> samples(3), targets(3);
  CHECK_THROWS_AS(source->reader()->read(1, 1, samples.data(), targets.data()), FormatError);
}
