// Where a dynamic network is computed, chosen at run time.
#pragma once

#include <coldpress/core/precision.hpp>

#include <memory>
#include <string>
#include <utility>

namespace coldpress {
class Executor;
}

namespace coldpress::dynamic {

/// Who computes, with the same bits: `threads`, the calling one among them (0: one for each core), or an executor of
/// the program's own. Networks on copies of one backend share its threads; one that finds them busy computes alone.
/// `bfloat16`: the matrices of dense layers are kept in half the bytes, rounded; such a network infers, and does not
/// train. `precision`: of the products of dense layers and convolutions on a GPU; others compute in fp32. `fused`: a
/// pass on a GPU is one kernel, which NVRTC compiles when it is first played (seconds; kept for later programs).
/// `libraries`: products on a GPU are cuDNN's and cuBLASLt's, in programs that are linked with coldpress::cuda_libs;
/// such passes are not fused. `passes_a_launch`: so many passes on a GPU are started together, or fewer where results
/// are read before.
struct BackendOptions {
  int threads = 1;
  std::shared_ptr<Executor> executor = nullptr;
  bool bfloat16 = false;
  Precision precision = Precision::fp32;
  bool fused = false;
  bool libraries = false;
  int passes_a_launch = 1;
};

/// "cpu": fused kernels of the best instruction set this CPU has, or of COLDPRESS_CPU_LEVEL in the environment (v2, v3,
/// v4); "cpu:v2", "cpu:v3", "cpu:v4": of that x86-64 level; "cpu:reference": plain xtensor and BLAS, on the calling
/// thread, in programs that are linked with coldpress::dynamic_reference. "cuda:0", "cuda:1", ...: a GPU, in programs
/// that are linked with coldpress::cuda; "cuda" is the first. "cuda:emulated": the GPU's kernels as loops on the host,
/// for tests without a GPU. Throws UnsupportedError for a name that it does not know or this machine cannot run, and
/// for options that it cannot have.
class Backend {
 public:
  Backend() : Backend("cpu") {}
  explicit Backend(std::string name, BackendOptions options = {});
  Backend(Backend const&) = default;  // and no move, which would leave a backend without a name
  Backend& operator=(Backend const&) = default;
  std::string const& name() const { return name_; }
  /// Its executor does the work of all `threads`; null: the calling thread alone.
  BackendOptions const& options() const { return options_; }

  /// The level whose results equal, bit for bit, those of a network type in this translation unit that names no backend:
  /// the best one where it links kernels, else the one that it is compiled for.
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
