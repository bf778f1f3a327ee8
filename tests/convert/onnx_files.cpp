// What ONNX models may have that is refused, and what is wrong with files.
#include <coldpress/convert/onnx.hpp>

#include "convert/onnx_writer.hpp"
#include "data/files.hpp"
#include "support/catch.hpp"

#include <coldpress/persist/network.hpp>

#include <cmath>
#include <cstdlib>
#include <limits>

using namespace coldpress;
using namespace coldpress::convert;
using namespace onnx_writer;

namespace {

/// What is said of a model, without the name of its file.
template <class Expected>
std::string refused(std::string const& bytes, OnnxOptions const& options = {}) {
  TemporaryFolder const folder;
  std::string const path = folder.put("a.onnx", bytes);
  std::string const said = message<Expected>([&] { static_cast<void>(read_onnx(path, options)); });
  CHECK(said.starts_with(path + ": "));
  return said.substr(path.size() + 2);
}

std::vector<float> outputs(std::string const& bytes, std::vector<float> const& x, OnnxOptions const& options = {}) {
  TemporaryFolder const folder;
  auto layer = persist::layer_of(dynamic::Backend{"cpu"}, read_onnx(folder.put("a.onnx", bytes), options).model);
  auto const y = layer.predict(x);
  return {y.begin(), y.end()};
}

Model relu() { return {.nodes = node("Relu", "relu", {"x"}, {"y"}), .constants = {}, .inputs = input("x", {1, 3})}; }

}  // namespace

TEST_CASE("an ONNX model that does not fit gets all operators that are in the way, with their nodes and the reason") {
  if (!has()) return;
  Model const model{
      .nodes = node("Erf", "error", {"x"}, {"a"}) + node("Relu", "relu", {"a"}, {"b"}) + node("Erf", "", {"b"}, {"c"}) +
               node("Det", "det", {"c"}, {"d"}) +
               node("GRU", "gru", {"s", "w", "r"}, {"e"}, attribute("hidden_size", 1)) +
               node("Sum", "sum", {"d", "e"}, {"y"}),
      .constants = constant(tensor("w", {1, 3, 2}, {1, 2, 3, 4, 5, 6})) + constant(tensor("r", {1, 3, 1}, {1, 2, 3})),
      .inputs = input("x", {1, 2, 2}) + input("s", {0, 1, 2})};
  // Of what depends on an operator that is in the way, only those are named that no layer does at all.
  CHECK(refused<UnsupportedError>(model.bytes(), {.input = Shape{2, 2}})
            .starts_with("4 operators are in the way: Erf 'error': no layer does it; Erf 'c': no layer does it; Det "
                         "'det': no layer "
                         "does it; GRU 'gru': "));
}

TEST_CASE("an initial state of an ONNX model may be a constant, and an LSTM's h or c be left out") {
  if (!has()) return;
  auto const made = [](std::string const& op, std::vector<std::string> const& states) {
    std::int64_t const gates = op == "LSTM" ? 4 : 1;
    std::vector<std::string> inputs{"x", "w", "r", "", ""};
    inputs.insert(inputs.end(), states.begin(), states.end());
    std::vector<float> const zeros(static_cast<std::size_t>(gates)), ones(zeros.size(), 1.0f);
    Model const model{.nodes = node(op, "rnn", inputs, {"y"}, attribute("hidden_size", 1) + attribute("layout", 1)),
                      .constants = constant(tensor("w", {1, gates, 1}, op == "LSTM" ? zeros : ones)) +
                                   constant(tensor("r", {1, gates, 1}, op == "LSTM" ? zeros : ones)) +
                                   constant(tensor("half", {1, 1, 1}, {0.5f})),
                      .inputs = input("x", {0, 2, 1})};
    return outputs(model.bytes(), {0, 0.25f});
  };
  auto const close = [](std::vector<float> const& found, std::vector<double> const& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).margin(1e-9));
  };
  double const first = std::tanh(0.5);
  close(made("RNN", {"half"}), {first, std::tanh(0.25 + first)});
  // With weights of zero, all gates are 1/2, and so c is halved.
  close(made("LSTM", {"", "half"}), {std::tanh(0.25) / 2, std::tanh(0.125) / 2});
  close(made("LSTM", {"half"}), {0, 0});
}

TEST_CASE("an ONNX model is refused with what it has and what it should have") {
  if (!has()) return;
  Model const plain = relu();
  CHECK(outputs(plain.bytes(), {-1, 0, 2}) == std::vector<float>{0, 0, 2});
  Model older = plain;
  older.opset = 6;
  CHECK(refused<UnsupportedError>(older.bytes()) == "has version 6 of ONNX's operators, and those from 7 on are read");
  Model open = plain;
  open.inputs = input("x", {1, 0});
  CHECK(refused<ShapeError>(open.bytes()) ==
        "input 'x' leaves its axis 1 ('open') open: the shape of one sample must be given");
  CHECK(outputs((open.bytes()), {-1, 0, 2, 5}, {.input = Shape{4}}) == std::vector<float>{0, 0, 2, 5});
  CHECK(refused<ShapeError>(plain.bytes(), {.input = Shape{4}}) ==
        "input 'x' has the extent 3 on its axis 1, and 4 is given");
  CHECK(refused<ShapeError>(plain.bytes(), {.input = Shape{4, 3}}) ==
        "input 'x' has samples with 1 axes, and {4, 3} is given");
  Model outside = plain;
  outside.nodes = node("Add", "add", {"x", "w"}, {"y"});
  outside.constants = constant(part(8, "w") + number(2, 1) + number(1, 3) + number(14, 1) +
                               part(13, part(1, "location") + part(2, "../../etc/passwd")));
  CHECK(refused<UnsupportedError>(outside.bytes())
            .starts_with("initializer 'w': has its values in another file, which is not read: "));
  Model flat = plain;
  flat.nodes = node("Conv", "conv", {"x", "w"}, {"y"});
  flat.inputs = input("x", {1});
  flat.constants = constant(tensor("w", {1}, {1}));
  CHECK(refused<UnsupportedError>(flat.bytes()) ==
        "1 operator is in the way: Conv 'conv': its filter has 1 axes, and its input 1");
  Model nameless = plain;  // nothing reads such an input
  nameless.nodes = node("Sub", "sub", {"x", "x"}, {"y"});
  nameless.inputs += input("", {1, 3});
  TemporaryFolder const folder_of_nameless;
  CHECK(read_onnx(folder_of_nameless.put("a.onnx", nameless.bytes())).model.weights.empty());
  Model text = plain;
  text.inputs = input("x", {1, 3}, 8);
  CHECK(refused<UnsupportedError>(text.bytes()) == "input 'x' is no tensor of numbers");
  Model foreign = plain;
  foreign.nodes = part(1, part(3, "own") + part(4, "Relu") + part(7, "com.mine") + part(1, "x") + part(2, "y"));
  CHECK(refused<UnsupportedError>(foreign.bytes()) ==
        "1 operator is in the way: com.mine.Relu 'own': it is not one of ONNX's own operators");
  Model missing = plain;
  missing.nodes = node("Add", "add", {"x", "z"}, {"y"});
  CHECK(refused<FormatError>(missing.bytes()) == "no node computes the value 'z'");
  missing.nodes = node("Add", "add", {"x", "y"}, {"y"});
  CHECK(refused<FormatError>(missing.bytes()) == "the nodes form a cycle, which Add 'add' is part of");
  missing.nodes = node("Relu", "a", {"x"}, {"y"}) + node("Relu", "b", {"x"}, {"y"});
  CHECK(refused<FormatError>(missing.bytes()) == "the value 'y' is computed twice");
  missing.nodes = node("Relu", "relu", {"x"}, {"y"});
  missing.outputs = {""};
  CHECK(refused<FormatError>(missing.bytes()) == "no node computes its output ''");
  Model values = plain;
  values.nodes = node("Add", "add", {"x", "w"}, {"y"});
  values.constants = constant(tensor("w", {4}, {1, 2, 3}));
  CHECK(refused<FormatError>(values.bytes()) == "initializer 'w': has 3 values, but its shape [4] requires 4");
  values.constants = constant(tensor("w", {std::int64_t{1} << 62, 8}, {1}));
  CHECK(refused<FormatError>(values.bytes()) == "initializer 'w': has the impossible shape [4611686018427387904, 8]");
  values.constants = constant(tensor("w", {1, 1, 1, 1, 1, 1, 1, 1, 3}, {1, 2, 3}));
  CHECK(refused<FormatError>(values.bytes()) == "initializer 'w': has a shape of 9 axes, expected at most 8");
  CHECK(refused<FormatError>("") == "is no ONNX model, or has no outputs");
  CHECK(contains(refused<FormatError>("\x12\xff\xff"), "is damaged, or no ONNX model"));
  TemporaryFolder const folder;
  CHECK(contains(message<FileError>([&] { static_cast<void>(read_onnx(folder / "none.onnx")); }), "none.onnx: "));
}

TEST_CASE("a part of the samples is no part of a sample") {
  if (!has()) return;
  auto const cut = [](std::int64_t begin, std::int64_t end) {
    Model model = relu();
    model.inputs = input("x", {0, 3});
    model.nodes = node("Slice", "cut", {"x", "begin", "end", "axis"}, {"y"});
    model.constants =
        constant(integers("begin", {begin})) + constant(integers("end", {end})) + constant(integers("axis", {0}));
    return model.bytes();
  };
  CHECK(outputs(cut(0, std::numeric_limits<std::int64_t>::max()), {-1, 0, 2}) == std::vector<float>{-1, 0, 2});
  std::int64_t const all = std::numeric_limits<std::int64_t>::max();
  for (auto const& [begin, end] : {std::pair<std::int64_t, std::int64_t>{0, 1}, {0, 2}, {-1, all}, {0, -1}, {1, all}})
    CHECK(contains(refused<UnsupportedError>(cut(begin, end)), "Slice 'cut': it takes a part of the samples"));
}

TEST_CASE("a mean counts the padding under its window, and nothing beyond it") {
  if (!has()) return;
  auto const mean = [](std::vector<std::int64_t> const& pads, std::int64_t ceil) {
    Model model = relu();
    model.inputs = input("x", {0, 1, 1, 4});
    model.nodes = node("AveragePool", "pool", {"x"}, {"y"},
                       attribute("kernel_shape", std::vector<std::int64_t>{1, 3}) + attribute("ceil_mode", ceil) +
                           attribute("strides", std::vector<std::int64_t>{1, 2}) + attribute("pads", pads) +
                           attribute("count_include_pad", 1));
    return model.bytes();
  };
  // PyTorch's avg_pool2d of [1, 2, 3, 6]: the last window has two values, of which the mean is that of both.
  CHECK(outputs(mean({0, 0, 0, 0}, 1), {1, 2, 3, 6}) == std::vector<float>{2, 4.5f});
  CHECK(outputs(mean({0, 1, 0, 0}, 0), {1, 2, 3, 6}) == std::vector<float>{1, 11.f / 3});
  CHECK(contains(refused<UnsupportedError>(mean({0, 1, 0, 1}, 1)), "AveragePool 'pool': its last windows reach"));
}

TEST_CASE("constants do not depend on the values of a sample") {
  if (!has()) return;
  Model model = relu();
  model.nodes = node("Concat", "join", {"x", "w"}, {"y"}, attribute("axis", 1));
  model.constants = constant(tensor("w", {1, 2}, {5, 7}));
  float const nan = std::numeric_limits<float>::quiet_NaN();
  auto const y = outputs(model.bytes(), {nan, 0, 2});
  REQUIRE(y.size() == 5);
  CHECK(y[3] == 5);
  CHECK(y[4] == 7);
}

TEST_CASE("an ONNX model cannot make constants or names that fill the memory") {
  if (!has()) return;
  Model large = relu();
  large.nodes = node("ConstantOfShape", "large", {"s"}, {"a"}) + node("Add", "add", {"x", "a"}, {"y"});
  large.constants = constant(integers("s", {1 << 20, 1 << 10}));
  CHECK(refused<UnsupportedError>(large.bytes()) ==
        "1 operator is in the way: ConstantOfShape 'large': the constants that are computed of others have more "
        "values than 2^24 and eight times those of the file");
  Model chain = relu();
  chain.nodes = node("ConstantOfShape", "zeros", {"s"}, {"c0"});
  for (int i = 0; i < 20; ++i)
    chain.nodes += node("Sqrt", "sqrt" + std::to_string(i), {"c" + std::to_string(i)}, {"c" + std::to_string(i + 1)});
  chain.nodes += node("Add", "add", {"x", "c20"}, {"y"});
  chain.constants = constant(integers("s", {1 << 20}));
  chain.inputs = input("x", {1, 1 << 20});
  CHECK(refused<UnsupportedError>(chain.bytes()) ==
        "1 operator is in the way: Sqrt 'sqrt15': the constants that are computed of others have more values than 2^24 "
        "and eight times those of the file");
  Model wide = relu();
  std::vector<float> const zeros(1 << 12);
  wide.nodes = node("Where", "wide", {"w", "a", "b"}, {"c"}) + node("Add", "add", {"x", "c"}, {"y"});
  wide.constants = constant(tensor("w", {1 << 12, 1, 1}, zeros)) + constant(tensor("a", {1 << 12, 1}, zeros)) +
                   constant(tensor("b", {1 << 12}, zeros));
  CHECK(refused<UnsupportedError>(wide.bytes()) ==
        "1 operator is in the way: Where 'wide': a constant would have the impossible shape [4096, 4096, 4096]");
  Model repeated = relu();
  repeated.nodes = node("Mul", "repeated", {"x", "w"}, {"y"});
  repeated.inputs = input("x", {1, 2, 2, 1 << 24});
  repeated.constants = constant(tensor("w", {2, 2, 1}, {1, 2, 3, 4}));
  CHECK(refused<UnsupportedError>(repeated.bytes()) ==
        "1 operator is in the way: Mul 'repeated': the constants that are computed of others have more values than "
        "2^24 and eight times those of the file");
  std::int64_t const far = std::int64_t{1} << 62;
  Model empty = relu();
  empty.constants = constant(tensor("w", {0, far, far}, {}));
  CHECK(refused<FormatError>(empty.bytes()) ==
        "initializer 'w': has the impossible shape [0, 4611686018427387904, 4611686018427387904]");
  empty.nodes = node("Reshape", "view", {"w", "s"}, {"v"}, attribute("allowzero", 1)) +
                node("Transpose", "turn", {"v"}, {"c"}) + node("Add", "add", {"x", "c"}, {"y"});
  empty.constants = constant(tensor("w", {0}, {})) + constant(integers("s", {0, far, far}));
  CHECK(refused<UnsupportedError>(empty.bytes()) ==
        "1 operator is in the way: Reshape 'view': its shape has another number of values");
  std::string many;
  for (int i = 0; i < 1 << 18; ++i) many += part(1, "");
  Model names = relu();
  names.nodes += part(1, many);
  CHECK(contains(refused<FormatError>(names.bytes()), "has more than 262144 nodes, attributes"));
}

TEST_CASE("a model of ONNX may be damaged in any way, and gives a typed error or a network") {
  if (!has()) return;
  char const* const source = std::getenv("COLDPRESS_SOURCE_DIR");
  std::string const models = (source ? std::string{source} + "/" : "") + "tests/convert/onnx/";
  TemporaryFolder const folder;
  auto const survives = [&](std::string const& bytes) {
    std::string const path = folder.put("a.onnx", bytes);
    try {
      static_cast<void>(read_onnx(path));
      return true;
    } catch (Error const& error) {
      CHECK(error.file() == path);
      CHECK_FALSE(error.sentence().empty());
      return false;
    }
  };
  int refusals = 0;
  for (std::string const name : {"mlp.opset13", "lstm.opset9", "gpt.script", "wavenet.dynamo"}) {
    std::string const bytes = content(models + name + ".onnx");
    REQUIRE(survives(bytes));
    std::size_t const step = bytes.size() / 150 + 1;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      INFO(name << " at " << at);
      refusals += !survives(bytes.substr(0, at));
      for (unsigned const change : {1u, 0x80u, 0x55u}) {
        std::string spoilt = bytes;
        spoilt[at] = static_cast<char>(static_cast<unsigned char>(spoilt[at]) ^ change);
        refusals += !survives(spoilt);
      }
    }
  }
  CHECK(refusals > 400);
}

TEST_CASE("the content of a file says that it is an ONNX model") {
  if (!has()) return;
  TemporaryFolder const folder;
  CHECK(is_onnx(folder.put("a", relu().bytes())));
  CHECK_FALSE(is_onnx(folder.put("b", "PK\x03\x04")));
  CHECK_FALSE(is_onnx(folder.put("c", "")));
  CHECK_FALSE(is_onnx(folder / "none"));
}

TEST_CASE("names of classes are read as other programs write them, and what is no such text is metadata") {
  if (!has()) return;
  using namespace onnx_writer;
  auto const read = [](std::vector<std::pair<std::string, std::string>> const& entries) {
    std::string bytes =
        onnx_writer::Model{.nodes = node("Relu", "relu", {"x"}, {"y"}), .constants = {}, .inputs = input("x", {0, 2})}
            .bytes();
    for (auto const& [key, value] : entries) bytes += part(14, part(1, key) + part(2, value));
    TemporaryFolder const folder;
    return read_onnx(folder.put("a.onnx", bytes)).model;
  };
  std::vector<std::string> const two{"cat", "a \"dog\""};
  for (std::string const text :
       {R"({0: 'cat', 1: 'a "dog"'})", R"({"1": "a \"dog\"", "0": "cat"})", R"([ "cat", 'a \x22dog\u0022',])"}) {
    INFO(text);
    CHECK(read({{"names", text}}).classes == two);
    CHECK(read({{"names", text}}).metadata.empty());
    CHECK(read({{"labels", R"(["other"])"}, {"class_names", text}}).classes == two);
  }
  CHECK(read({{"names", R"(["K\u00e4fer \ud83d\ude00"])"}}).classes == std::vector<std::string>{"Käfer 😀"});
  for (std::string const text : {"",
                                 "{}",
                                 "[]",
                                 "cat",
                                 "{0: 'a'",
                                 "{0: 'a'} b",
                                 "{1: 'a'}",
                                 "{0: 'a', 0: 'b'}",
                                 "{0: 'a' 1: 'b'}",
                                 "{'a': 'b'}",
                                 "['a",
                                 "[1]",
                                 "['\\q']",
                                 "['\\ud800']",
                                 "['\\ud800\\u0041']",
                                 "[\"\\u000a\"]",
                                 "{4294967296: 'a'}",
                                 "{0: 'a',, }",
                                 "{-1: 'a'}",
                                 "['a', ['b']]"}) {
    INFO(text);
    CHECK(read({{"names", text}}).classes.empty());
    CHECK(read({{"names", text}}).metadata == std::vector<persist::Entry>{{"names", text}});
  }
  CHECK(read({{"a", "1"}, {"a", "2"}, {"", "3"}, {"b", "\x1b"}, {"c", "\xff"}}).metadata ==
        std::vector<persist::Entry>{{"a", "1"}});
}
