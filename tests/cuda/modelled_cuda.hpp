// The CUDA runtime as its documentation promises it and no further: what a device asks for is written down. Where the
// documentation leaves open whether a node keeps its attributes, it does not.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace coldpress::test::model {

/// A kernel with an int as its second argument, as it was started; or in a graph.
struct Launch {
  void const* kernel = nullptr;
  unsigned blocks = 0;
  int argument = 0;
  unsigned cluster = 0;  // blocks of one; 0: not said
  bool cooperative = false;
  bool operator==(Launch const&) const = default;
};
struct Graph {
  struct Node {
    Launch kernel;
    std::shared_ptr<Graph> child = nullptr;  // which was moved there
  };
  std::vector<std::unique_ptr<Node>> nodes;
};
struct Executable {
  Graph const* from;
  std::vector<Graph::Node> nodes;
};

struct Seen {
  std::vector<Launch> launches;
  int graphs = 0, instantiated = 0, updated = 0, set_in_executable = 0, cleared = 0;
  bool capturing = false;
  bool refuses_updates = false;
  int synchronized = 0, recorded = 0;
};
inline Seen& seen() {
  static Seen all;
  return all;
}

inline Graph* of(cudaGraph_t graph) { return reinterpret_cast<Graph*>(graph); }
inline Graph::Node* of(cudaGraphNode_t node) { return reinterpret_cast<Graph::Node*>(node); }
inline Executable* of(cudaGraphExec_t executable) { return reinterpret_cast<Executable*>(executable); }
inline Launch launch_of(void const* kernel, dim3 grid, void** arguments) {
  return {kernel, grid.x, *static_cast<int const*>(arguments[1]), 0, false};
}
inline void set(Launch& launch, cudaLaunchAttributeID id, cudaLaunchAttributeValue const& value) {
  if (id == cudaLaunchAttributeClusterDimension) launch.cluster = value.clusterDim.x;
  if (id == cudaLaunchAttributeCooperative) launch.cooperative = value.cooperative != 0;
}

inline cudaError_t cudaGraphCreate(cudaGraph_t* made, unsigned) {
  ++seen().graphs;
  *made = reinterpret_cast<cudaGraph_t>(new Graph);
  return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete of(graph);
  return cudaSuccess;
}
inline cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* made, cudaGraph_t graph, cudaGraphNode_t const*, std::size_t,
                                          cudaKernelNodeParams const* parameters) {
  auto& node = of(graph)->nodes.emplace_back(std::make_unique<Graph::Node>());
  node->kernel = launch_of(parameters->func, parameters->gridDim, parameters->kernelParams);
  *made = reinterpret_cast<cudaGraphNode_t>(node.get());
  return cudaSuccess;
}
inline cudaError_t cudaGraphAddNode(cudaGraphNode_t* made, cudaGraph_t graph, cudaGraphNode_t const*,
                                    cudaGraphEdgeData const*, std::size_t, cudaGraphNodeParams* parameters) {
  auto& node = of(graph)->nodes.emplace_back(std::make_unique<Graph::Node>());
  node->child.reset(of(parameters->graph.graph));
  *made = reinterpret_cast<cudaGraphNode_t>(node.get());
  return cudaSuccess;
}
inline cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                                   cudaLaunchAttributeValue const* value) {
  set(of(node)->kernel, id, *value);
  return cudaSuccess;
}
inline cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, cudaKernelNodeParams const* parameters) {
  of(node)->kernel = launch_of(parameters->func, parameters->gridDim, parameters->kernelParams);
  return cudaSuccess;
}
inline std::vector<Graph::Node> copy_of_nodes(Graph const& graph) {
  std::vector<Graph::Node> nodes;
  for (auto const& node : graph.nodes) nodes.push_back(*node);
  return nodes;
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
  ++seen().instantiated;
  *made = reinterpret_cast<cudaGraphExec_t>(new Executable{of(graph), copy_of_nodes(*of(graph))});
  return cudaSuccess;
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete of(executable);
  return cudaSuccess;
}
inline cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                    cudaKernelNodeParams const* parameters) {
  ++seen().set_in_executable;
  auto const& nodes = of(executable)->from->nodes;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].get() == of(node))
      of(executable)->nodes[n].kernel = launch_of(parameters->func, parameters->gridDim, parameters->kernelParams);
  }
  return cudaSuccess;
}
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo*) {
  if (seen().refuses_updates) return cudaErrorGraphExecUpdateFailure;
  ++seen().updated;
  of(executable)->nodes = copy_of_nodes(*of(graph));
  return cudaSuccess;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t) {
  for (Graph::Node const& node : of(executable)->nodes) {
    if (!node.child) seen().launches.push_back(node.kernel);
  }
  return cudaSuccess;
}
inline cudaError_t cudaLaunchKernelExC(cudaLaunchConfig_t const* config, void const* kernel, void** arguments) {
  Launch launch = launch_of(kernel, config->gridDim, arguments);
  for (unsigned n = 0; n < config->numAttrs; ++n) set(launch, config->attrs[n].id, config->attrs[n].val);
  seen().launches.push_back(launch);
  return cudaSuccess;
}
inline cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  seen().capturing = true;
  return cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* made) {
  seen().capturing = false;
  *made = reinterpret_cast<cudaGraph_t>(new Graph);
  return cudaSuccess;
}
inline cudaError_t cudaMalloc(void** made, std::size_t bytes) {
  *made = std::malloc(bytes);
  return cudaSuccess;
}
inline cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
inline cudaError_t cudaMallocHost(void** made, std::size_t bytes) { return model::cudaMalloc(made, bytes); }
inline cudaError_t cudaFreeHost(void* memory) { return model::cudaFree(memory); }
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  ++seen().cleared;
  std::memset(to, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) { return *free = *total = 0, cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int* version) { return *version = 13000, cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int* version) { return *version = 13000, cudaSuccess; }
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline char const* cudaGetErrorName(cudaError_t) { return "an error"; }
inline char const* cudaGetErrorString(cudaError_t) { return "of the model"; }
/// An H100's, as far as it is asked.
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrMultiProcessorCount ? 132 : attribute == cudaDevAttrComputeCapabilityMajor ? 9 : 1;
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* made, unsigned) {
  *made = reinterpret_cast<cudaStream_t>(new int);
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete reinterpret_cast<int*>(stream);
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return ++seen().synchronized, cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* made, unsigned) {
  *made = reinterpret_cast<cudaEvent_t>(new int);
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<int*>(event);
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return ++seen().recorded, cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void const*, int, std::size_t) {
  return *blocks = 1, cudaSuccess;
}
inline cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, void const*, cudaLaunchConfig_t const*) {
  return *clusters = 1, cudaSuccess;
}
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void const*) {
  return attributes->ptxVersion = 90, cudaSuccess;
}
inline cudaError_t cudaFuncSetAttribute(void const*, cudaFuncAttribute, int) { return cudaSuccess; }
inline cudaError_t cudaLibraryLoadData(cudaLibrary_t*, void const*, cudaJitOption*, void**, unsigned,
                                       cudaLibraryOption*, void**, unsigned) {
  return cudaErrorNotSupported;
}
inline cudaError_t cudaLibraryGetKernel(cudaKernel_t*, cudaLibrary_t, char const*) { return cudaErrorNotSupported; }
inline cudaError_t cudaLibraryUnload(cudaLibrary_t) { return cudaSuccess; }

}  // namespace coldpress::test::model

// What a file that is included after this one calls.
#define cudaGraphCreate coldpress::test::model::cudaGraphCreate
#define cudaGraphDestroy coldpress::test::model::cudaGraphDestroy
#define cudaGraphAddKernelNode coldpress::test::model::cudaGraphAddKernelNode
#define cudaGraphAddNode coldpress::test::model::cudaGraphAddNode
#define cudaGraphKernelNodeSetAttribute coldpress::test::model::cudaGraphKernelNodeSetAttribute
#define cudaGraphKernelNodeSetParams coldpress::test::model::cudaGraphKernelNodeSetParams
#define cudaGraphInstantiate coldpress::test::model::cudaGraphInstantiate
#define cudaGraphExecDestroy coldpress::test::model::cudaGraphExecDestroy
#define cudaGraphExecKernelNodeSetParams coldpress::test::model::cudaGraphExecKernelNodeSetParams
#define cudaGraphExecUpdate coldpress::test::model::cudaGraphExecUpdate
#define cudaGraphLaunch coldpress::test::model::cudaGraphLaunch
#define cudaLaunchKernelExC coldpress::test::model::cudaLaunchKernelExC
#define cudaStreamBeginCapture coldpress::test::model::cudaStreamBeginCapture
#define cudaStreamEndCapture coldpress::test::model::cudaStreamEndCapture
#define cudaMalloc coldpress::test::model::cudaMalloc
#define cudaFree coldpress::test::model::cudaFree
#define cudaMallocHost coldpress::test::model::cudaMallocHost
#define cudaFreeHost coldpress::test::model::cudaFreeHost
#define cudaMemsetAsync coldpress::test::model::cudaMemsetAsync
#define cudaMemcpyAsync coldpress::test::model::cudaMemcpyAsync
#define cudaMemGetInfo coldpress::test::model::cudaMemGetInfo
#define cudaGetDeviceCount coldpress::test::model::cudaGetDeviceCount
#define cudaDriverGetVersion coldpress::test::model::cudaDriverGetVersion
#define cudaRuntimeGetVersion coldpress::test::model::cudaRuntimeGetVersion
#define cudaSetDevice coldpress::test::model::cudaSetDevice
#define cudaGetLastError coldpress::test::model::cudaGetLastError
#define cudaGetErrorName coldpress::test::model::cudaGetErrorName
#define cudaGetErrorString coldpress::test::model::cudaGetErrorString
#define cudaDeviceGetAttribute coldpress::test::model::cudaDeviceGetAttribute
#define cudaStreamCreateWithFlags coldpress::test::model::cudaStreamCreateWithFlags
#define cudaStreamDestroy coldpress::test::model::cudaStreamDestroy
#define cudaStreamSynchronize coldpress::test::model::cudaStreamSynchronize
#define cudaStreamWaitEvent coldpress::test::model::cudaStreamWaitEvent
#define cudaEventCreateWithFlags coldpress::test::model::cudaEventCreateWithFlags
#define cudaEventDestroy coldpress::test::model::cudaEventDestroy
#define cudaEventRecord coldpress::test::model::cudaEventRecord
#define cudaEventSynchronize coldpress::test::model::cudaEventSynchronize
#define cudaOccupancyMaxActiveBlocksPerMultiprocessor \
  coldpress::test::model::cudaOccupancyMaxActiveBlocksPerMultiprocessor
#define cudaOccupancyMaxActiveClusters coldpress::test::model::cudaOccupancyMaxActiveClusters
#define cudaFuncGetAttributes coldpress::test::model::cudaFuncGetAttributes
#define cudaFuncSetAttribute coldpress::test::model::cudaFuncSetAttribute
#define cudaLibraryLoadData coldpress::test::model::cudaLibraryLoadData
#define cudaLibraryGetKernel coldpress::test::model::cudaLibraryGetKernel
#define cudaLibraryUnload coldpress::test::model::cudaLibraryUnload
