// Networks as types in C++: what is said in the headers, and what is refused. tests/types compiles such headers.
#include <coldpress/convert/cpp_type.hpp>
#include <coldpress/dynamic/register_layer.hpp>
#include <coldpress/persist.hpp>

#include "support/catch.hpp"
#include "support/custom_layers.hpp"

#include <algorithm>
#include <limits>

using namespace coldpress;

namespace {

persist::Model with(dynamic::SequentialConfig const& layers, std::vector<std::string> outputs = {}) {
  persist::Model model{.config = {"net", layers}};
  model.config.outputs = std::move(outputs);
  return model;
}
/// A network of one layer.
persist::Model of(dynamic::LayerType const& layer, std::string const& name = "layer") {
  dynamic::SequentialConfig layers;
  layers.add_input("x", {4}).add_layer({name, layer});
  return with(layers);
}
bool has(std::string const& text, std::string const& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}
auto lines(std::string const& text) { return std::ranges::count(text, '\n'); }

/// Why there is no type, with the layer if it is one.
std::string refusal(persist::Model const& model) {
  try {
    static_cast<void>(convert::cpp_type(model));
  } catch (UnsupportedError const& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("no text of a model gets out of its comment or its literal") {
  std::string const bad = "a\n#error \"b\"\r\n*/ \\";
  auto const header = [](std::string const& text) {
    auto model = of(Linear{}, text);
    std::get<dynamic::SequentialConfig>(model.config.layer_type).inputs[0].name = text;
    model.classes = {text, text};
    return convert::cpp_type(model, {.origin = text, .weights = text});
  };
  std::string const text = header(bad);
  CHECK(lines(text) == lines(header("a")));
  CHECK(has(text, R"(Named<"a\012#error \"b\"\015\012*/ \\", Linear{}>{})"));
  CHECK_FALSE(has(text, "\\\n"));  // which would continue a comment
  for (char const c : text) CHECK((c == '\n' || (c >= ' ' && c <= '~')));
}

TEST_CASE("numbers are read back as the same floats") {
  CHECK(has(convert::cpp_type(of(LeakyReLU{.slope = 1.0f / 3})), "LeakyReLU{.slope = 0.33333334f}"));
  CHECK(has(convert::cpp_type(of(LeakyReLU{.slope = 1e-45f})), "LeakyReLU{.slope = 1e-45f}"));
  CHECK(has(convert::cpp_type(of(Power{.scale = -2, .shift = -0.0f})), "Power{.scale = -2.0f, .shift = -0.0f}"));
  auto const infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::string const infinite = convert::cpp_type(of(LRN{.scale = infinity, .power = -infinity}));
  CHECK(has(infinite,
            "LRN{.scale = std::numeric_limits<float>::infinity(), .power = "
            "-std::numeric_limits<float>::infinity()}"));
  CHECK(has(infinite, "#include <limits>\n"));
  CHECK(has(convert::cpp_type(of(LRN{.power = nan})), "LRN{.power = std::numeric_limits<float>::quiet_NaN()}"));
}

TEST_CASE("a name is kept where it is seen, also if it is what the type would call another layer") {
  dynamic::SequentialConfig layers;
  layers.add_input("x", {4}).add_layer({"relu1", Linear{.output_size = 4}}).add_layer({"first", ReLU{}});
  layers.add_layer({"linear1", Linear{.output_size = 4}}).add_layer({"second", ReLU{}});
  layers.add_layer({"dropout", Dropout{}}).add_layer({std::string(60, 'n'), TanH{}});
  CHECK(has(convert::cpp_type(with(layers)),
            "using Type = Sequential<\n"
            "    Named<\"relu1\", Linear{.output_size = 4}>{},\n"
            "    ReLU{},\n"
            "    Linear{.output_size = 4},\n"
            "    ReLU{},\n"
            "    Named<\"dropout\", Dropout{}>{},\n"
            "    TanH{}>;"));
}

TEST_CASE("options of weights become fields of the layer") {
  dynamic::SequentialConfig layers;
  dynamic::LayerConfig layer{"fc", Linear{.output_size = 4, .weight = Xavier{}}};
  layer.params = {{.lr_mult = 0.5f}, {.filler = Constant{0.25f}}};
  layers.add_input("x", {4}).add_layer(layer);
  CHECK(has(convert::cpp_type(with(layers)),
            "Linear{.output_size = 4, .weight = {.filler = Xavier{}, .lr_mult = 0.5f}, .bias = Constant{0.25f}}"));
}

TEST_CASE("inputs that nothing reads stay inputs, and values that nothing reads are computed") {
  dynamic::SequentialConfig layers;
  layers.add_input("x", {4}).add_input("unread", {2});
  dynamic::LayerConfig dead{"dead", ReLU{}}, last{"last", TanH{}};
  dead.inputs = {"x"}, dead.outputs = {"dead"}, last.inputs = {"x"}, last.outputs = {"last"};
  layers.add_layer(dead).add_layer(last);
  CHECK(has(convert::cpp_type(with(layers, {"last"})),
            "graph([](auto x, auto) {\n"
            "  x | ReLU{};\n"
            "  return x | TanH{};\n"
            "});"));
}

TEST_CASE("one error names all layers that cannot be part of a type, and says why") {
  dynamic::register_layer<custom_layers::Snake>();
  dynamic::SequentialConfig layers;
  layers.add_input("x", {4}).add_layer({"mine", custom_layers::Snake{}});
  CHECK(refusal(with(layers)) ==
        "layer 'mine': a layer of the user's own cannot be written as C++: the config does not know its type");

  dynamic::LayerConfig closed{"closed", Linear{.output_size = 4}}, norm{"norm", BatchNormalization{}};
  closed.propagate_down = {false};
  norm.params = {{}, {}, {.filler = Constant{3}}};  // of the running mean
  layers.add_layer(closed).add_layer(norm).add_layer({std::string(60, 'd'), Dropout{}});
  dynamic::LayerConfig noise{std::string(48, 'x'), RandomNormal{.shape = {4}}}, sum{"sum", Add{}};
  layers.layers.back().outputs = {"kept"}, noise.outputs = {"noise"}, sum.inputs = {"kept", "noise"};
  layers.add_layer(noise).add_layer(sum);
  for (char const* const name : {"one", "two"}) {
    dynamic::LayerConfig half{name, Linear{.output_size = 4}};
    half.params = {{.name = "both"}, {.name = name}};
    layers.add_layer(half);
  }
  CHECK(
      refusal(with(layers)) ==
      "5 layers cannot be part of a type: 'mine': a layer of the user's own cannot be written as C++: the config does "
      "not know its type; 'closed': its propagate_down, which stops gradients, cannot be written as a type; 'norm': "
      "its "
      "params say something of its weights for which the layer has no field; '" +
          std::string(48, 'x') +
          "': its name, on which its random numbers depend, has 48 characters; names in a type have at most 47; 'two': "
          "it shares some of its weights, which cannot be written as a type");
}

TEST_CASE("deep networks are functions, and their headers say what compilers need") {
  auto const layers = [](int count) {
    dynamic::SequentialConfig all;
    all.add_input("x", {2});
    for (int i = 0; i < count; ++i) all.add_layer({"layer" + std::to_string(i), TanH{}});
    return with(all);
  };
  CHECK(has(convert::cpp_type(layers(32)), "using Type = Sequential<"));
  std::string const deeper = convert::cpp_type(layers(251));
  CHECK(has(deeper, "using Type = Graph<network>;"));
  CHECK(has(deeper,
            "// Compile it with these options. clang: -fbracket-depth=507 -fconstexpr-steps=25100000; g++: none.\n"));
  CHECK(has(convert::cpp_type(layers(1023)), "; g++: -fconstexpr-ops-limit=1023000000.\n"));
  CHECK(refusal(layers(1024)) == "the network has 1025 layers and inputs; a type has at most 1024");
}

TEST_CASE("a network without layers, a wrong namespace and a missing input are refused") {
  dynamic::SequentialConfig none;
  none.add_input("x", {2});
  CHECK_THROWS_AS(convert::cpp_type(with(none)), ConfigError);
  for (char const* const name : {"", "1amp", "my amp", "class", "std", "my::coldpress", "printf", "clone::net"})
    CHECK_THROWS_AS(convert::cpp_type(of(ReLU{}), {.name_space = name}), ConfigError);
  CHECK(has(convert::cpp_type(of(ReLU{}), {.name_space = "my::printf"}), "namespace my::printf {"));
  dynamic::SequentialConfig open;
  open.add_layer({"fc", Linear{}});
  CHECK_THROWS_AS(convert::cpp_type(with(open)), ConfigError);
  CHECK(has(convert::cpp_type(with(open), {.input = Shape{7}}), "coldpress::Network<Type, Shape{7}>"));
}

TEST_CASE("a namespace is named after a file") {
  CHECK(convert::namespace_of("nets/ResNet-18.v2.hpp") == "res_net_18_v2");
  CHECK(convert::namespace_of("18.hpp") == "network_18");
  CHECK(convert::namespace_of("class.hpp") == "class_");
  CHECK(convert::namespace_of("std.hpp") == "std_");
  CHECK(convert::namespace_of("main.hpp") == "main_");
  CHECK(convert::namespace_of("nets/Gamma.hpp") == "gamma_");
  for (std::string const name : {"clone", "printf", "abort", "remainder", "hypot", "daemon", "timezone"})
    CHECK(convert::namespace_of(name + ".hpp") == name + "_");
  CHECK(convert::namespace_of("network.hpp") == "network");
  CHECK(convert::namespace_of("\xc3\xbc.hpp") == "network");
}
