// Compares a model's output for recorded segments with the recording, as an error and as charts of wave and spectrum.
#include <coldpress/train/signal_error.hpp>

#include <coldpress/core/fourier.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace coldpress::train {
namespace {

constexpr int bits = 11;
constexpr Index frame = Index{1} << bits;

/// The mean power of each bin over frames that overlap by half, weighted by a Hann window.
std::vector<double> powers(std::span<float const> signal) {
  std::vector<double> sum(frame / 2 + 1), re(frame), im(frame);
  auto const size = static_cast<Index>(signal.size());
  Index frames = 0;
  for (Index begin = 0; begin == 0 || begin + frame <= size; begin += frame / 2, ++frames) {
    std::ranges::fill(im, 0);
    for (Index i = 0; i < frame; ++i) {
      double const value = begin + i < size ? static_cast<double>(signal[static_cast<std::size_t>(begin + i)]) : 0;
      re[static_cast<std::size_t>(bits_reversed(i, bits))] = (0.5 - 0.5 * root_of_unity(i, frame).re) * value;
    }
    fourier(OneThread{}, bits, re.data(), im.data(), [](Index k) { return root_of_unity(k, frame); });
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += re[k] * re[k] + im[k] * im[k];
  }
  // A sine of full scale has 0 dB.
  double const scale = 1 / (static_cast<double>(frames) * static_cast<double>(frame * frame) / 16);
  for (double& value : sum) value *= scale;
  return sum;
}

data::Curve spectrum(char const* name, std::span<float const> signal, Index sample_rate) {
  data::Curve curve{.name = name};
  auto const all = powers(signal);
  double const khz = static_cast<double>(sample_rate) / static_cast<double>(frame) / 1000;
  // Two bins make a point.
  for (std::size_t k = 0; k + 1 < all.size(); k += 2) {
    curve.x.push_back((static_cast<double>(k) + 0.5) * khz);
    curve.y.push_back(10 * std::log10(std::max((all[k] + all[k + 1]) / 2, 1e-12)));
  }
  return curve;
}

data::Curve wave(char const* name, std::span<float const> signal, Index first, Index count, Index sample_rate) {
  data::Curve curve{.name = name};
  for (Index i = first; i < first + count; ++i) {
    curve.x.push_back(1000 * static_cast<double>(i - first) / static_cast<double>(sample_rate));
    curve.y.push_back(static_cast<double>(signal[static_cast<std::size_t>(i)]));
  }
  return curve;
}

}  // namespace

SignalError::SignalError(data::Source const& segments, std::string statistics)
    : name(std::move(statistics)),
      segments_(&segments),
      last_(std::make_shared<Last>(Last{std::numeric_limits<double>::quiet_NaN(), {}, {}})) {}

void SignalError::operator()(Trainer& trainer) {
  evaluate(trainer);
  trainer.statistics().add(name + "/esr", trainer.iteration(), last_->ratio);
}

void SignalError::evaluate(Trainer& trainer) {
  Last now{};
  trainer.evaluate(*segments_, [&](data::Batches::Batch const& batch, Values outputs) {
    now.output.insert(now.output.end(), outputs.begin(), outputs.end());
    now.target.insert(now.target.end(), batch.targets.begin(), batch.targets.end());
  });
  now.ratio = error_to_signal_ratio(now.output, now.target);
  *last_ = std::move(now);
}

std::vector<data::Chart> SignalError::charts(Index sample_rate) const {
  auto const& [ratio, output, target] = *last_;
  if (target.empty()) return {};
  auto const size = static_cast<Index>(target.size()), count = std::min(sample_rate / 50, size);
  auto const magnitude = [](float value) { return std::abs(value); };
  Index const loudest = std::ranges::max_element(target, {}, magnitude) - target.begin();
  Index const first = std::clamp<Index>(loudest - count / 4, 0, size - count);
  return {
      {.title = "Wave",
       .x_label = "ms",
       .y_label = "amplitude",
       .curves = {wave("target", target, first, count, sample_rate), wave("model", output, first, count, sample_rate)}},
      {.title = "Spectrum",
       .x_label = "kHz",
       .y_label = "dB",
       .curves = {spectrum("target", target, sample_rate), spectrum("model", output, sample_rate)}}};
}

double error_to_signal_ratio(std::span<float const> output, std::span<float const> target) {
  double error = 0, signal = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    double const t = static_cast<double>(target[i]), e = static_cast<double>(output[i]) - t;
    error += e * e, signal += t * t;
  }
  return signal > 0 ? error / signal : std::numeric_limits<double>::quiet_NaN();
}

char const* judgement_of_ratio(double ratio) {
  if (ratio < 0.01) return "great";
  if (ratio < 0.035) return "not bad";
  if (ratio < 0.1) return "might sound ok";
  if (ratio < 0.3) return "probably does not sound great";
  return "something has gone wrong";
}

}  // namespace coldpress::train
