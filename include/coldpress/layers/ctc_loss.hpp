// The loss CTCLoss: the probability of a sequence of labels, wherever in a longer sequence each of them is.
#pragma once

#include <coldpress/core/fourier.hpp>
#include <coldpress/core/layer.hpp>

#include <limits>

namespace coldpress {

/// Connectionist temporal classification (Graves et al. 2006): -log of the probability that the classes of all steps,
/// with repetitions and then blanks removed, are the labels, divided by the batch size. The output {steps, classes} has
/// a log-probability of each class in each step, as SoftmaxOver{.axis = -1, .logarithm = true} makes them. The target
/// has room for `labels` labels, counted from 0; the first one that is the blank or -1 ends it. The gradient is minus
/// the probability, given the labels, that the step has the class. (PyTorch's CTCLoss with reduction "sum", divided by
/// the batch size. It adds the gradient of the logarithm of the softmax, which here that layer has.) Labels for which
/// there are too few steps have an infinite loss and no gradient.
struct CTCLoss {
  static constexpr std::string_view name = "ctc_loss";
  static constexpr std::string_view mean_over = "samples";
  static constexpr int ignore_index = -1;
  static constexpr Index most = 255;  // labels
  static constexpr Index workspace = 9 * 2 * (most + 1);
  Index labels = 32;
  int blank = 0;
  float loss_weight = 1;  // a factor of the value and the gradient

  template <class Needs = Require>
  constexpr Shape target_shape(Shape const& in, Needs require = {}) const {
    check_loss_weight(loss_weight);
    require(in.rank() == 2, "ctc_loss: the input must be {steps, classes}");
    require(blank >= 0 && blank < in[1], "ctc_loss: blank must be one of the classes");
    require(labels >= 1 && labels <= most, "ctc_loss: labels must be from 1 to 255");
    require(in[0] >= labels, "ctc_loss: there must be at least as many steps as labels");
    return {labels};
  }
  static constexpr Target target = Target::label;
  constexpr Index classes(Shape const& in) const { return in[1]; }
  template <class T>
  constexpr T sample(Shape const& in, T const* y, T const* t, T* dy, T* dt) const {
    double memory[workspace];
    return sample_by(OneThread{}, memory, in, y, t, dy, dt);
  }
  /// The same by several threads, as in Wasserstein. A state is a label, or the blank before, between or after labels.
  /// Backwards in time, the gradient of a step needs `before`, the logarithms of the probabilities of reaching each
  /// state in the step, and `after`, those of going on from there. The first are computed forwards; the memory has room
  /// for a few steps only, from which those between them are computed again.
  template <class ThreadGroup, class T>
  constexpr T sample_by(ThreadGroup const& thread_group, double* memory, Shape const& in, T const* y, T const* t, T* dy,
                        T*) const {
    Lattice<T> const lattice{y, t, in[1], static_cast<Index>(blank), length(t)};
    Index const steps = in[0], states = lattice.states(), pitch = states + 1, rows = workspace / pitch;
    auto const row = [&](Index i) { return memory + i * pitch + 1; };
    auto const time = [&](Index i) -> double& { return memory[i * pitch]; };
    double *const same = row(0), *after = row(1), *spare = row(2);
    constexpr Index working = 3, kept = 5;  // the first rows that are overwritten in turn, and that are kept
    thread_group.each(in.size(), [&](Index i) { dy[i] = T{}; });
    thread_group.each(states, [&](Index s) {
      same[s] = static_cast<double>(lattice.has_before(s) ? -lattice.next_of_class(s) : lattice.next_of_class(s));
      row(kept)[s] = s < 2 ? lattice.log_of(0, s) : -infinity;
      if (s == 0) time(kept) = 0;
    });
    Index count = 1;
    double total = 0;
    for (Index step = steps - 1; step >= 0; --step) {
      double const* before = row(kept + count - 1);
      auto const from = static_cast<Index>(time(kept + count - 1));
      Index const way = step - from, free = rows - kept - count;
      Index const stride = way <= free ? 1 : (way + free / 2) / (free / 2 + 1);
      if (way == 0) --count;
      for (Index now = from + 1; now <= step; ++now) {
        bool const keep = now < step && (now - from) % stride == 0 && kept + count < rows;
        Index const place = keep ? kept + count : working + now % 2;
        double* const to = row(place);
        thread_group.each(states, [&](Index s) {
          to[s] = lattice.reach(before, s) + lattice.log_of(now, s);
          if (s == 0) time(place) = static_cast<double>(now);
        });
        before = to, count += keep;
      }
      if (step == steps - 1) {
        total = log_sum(before[states - 1], states > 1 ? before[states - 2] : -infinity, -infinity);
        if (total == -infinity) return static_cast<T>(infinity);
        thread_group.each(states, [&](Index s) { after[s] = s + 2 >= states ? 0 : -infinity; });
      } else {
        thread_group.each(states, [&](Index s) { spare[s] = lattice.leave(after, step + 1, s); });
        double* const old = after;
        after = spare, spare = old;
      }
      thread_group.each(states, [&](Index first) {
        if (same[first] < 0) return;  // not the first state of its class
        double share = 0;
        for (Index s = first; s < states; s = static_cast<Index>(freestanding::fabs(same[s])))
          share += freestanding::exp(before[s] + after[s] - total);
        dy[step * in[1] + lattice.label(first)] = static_cast<T>(-share * static_cast<double>(loss_weight));
      });
    }
    return static_cast<T>(-total * static_cast<double>(loss_weight));
  }
  bool operator==(CTCLoss const&) const = default;

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  template <class T>
  constexpr Index length(T const* t) const {
    Index size = 0;
    while (size < labels && t[size] >= 0 && t[size] != static_cast<T>(blank)) ++size;
    return size;
  }
  /// log(e^a + e^b + e^c).
  COLDPRESS_DEVICE static double log_sum(double a, double b, double c) {
    double const largest = freestanding::max(freestanding::max(a, b), c);
    if (!(largest > -infinity)) return a + b + c;  // -infinity, or NaN
    return largest + freestanding::log(freestanding::exp(a - largest) + freestanding::exp(b - largest) +
                                       freestanding::exp(c - largest));
  }

  /// The states of a sample: blank, label, blank, label, ..., blank.
  template <class T>
  struct Lattice {
    T const *y, *t;
    Index classes, blank, length;

    constexpr Index states() const { return 2 * length + 1; }
    constexpr Index label(Index s) const { return s % 2 == 0 ? blank : static_cast<Index>(t[s / 2]); }
    constexpr double log_of(Index step, Index s) const { return static_cast<double>(y[step * classes + label(s)]); }
    /// Whether the blank between two labels may be left out before this state.
    constexpr bool skips(Index s) const { return s % 2 == 1 && s > 1 && label(s) != label(s - 2); }
    constexpr bool has_before(Index s) const {
      for (Index k = s % 2; k < s; k += 2) {
        if (label(k) == label(s)) return true;
      }
      return false;
    }
    /// The next state of the same class, or the number of states.
    constexpr Index next_of_class(Index s) const {
      Index next = s + 2;
      while (next < states() && label(next) != label(s)) next += 2;
      return freestanding::min(next, states());
    }
    COLDPRESS_DEVICE double reach(double const* before, Index s) const {
      return log_sum(before[s], s > 0 ? before[s - 1] : -infinity, skips(s) ? before[s - 2] : -infinity);
    }
    COLDPRESS_DEVICE double leave(double const* after, Index step, Index s) const {
      auto const to = [&](Index next) { return after[next] + log_of(step, next); };
      return log_sum(to(s), s + 1 < states() ? to(s + 1) : -infinity,
                     s + 2 < states() && skips(s + 2) ? to(s + 2) : -infinity);
    }
  };
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::CTCLoss, labels, blank, loss_weight);
