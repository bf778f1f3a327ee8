// Cuts what went into a device and what came out into segments, and finds the delay between the two.
#include <coldpress/data/segments.hpp>

#include <coldpress/core/counted.hpp>
#include <coldpress/core/fourier.hpp>
#include <coldpress/data/sound.hpp>

#include "formats.hpp"
#include "held_out.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace coldpress::data {
namespace {

constexpr Index most_heard = Index{1} << 20, most_in_segment = Index{1} << 40;

std::string with_commas(Index number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<Index>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::vector<float> mono(std::string const& path, Sound sound) {
  if (sound.channels != 1)
    fail_in<FormatError>(path, "has " + std::to_string(sound.channels) + " channels, expected 1");
  return std::move(sound.values);
}

class Segments final : public Source {
 public:
  Segments(SignalPair signals, SegmentOptions options, Index count)
      : Source({{options.run_in + options.length, 1}, {options.length, 1}, count}),
        signals_(std::move(signals)),
        options_(options) {}
  std::unique_ptr<Source::Reader> reader() const override { return std::make_unique<Part>(*this); }

 private:
  struct Part final : Source::Reader {
    explicit Part(Segments const& of) : source(of) {}
    void read(Index first, Index count, float* samples, float* targets) override {
      auto const& [length, run_in] = source.options_;
      for (Index i = first; i < first + count; ++i) {
        auto const from = source.signals_.input.begin() + i * length;
        if (samples) samples = std::copy_n(from, run_in + length, samples);
        targets = std::copy_n(source.signals_.output.begin() + i * length + run_in, length, targets);
      }
    }
    Segments const& source;
  };

  SignalPair signals_;
  SegmentOptions options_;
};

/// Both signals' transform, as that of x + i y, over at least `room` steps more than they have.
struct Spectrum {
  int bits = 0;
  std::vector<double> re = {}, im = {};
  std::vector<Root> roots = {};
  Index size() const { return Index{1} << bits; }
  void transform(std::vector<double>& a, std::vector<double>& b) const {
    for (Index i = 0; i < size(); ++i) {
      auto const from = static_cast<std::size_t>(i), to = static_cast<std::size_t>(bits_reversed(i, bits));
      if (from < to) std::swap(a[from], a[to]), std::swap(b[from], b[to]);
    }
    fourier(OneThread{}, bits, a.data(), b.data(), [this](Index k) { return roots[static_cast<std::size_t>(k)]; });
  }
};
Spectrum spectrum_of(SignalPair const& signals, Index steps, Index room) {
  Spectrum all;
  while (all.size() < steps + room) ++all.bits;
  auto const size = static_cast<std::size_t>(all.size());
  all.re.resize(size), all.im.resize(size);
  std::copy_n(signals.input.begin(), steps, all.re.begin());
  std::copy_n(signals.output.begin(), steps, all.im.begin());
  for (Index k = 0; k < all.size() / 2; ++k) all.roots.push_back(root_of_unity(k, all.size()));
  all.transform(all.re, all.im);
  return all;
}

/// The impulse response of the linear system that comes closest to mapping the input to the output. Frequencies that
/// the input hardly has are damped. Negative times are at the end.
std::vector<double> impulse_response(Spectrum all) {
  auto const size = static_cast<std::size_t>(all.size());
  double energy = 0;
  std::vector<double> of_input(size), re(size), im(size);
  for (std::size_t k = 0; k < size; ++k) {
    std::size_t const m = (size - k) % size;
    double const xr = (all.re[k] + all.re[m]) / 2, xi = (all.im[k] - all.im[m]) / 2;
    double const yr = (all.im[k] + all.im[m]) / 2, yi = (all.re[m] - all.re[k]) / 2;
    of_input[k] = xr * xr + xi * xi;
    energy += of_input[k];
    re[k] = xr * yr + xi * yi, im[k] = xr * yi - xi * yr;
  }
  double const least = 1e-3 * energy / static_cast<double>(size);
  for (std::size_t k = 0; k < size; ++k) {
    double const scale = least > 0 ? 1 / (of_input[k] + least) : 0;
    re[k] *= scale, im[k] *= scale;
  }
  all.transform(im, re);  // exchanged: the inverse
  return re;
}

}  // namespace

SignalPair read_signals(std::string const& input, std::string const& output) {
  Sound x = read_sound(input), y = read_sound(output);
  if (x.sample_rate != y.sample_rate) {
    throw MismatchError{"the sample rates differ: " + input + " has " + with_commas(x.sample_rate) + " Hz, " + output +
                        " " + with_commas(y.sample_rate)};
  }
  Index const rate = x.sample_rate;
  return {mono(input, std::move(x)), mono(output, std::move(y)), rate};
}

std::optional<Index> find_delay(SignalPair const& signals, Index most) {
  auto const both = static_cast<Index>(std::min(signals.input.size(), signals.output.size()));
  if (most < 1 || both < std::max<Index>(most, 64)) {
    throw ShapeError{"a delay of up to " + std::to_string(most) + " steps cannot be found in signals of " +
                     std::to_string(both) + " steps"};
  }
  auto const silent = [](std::vector<float> const& signal) {
    return std::ranges::all_of(signal, [](float value) { return value == 0; });
  };
  if (silent(signals.input) || silent(signals.output)) return {};
  constexpr Index before = 32;  // steps from the start of a response to its peak
  auto const response = impulse_response(spectrum_of(signals, std::min(both, most_heard), most + before));
  auto const at = [&](Index lag) {
    return std::abs(response[static_cast<std::size_t>(lag < 0 ? lag + static_cast<Index>(response.size()) : lag)]);
  };
  Index peak = 0;
  double squares = 0;
  for (Index lag = -most; lag <= most; ++lag) {
    squares += at(lag) * at(lag);
    if (at(lag) > at(peak)) peak = lag;
  }
  // In the response of unrelated signals no step stands out: it is noise.
  constexpr double outstanding = 8;
  if (!(at(peak) > outstanding * std::sqrt(squares / static_cast<double>(2 * most + 1)))) return {};
  Index first = std::max(peak - before, -most);
  while (at(first) < at(peak) / 10) ++first;
  return first;
}

Index delay_of(SignalPair const& signals, std::string const& input, std::string const& output,
               std::string const& given) {
  auto const steps = static_cast<Index>(std::min(signals.input.size(), signals.output.size()));
  Index const most = std::min(signals.sample_rate / 2, steps);
  if (auto const found = find_delay(signals, most)) return *found;
  throw DataError{"no delay of at most " + counted(most, "sample") + " was found between " + input + " and " + output +
                  ": the second does not seem to follow from the first. With " + given +
                  ", it is taken as N samples later"};
}

void correct_delay(SignalPair& signals, Index delay) {
  auto const late = [](std::vector<float>& signal, Index steps) {
    if (steps > 0) signal.erase(signal.begin(), signal.begin() + steps);
  };
  auto const steps = [](std::vector<float> const& signal) { return static_cast<Index>(signal.size()); };
  // The smallest Index has no negation; no signal is longer than the largest.
  Index const of_input = std::max<Index>(-std::max(delay, -std::numeric_limits<Index>::max()), 0);
  Index const of_output = std::max<Index>(delay, 0);
  if (of_input >= steps(signals.input) || of_output >= steps(signals.output)) {
    throw ConfigError{"a delay of " + std::to_string(delay) + " steps leaves nothing of signals of " +
                      std::to_string(steps(signals.input)) + " and " + std::to_string(steps(signals.output)) +
                      " steps"};
  }
  late(signals.input, of_input);
  late(signals.output, of_output);
  auto const common = std::min(signals.input.size(), signals.output.size());
  signals.input.resize(common), signals.output.resize(common);
}

std::unique_ptr<Source> segments(SignalPair signals, SegmentOptions options) {
  if (options.length < 1 || options.length > most_in_segment || options.run_in < 0 ||
      options.run_in > most_in_segment) {
    throw ConfigError{"segments of " + std::to_string(options.length) + " steps after " +
                      std::to_string(options.run_in) + " cannot be made"};
  }
  auto const steps = static_cast<Index>(std::min(signals.input.size(), signals.output.size()));
  if (steps < options.run_in + options.length) {
    throw ConfigError{"the signals have " + with_commas(steps) + " steps, but a segment of " +
                      with_commas(options.length) + " after a run-in of " + with_commas(options.run_in) + " needs " +
                      with_commas(options.run_in + options.length)};
  }
  Index const count = (steps - options.run_in) / options.length;
  return std::make_unique<Segments>(std::move(signals), options, count);
}

SourceSplit split_end(Source const& source, double fraction) {
  Index const kept = source.size() - held_out_count(source.size(), fraction);
  std::vector<Index> first(static_cast<std::size_t>(kept)), last(static_cast<std::size_t>(source.size() - kept));
  std::iota(first.begin(), first.end(), Index{0});
  std::iota(last.begin(), last.end(), kept);
  return {subset(source, std::move(first)), subset(source, std::move(last))};
}

Opened open_signals(Request const& request) {
  SignalPair signals = read_signals(request.paths[0], request.paths.at(1));
  SpecOptions const& options = request.options;
  bool const find = options.text("delay", "0") == "find";
  correct_delay(signals,
                find ? delay_of(signals, request.paths[0], request.paths[1], "delay=N") : options.integer("delay", 0));
  Index const length = options.has("length") ? options.count("length") : SegmentOptions{}.length;
  return segments(std::move(signals), {.length = length, .run_in = options.integer("run-in", 0)});
}

}  // namespace coldpress::data
