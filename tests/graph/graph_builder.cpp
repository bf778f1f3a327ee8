// What GraphBuilder makes of inputs, layers, names and shared parameters, by the compiler.
#include "support/catch.hpp"

#include <coldpress/graph/graph_builder.hpp>
#include <coldpress/layers.hpp>

using namespace coldpress;

namespace {

using Parts = detail::FixedParts<Name, 6, 6, 2>;

constexpr Parts built = [] {
  Parts parts{};
  detail::GraphBuilder<Parts> builder{parts};
  int const x = builder.add_input({4});
  int const first = builder.add(Linear{3}, View<int const>{&x, 1}, {.key = "shared"});
  int const again = builder.add(Linear{3}, View<int const>{&x, 1}, {.key = "shared"});
  int const own = builder.add(Linear{3}, View<int const>{&again, 1});
  builder.name(again, "second");
  int const both[] = {first, own};
  int const sum = builder.add(Add{}, View<int const>{both, 2});
  int const flat = builder.add(Flatten{}, View<int const>{&sum, 1});
  builder.add_output(flat);
  builder.add_output(again);
  builder.finish();
  return parts;
}();

constexpr std::string_view name(std::size_t node) { return built.names[node].view(); }

/// A chain of layers, of which some have a name.
constexpr Parts chain(auto const&... names) {
  Parts parts{};
  detail::GraphBuilder<Parts> builder{parts};
  int last = builder.add_input({4});
  for (std::string_view const text : {std::string_view{names}...}) {
    last = builder.add(ReLU{}, View<int const>{&last, 1});
    if (!text.empty()) builder.name(last, text);
  }
  builder.add_output(last);
  builder.finish();
  return parts;
}
constexpr Parts around = chain("", "relu2", "relu1", "", "relu5");

}  // namespace

// Layers without a name are called after their type, with a number. A layer that has a name is not counted.
static_assert(name(1) == "linear1" && name(2) == "second" && name(3) == "linear2" && name(4) == "add1");
// Names that other layers were given, also later ones, are left out.
static_assert(around.names[1].view() == "relu3" && around.names[4].view() == "relu4");
// The second layer of a key has the parameters of the first; each is one weight.
static_assert(built.owner[2] == 0 && built.owner[3] == 1 && built.owner[4] == 4 && built.weight_count == 4);
static_assert(built.first_parameter[1] == 0 && built.first_parameter[2] == 2 && built.first_parameter[3] == 4 &&
              built.first_parameter[4] == 6);
static_assert(built.outputs[0] == 5 && built.outputs[1] == 2 && built.nodes[4].shape == Shape{3});

namespace {

/// Reports what a graph must not be by an exception with the sentence.
struct Throwing : Parts {
  [[noreturn]] static void refuse(char const* sentence, int) { throw ConfigError{sentence}; }
};
template <class F>
std::string refusal(F build) {
  Throwing parts{};
  detail::GraphBuilder<Throwing> builder{parts};
  try {
    build(builder, builder.add_input({4}));
    builder.finish();
  } catch (ConfigError const& error) {
    return error.sentence();
  }
  return {};
}
auto add(auto& builder, auto const& layer, int input) { return builder.add(layer, View<int const>{&input, 1}); }

}  // namespace

TEST_CASE("a wrong graph is refused with a sentence") {
  CHECK(refusal([](auto& builder, int x) { builder.add_output(add(builder, Linear{2}, x)); }).empty());
  CHECK(refusal([](auto& builder, int x) {
          builder.name(add(builder, ReLU{}, x), "same");
          builder.name(add(builder, ReLU{}, x), "same");
        }) == "two layers have this name");
  CHECK(refusal([](auto& builder, int x) {
          int const y = add(builder, ReLU{}, x);
          builder.name(y, "one"), builder.name(y, "other");
        }) == "name: the value already has a name");
  CHECK(refusal([](auto& builder, int x) {
          int const y = add(builder, ReLU{}, x);
          builder.add_output(y), builder.add_output(add(builder, Flatten{}, y));
        }) == "two outputs are the same value, or views of one");
  CHECK(refusal([](auto& builder, int x) {
          add(builder, Linear{2}, x);
          builder.add_output(add(builder, ReLU{}, x));
        }).find("a layer has weights, but no output") == 0);
}
