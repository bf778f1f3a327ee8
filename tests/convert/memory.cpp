// How much memory readers ask for, all together, for files of many tiny parts. That is at least what they have at once.
#include <coldpress/convert/nam.hpp>
#include <coldpress/convert/npz.hpp>
#include <coldpress/convert/rtneural.hpp>
#include <coldpress/convert/safetensors.hpp>

#include "convert/built.hpp"
#include "data/files.hpp"
#include "support/heap.hpp"

#include <coldpress/persist/network.hpp>

using namespace coldpress;
using namespace coldpress::convert;

namespace {

std::size_t requested = 0;

struct Outcome {
  std::string said;       // what the error says; nothing if there is none
  std::size_t requested;  // bytes
};

/// What comes of reading a file of these bytes.
template <class Reader>
Outcome outcome_of(std::string const& bytes, Reader const& read) {
  TemporaryFolder const folder;
  std::string const path = folder.put("file", bytes);
  std::string said;
  requested = 0;
  test::heap.refuses = [](std::size_t size) {
    requested += size;
    return false;
  };
  try {
    static_cast<void>(read(path));
    test::heap.refuses = nullptr;
  } catch (Error const& error) {
    test::heap.refuses = nullptr;
    said = error.sentence();
  }
  return {said, requested};
}

bool reads_json() {
  return convert_test::built_with("nlohmann-json", [] { static_cast<void>(read_rtneural("missing")); });
}

std::string repeated(std::string const& part, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += part;
  return all;
}

dynamic::LayerConfig one_layer() {
  dynamic::SequentialConfig layers;
  layers.add_input("x", Shape{2}).add_layer({"l", Linear{.output_size = 1}});
  return {"net", layers};
}

/// The weights of so many layers, of which the first is deflated in a way that is not known.
std::string damaged_npz(int layers) {
  dynamic::SequentialConfig config;
  config.add_input("x", Shape{1});
  for (int i = 0; i < layers; ++i)
    config.add_layer({std::to_string(100'000 + i) + std::string(200, 'x'), Linear{.output_size = 1}});
  persist::Model model{.name = "net", .config = {"net", std::move(config)}};
  for (auto const& weight : dynamic::weights_of(model.config))
    model.weights.push_back({weight.name, {1, 1}, std::vector<float>(1)});
  TemporaryFolder const folder;
  write_npz(folder / "a.npz", model);
  std::string bytes = content(folder / "a.npz");
  bytes[bytes.rfind("100000") - 46 + 10] = 12;  // the method, in the directory
  return bytes;
}

/// The members of one layer, each of which is so many times in the directory.
std::string overlapping_npz(std::size_t times) {
  persist::Model model{.name = "net", .config = one_layer()};
  model.weights = {{"l-0", {1, 2}, {1, 2}}, {"l-0-bias", {1, 1}, {3}}};
  TemporaryFolder const folder;
  write_npz(folder / "a.npz", model);
  std::string const bytes = content(folder / "a.npz");
  auto const directory = bytes.find("PK\1\2"), end = bytes.find("PK\6\6");
  std::string const entries = repeated(bytes.substr(directory, end - directory), times);
  std::string last = bytes.substr(end);  // a record with the directory's size, and one with the place of the first
  for (std::size_t i = 0; i < 8; ++i) {
    last[40 + i] = static_cast<char>(entries.size() >> 8 * i);
    last[56 + 8 + i] = static_cast<char>((directory + entries.size()) >> 8 * i);
  }
  return bytes.substr(0, directory) + entries + last;
}

constexpr std::size_t mebibyte = std::size_t{1} << 20;

}  // namespace

TEST_CASE("a JSON text of more parts than a model has is refused before they take memory") {
  if (!reads_json()) return;
  for (std::string const part : {"[],", "{},", R"("",)", R"({"":0},)"}) {
    std::string const text = R"({"layers":[)" + repeated(part, mebibyte + 1) + "0]}";
    for (auto const& read : {outcome_of(text, [](auto const& path) { return read_nam(path); }),
                             outcome_of(text, [](auto const& path) { return read_rtneural(path); })}) {
      CHECK(read.said == "has more than 1,048,576 lists, objects and texts");
      CHECK(read.requested <= 2 * text.size() + mebibyte);
    }
  }
  std::string const text = R"({"layers":[)" + repeated(R"("\"\\",)", mebibyte / 2) + "0]}";
  CHECK(outcome_of(text, [](auto const& path) { return read_rtneural(path); }).said == R"(has no "in_shape")");
}

TEST_CASE("a list of numbers takes memory in proportion to its text") {
  if (!reads_json()) return;
  std::string const text =
      R"({"version":"0.5.4","architecture":"Linear","config":{"receptive_field":1,"bias":false},"weights":[)" +
      repeated("0,", mebibyte / 2) + "0]}";
  auto const read = outcome_of(text, [](auto const& path) { return read_nam(path); });
  CHECK(read.said == "524,289 values, the network needs 1");
  CHECK(read.requested < 80 * text.size());
  std::string const many = R"({"weights":[)" + repeated("0,", 4 * mebibyte) + "0]}";
  auto const refused = outcome_of(many, [](auto const& path) { return read_nam(path); });
  CHECK(refused.said == "has more than 4,194,304 values");
  CHECK(refused.requested <= 2 * many.size() + mebibyte);
}

TEST_CASE("a tensor's name that is as long as a .safetensors file is not repeated") {
  if (!reads_json()) return;
  std::string header = R"({")" + std::string(mebibyte, 'a') + R"(":{}})", length;
  for (int i = 0; i < 8; ++i) length += static_cast<char>(header.size() >> 8 * i & 0xff);
  auto const read = outcome_of(length + header, [](auto const& path) { return read_safetensors(path, one_layer()); });
  CHECK(read.said == "the header has a name of 1048576 bytes, expected at most 65535");
  CHECK(read.requested < 10 * header.size());
}

TEST_CASE("a member of a .npz file that cannot be read costs no more than others") {
  auto const lenient = [](auto const& path) { return read_npz(path, one_layer(), {.allow_missing = true}); };
  auto const few = outcome_of(damaged_npz(100), lenient), many = outcome_of(damaged_npz(400), lenient);
  CHECK(few.said.empty());
  CHECK(many.said.empty());
  CHECK(many.requested < 5 * few.requested);  // it would be 16 times as much if each read the directory again
}

TEST_CASE("members of a .npz file that share their bytes are refused") {
  auto const read = [](auto const& path) { return read_npz(path, one_layer()); };
  CHECK(outcome_of(overlapping_npz(1), read).said.empty());
  CHECK(outcome_of(overlapping_npz(100), read).said ==
        "its members have together more bytes than the file, so that they overlap");
}
