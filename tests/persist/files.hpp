// Models to save, and the capnp tool as an independent reader and writer of messages.
#pragma once

#include "data/files.hpp"

#include <coldpress/persist/model.hpp>

#include <span>
#include <string>

namespace coldpress::persist {

/// The repository's root: as CTest says, else from where the tests were compiled.
inline std::string source_file(std::string const& name) {
  if (char const* root = std::getenv("COLDPRESS_SOURCE_DIR")) return std::string{root} + "/" + name;
  return (std::filesystem::path(__FILE__).parent_path() / "../.." / name).lexically_normal().string();
}

inline std::string const own_schema = "capnp/juice.capnp";
inline std::string const juice_schema = "tests/persist/juice_subset.capnp";

/// Runs `capnp ACTION SCHEMA ROOT` on `input` and returns what it prints. The tool is there: it makes code of the
/// schemas when the library is built. `schema`: in the repository, or the path of one that a test wrote.
inline std::string capnp(std::string const& action, std::string const& schema, std::string const& input,
                         std::string const& root = "Layer") {
  TemporaryFolder folder;
  folder.put("in", input);
  char const* const tool = std::getenv("COLDPRESS_CAPNP");
  std::string const path = schema.starts_with('/') ? schema : source_file(schema);
  std::string const command = std::string{"'"} + (tool ? tool : "capnp") + "' " + action + " '" + path + "' " + root +
                              " <'" + folder / "in" + "' >'" + folder / "out" + "'";
  INFO(command);
  REQUIRE(std::system(command.c_str()) == 0);
  return content(folder / "out");
}

/// Of this many bits one is flipped: one or two of each byte are, and in nightly every one.
inline constexpr std::size_t bits_per_flip = COLDPRESS_NIGHTLY ? 1 : 5;
/// f(the bytes with one bit flipped, the number of the bit), again and again.
template <class F>
void flip_bits(std::string const& bytes, F f) {
  for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += bits_per_flip) {
    std::string spoilt = bytes;
    spoilt[bit / 8] = static_cast<char>(spoilt[bit / 8] ^ (1 << bit % 8));
    f(spoilt, bit);
  }
}

inline std::span<std::byte const> bytes_of(std::string const& text) { return std::as_bytes(std::span{text}); }
inline std::string text_of(std::vector<std::byte> const& bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}
inline Model parse(std::string const& text) { return parse_model(bytes_of(text), "test.juice"); }

/// The model that a Cap'n Proto text describes.
inline Model parse_described(std::string const& text) { return parse(capnp("encode --packed", own_schema, text)); }

/// Values that few digits spell: the capnp tool of version 0.9 prints too few of them for others.
inline NamedTensor tensor(std::string name, std::vector<Index> shape) {
  std::size_t size = 1;
  for (auto const extent : shape) size *= static_cast<std::size_t>(extent);
  NamedTensor result{std::move(name), std::move(shape), std::vector<float>(size)};
  for (std::size_t i = 0; i < size; ++i) result.values[i] = (static_cast<float>(i * 37 % 101) - 40) / 64;
  return result;
}

inline dynamic::LayerConfig container(std::string name, dynamic::SequentialConfig layers) {
  return {std::move(name), std::move(layers)};
}

/// Features of Juice only.
inline Model small_model() {
  dynamic::SequentialConfig net;
  net.add_input("image", {4, 6});
  net.add_layer({"reshape", Reshape{{24}}});
  net.add_layer({"fc1", Linear{.output_size = 20}});
  net.add_layer({"sigmoid", Sigmoid{}});
  net.add_layer({"dropout", Dropout{.probability = 0.25f, .seed = 7}});
  net.add_layer({"fc2", Linear{.output_size = 10}});
  net.add_layer({"scores", LogSoftmax{}});
  return {.name = "network",
          .config = container("network", net),
          .weights = {tensor("fc1-0", {20, 24}), tensor("fc1-0-bias", {1, 20}), tensor("fc2-0", {10, 20}),
                      tensor("fc2-0-bias", {1, 10})},
          .batch = 32};
}

}  // namespace coldpress::persist
