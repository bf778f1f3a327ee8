#include "lazy_libraries.hpp"

#if defined COLDPRESS_HAS_LIBRARIES

#include <libraries.hpp>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

// The functions that kernels/cuda/libraries and its tests call. If one is missing here, the linker reports an error.
// clang-format off
#define OF_CUDNN(f)                                                                                                     \
  f(cudnnBackendCreateDescriptor) f(cudnnBackendDestroyDescriptor) f(cudnnBackendExecute) f(cudnnBackendFinalize)       \
  f(cudnnBackendGetAttribute) f(cudnnBackendSetAttribute) f(cudnnCreate) f(cudnnCreateDropoutDescriptor)                \
  f(cudnnCreatePoolingDescriptor) f(cudnnCreateRNNDataDescriptor) f(cudnnCreateRNNDescriptor)                           \
  f(cudnnCreateTensorDescriptor) f(cudnnDestroy) f(cudnnDestroyDropoutDescriptor) f(cudnnDestroyPoolingDescriptor)      \
  f(cudnnDestroyRNNDataDescriptor) f(cudnnDestroyRNNDescriptor) f(cudnnDestroyTensorDescriptor) f(cudnnGetErrorString)  \
  f(cudnnGetLastErrorString) f(cudnnGetPoolingNdDescriptor) f(cudnnGetRNNDataDescriptor) f(cudnnGetRNNDescriptor_v8)    \
  f(cudnnGetRNNTempSpaceSizes) f(cudnnGetRNNWeightParams) f(cudnnGetRNNWeightSpaceSize) f(cudnnGetTensorNdDescriptor)   \
  f(cudnnGetVersion) f(cudnnPoolingForward) f(cudnnRNNBackwardData_v8) f(cudnnRNNBackwardWeights_v8)                    \
  f(cudnnRNNForward) f(cudnnSetDropoutDescriptor) f(cudnnSetPoolingNdDescriptor) f(cudnnSetRNNDataDescriptor)           \
  f(cudnnSetRNNDescriptor_v8) f(cudnnSetStream) f(cudnnSetTensorNdDescriptor)
#define OF_CUBLASLT(f)                                                                                                  \
  f(cublasLtCreate) f(cublasLtDestroy) f(cublasLtGetStatusName) f(cublasLtGetVersion) f(cublasLtMatmul)                 \
  f(cublasLtMatmulAlgoGetHeuristic) f(cublasLtMatmulDescCreate) f(cublasLtMatmulDescDestroy)                            \
  f(cublasLtMatmulDescGetAttribute) f(cublasLtMatmulDescSetAttribute) f(cublasLtMatmulPreferenceCreate)                 \
  f(cublasLtMatmulPreferenceDestroy) f(cublasLtMatmulPreferenceGetAttribute)                                            \
  f(cublasLtMatmulPreferenceSetAttribute) f(cublasLtMatrixLayoutCreate) f(cublasLtMatrixLayoutDestroy)                  \
  f(cublasLtMatrixLayoutGetAttribute) f(cublasLtMatrixLayoutSetAttribute)
// clang-format on

// Each function is a jump to the library's function of the same name.
extern "C" void coldpress_not_loaded() {
  std::fputs("gpu-check: a function of cuDNN or cuBLASLt is called that was not loaded\n", stderr);
  std::abort();
}
#define JUMP(name)                                                                                              \
  extern "C" {                                                                                                  \
  void* coldpress_address_of_##name = reinterpret_cast<void*>(&coldpress_not_loaded);                           \
  }                                                                                                             \
  asm(".text\n\t.globl " #name "\n\t.type " #name ", @function\n" #name ":\n\tjmp *coldpress_address_of_" #name \
      "(%rip)\n");
OF_CUDNN(JUMP)
OF_CUBLASLT(JUMP)

extern "C" {
std::size_t cudnnGetVersion();
std::size_t cublasLtGetVersion();
}

namespace gpu_check {
namespace {

struct Function {
  char const* name;
  void** address;
};
#define FUNCTION(name) {#name, &coldpress_address_of_##name},
Function const of_cudnn[] = {OF_CUDNN(FUNCTION)}, of_cublaslt[] = {OF_CUBLASLT(FUNCTION)};

/// The reason why a library cannot be loaded, or an empty string.
template <std::size_t count>
std::string load(char const* file, Function const (&functions)[count]) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) return dlerror();
  for (Function const& function : functions) {
    *function.address = dlsym(library, function.name);
    if (!*function.address) return std::string{file} + " has no " + function.name;
  }
  return {};
}

}  // namespace

std::string load_libraries(bool wanted) {
  std::string missing;
  // cuBLASLt is loaded first, because cuDNN uses a cuBLASLt that is already loaded.
  if (wanted) missing = load("libcublasLt.so.13", of_cublaslt);
  if (wanted && missing.empty()) missing = load("libcudnn.so.9", of_cudnn);
  if (!wanted || !missing.empty()) coldpress::cuda::libraries_maker() = nullptr;
  return missing;
}

std::string versions() {
  return "cuDNN " + std::to_string(cudnnGetVersion()) + ", cuBLASLt " + std::to_string(cublasLtGetVersion());
}

}  // namespace gpu_check

#else

namespace gpu_check {

std::string load_libraries(bool) { return "this program was built without cuDNN and cuBLASLt"; }
std::string versions() { return {}; }

}  // namespace gpu_check

#endif
