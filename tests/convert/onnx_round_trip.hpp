// Networks with random weights, written as ONNX models and read again.
#pragma once

#include <coldpress/convert/onnx.hpp>

#include "convert/onnx_cases.hpp"
#include "convert/outputs.hpp"
#include "data/files.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

#include <coldpress/data/npy.hpp>
#include <coldpress/persist/network.hpp>

#include <cstdlib>

namespace onnx_round_trip {

using namespace coldpress;
using namespace coldpress::convert;
using onnx_cases::Input;

inline bool has() {
  if (!has_onnx()) WARN("skipped: coldpress::convert was built without protobuf");
  return has_onnx();
}

inline constexpr Index samples = 3;

/// The model of a config, with random weights. Variances are above 0.
inline persist::Model random_model(dynamic::LayerConfig const& config, std::uint64_t seed = 1) {
  persist::Model model = persist::model_of(dynamic::Layer::from_config(dynamic::Backend{"cpu"}, config, {}, seed));
  test::Random random{seed};
  for (auto& weight : model.weights) {
    weight.values = random.values<float>(static_cast<Index>(weight.values.size()));
    if (!weight.name.ends_with("-variance")) continue;
    for (float& value : weight.values) value = 0.5f + value * value;
  }
  return model;
}

inline std::vector<std::vector<float>> random_inputs(std::vector<Input> const& inputs, std::uint64_t seed = 2) {
  test::Random random{seed};
  std::vector<std::vector<float>> all;
  for (Input const& input : inputs) {
    auto& values = all.emplace_back(random.values<float>(samples * input.shape.size()));
    for (float& value : values) {
      if (input.numbers > 0) value = static_cast<float>(random.integer(0, input.numbers - 1));
    }
  }
  return all;
}

struct Output {
  std::vector<Index> extents;
  std::vector<float> values;
};
/// The outputs of a network in inference. It takes the inputs of the same number and shape.
inline std::vector<Output> outputs(persist::Model const& model, std::vector<std::vector<float>> const& inputs) {
  auto layer = persist::layer_of(dynamic::Backend{"cpu"}, model);
  layer.set_mode(dynamic::Mode::inference);
  REQUIRE(layer.input_shapes().size() == inputs.size());
  std::vector<dynamic::SharedTensor> tensors;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    Shape const shape = layer.input_shapes()[k];
    std::vector<Index> extents{samples};
    extents.insert(extents.end(), shape.extents, shape.extents + shape.rank());
    tensors.emplace_back(extents);
    std::ranges::copy(inputs[k], tensors.back().write_only().begin());
  }
  std::vector<Output> all;
  for (auto const& output : layer.forward(tensors)) {
    auto const values = output.read();
    all.push_back({output.shape(), {values.begin(), values.end()}});
  }
  return all;
}

/// Leaves a case for other programs.
inline void keep(std::string const& name, persist::Model const& model, std::vector<std::vector<float>> const& inputs,
                 std::vector<Output> const& expected) {
  char const* const folder = std::getenv("COLDPRESS_ONNX_CASES");
  if (folder == nullptr) return;
  std::string const path = std::string{folder} + "/" + name;
  write_onnx(path + ".onnx", model);
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    std::vector<Index> const extents{samples, static_cast<Index>(inputs[k].size()) / samples};
    data::write_npy(path + ".x" + std::to_string(k) + ".npy", extents, inputs[k]);
  }
  for (std::size_t k = 0; k < expected.size(); ++k)
    data::write_npy(path + ".y" + std::to_string(k) + ".npy", expected[k].extents, expected[k].values);
}

inline persist::Model written_and_read(persist::Model const& model) {
  TemporaryFolder const folder;
  write_onnx(folder / "a.onnx", model);
  return read_onnx(folder / "a.onnx").model;
}

/// Whether a network has these outputs.
inline void check_outputs(persist::Model const& model, std::vector<std::vector<float>> const& inputs,
                          std::vector<Output> const& expected) {
  auto const found = outputs(model, inputs);
  REQUIRE(found.size() == expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    CHECK(found[k].extents == expected[k].extents);
    if (found[k].values != expected[k].values)  // which may all be zero
      CHECK(convert_test::difference(found[k].values, expected[k].values) <= 1e-5);
  }
}

}  // namespace onnx_round_trip
