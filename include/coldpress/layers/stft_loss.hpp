// The loss StftLoss: how far the spectra of two signals are apart, at several resolutions.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/fourier.hpp>
#include <coldpress/core/geometry.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// Compares magnitudes of short-time Fourier transforms, Y of the output and T of the target, each a signal {steps} or
/// several side by side {steps, features}. With the default fields it is the multi-resolution loss of Yamamoto et
/// al. 2020, as auraloss computes it for a sample: the mean over up to three resolutions and all features of
///   spectral_convergence |Y - T| / |T| + log_magnitude mean|log Y - log T| + magnitude mean|Y - T|,
/// where |.| is the Frobenius norm, and the means are over frames and bins. Frame f is centred at step f hop_size,
/// weighted by a Hann window of window_size steps; beyond its ends, a signal is mirrored. Magnitudes are square roots
/// of energies of at least `epsilon`; below it there is no gradient. fft_size is a power of two up to 2048.
struct StftLoss {
  static constexpr std::string_view name = "stft_loss";
  static constexpr std::string_view mean_over = "samples, features and resolutions";
  static constexpr Index longest = 2048, most = longest / 2, workspace = 2 * longest;
  PerAxis fft_size = {1024, 2048, 512}, hop_size = {120, 240, 50}, window_size = {600, 1200, 240};
  float spectral_convergence = 1, log_magnitude = 1, magnitude = 0;
  float epsilon = 1e-8f;
  float loss_weight = 1;  // a factor of the value and the gradients

  template <class Needs = Require>
  constexpr Shape target_shape(Shape const& in, Needs require = {}) const {
    check_loss_weight(loss_weight);
    for (int r = 0; r < resolutions(); ++r) {
      Index const size = fft_size[r];
      require(size >= 2 && size <= longest && (size & (size - 1)) == 0,
              "stft_loss: fft_size must be a power of two from 2 to 2048");
      require(hop_size[r] >= 1 && hop_size[r] <= size, "stft_loss: hop_size must be from 1 to fft_size");
      require(window_size[r] >= 1 && window_size[r] <= size, "stft_loss: window_size must be from 1 to fft_size");
    }
    for (float const factor : {spectral_convergence, log_magnitude, magnitude})
      require(factor >= 0 && is_finite(factor), "stft_loss: the factors must be finite numbers of at least 0");
    require(epsilon > 0 && is_finite(epsilon), "stft_loss: epsilon must be a finite number above 0");
    require(in.rank() == 1 || in.rank() == 2, "stft_loss: the input must be {steps} or {steps, features}");
    return in;
  }
  static constexpr Target target = Target::value;
  template <class T>
  constexpr T sample(Shape const& in, T const* y, T const* t, T* dy, T* dt) const {
    double memory[workspace];
    Table table;
    return sample_with(OneThread{}, memory, table, in, y, t, dy, dt);
  }
  /// The same by several threads, as in Wasserstein.
  template <class ThreadGroup, class T>
  constexpr T sample_by(ThreadGroup const& thread_group, double* memory, Shape const& in, T const* y, T const* t, T* dy,
                        T* dt) const {
    NoTable none{};
    return sample_with(thread_group, memory, none, in, y, t, dy, dt);
  }
  bool operator==(StftLoss const&) const = default;

 private:
  constexpr int resolutions() const {
    int const two = fft_size.count < hop_size.count ? hop_size.count : fft_size.count;
    return two < window_size.count ? window_size.count : two;
  }

  /// Roots of unity and the window of a resolution: computed as they are needed, or kept.
  struct NoTable {
    Index size, window;
    constexpr void make(Index fft, Index length) { size = fft, window = length; }
    COLDPRESS_DEVICE Root operator()(Index k) const { return root_of_unity(k, size); }
    COLDPRESS_DEVICE double weight(Index i) const {
      Index const n = i - (size - window) / 2;
      return n < 0 || n >= window ? 0 : 0.5 - 0.5 * root_of_unity(n, window).re;
    }
  };
  struct Table {
    Root roots[longest / 2];
    double weights[longest];
    COLDPRESS_DEVICE void make(Index fft, Index length) {
      NoTable const all{fft, length};
      for (Index k = 0; k < fft / 2; ++k) roots[k] = all(k);
      for (Index i = 0; i < fft; ++i) weights[i] = all.weight(i);
    }
    constexpr Root operator()(Index k) const { return roots[k]; }
    constexpr double weight(Index i) const { return weights[i]; }
  };

  /// A bin of a frame of both signals: Y, T, their magnitudes, and whether these are above the least.
  struct Bin {
    Root y, t;
    double of_y, of_t;
    bool has_y, has_t;
  };
  template <class Number>
  constexpr Bin bin(Number const* re, Number const* im, Index k, Index size) const {
    Index const m = (size - k) & (size - 1);  // the transform is that of y + i t
    Bin b{{(re[k] + re[m]) / 2, (im[k] - im[m]) / 2}, {(im[k] + im[m]) / 2, (re[m] - re[k]) / 2}, 0, 0, false, false};
    double const least = static_cast<double>(epsilon);
    double const y = b.y.re * b.y.re + b.y.im * b.y.im, t = b.t.re * b.t.re + b.t.im * b.t.im;
    b.has_y = y > least, b.has_t = t > least;
    b.of_y = freestanding::sqrt(b.has_y ? y : least), b.of_t = freestanding::sqrt(b.has_t ? t : least);
    return b;
  }
  /// What is less than this of the target's magnitude is rounding.
  static constexpr double rounding = 1e-9;
  static constexpr double sign(double x, double least) {
    return static_cast<double>(x > least) - static_cast<double>(x < -least);
  }
  /// The step that a place before the first or after the last one mirrors.
  static constexpr Index mirrored(Index i, Index steps) {
    while (i < 0 || i >= steps) i = steps == 1 ? 0 : i < 0 ? -i : 2 * (steps - 1) - i;
    return i;
  }

  template <class ThreadGroup, class Waves, class T>
  constexpr T sample_with(ThreadGroup const& thread_group, double* memory, Waves& waves, Shape const& in, T const* y,
                          T const* t, T* dy, T* dt) const {
    Along const a{in, 0};
    thread_group.each(in.size(), [&](Index i) {
      dy[i] = T{};
      if (dt) dt[i] = T{};
    });
    double total = 0;
    double const share = static_cast<double>(loss_weight) / static_cast<double>(resolutions() * a.inner);
    for (int r = 0; r < resolutions(); ++r) {
      waves.make(fft_size[r], window_size[r]);
      for (Index f = 0; f < a.inner; ++f) {
        Signals<T> const signals{y + f, t + f, dy + f, dt ? dt + f : nullptr, a.extent, a.inner};
        total += share * resolution(thread_group, memory, waves, fft_size[r], hop_size[r], share, signals);
      }
    }
    return static_cast<T>(total);
  }

  template <class T>
  struct Signals {
    T const *y, *t;
    T *dy, *dt;
    Index steps, pitch;
  };
  template <class ThreadGroup, class Waves, class T>
  constexpr double resolution(ThreadGroup const& thread_group, double* re, Waves const& waves, Index size, Index hop,
                              double share, Signals<T> const& s) const {
    double* const im = re + size;
    int bits = 0;
    while (Index{1} << bits < size) ++bits;
    Index const half = size / 2, frames = 1 + s.steps / hop;
    auto const place = [&](Index frame, Index i) { return frame * hop + i - half; };
    auto const transform = [&](Index frame) {
      thread_group.each(size, [&](Index i) {
        Index const from = mirrored(place(frame, i), s.steps) * s.pitch, to = bits_reversed(i, bits);
        re[to] = waves.weight(i) * static_cast<double>(s.y[from]);
        im[to] = waves.weight(i) * static_cast<double>(s.t[from]);
      });
      fourier(thread_group, bits, re, im, waves);
    };
    auto const sum = [&](float factor, auto const& value) {
      if (factor == 0) return 0.0;
      auto const of = [&](Index k) { return value(bin(re, im, k, size)); };
      double const last = of(half);
      return last + thread_group.sum(half, of);
    };

    double of_difference = 0, of_target = 0, logs = 0, magnitudes = 0;
    for (Index frame = 0; frame < frames; ++frame) {
      transform(frame);
      of_difference += sum(spectral_convergence, [](Bin const& b) { return (b.of_y - b.of_t) * (b.of_y - b.of_t); });
      of_target += sum(spectral_convergence, [](Bin const& b) { return b.of_t * b.of_t; });
      logs += sum(log_magnitude, [](Bin const& b) {
        double const apart = freestanding::log(b.of_y / b.of_t);
        return apart < 0 ? -apart : apart;
      });
      magnitudes += sum(magnitude, [](Bin const& b) { return b.of_y < b.of_t ? b.of_t - b.of_y : b.of_y - b.of_t; });
    }
    double const difference = freestanding::sqrt(of_difference), norm = freestanding::sqrt(of_target);
    double const count = static_cast<double>(frames * (half + 1));
    double const of_convergence = static_cast<double>(spectral_convergence),
                 of_log = static_cast<double>(log_magnitude) / count,
                 of_linear = static_cast<double>(magnitude) / count;
    bool const differ = difference > rounding * norm;
    double const closing = differ ? share * of_convergence / (difference * norm) : 0;
    double const leaning = differ ? of_difference / of_target : 0;

    for (Index frame = 0; frame < frames; ++frame) {
      transform(frame);
      // Replaces the transform of y + i t by that of the gradients dy + i dt.
      thread_group.each(half + 1, [&](Index k) {
        Bin const b = bin(re, im, k, size);
        double const apart = b.of_y - b.of_t, side = sign(apart, rounding * b.of_t) * share;
        double const by_y = closing * apart + side * (of_log / b.of_y + of_linear);
        double const by_t = -closing * (apart + leaning * b.of_t) - side * (of_log / b.of_t + of_linear);
        double const both = k == 0 || k == half ? 1 : 0.5;  // halves of the sums with their mirror images
        double const g = b.has_y ? both * by_y / b.of_y : 0, h = s.dt && b.has_t ? both * by_t / b.of_t : 0;
        Index const m = (size - k) & (size - 1);
        re[m] = g * b.y.re + h * b.t.im, im[m] = h * b.t.re - g * b.y.im;
        re[k] = g * b.y.re - h * b.t.im, im[k] = h * b.t.re + g * b.y.im;
      });
      thread_group.each(size, [&](Index i) {
        Index const j = bits_reversed(i, bits);
        if (i >= j) return;
        double const r = re[i], i_ = im[i];
        re[i] = re[j], im[i] = im[j], re[j] = r, im[j] = i_;
      });
      fourier(thread_group, bits, im, re, waves);
      auto const add = [&](Index i, Index to) {
        s.dy[to * s.pitch] += static_cast<T>(waves.weight(i) * re[i]);
        if (s.dt) s.dt[to * s.pitch] += static_cast<T>(waves.weight(i) * im[i]);
      };
      Index const before = place(frame, 0) < 0 ? -place(frame, 0) : 0;
      Index const end = freestanding::min(size, s.steps - place(frame, 0));
      thread_group.each(freestanding::max<Index>(end - before, 0),
                        [&](Index i) { add(before + i, place(frame, before + i)); });
      // One thread does this, because several mirrored places may be added to the same step.
      if (before > 0 || end < size) {
        thread_group.each(1, [&](Index) {
          for (Index i = 0; i < size; ++i)
            if (i < before || i >= end) add(i, mirrored(place(frame, i), s.steps));
        });
      }
    }
    return (norm > 0 ? of_convergence * difference / norm : 0) + of_log * logs + of_linear * magnitudes;
  }
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::StftLoss, fft_size, hop_size, window_size, spectral_convergence, log_magnitude, magnitude,
                 epsilon, loss_weight);
