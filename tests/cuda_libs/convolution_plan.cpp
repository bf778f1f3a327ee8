// cuDNN's plans are chosen and built without a GPU: for an H200, whose properties are given as JSON.
#include "support/catch.hpp"

#include <libraries/convolution_plan.hpp>
#include <libraries/emulated_gpu.hpp>

#include <coldpress/core/to_string.hpp>
#include <coldpress/layers/convolution.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <sstream>

using namespace coldpress;
using namespace coldpress::cuda;

// Where there is no device, cuDNN and cuBLASLt leak what they then cannot use.
extern "C" char const* __asan_default_options();
extern "C" char const* __asan_default_options() { return "detect_leaks=0"; }

namespace {

DeviceProperties const& device() {
  static DeviceProperties const properties = DeviceProperties::from_json(h200);
  return properties;
}

constexpr LayerPass passes[] = {LayerPass::forward, LayerPass::input_gradient, LayerPass::weight_gradient};

struct Workload {
  char const* name;
  Index batch;
  Convolution convolution;
  Shape in;

  ConvolutionPlan plan(LayerPass pass, ConvolutionOptions const& options = {}) const {
    convolution.output_shape(in);  // which checks
    return {convolution.geometry(in), batch, pass, device(), options};
  }
};
/// LeNet, and Caffe's cifar10_quick.
Workload const layers[] = {
    {"T3", 64, {.num_output = 20, .filter_shape = 5}, {1, 28, 28}},
    {"T3", 64, {.num_output = 50, .filter_shape = 5}, {20, 12, 12}},
    {"T6", 100, {.num_output = 32, .filter_shape = 5, .padding = 2}, {3, 32, 32}},
    {"T6", 100, {.num_output = 32, .filter_shape = 5, .padding = 2}, {32, 16, 16}},
    {"T6", 100, {.num_output = 64, .filter_shape = 5, .padding = 2}, {32, 8, 8}},
};

std::string text(Workload const& layer) {
  return std::string{layer.name} + " | " + std::to_string(layer.batch) + " | " + to_string(layer.in) + " to " +
         std::to_string(layer.convolution.num_output);
}

/// Float32 throughout, one order of sums, nothing compiled when it runs.
bool is_strict(EngineNotes notes) {
  notes.strict_nan = notes.cuda_graph = notes.cublaslt = false;  // of no harm
  return notes == EngineNotes{};
}

bool has(std::string const& text, std::string const& part) { return text.find(part) != text.npos; }
std::string replaced(std::string text, std::string const& part, std::string const& by) {
  REQUIRE(has(text, part));
  return text.replace(text.find(part), part.size(), by);
}

/// The sentence of a LibraryError, which must be about cuDNN and whole.
template <class Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (LibraryError const& error) {
    CHECK(error.library == "cuDNN");
    CHECK(has(error.version, "9."));
    CHECK(!error.what_to_do.empty());
    CHECK(has(error.what(), error.library + " " + error.version + ": "));
    return error.what();
  }
  FAIL("nothing was refused");
  return "";
}

std::string table() {
  std::ostringstream lines;
  lines << "| Workload | Batch | Layer | Pass | Engine | Workspace, bytes | Notes |\n|---|---|---|---|---|---|---|\n";
  for (Workload const& layer : layers) {
    for (LayerPass pass : passes) {
      ConvolutionPlan const plan = layer.plan(pass);
      lines << "| " << text(layer) << " | " << to_string(pass) << " | " << plan.engine() << " | " << plan.workspace()
            << " | " << to_string(plan.notes()) << " |\n";
    }
  }
  return lines.str();
}

}  // namespace

TEST_CASE("each convolution of LeNet and cifar10_quick has a plan of strict fp32 sums in one order") {
  for (Workload layer : layers) {
    for (Index batch : {layer.batch, Index{128}}) {
      layer.batch = batch;
      for (LayerPass pass : passes) {
        for (Epilogue epilogue : {Epilogue::none, Epilogue::bias, Epilogue::bias_relu}) {
          ConvolutionPlan const plan = layer.plan(pass, {.epilogue = epilogue});
          INFO(text(layer) << ", " << to_string(pass) << ": engine " << plan.engine() << ", "
                           << to_string(plan.notes()));
          CHECK(is_strict(plan.notes()));
          CHECK(plan.descriptor() != nullptr);
          CHECK(plan.workspace() >= 0);
          std::string const json = plan.json();
          CHECK(has(json, "\"engineId\":" + std::to_string(plan.engine()) + ","));
          CHECK(has(json, "\"dim\":[" + std::to_string(batch) + "," + std::to_string(layer.in[0]) + ","));
          bool const forward = pass == LayerPass::forward;
          CHECK(has(json, "POINTWISE_ADD") == (forward && epilogue != Epilogue::none));
          CHECK(has(json, "POINTWISE_RELU_FWD") == (forward && epilogue == Epilogue::bias_relu));
        }
      }
    }
  }
}

TEST_CASE("tensor cores and sums in any order come by name alone") {
  int tensor_core = 0, nondeterministic = 0;
  for (Workload const& layer : layers) {
    for (LayerPass pass : passes) {
      INFO(text(layer) << ", " << to_string(pass));
      EngineNotes const tf32 = layer.plan(pass, {.tf32 = true}).notes(),
                        any_order = layer.plan(pass, {.nondeterministic = true}).notes();
      tensor_core += tf32.tensor_core;
      nondeterministic += any_order.nondeterministic;
      CHECK(!tf32.nondeterministic);
      CHECK(!any_order.tensor_core);
      CHECK(!tf32.down_converts_inputs);
      CHECK(!any_order.down_converts_inputs);
    }
  }
  CHECK(tensor_core > 0);
  CHECK(nondeterministic > 0);
}

TEST_CASE("each note is allowed by its own option, or never") {
  auto const allowed = [](bool EngineNotes::*note, ConvolutionOptions const& options) {
    EngineNotes notes;
    notes.*note = true;
    return reason_against(notes, options) == nullptr;
  };
  ConvolutionOptions const all{.tf32 = true, .nondeterministic = true, .runtime_compilation = true};
  CHECK(reason_against({}, {}) == nullptr);
  for (auto harmless : {&EngineNotes::strict_nan, &EngineNotes::cuda_graph, &EngineNotes::cublaslt}) {
    CHECK(allowed(harmless, {}));
  }
  for (auto never : {&EngineNotes::down_converts_inputs, &EngineNotes::reduced_precision_sums, &EngineNotes::transforms,
                     &EngineNotes::others}) {
    CHECK(!allowed(never, all));
  }
  std::pair<bool EngineNotes::*, bool ConvolutionOptions::*> const by_name[] = {
      {&EngineNotes::tensor_core, &ConvolutionOptions::tf32},
      {&EngineNotes::nondeterministic, &ConvolutionOptions::nondeterministic},
      {&EngineNotes::runtime_compilation, &ConvolutionOptions::runtime_compilation}};
  for (auto const& asked : by_name) {
    CHECK(!allowed(asked.first, {}));
    for (auto const& given : by_name) {
      ConvolutionOptions one, others = all;
      one.*given.second = true;
      others.*given.second = false;
      CHECK(allowed(asked.first, one) == (asked == given));
      CHECK(allowed(asked.first, others) == (asked != given));
    }
  }
}

TEST_CASE("a plan keeps to the workspace it is given") {
  Workload const& layer = layers[1];
  LayerPass const pass = LayerPass::weight_gradient;
  Index const free = layer.plan(pass).workspace();
  REQUIRE(free > 0);
  CHECK(layer.plan(pass, {.workspace_limit = free}).workspace() == free);
  ConvolutionPlan const without = layer.plan(pass, {.workspace_limit = 0});
  CHECK(without.workspace() == 0);
  CHECK(is_strict(without.notes()));

  std::string const sentence = refusal([&] { layer.plan(pass, {.workspace_limit = -1}); });
  CHECK(has(sentence, "no engine computes this convolution (weight gradient)"));
  CHECK(has(sentence, "need more than .workspace_limit (0 bytes would do)"));
  CHECK(has(sentence, "need .tf32"));
  CHECK(has(sentence, "need .nondeterministic"));
}

TEST_CASE("a second list has what the first one lacks") {
  auto const b200 = DeviceProperties::from_json(replaced(h200, "\"deviceVer\":900", "\"deviceVer\":1000"));
  Convolution const convolution{.num_output = 29, .filter_shape = {1, 5}, .stride = {3, 2}, .dilation = 2};
  for (LayerPass pass : passes) {
    ConvolutionPlan const plan{convolution.geometry({1, 29, 26}), 116, pass, b200};
    CHECK(is_strict(plan.notes()));
  }
}

TEST_CASE("windows, groups and layouts are told as they are") {
  for (LayerPass pass : passes) {
    INFO(to_string(pass));
    Workload const image{
        "",
        8,
        {.num_output = 6, .filter_shape = {3, 5}, .stride = {2, 3}, .padding = {1, 4}, .dilation = {1, 2}, .groups = 2},
        {4, 12, 20}};
    std::string const json = image.plan(pass).json();
    CHECK(has(json, "\"pad\":[1,4],\"stride\":[2,3],\"dilation\":[1,2]"));
    CHECK(has(json, "\"dim\":[6,2,3,5],\"stride\":[30,15,5,1]"));
    CHECK(has(json, "\"dim\":[8,6,6,7],\"stride\":[252,42,7,1]"));

    std::string const last = image.plan(pass, {.layout = ImageLayout::nhwc}).json();
    CHECK(has(last, "\"dim\":[8,4,12,20],\"stride\":[960,1,80,4]"));
    CHECK(has(last, "\"dim\":[6,2,3,5],\"stride\":[30,1,10,2]"));

    // A sequence is causal, and stays as {batch, steps, channels}; its weight stays {K, C, taps}.
    Workload const sequence{"", 40, {.num_output = 16, .filter_shape = 15, .dilation = 4}, {100, 8}};
    std::string const causal = sequence.plan(pass).json();
    CHECK(has(causal, "\"pad_upper\":[0,0],\"pad_lower\":[56,0]"));
    CHECK(has(causal, "\"dim\":[40,8,100,1],\"stride\":[800,1,8,8]"));
    CHECK(has(causal, "\"dim\":[16,8,15,1],\"stride\":[120,15,1,1]"));
  }
}

TEST_CASE("samples may lie apart, and weight gradients be added to others") {
  Workload const layer{"", 6, {.num_output = 5, .filter_shape = 3}, {3, 7, 7}};
  for (LayerPass pass : passes) {
    INFO(to_string(pass));
    bool const add = pass == LayerPass::weight_gradient;
    ConvolutionPlan const plan = layer.plan(pass, {.x_pitch = 148, .y_pitch = 128, .add = add});
    CHECK(is_strict(plan.notes()));
    CHECK(has(plan.json(), "\"dim\":[6,3,7,7],\"stride\":[148,49,7,1]"));
    CHECK(has(plan.json(), "\"dim\":[6,5,5,5],\"stride\":[128,25,5,1]"));
    CHECK(has(plan.json(), add ? "\"beta\":1.0" : "\"beta\":0.0"));
    CHECK_THROWS_AS(layer.plan(pass, {.x_pitch = 146}), ShapeError);
    CHECK_THROWS_AS(layer.plan(pass, {.y_pitch = 124}), ShapeError);
  }
}

TEST_CASE("a geometry that is none is a ShapeError") {
  ConvolutionGeometry const sound = layers[1].convolution.geometry(layers[1].in);
  auto const refused = [](ConvolutionGeometry const& g, Index batch) {
    for (LayerPass pass : passes) CHECK_THROWS_AS((ConvolutionPlan{g, batch, pass, device()}), ShapeError);
  };
  for (Index batch : {Index{0}, Index{-1}, Index{1} << 40, std::numeric_limits<Index>::max()}) refused(sound, batch);
  for (Index groups : {0, -1, 3}) {
    ConvolutionGeometry g = sound;
    g.groups = groups;
    refused(g, 1);
  }
  for (Index Axis::*field : {&Axis::in, &Axis::out, &Axis::filter, &Axis::stride, &Axis::dilation}) {
    for (Index value : {Index{0}, Index{-5}, Index{1} << 50}) {
      ConvolutionGeometry g = sound;
      g.width.*field = value;
      refused(g, 1);
    }
  }
  // An output that is left out. One more would be an output of zeros after the input, of which there may be any number.
  for (auto [field, value] : {std::pair{&Axis::in, Index{13}}, {&Axis::out, Index{7}}, {&Axis::filter, Index{4}}}) {
    ConvolutionGeometry g = sound;
    g.width.*field = value;
    refused(g, 1);
  }
}

TEST_CASE("what is no device or no plan is a LibraryError") {
  for (std::string const json : {"", "{", "{}", "[]", "nothing"}) {
    INFO(json);
    refusal([&] { DeviceProperties::from_json(json); });
    refusal([&] { ConvolutionPlan::from_json(json, device()); });
  }
  refusal([] { DeviceProperties::from_json(replaced(h200, "\"warpSize\":32,", "")); });
  refusal([] { DeviceProperties::from_json(replaced(h200, "\"deviceVer\":900", "\"deviceVer\":100")); });

  std::string const json = layers[0].plan(LayerPass::forward).json();
  for (std::size_t length = 0; length < json.size(); length += 61) {
    refusal([&] { ConvolutionPlan::from_json(json.substr(0, length), device()); });
  }
  auto const older = DeviceProperties::from_json(replaced(h200, "\"deviceVer\":900", "\"deviceVer\":800"));
  CHECK(has(refusal([&] { ConvolutionPlan::from_json(json, older); }), "make the plan anew"));
}

TEST_CASE("devices and plans go through JSON") {
  CHECK(device().json() == h200);
  CHECK(DeviceProperties::from_json(device().json()).json() == h200);
  for (Workload const& layer : layers) {
    for (LayerPass pass : passes) {
      for (bool tf32 : {false, true}) {
        ConvolutionPlan const plan = layer.plan(pass, {.epilogue = Epilogue::bias_relu, .tf32 = tf32});
        ConvolutionPlan const back = ConvolutionPlan::from_json(plan.json(), device());
        INFO(text(layer) << ", " << to_string(pass));
        CHECK(back.json() == plan.json());
        CHECK(back.engine() == plan.engine());
        CHECK(back.workspace() == plan.workspace());
        CHECK(back.notes() == plan.notes());
      }
    }
  }
}

TEST_CASE("the same question has the same answer") {
  for (Workload const& layer : layers) {
    for (LayerPass pass : passes) {
      auto const again = DeviceProperties::from_json(h200);
      ConvolutionPlan const other{layer.convolution.geometry(layer.in), layer.batch, pass, again};
      CHECK(other.json() == layer.plan(pass).json());
    }
  }
}

TEST_CASE("the device at hand is asked, or said to be missing") {
  std::optional<DeviceProperties> present;
  try {
    present = DeviceProperties::current();
  } catch (LibraryError const& error) {
    CHECK(error.library == "CUDA runtime");
    CHECK(has(error.what(), "there is no device"));
    WARN("skipped: " << error.what());
    return;
  }
  for (LayerPass pass : passes) {
    ConvolutionPlan const plan{layers[1].convolution.geometry(layers[1].in), 64, pass, *present};
    CHECK(is_strict(plan.notes()));
  }
}

TEST_CASE("the page on cuDNN has the table of this version") {
  char const* const source = std::getenv("COLDPRESS_SOURCE_DIR");
  if (!source) {
    WARN("skipped: COLDPRESS_SOURCE_DIR is not set");
    return;
  }
  std::ifstream file{std::string{source} + "/docs/gpu/cudnn.md"};
  std::string const page{std::istreambuf_iterator<char>{file}, {}};
  REQUIRE(!page.empty());
  if (!has(layers[0].plan(LayerPass::forward).json(), "\"cudnnVersion\":91900")) {
    WARN("skipped: the page has the table of cuDNN 9.19.0, and this is another");
    return;
  }
  INFO(table());
  CHECK(has(page, table()));
}

TEST_CASE("prints the table", "[.table]") { std::cout << table(); }
