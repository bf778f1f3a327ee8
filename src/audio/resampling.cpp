// Calls libsamplerate on the way into a network and on the way out, with a delay that does not vary.
#include "resampling.hpp"

#include <coldpress/core/error.hpp>

#include <samplerate.h>

#include <algorithm>
#include <cmath>
#include <new>

namespace coldpress::audio {

namespace {
/// The bandwidth of the fastest sinc converter is 80 %, and its noise is 97 dB down; it is the one with the shortest
/// delay.
constexpr int converter = SRC_SINC_FASTEST;
/// An upper bound for the samples that a converter gives at once in addition to those that the ratio of the rates
/// implies.
constexpr std::size_t spare = 16;

struct Delete {
  void operator()(SRC_STATE* state) const { src_delete(state); }
};
using Converter = std::unique_ptr<SRC_STATE, Delete>;
Converter made() {
  int error = 0;
  Converter state{src_new(converter, 1, &error)};
  if (!state) throw std::bad_alloc{};  // its only error with these arguments
  return state;
}
/// Converts all of x. Returns the number of samples written to y, which has room for them.
std::size_t convert(Converter const& state, double ratio, std::span<float const> x, std::span<float> y) {
  std::size_t written = 0;
  while (!x.empty()) {
    SRC_DATA data{};
    data.data_in = x.data();
    data.input_frames = static_cast<long>(x.size());
    data.data_out = y.data() + written;
    data.output_frames = static_cast<long>(y.size() - written);
    data.src_ratio = ratio;
    bool const failed = src_process(state.get(), &data) != 0;
    written += static_cast<std::size_t>(data.output_frames_gen);
    if (failed || (data.input_frames_used == 0 && data.output_frames_gen == 0)) break;
    x = x.subspan(static_cast<std::size_t>(data.input_frames_used));
  }
  return written;
}
}  // namespace

struct Resampling::Converters {
  Converter in = made(), out = made();
};

Resampling::Resampling(double outer, double inner, Index most)
    : converters_(std::make_unique<Converters>()), ratio_(inner / outer) {
  auto const samples = static_cast<std::size_t>(most);
  auto const inside = static_cast<std::size_t>(std::ceil(static_cast<double>(most) * std::max(ratio_, 1.0)));
  inside_x_.resize(inside + spare);
  inside_y_.resize(inside + spare);
  // Each converter holds back samples until it has the later ones that it needs. The delay is the greatest number that
  // both hold back together. It varies with a period that depends on the two rates; a few thousand samples are enough
  // to see the greatest.
  out_.resize(samples + 2 * spare);
  float const silence = 0;
  Index given = 0;
  for (Index taken = 1; taken <= 8192; ++taken) {
    std::size_t const count = go_in({&silence, 1});
    given += static_cast<Index>(convert(converters_->out, 1 / ratio_, {inside_y_.data(), count}, out_));
    latency_ = std::max(latency_, taken - given);
  }
  ++latency_;
  out_.resize(samples + static_cast<std::size_t>(latency_) + 2 * spare);
  reset();
}
Resampling::~Resampling() = default;

std::size_t Resampling::go_in(std::span<float const> x) { return convert(converters_->in, ratio_, x, inside_x_); }

void Resampling::come_out(std::size_t count, std::span<float> y) {
  waiting_ += convert(converters_->out, 1 / ratio_, {inside_y_.data(), count}, std::span{out_}.subspan(waiting_));
  std::size_t const ready = std::min(waiting_, y.size());
  std::copy_n(out_.begin(), ready, y.begin());
  std::fill(y.begin() + static_cast<std::ptrdiff_t>(ready), y.end(), 0.f);
  std::copy(out_.begin() + static_cast<std::ptrdiff_t>(ready), out_.begin() + static_cast<std::ptrdiff_t>(waiting_),
            out_.begin());
  waiting_ -= ready;
}

void Resampling::reset() {
  src_reset(converters_->in.get());
  src_reset(converters_->out.get());
  waiting_ = static_cast<std::size_t>(latency_);
  std::fill(out_.begin(), out_.end(), 0.f);
}

}  // namespace coldpress::audio
