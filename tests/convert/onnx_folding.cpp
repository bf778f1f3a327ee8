// What an ONNX model computes of constants, which is done when it is read.
#include <coldpress/convert/onnx.hpp>

#include "convert/onnx_writer.hpp"
#include "data/files.hpp"
#include "support/catch.hpp"

#include <coldpress/persist/network.hpp>

#include <cmath>
#include <limits>

using namespace coldpress;
using namespace coldpress::convert;
using namespace onnx_writer;

namespace {

std::vector<float> outputs(Model const& model, std::vector<float> const& x) {
  TemporaryFolder const folder;
  auto layer = persist::layer_of(dynamic::Backend{"cpu"}, read_onnx(folder.put("a.onnx", model.bytes())).model);
  auto const y = layer.predict(x);
  return {y.begin(), y.end()};
}

/// The values of the constant "c" that nodes compute of others, which is added to a value of so many zeros.
std::vector<float> folded(std::size_t count, std::string const& nodes, std::string const& constants) {
  Model const model{.nodes = nodes + node("Add", "add", {"x", "c"}, {"y"}),
                    .constants = constants,
                    .inputs = input("x", {0, static_cast<std::int64_t>(count)})};
  return outputs(model, std::vector<float>(count));
}

}  // namespace

TEST_CASE("reductions of constants are constants") {
  if (!has()) return;
  auto const reduced = [](std::string const& op, std::size_t count, std::string const& attributes) {
    return folded(count, node(op, "reduce", {"w"}, {"c"}, attributes),
                  constant(tensor("w", {2, 3}, {3, 4, -2, 0, -5, 12})));
  };
  std::string const rows = attribute("axes", std::vector<std::int64_t>{-1}) + attribute("keepdims", 0);
  std::string const columns = attribute("axes", std::vector<std::int64_t>{0});
  auto const root = [](float x) { return std::sqrt(x); };
  CHECK(reduced("ReduceL2", 2, rows) == std::vector<float>{root(29), 13});
  CHECK(reduced("ReduceL2", 3, columns) == std::vector<float>{3, root(41), root(148)});
  CHECK(reduced("ReduceL1", 2, rows) == std::vector<float>{9, 17});
  CHECK(reduced("ReduceSumSquare", 2, rows) == std::vector<float>{29, 169});
  CHECK(reduced("ReduceMax", 2, rows) == std::vector<float>{4, 12});
  CHECK(reduced("ReduceMin", 3, columns) == std::vector<float>{0, -5, -2});
  CHECK(reduced("ReduceProd", 2, rows) == std::vector<float>{-24, 0});
  CHECK(reduced("ReduceMean", 3, columns) == std::vector<float>{1.5f, -0.5f, 5});
  CHECK(reduced("ReduceMean", 1, attribute("keepdims", 0)) == std::vector<float>{2});
  // The axes of a sum are an input since opset 13.
  CHECK(folded(2, node("ReduceSum", "reduce", {"w", "axes"}, {"c"}, attribute("keepdims", 0)),
               constant(tensor("w", {2, 3}, {3, 4, -2, 0, -5, 12})) + constant(integers("axes", {1}))) ==
        std::vector<float>{5, 7});
}

TEST_CASE("the largest of any number of constants is a constant") {
  if (!has()) return;
  std::string const constants =
      constant(tensor("a", {2}, {1, 5})) + constant(tensor("b", {2}, {3, 2})) + constant(tensor("d", {2}, {2, 9}));
  CHECK(folded(2, node("Max", "max", {"a"}, {"c"}), constants) == std::vector<float>{1, 5});
  CHECK(folded(2, node("Max", "max", {"a", "b", "d"}, {"c"}), constants) == std::vector<float>{3, 9});
  CHECK(folded(2, node("Min", "min", {"d", "b", "a"}, {"c"}), constants) == std::vector<float>{1, 2});
}

TEST_CASE("a power of whole numbers with a fraction is a whole number") {
  if (!has()) return;
  CHECK(folded(3, node("Pow", "pow", {"a", "b"}, {"p"}) + node("Cast", "cast", {"p"}, {"c"}, attribute("to", 1)),
               constant(integers("a", {4, 3, 2})) + constant(tensor("b", {3}, {0.5f, 2, 1.5f}))) ==
        std::vector<float>{2, 9, 2});
}

TEST_CASE("parts of constants are constants, and replace parts of others") {
  if (!has()) return;
  std::string const matrix = constant(tensor("w", {2, 3}, {1, 2, 3, 4, 5, 6}));
  std::string const columns = attribute("axis", 1);
  CHECK(folded(
            4,
            node("Split", "split", {"w", "sizes"}, {"a", "b"}, columns) + node("Reshape", "row", {"b", "shape"}, {"c"}),
            matrix + constant(integers("sizes", {1, 2})) + constant(integers("shape", {4}))) ==
        std::vector<float>{2, 3, 5, 6});
  CHECK(folded(3,
               node("Split", "split", {"w"}, {"a", "b"}, attribute("num_outputs", 2)) +
                   node("Reshape", "row", {"a", "shape"}, {"c"}),
               matrix + constant(integers("shape", {3}))) == std::vector<float>{1, 2, 3});

  auto const scattered = [&](std::string const& places, std::string const& parts, std::string const& attributes = "") {
    return folded(6,
                  node("ScatterND", "scatter", {"w", "places", "parts"}, {"s"}, attributes) +
                      node("Reshape", "row", {"s", "shape"}, {"c"}),
                  matrix + places + parts + constant(integers("shape", {6})));
  };
  std::string const last_row = constant(integers("places", {-1}, {1, 1}));
  CHECK(scattered(last_row, constant(tensor("parts", {1, 3}, {7, 8, 9}))) == std::vector<float>{1, 2, 3, 7, 8, 9});
  CHECK(scattered(constant(integers("places", {0, 1, 1, 0}, {2, 2})), constant(tensor("parts", {2}, {7, 8}))) ==
        std::vector<float>{1, 7, 3, 8, 5, 6});
  auto const refused = [&](std::string const& places, std::string const& parts, std::string const& attributes = "") {
    return message<UnsupportedError>([&] { scattered(places, parts, attributes); });
  };
  CHECK(contains(refused(last_row, constant(tensor("parts", {3}, {7, 8, 9}))), "its updates are [3], expected [1, 3]"));
  CHECK(contains(refused(constant(integers("places", {2}, {1, 1})), constant(tensor("parts", {1, 3}, {7, 8, 9}))),
                 "it names part 2 of 2"));
  CHECK(contains(refused(last_row, constant(tensor("parts", {1, 3}, {7, 8, 9})), text_attribute("reduction", "add")),
                 "it adds or compares what it replaces"));
  auto const gathered = [&](std::string const& places) {
    return folded(3, node("GatherND", "gather", {"w", "places"}, {"c"}), matrix + places);
  };
  CHECK(gathered(constant(integers("places", {-1}))) == std::vector<float>{4, 5, 6});
  CHECK(gathered(constant(integers("places", {0, 2, 1, 1, 0, 0}, {3, 2}))) == std::vector<float>{3, 5, 1});
  CHECK_THROWS_AS(gathered(constant(integers("places", {0, 3}, {1, 2}))), UnsupportedError);
  CHECK(contains(refused(constant(integers("places", {})), constant(tensor("parts", {1, 3}, {7, 8, 9}))),
                 "its indices are [0], and its input is [2, 3]"));
}

TEST_CASE("numbers that select all values in their order leave them as they are") {
  if (!has()) return;
  auto const selected = [&](std::vector<std::int64_t> const& numbers, std::vector<std::int64_t> const& shape,
                            std::int64_t samples = 1) {
    Model const model{
        .nodes = node("Reshape", "flat", {"x", "all"}, {"v"}) + node("Gather", "as_strided", {"v", "numbers"}, {"y"}),
        .constants = constant(integers("all", {-1})) + constant(integers("numbers", numbers, shape)),
        .inputs = input("x", {samples, 2, 2})};
    return outputs(model, {5, 6, 7, 8, 1, 2, 3, 4});
  };
  CHECK(selected({0, 1, 2, 3}, {1, 4, 1, 1}) == std::vector<float>{5, 6, 7, 8, 1, 2, 3, 4});
  CHECK_THROWS_AS(selected({0, 2, 1, 3}, {1, 4, 1, 1}), UnsupportedError);
  CHECK_THROWS_AS(selected({0, 1, 2}, {1, 3, 1, 1}), UnsupportedError);
  CHECK_THROWS_AS(selected({0, 1, 2, 3}, {4, 1}), UnsupportedError);
  CHECK_THROWS_AS(selected({0, 1, 2, 3}, {1, 4}, 0), UnsupportedError);  // of the first of any number of samples

  // as_strided for any number of samples: range(0, samples, 1) * 4, with a new axis, and 0 to 3
  auto const strided = [&](std::vector<std::int64_t> const& axes, std::vector<std::int64_t> const& shape,
                           std::vector<std::int64_t> const& zeros = {1}) {
    Model const model{
        .nodes = node("Shape", "shape", {"x"}, {"s"}, attribute("end", 1)) + node("Squeeze", "number", {"s"}, {"n"}) +
                 node("Range", "range", {"zero", "n", "one"}, {"r"}) + node("Mul", "times", {"r", "four"}, {"first"}) +
                 node("Unsqueeze", "column", {"first", "axes"}, {"u"}) + node("Add", "add", {"u", "numbers"}, {"a"}) +
                 node("Add", "more", {"a", "none"}, {"i"}) + node("Reshape", "flat", {"x", "all"}, {"v"}) +
                 node("Gather", "as_strided", {"v", "i"}, {"y"}),
        .constants = constant(integers("all", {-1})) + constant(integers("numbers", {0, 1, 2, 3}, shape)) +
                     constant(number_of("zero", 0)) + constant(number_of("one", 1)) + constant(number_of("four", 4)) +
                     constant(integers("axes", axes)) + constant(integers("none", {0}, zeros)),
        .inputs = input("x", {0, 2, 2})};
    return outputs(model, {5, 6, 7, 8, 1, 2, 3, 4});
  };
  CHECK(strided({1, 2, 3}, {1, 4, 1, 1}) == std::vector<float>{5, 6, 7, 8, 1, 2, 3, 4});
  CHECK_THROWS_AS(strided({1, 2}, {1, 4}), UnsupportedError);
  CHECK_THROWS_AS(strided({1}, {1, 4}, {1, 1, 1}), UnsupportedError);
}

TEST_CASE("an extent of 1 for the samples may vanish between other axes") {
  if (!has()) return;  // as PyTorch exports attention for one sample: {steps, samples, 4} becomes {steps, 4}
  std::string const moved =
                        node("Transpose", "turn", {"x"}, {"t"}, attribute("perm", std::vector<std::int64_t>{1, 0, 2})),
                    flat = node("Reshape", "rows", {"t", "two"}, {"r"});
  Model const model{
      .nodes = moved + flat + node("Gemm", "gemm", {"r", "w"}, {"g"}) + node("Reshape", "back", {"g", "three"}, {"b"}) +
               node("Transpose", "return", {"b"}, {"y"}, attribute("perm", std::vector<std::int64_t>{1, 0, 2})),
      .constants = constant(tensor("w", {2, 1}, {1, 10})) + constant(integers("two", {3, 2})) +
                   constant(integers("three", {3, 1, 1})),
      .inputs = input("x", {1, 3, 2})};
  CHECK(outputs(model, {1, 2, 3, 4, 5, 6, 0, 1, 1, 0, 1, 1}) == std::vector<float>{21, 43, 65, 10, 1, 11});
}

TEST_CASE("sizes that are products of extents are known when a model is read") {
  if (!has()) return;
  // As PyTorch writes x.numel() / x.shape[0] of a value {2, 3} for each sample.
  Model const model{
      .nodes = node("Shape", "shape", {"x"}, {"s"}) + node("Slice", "rest", {"s", "one", "three"}, {"r"}) +
               node("ReduceProd", "size", {"r"}, {"n"}, attribute("keepdims", 1)) +
               node("Concat", "join", {"minus", "n"}, {"to"}, attribute("axis", 0)) +
               node("Reshape", "flat", {"x", "to"}, {"y"}),
      .constants =
          constant(integers("one", {1})) + constant(integers("three", {3})) + constant(integers("minus", {-1})),
      .inputs = input("x", {0, 2, 3})};
  CHECK(outputs(model, {1, 2, 3, 4, 5, 6}) == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("the filter of weight_norm, which PyTorch's older exporter computes in the model, is a weight") {
  if (!has()) return;
  Model const model{
      .nodes = node("ReduceL2", "norm", {"v"}, {"n"}, attribute("axes", std::vector<std::int64_t>{1, 2})) +
               node("Div", "unit", {"v", "n"}, {"u"}) + node("Mul", "scale", {"u", "g"}, {"w"}) +
               node("Conv", "conv", {"x", "w"}, {"y"}),
      .constants = constant(tensor("v", {2, 1, 2}, {3, 4, 0, -2})) + constant(tensor("g", {2, 1, 1}, {10, 3})),
      .inputs = input("x", {0, 1, 2})};
  CHECK(outputs(model, {1, 2}) == std::vector<float>{22, -6});
}

TEST_CASE("a constant that is to have the type of a value is a constant") {
  if (!has()) return;
  // The bias of a convolution without one, as PyTorch's newer exporter writes it with optimize=False.
  Model const model{.nodes = node("CastLike", "like", {"zero", "x"}, {"z"}) +
                             node("Expand", "bias", {"z", "two"}, {"b"}) + node("Conv", "conv", {"x", "w", "b"}, {"y"}),
                    .constants = constant(tensor("zero", {}, {0})) + constant(integers("two", {2})) +
                                 constant(tensor("w", {2, 1, 2}, {3, 4, 0, -2})),
                    .inputs = input("x", {0, 1, 2}),
                    .opset = 18};
  CHECK(outputs(model, {1, 2}) == std::vector<float>{11, -4});
}

TEST_CASE("parts that a model takes out of a sequence of tensors are parts of the value") {
  if (!has()) return;
  auto const taken = [](std::string const& sizes, std::int64_t place, std::string const& attributes = "") {
    Model const model{
        .nodes = node("SplitToSequence", "split", {"x", sizes}, {"s"}, attribute("axis", -1) + attributes) +
                 node("SequenceAt", "at", {"s", "place"}, {"y"}),
        .constants = constant(integers("each", {1, 3, 2})) + constant(part(8, "four") + number(2, 7) + number(7, 4)) +
                     constant(part(8, "place") + number(2, 7) + number(7, place)),
        .inputs = input("x", {0, 6})};
    return outputs(model, {1, 2, 3, 4, 5, 6});
  };
  CHECK(taken("each", 1) == std::vector<float>{2, 3, 4});
  CHECK(taken("each", -1) == std::vector<float>{5, 6});
  CHECK(taken("four", 0) == std::vector<float>{1, 2, 3, 4});
  CHECK(taken("four", 1) == std::vector<float>{5, 6});
  CHECK(taken("", 4) == std::vector<float>{5});
  CHECK(taken("", 2, attribute("keepdims", 0)) == std::vector<float>{3});
  for (std::int64_t const place : {3, -4}) CHECK_THROWS_AS(taken("each", place), UnsupportedError);
  for (std::int64_t const place : {2, -1}) CHECK_THROWS_AS(taken("four", place), UnsupportedError);
}

TEST_CASE("every second place of an axis, and an axis turned around") {
  if (!has()) return;
  auto const cut = [](std::int64_t begin, std::int64_t end, std::int64_t step) {
    Model const model{.nodes = node("Slice", "cut", {"x", "begin", "end", "axis", "step"}, {"y"}),
                      .constants = constant(integers("begin", {begin})) + constant(integers("end", {end})) +
                                   constant(integers("axis", {1})) + constant(integers("step", {step})),
                      .inputs = input("x", {0, 5})};
    return outputs(model, {1, 2, 3, 4, 5});
  };
  std::int64_t const far = std::numeric_limits<std::int64_t>::max();
  CHECK(cut(0, far, 2) == std::vector<float>{1, 3, 5});
  CHECK(cut(1, 4, 2) == std::vector<float>{2, 4});
  CHECK(cut(-1, -far, -1) == std::vector<float>{5, 4, 3, 2, 1});
  CHECK(cut(3, 0, -2) == std::vector<float>{4, 2});
  CHECK(cut(1, far, far) == std::vector<float>{2});
  CHECK_THROWS_AS(cut(3, 1, 2), UnsupportedError);
}

TEST_CASE("whole numbers that are computed at run time are refused where they may wrap around") {
  if (!has()) return;
  auto const cast = [](std::int64_t from, std::int64_t to) {
    Model const model{.nodes = node("Cast", "cast", {"x"}, {"n"}, attribute("to", to)) +
                               node("Cast", "float", {"n"}, {"y"}, attribute("to", 1)),
                      .constants = "",
                      .inputs = input("x", {0, 2}, from)};
    return outputs(model, {3, 7});
  };
  constexpr int uint8 = 2, int8 = 3, int16 = 5, int32 = 6, int64 = 7, uint32 = 12;
  for (auto const& [from, to] :
       {std::pair{int64, int32}, {int32, int64}, {uint8, int16}, {int8, int16}, {uint32, int64}})
    CHECK(cast(from, to) == std::vector<float>{3, 7});
  for (auto const& [from, to] : {std::pair{int64, int8}, {int64, uint8}, {int16, int8}, {uint8, int8}, {int64, uint32}})
    CHECK_THROWS_AS(cast(from, to), UnsupportedError);
}

TEST_CASE("whole numbers of constants wrap around in their type") {
  if (!has()) return;
  auto const cast = [](std::int64_t type) {
    return folded(4,
                  node("Cast", "narrow", {"w"}, {"n"}, attribute("to", type)) +
                      node("Cast", "float", {"n"}, {"c"}, attribute("to", 1)),
                  constant(integers("w", {300, -1, -32769, (std::int64_t{1} << 32) + 5})));
  };
  CHECK(cast(2) == std::vector<float>{44, 255, 255, 5});                      // uint8
  CHECK(cast(3) == std::vector<float>{44, -1, -1, 5});                        // int8
  CHECK(cast(4) == std::vector<float>{300, 65535, 32767, 5});                 // uint16
  CHECK(cast(5) == std::vector<float>{300, -1, 32767, 5});                    // int16
  CHECK(cast(6) == std::vector<float>{300, -1, -32769, 5});                   // int32
  CHECK(cast(12) == std::vector<float>{300, 4294967295.f, 4294934527.f, 5});  // uint32
  CHECK(cast(13)[1] == 18446744073709551615.f);                               // uint64
  CHECK(cast(9) == std::vector<float>{1, 1, 1, 1});                           // a truth value
  CHECK(folded(1,
               node("Cast", "narrow", {"w"}, {"n"}, attribute("to", 3)) + node("Add", "sum", {"n", "n"}, {"s"}) +
                   node("Cast", "float", {"s"}, {"c"}, attribute("to", 1)),
               constant(integers("w", {100}))) == std::vector<float>{-56});
  CHECK(folded(1,
               node("Cast", "narrow", {"w"}, {"n"}, attribute("to", 2)) +
                   node("Cast", "float", {"n"}, {"c"}, attribute("to", 1)),
               constant(tensor("w", {1}, {300}))) == std::vector<float>{44});
}
