// Networks as ONNX models, read again. With COLDPRESS_ONNX_CASES, the models are left in that folder with inputs and
// outputs, for onnx_runtime.py.
#include "convert/onnx_round_trip.hpp"
#include "support/random_config.hpp"

#include <coldpress/persist/training.hpp>

using namespace onnx_round_trip;

TEST_CASE("every layer is written as operators that are read as a network with the same outputs") {
  if (!has()) return;
  for (onnx_cases::Case const& each : onnx_cases::layers()) {
    DYNAMIC_SECTION(each.name) {
      persist::Model const model = random_model(each.config);
      auto const inputs = random_inputs(each.inputs);
      auto const expected = outputs(model, inputs);
      keep(each.name, model, inputs, expected);
      if (each.why_not.empty()) {
        check_outputs(written_and_read(model), inputs, expected);
      } else {
        CHECK(contains(message<UnsupportedError>([&] { static_cast<void>(written_and_read(model)); }), each.why_not));
      }
    }
  }
}

TEST_CASE("random networks with branches, several inputs and outputs, and shared weights are written and read") {
  if (!has()) return;
  int written = 0, refusals = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    bool const losses = seed % 3 == 0;
    test::RandomConfig const random{seed, 12, losses};
    INFO("seed " << seed);
    persist::Model const model = random_model(random.config(), seed);
    auto const& container = std::get<dynamic::SequentialConfig>(model.config.layer_type);
    persist::Model again;
    try {
      again = written_and_read(model);
    } catch (UnsupportedError const& error) {  // a layer that draws numbers, on which an output depends
      CHECK(contains(error.what(), "in the way: randomNormal 'v"));
      ++refusals;
      continue;
    }
    std::vector<Input> inputs;
    for (auto const& input : container.inputs) inputs.push_back({input.shape});
    auto const all = random_inputs(inputs, seed);
    auto const expected = outputs(model, all);
    // Inputs that only losses, or nothing at all, read are left out.
    std::vector<std::vector<float>> used;
    for (auto const& input : std::get<dynamic::SequentialConfig>(again.config.layer_type).inputs) {
      auto const place = std::ranges::find(container.inputs, input.name, &dynamic::ShapedInput::name);
      REQUIRE(place != container.inputs.end());
      used.push_back(all[static_cast<std::size_t>(place - container.inputs.begin())]);
    }
    keep("random." + std::to_string(seed), model, used, expected);
    CHECK(again.config.outputs == model.config.outputs);
    check_outputs(again, used, expected);
    ++written;
  }
  CHECK(written > 20);
  CHECK(refusals > 5);
}

TEST_CASE("the networks of the examples are written and read") {
  if (!has()) return;
  struct Example {
    std::string name;
    Input input;
  };
  Shape const digit{28, 28};
  for (auto const& [name, input] :
       {Example{"autoencoder", {digit}}, Example{"cifar10-full", {{3, 32, 32}}}, Example{"fashion", {digit}},
        Example{"gpt", {{32}, 256}}, Example{"lenet", {digit}}, Example{"linear-regression", {{5}}},
        Example{"mackey-glass-lstm", {{10}}}, Example{"mnist-conv", {digit}}, Example{"mnist-mlp", {digit}},
        Example{"mocha-dropout", {digit}}, Example{"mocha-lenet", {digit}}, Example{"residual", {digit}}}) {
    DYNAMIC_SECTION(name) {
      auto config =
          persist::read_training(convert_test::in_source("../../examples/configs/" + name + ".capnp.txt")).network;
      if (!dynamic::declares_input(config)) dynamic::declare_input(config, input.shape);
      auto const& declared = std::get<dynamic::SequentialConfig>(config.layer_type).inputs;
      persist::Model const model = random_model(config);
      auto x = random_inputs({input});
      auto all = x;
      while (all.size() < declared.size()) all.push_back(std::vector<float>(samples, 0));  // labels
      auto const expected = outputs(model, all);
      keep("examples." + name, model, x, expected);
      check_outputs(written_and_read(model), x, expected);
    }
  }
}

TEST_CASE("weights that are not finite are refused by name, and nothing is written") {
  if (!has()) return;
  TemporaryFolder const folder;
  dynamic::SequentialConfig net;
  net.add_input("x", {2}).add_layer({"linear", Linear{3}});
  persist::Model model = random_model({"net", net});
  model.weights[0].values[4] = std::numeric_limits<float>::quiet_NaN();
  CHECK(message<DataError>([&] { write_onnx(folder / "a.onnx", model); }) ==
        "weight 'linear-0': value 4 is infinite or NaN");
  CHECK(folder.names().empty());
}
