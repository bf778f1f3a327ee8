// Plans that cuDNN executes are made for its handle. There is none without a GPU, so one that stands for an H200 is put
// in its place: this program's functions of cuDNN's names look for it, write down what was asked for, and hand on an
// H200's properties.
#include "support/catch.hpp"

#include <libraries/convolution_call.hpp>
#include <libraries/emulated_gpu.hpp>

#include <coldpress/layers/convolution.hpp>

#include <cudnn_graph.h>
#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <vector>

using namespace coldpress;
using namespace coldpress::cuda;

// Where there is no device, cuDNN and cuBLASLt leak what they then cannot use.
extern "C" char const* __asan_default_options();
extern "C" char const* __asan_default_options() { return "detect_leaks=0"; }

namespace {

DeviceProperties const& properties() {
  static DeviceProperties const made = DeviceProperties::from_json(h200);
  return made;
}
std::shared_ptr<cudnnContext> handle() {
  static int of_nobody;
  return {reinterpret_cast<cudnnContext*>(&of_nobody), [](cudnnContext*) {}};
}

struct Seen {
  std::map<cudnnBackendDescriptor_t, cudnnBackendDescriptorType_t> types;
  std::vector<cudnnBackendAttributeName_t> set;  // with a handle, or with properties
  Index count(cudnnBackendAttributeName_t name) const { return std::count(set.begin(), set.end(), name); }
};
Seen& seen() {
  static Seen all;
  return all;
}
template <class F>
F* cudnn_function(F*, char const* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}
cudnnStatus_t set_properties(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name) {
  void* const all = properties().descriptor().get();
  return cudnn_function(&cudnnBackendSetAttribute, "cudnnBackendSetAttribute")(of, name, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                                                               1, &all);
}

}  // namespace

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* made) {
  auto const status = cudnn_function(&cudnnBackendCreateDescriptor, "cudnnBackendCreateDescriptor")(type, made);
  seen().types[*made] = type;
  return status;
}
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t of, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count, void const* values) {
  bool const of_device = name == CUDNN_ATTR_ENGINEHEUR_DEVICEPROP || name == CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP;
  if (type == CUDNN_TYPE_HANDLE || of_device) seen().set.push_back(name);
  if (type != CUDNN_TYPE_HANDLE)
    return cudnn_function(&cudnnBackendSetAttribute, "cudnnBackendSetAttribute")(of, name, type, count, values);
  if (*static_cast<cudnnHandle_t const*>(values) != handle().get()) return CUDNN_STATUS_BAD_PARAM;
  return name == CUDNN_ATTR_EXECUTION_PLAN_HANDLE ? set_properties(of, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP)
                                                  : CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t of) {
  if (seen().types[of] == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR && seen().count(CUDNN_ATTR_OPERATIONGRAPH_HANDLE) > 0)
    set_properties(of, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
  return cudnn_function(&cudnnBackendFinalize, "cudnnBackendFinalize")(of);
}

TEST_CASE("on a GPU a plan is made for cuDNN's handle, and elsewhere for a GPU's properties") {
  Convolution const layer{.num_output = 20, .filter_shape = 5};
  ConvolutionGeometry const g = layer.geometry(Shape{1, 28, 28});
  for (LayerPass pass : {LayerPass::forward, LayerPass::input_gradient, LayerPass::weight_gradient}) {
    seen() = {};
    ConvolutionPlan const elsewhere{g, 64, pass, properties()};
    CHECK(!elsewhere.has_handle());
    CHECK(seen().count(CUDNN_ATTR_EXECUTION_PLAN_HANDLE) == 0);
    CHECK(seen().count(CUDNN_ATTR_OPERATIONGRAPH_HANDLE) == 0);
    CHECK(seen().count(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP) > 0);
    CHECK(seen().count(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP) > 0);

    seen() = {};
    ConvolutionPlan const here{g, 64, pass, handle()};
    CHECK(here.has_handle());
    CHECK(seen().count(CUDNN_ATTR_OPERATIONGRAPH_HANDLE) == 1);
    CHECK(seen().count(CUDNN_ATTR_EXECUTION_PLAN_HANDLE) > 0);
    CHECK(seen().count(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP) == 0);
    CHECK(seen().count(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP) == 0);
    CHECK(here.engine() == elsewhere.engine());
    CHECK(here.workspace() == elsewhere.workspace());
    CHECK(here.notes() == elsewhere.notes());

    // One that was made elsewhere is read again from its JSON before it is executed; the other is as it has to be.
    seen() = {};
    ConvolutionCall const read_again{elsewhere, {}, handle()};
    CHECK(seen().set == std::vector{CUDNN_ATTR_EXECUTION_PLAN_HANDLE});
    CHECK(read_again.workspace() == elsewhere.workspace());
    seen() = {};
    ConvolutionCall const as_it_is{here, {}, handle()};
    CHECK(seen().set.empty());
  }
}
