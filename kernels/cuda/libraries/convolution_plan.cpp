// Describes a convolution's pass to cuDNN as a graph, and goes through its engines until one is allowed.
#include "convolution_plan.hpp"

#include <coldpress/core/shape.hpp>

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <iterator>
#include <map>

#include "descriptor.hpp"

namespace coldpress::cuda {
namespace {

std::string version_text() {
  std::size_t const version = cudnnGetVersion();
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

LibraryError refusal(std::string const& sentence, std::string advice) {
  return {"cuDNN", version_text(), sentence, std::move(advice)};
}

// Indexed by the values of cudnnBackendNumericalNote_t and cudnnBackendBehaviorNote_t; later versions only append to
// these.
constexpr bool EngineNotes::*numerical_notes[] = {
    &EngineNotes::tensor_core, &EngineNotes::down_converts_inputs, &EngineNotes::reduced_precision_sums,
    &EngineNotes::transforms,  &EngineNotes::nondeterministic,     &EngineNotes::transforms,
    &EngineNotes::transforms,  &EngineNotes::transforms,           &EngineNotes::transforms,
    &EngineNotes::strict_nan};
constexpr bool EngineNotes::*behavior_notes[] = {&EngineNotes::runtime_compilation, &EngineNotes::others,
                                                 &EngineNotes::others, &EngineNotes::cuda_graph,
                                                 &EngineNotes::cublaslt};
static_assert(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC == 4 && CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13 == 8);
static_assert(CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION == 0 && CUDNN_BEHAVIOR_NOTE_REQUIRES_BIAS_INT8x32_REORDER == 2);

struct NamedNote {
  bool EngineNotes::*note;
  char const* name;
};
constexpr NamedNote note_names[] = {{&EngineNotes::tensor_core, "tensor core"},
                                    {&EngineNotes::down_converts_inputs, "down-converts inputs"},
                                    {&EngineNotes::reduced_precision_sums, "reduced-precision sums"},
                                    {&EngineNotes::transforms, "transforms"},
                                    {&EngineNotes::nondeterministic, "nondeterministic"},
                                    {&EngineNotes::strict_nan, "strict NaN"},
                                    {&EngineNotes::runtime_compilation, "runtime compilation"},
                                    {&EngineNotes::cuda_graph, "CUDA graph"},
                                    {&EngineNotes::cublaslt, "cuBLASLt"},
                                    {&EngineNotes::others, "others"}};

EngineNotes notes_of(Descriptor const& engine) {
  EngineNotes notes;
  for (auto note : engine.get<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE)) {
    notes.*(note < std::size(numerical_notes) ? numerical_notes[note] : &EngineNotes::others) = true;
  }
  for (auto note : engine.get<cudnnBackendBehaviorNote_t>(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE)) {
    notes.*(note < std::size(behavior_notes) ? behavior_notes[note] : &EngineNotes::others) = true;
  }
  return notes;
}

// ---- The operation graph ----

constexpr char const* check_geometry = "check the geometry and the batch, or compute it by another backend";

/// The tensors of a convolution. The steps of a sequence are its height.
struct Tensors {
  ConvolutionGeometry const& g;
  Index batch;
  ConvolutionOptions const& options;

  Descriptor x() const {
    return tensor(ConvolutionPlan::x, {batch, g.channels, g.height.in, g.width.in}, options.x_pitch);
  }
  Descriptor y(std::int64_t id, bool is_virtual) const {
    return tensor(id, {batch, g.outputs, g.height.out, g.width.out}, options.y_pitch, is_virtual);
  }
  Descriptor bias() const { return tensor(ConvolutionPlan::bias, {1, g.outputs, 1, 1}); }
  Descriptor weight() const {
    return tensor(ConvolutionPlan::weight, {g.outputs, g.group_channels(), g.height.filter, g.width.filter});
  }

 private:
  Descriptor tensor(std::int64_t id, Shape const& shape, Index pitch = 0, bool is_virtual = false) const {
    require(shape.rank() == 4 && shape.size() > 0, "convolution: the batch and all extents must be at least 1");
    Index const c = shape[1], h = shape[2], w = shape[3];
    require(pitch == 0 || pitch >= c * h * w, "convolution: a sample must not reach into the next one");
    if (pitch == 0) pitch = c * h * w;
    // The weight of a sequence has the same order in all layouts.
    bool const last = g.is_sequence() ? id != ConvolutionPlan::weight : options.layout == ImageLayout::nhwc;
    std::int64_t const extents[] = {shape[0], c, h, w}, rows[] = {pitch, h * w, w, 1}, pixels[] = {pitch, 1, w * c, c};
    Descriptor made{CUDNN_BACKEND_TENSOR_DESCRIPTOR};
    made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
    made.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);
    made.set(CUDNN_ATTR_TENSOR_DIMENSIONS, extents, 4);
    made.set(CUDNN_ATTR_TENSOR_STRIDES, last ? pixels : rows, 4);
    made.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{16});
    made.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, is_virtual);
    made.finalize("describing a tensor", check_geometry);
    return made;
  }
};

/// The zeros after an axis: as many as before it where that makes the same outputs, since more engines take them so.
Index post_padding(Axis const& a) {
  bool const same = make_axis(a.in, a.filter, a.stride, a.padding, a.padding, a.dilation).out == a.out;
  return same ? a.padding : a.padding_after();
}

Descriptor window(ConvolutionGeometry const& g) {
  Descriptor made{CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR};
  auto const both = [&](cudnnBackendAttributeName_t name, Index height, Index width) {
    std::int64_t const values[] = {height, width};
    made.set(name, values, 2);
  };
  made.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  made.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  made.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2});
  both(CUDNN_ATTR_CONVOLUTION_DILATIONS, g.height.dilation, g.width.dilation);
  both(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, g.height.stride, g.width.stride);
  both(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, g.height.padding, g.width.padding);
  both(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, post_padding(g.height), post_padding(g.width));
  made.finalize("describing a convolution", check_geometry);
  return made;
}

/// The names by which the descriptors of the three passes differ.
struct PassNames {
  char const* text;
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t alpha, beta, window, x, weight, y;
};
PassNames const& names_of(LayerPass pass) {
  static constexpr PassNames names[] = {
      {"forward", CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
       CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
      {"input gradient", CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY},
      {"weight gradient", CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
       CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY}};
  return names[static_cast<int>(pass)];
}

Descriptor pointwise(cudnnPointwiseMode_t mode, Descriptor const& from, Descriptor const* other, Descriptor const& to) {
  Descriptor function{CUDNN_BACKEND_POINTWISE_DESCRIPTOR}, operation{CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR};
  function.set(CUDNN_ATTR_POINTWISE_MODE, mode);
  function.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
  function.finalize("describing an epilogue", check_geometry);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, function);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, from);
  if (other) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *other);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to);
  operation.finalize("describing an epilogue", check_geometry);
  return operation;
}

Descriptor operation_graph(Tensors const& tensors, LayerPass pass, PlanTarget const& target) {
  int const steps = pass == LayerPass::forward ? static_cast<int>(tensors.options.epilogue) : 0;
  // Virtual tensors have ids after that of y.
  auto const y = [&](int step) { return tensors.y(ConvolutionPlan::y + (steps - step), step < steps); };

  PassNames const& names = names_of(pass);
  Descriptor convolution{names.type};
  Descriptor to = y(0);
  // As float, like the sums: cuDNN accepts a double, but an engine reads its first four bytes, which are 0.
  convolution.set(names.alpha, 1.0f);
  convolution.set(names.beta, tensors.options.add ? 1.0f : 0.0f);
  convolution.set(names.window, window(tensors.g));
  convolution.set(names.x, tensors.x());
  convolution.set(names.weight, tensors.weight());
  convolution.set(names.y, to);
  convolution.finalize("describing a convolution's operands", check_geometry);

  std::vector<Descriptor> operations{convolution};
  for (int step = 1; step <= steps; ++step) {
    Descriptor const from = to;
    to = y(step);
    if (step == 1) {
      Descriptor const bias = tensors.bias();
      operations.push_back(pointwise(CUDNN_POINTWISE_ADD, from, &bias, to));
    } else {
      operations.push_back(pointwise(CUDNN_POINTWISE_RELU_FWD, from, nullptr, to));
    }
  }
  std::vector<cudnnBackendDescriptor_t> raw;
  for (Descriptor const& operation : operations) raw.push_back(operation.shared().get());
  Descriptor graph{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, raw.data(), raw.size());
  if (target.handle()) graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, target.handle().get());
  graph.finalize("joining a convolution and its epilogue", check_geometry);
  return graph;
}

/// An empty plan for a target. According to NVIDIA's description of ahead-of-time compilation, a plan that was made
/// from properties is stored and read again before it is executed; so if there is a handle, the plan is made for that.
Descriptor plan_for(PlanTarget const& target) {
  Descriptor plan{CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR};
  if (target.handle()) {
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, target.handle().get());
  } else {
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, Descriptor{target.properties()});
  }
  return plan;
}

std::string text_of(Descriptor const& descriptor, cudnnBackendAttributeName_t name) {
  auto const letters = descriptor.get<char>(name);
  return {letters.begin(), letters.end()};
}

}  // namespace

void check(cudnnStatus_t status, char const* action, char const* advice) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  char reason[512] = "";
  cudnnGetLastErrorString(reason, sizeof reason);
  throw refusal(std::string{action} + " failed with " + cudnnGetErrorString(status) + (*reason ? ", " : "") + reason,
                advice);
}

// ---- DeviceProperties ----

namespace {

/// If cuDNN's library for graphs is missing, cuDNN ends the process in the first call. This looks for that library
/// first, in the way that cuDNN does: by its name, and in the folder of the main library.
void require_library() {
  std::string const name = "libcudnn_graph.so." + std::to_string(CUDNN_MAJOR);
  Dl_info shell{};
  if (dlopen(name.c_str(), RTLD_LAZY)) return;
  std::string const reason = dlerror();
  if (void* const symbol = dlsym(RTLD_DEFAULT, "cudnnGetVersion"); symbol && dladdr(symbol, &shell)) {
    std::string const path = shell.dli_fname;
    if (dlopen((path.substr(0, path.rfind('/') + 1) + name).c_str(), RTLD_LAZY)) return;
  }
  throw LibraryError{"cuDNN", std::to_string(CUDNN_MAJOR), reason,
                     "install all of cuDNN, or name its folder in LD_LIBRARY_PATH"};
}

Descriptor new_device() {
  require_cudnn();
  return Descriptor{CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR};
}

}  // namespace

void require_cudnn() {
  require_library();
  if (cudnnGetVersion() < 90800)
    throw refusal("it cannot choose by the properties of a device", "install cuDNN 9.8 or later");
}

DeviceProperties DeviceProperties::current() {
  int number = 0;
  if (cudaError_t const error = cudaGetDevice(&number); error != cudaSuccess) {
    int driver = 0;
    cudaDriverGetVersion(&driver);
    throw LibraryError{
        "CUDA runtime", std::to_string(CUDART_VERSION),
        std::string{"there is no device, "} + cudaGetErrorString(error) + " (driver " + std::to_string(driver) + ")",
        "run on a machine with an NVIDIA GPU and a driver of this version or later, or give the "
        "properties of a device as JSON"};
  }
  Descriptor device = new_device();
  device.set(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, std::int32_t{number});
  device.finalize("reading the properties of a device", "look whether this cuDNN knows the device");
  return DeviceProperties{device.shared()};
}

DeviceProperties DeviceProperties::from_json(std::string const& json) {
  Descriptor device = new_device();
  device.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, json.data(), json.size());
  device.finalize("reading the properties of a device from JSON", "give what json() gave on such a device");
  return DeviceProperties{device.shared()};
}

std::string DeviceProperties::json() const {
  return text_of(Descriptor{descriptor_}, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
}

// ---- ConvolutionPlan ----

std::string to_string(EngineNotes const& notes) {
  std::string text;
  for (auto const& [note, name] : note_names) {
    if (notes.*note) text.append(text.empty() ? "" : ", ").append(name);
  }
  return text;
}
std::string to_string(LayerPass pass) { return names_of(pass).text; }

char const* reason_against(EngineNotes const& notes, ConvolutionOptions const& options) {
  // Transforms spread an infinity or a NaN to outputs that do not depend on it.
  if (notes.down_converts_inputs || notes.reduced_precision_sums || notes.transforms || notes.others) {
    return "are never used";
  }
  if (notes.tensor_core && !options.tf32) return "need .tf32";
  if (notes.nondeterministic && !options.nondeterministic) return "need .nondeterministic";
  if (notes.runtime_compilation && !options.runtime_compilation) return "need .runtime_compilation";
  return nullptr;
}

ConvolutionPlan::ConvolutionPlan(ConvolutionGeometry const& g, Index batch, LayerPass pass, PlanTarget const& target,
                                 ConvolutionOptions const& options)
    : handle_(target.handle()) {
  require(g.groups >= 1 && g.channels % g.groups == 0 && g.outputs % g.groups == 0,
          "convolution: groups must divide the channels and the outputs");
  for (Axis const& a : {g.height, g.width}) {
    require(make_axis(a.in, a.filter, a.stride, a.padding, a.padding_after(), a.dilation).out == a.out,
            "convolution: the extent of the output must follow from those of the input and the window");
  }
  Descriptor const graph = operation_graph({g, batch, options}, pass, target);

  std::map<std::string, int> against;
  Index least = std::numeric_limits<Index>::max();
  // The second list has engines that work for every shape, some of which may be in the first list already.
  for (auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    Descriptor heuristics{CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR};
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
    if (!handle_) heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, Descriptor{target.properties()});
    if (cudnnStatus_t const status = heuristics.try_finalize()) {
      ++against[std::string{"list of engines: "} + cudnnGetErrorString(status)];
      continue;
    }
    for (Descriptor const& configuration :
         heuristics.parts(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)) {
      Descriptor const engine = configuration.parts(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR).at(0);
      if (char const* reason = reason_against(notes_of(engine), options)) {
        ++against[reason];
        continue;
      }
      Descriptor plan = plan_for(target);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
      if (cudnnStatus_t const status = plan.try_finalize()) {
        ++against[std::string{"are refused with "} + cudnnGetErrorString(status)];
        continue;
      }
      take(plan.shared(), configuration.shared());
      if (workspace_ <= options.workspace_limit) return;
      ++against["need more than .workspace_limit"];
      least = freestanding::min(least, workspace_);
    }
  }
  std::string sentence = "no engine computes this convolution (" + to_string(pass) + ")";
  for (auto const& [reason, count] : against) {
    sentence.append(sentence.back() == ')' ? ": " : ", ").append(std::to_string(count)).append(" ").append(reason);
  }
  if (least < std::numeric_limits<Index>::max()) {
    sentence.append(" (").append(std::to_string(least)).append(" bytes would do)");
  }
  throw refusal(sentence, against.empty() ? "check that cuDNN is complete, or compute it by another backend"
                                          : "allow more in ConvolutionOptions, or compute it by another backend");
}

ConvolutionPlan ConvolutionPlan::from_json(std::string const& json, PlanTarget const& target) {
  Descriptor plan = plan_for(target);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, json.data(), json.size());
  plan.finalize("reading a plan from JSON", "make the plan anew, for this device and by this cuDNN");
  ConvolutionPlan made;
  made.handle_ = target.handle();
  made.take(plan.shared(),
            plan.parts(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).at(0).shared());
  return made;
}

std::string ConvolutionPlan::json() const {
  return text_of(Descriptor{descriptor_}, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
}

void ConvolutionPlan::take(std::shared_ptr<void> plan, std::shared_ptr<void> configuration) {
  Descriptor const engine =
      Descriptor{configuration}.parts(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR).at(0);
  engine_ = engine.get<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX).at(0);
  notes_ = notes_of(engine);
  workspace_ = Descriptor{plan}.get<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE).at(0);
  descriptor_ = std::move(plan);
  configuration_ = std::move(configuration);
}

}  // namespace coldpress::cuda
