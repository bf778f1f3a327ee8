// Where a dynamic network is computed, chosen at run time.
#pragma once

#include <string>

namespace coldpress::dynamic {

/// "cpu": fused kernels of the best instruction set this CPU has; "cpu:v2", "cpu:v3", "cpu:v4": of that x86-64 level;
/// "cpu:reference": plain xtensor and BLAS. Throws UnsupportedError for a name it does not know or this CPU cannot run.
class Backend {
 public:
  Backend() : Backend("cpu") {}
  explicit Backend(std::string name);
  std::string const& name() const { return name_; }

  /// The level whose results equal, bit for bit, those of a static network compiled with the flags of this translation
  /// unit.
  static Backend like_static() {
#if defined __AVX512F__ && defined __AVX512VL__
    return Backend{"cpu:v4"};
#elif defined __AVX2__ && defined __FMA__
    return Backend{"cpu:v3"};
#elif defined __x86_64__
    return Backend{"cpu:v2"};
#else
    return Backend{"cpu"};
#endif
  }

 private:
  std::string name_;
};

}  // namespace coldpress::dynamic
