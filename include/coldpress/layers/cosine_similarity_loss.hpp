// The loss CosineSimilarityLoss: how far the directions of output and target are apart.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/freestanding.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// Σ (1 - cos), divided by the batch size and the number of positions, where cos = y·t / (|y| |t|) is the cosine of the
/// angle between output and target along one axis (PyTorch's CosineEmbeddingLoss for pairs that belong together; Keras'
/// CosineSimilarity, plus 1). Gradients, divided by the number of positions: (cos y / |y| - t / |t|) / |y|, and the
/// same with y and t exchanged with respect to the targets. A vector shorter than 1e-8 has no direction: there cos is
/// 0, and there is no gradient.
struct CosineSimilarityLoss {
  static constexpr std::string_view name = "cosine_similarity_loss";
  static constexpr std::string_view mean_over = "samples and positions";
  int axis = 0;
  float loss_weight = 1;  // a factor of the value and the gradients

  constexpr Shape target_shape(Shape const& in) const {
    check_loss_weight(loss_weight);
    static_cast<void>(axis_of(in, axis));
    return in;
  }
  static constexpr Target target = Target::value;
  template <class T>
  constexpr T sample(Shape const& in, T const* y, T const* t, T* dy, T* dt) const {
    Along const a{in, axis};
    double const share = static_cast<double>(loss_weight) / static_cast<double>(a.lines());
    double total = 0;
    for (Index n = 0; n < a.lines(); ++n) {
      auto const at = [&, start = a.line(n)](Index k) { return start + k * a.inner; };
      auto const product = [&](T const* b, T const* c) {
        return sum_over<double>(a.extent,
                                [&](Index k) { return static_cast<double>(b[at(k)]) * static_cast<double>(c[at(k)]); });
      };
      double const of_y = freestanding::sqrt(product(y, y)), of_t = freestanding::sqrt(product(t, t));
      bool const turns = !(of_y < 1e-8) && !(of_t < 1e-8);  // a NaN stays one
      double const cosine = turns ? product(y, t) / of_y / of_t : 0;
      total += (1 - cosine) * share;
      auto const gradient = [&](T const* own, double size, T const* other, double other_size, T* to) {
        for (Index k = 0; k < a.extent; ++k) {
          double const from = static_cast<double>(own[at(k)]) / size * cosine;
          double const slope = (from - static_cast<double>(other[at(k)]) / other_size) / size * share;
          to[at(k)] = turns ? static_cast<T>(slope) : T{};
        }
      };
      gradient(y, of_y, t, of_t, dy);
      if (dt) gradient(t, of_t, y, of_y, dt);
    }
    return static_cast<T>(total);
  }
  bool operator==(CosineSimilarityLoss const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::CosineSimilarityLoss, axis, loss_weight);
