// In place of resampling.cpp where libsamplerate was not found.
#include "resampling.hpp"

#include <coldpress/core/error.hpp>

#include <sstream>

namespace coldpress::audio {

struct Resampling::Converters {};

Resampling::Resampling(double outer, double inner, Index) {
  std::ostringstream sentence;
  sentence << "the model is for " << inner << " Hz, and the sound has " << outer
           << "; coldpress::audio was built without libsamplerate, which would change that (Debian and Ubuntu: "
              "libsamplerate0-dev)";
  throw UnsupportedError{sentence.str()};
}
Resampling::~Resampling() = default;
std::size_t Resampling::go_in(std::span<float const>) { return 0; }
void Resampling::come_out(std::size_t, std::span<float>) {}
void Resampling::reset() {}

}  // namespace coldpress::audio
