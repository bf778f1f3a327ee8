// The backend of a dynamic network, chosen at run time.
#pragma once

#include <coldpress/core/precision.hpp>

#include <memory>
#include <string>
#include <utility>

namespace coldpress {
class Executor;
}

namespace coldpress::dynamic {

/// How a backend computes. The results have the same bits with any number of threads.
///   threads          how many compute, including the calling one; 0: one per core. Networks on copies of one backend
///                    share its threads; a network that finds them busy computes alone.
///   executor         the program's own executor, instead of threads
///   bfloat16         stores the matrices of dense layers rounded, in half the bytes; such a network can only infer
///   precision        of the products in dense layers and convolutions on a GPU; other backends compute in fp32
///   fused            on a GPU, a pass is one kernel, which NVRTC compiles when it is first run. This takes seconds;
///                    the result is kept for later programs.
///   libraries        on a GPU, cuDNN and cuBLASLt compute the products, in programs that link coldpress::cuda_libs.
///                    Such passes are not fused.
///   passes_a_launch  the number of passes that are started together on a GPU; fewer if results are read earlier
struct BackendOptions {
  int threads = 1;
  std::shared_ptr<Executor> executor = nullptr;
  bool bfloat16 = false;
  Precision precision = Precision::fp32;
  bool fused = false;
  bool libraries = false;
  int passes_a_launch = 1;
};

/// The place where a network computes, by name:
///   "cpu"                    fused kernels for the best instruction set that this CPU has, or for the one that
///                            COLDPRESS_CPU_LEVEL in the environment names (v2, v3, v4)
///   "cpu:v2" to "cpu:v4"     the same for this x86-64 level
///   "cpu:reference"          plain xtensor and BLAS on the calling thread, in programs that link
///                            coldpress::dynamic_reference
///   "cuda:0", "cuda:1", ...  a GPU, in programs that link coldpress::cuda; "cuda" is the first
///   "cuda:emulated"          the GPU's kernels as loops on the host, for tests without a GPU
/// Throws UnsupportedError for a name that is unknown or that this machine cannot run, and for options that the backend
/// does not support.
class Backend {
 public:
  Backend() : Backend("cpu") {}
  explicit Backend(std::string name, BackendOptions options = {});
  Backend(Backend const&) = default;  // no move, because it would leave a backend without a name
  Backend& operator=(Backend const&) = default;
  std::string const& name() const { return name_; }
  /// The options. Their executor runs the work of all `threads`; null means the calling thread alone.
  BackendOptions const& options() const { return options_; }

  /// The backend whose results equal, bit for bit, those of a network type in this translation unit that names no
  /// backend: the best level if the unit links kernels, otherwise the level that it is compiled for.
  static Backend like_static(BackendOptions options = {}) {
#if defined COLDPRESS_LINKED_KERNELS
    return Backend{"cpu", std::move(options)};
#elif defined __AVX512F__ && defined __AVX512VL__
    return Backend{"cpu:v4", std::move(options)};
#elif defined __AVX2__ && defined __FMA__
    return Backend{"cpu:v3", std::move(options)};
#elif defined __x86_64__
    return Backend{"cpu:v2", std::move(options)};
#else
    return Backend{"cpu", std::move(options)};
#endif
  }

 private:
  std::string name_;
  BackendOptions options_;
};

}  // namespace coldpress::dynamic
