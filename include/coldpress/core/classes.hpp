// Classes along an axis: the softmax of a line, and a weight for each class.
#pragma once

#include <coldpress/core/along.hpp>
#include <coldpress/core/layer.hpp>
#include <coldpress/core/pointwise.hpp>
#include <coldpress/core/spelling.hpp>

namespace coldpress {

/// The softmax of the line x[0], x[inner], ..., in plain loops. It keeps its exponentials in the same line of
/// `memory`; that of class k may be overwritten once p(k) is no longer needed.
template <class T>
class LineSoftmax {
 public:
  constexpr LineSoftmax(T const* x, T* memory, Along const& a)
      : x_(x),
        exps_(memory),
        inner_(a.inner),
        most_(maximum_over<T>(a.extent, [&](Index k) { return x[k * a.inner]; })) {
    T const mass =
        sum_over<T>(a.extent, [&](Index k) { return memory[k * inner_] = Math<T>::exp(x[k * inner_] - most_); });
    log_mass_ = Math<T>::log(mass), share_ = 1 / mass;
  }
  constexpr T log(Index k) const { return x_[k * inner_] - most_ - log_mass_; }
  constexpr T operator()(Index k) const { return exps_[k * inner_] * share_; }

 private:
  T const* x_;
  T const* exps_;
  Index inner_;
  T most_, log_mass_ = {}, share_ = {};
};

/// The logarithm of 1e-20. Losses that take the logarithm of a probability treat it as at least 1e-20.
inline constexpr double smallest_log = -46.051701859880914;

/// The default of the field `ignore_index`, with which a loss or statistic leaves out the positions of one label; as in
/// PyTorch. The label may also be a class.
inline constexpr int usual_ignore_index = -100;

/// Throws ShapeError unless a label can be this number; labels are floats.
constexpr void check_ignore_index(int label) {
  require(label >= -(1 << 24) && label <= 1 << 24, "ignore_index: it must be from -2^24 to 2^24");
}

/// The number of labels that are not left out.
template <class Reader, class T>
constexpr Index labels_that_count(Reader const& reader, T const* labels, Index size) {
  Index count = 0;
  for (Index n = 0; n < size; ++n) count += !is_ignored(reader, labels[n]);
  return count;
}

/// How class weights are scaled. `local` and `global` scale them so that their sum is the number of classes; `none`
/// leaves them. Mocha distinguishes local from global for weights that differ between positions. Class weights are the
/// same everywhere, so here both mean the same.
enum class ClassNormalization { local, global, none };
constexpr auto spellings(ClassNormalization) { return std::array<std::string_view, 3>{"local", "global", "none"}; }

/// A weight for each class of a loss: {1, 2, 0.5f}. ClassWeights{} means 1 for all.
struct ClassWeights {
  static constexpr int max = 32;  // classes
  static constexpr std::string_view takes = "numbers, one for each class", limit = "classes can be weighed";
  float factors[max] = {};
  int count = 0;
  constexpr ClassWeights() = default;
  static constexpr ClassWeights of(float const* all, int count) {
    ClassWeights weights;
    for (; weights.count < count; ++weights.count) weights.factors[weights.count] = all[weights.count];
    return weights;
  }
  template <class... More>
  constexpr ClassWeights(float first, More... more)
      : factors{first, static_cast<float>(more)...}, count(1 + static_cast<int>(sizeof...(More))) {
    static_assert(sizeof...(More) < max, "class_weights: at most 32 classes can be weighed");
  }
  /// Constructs it from its members. nvcc writes template arguments in this form.
  constexpr ClassWeights(float const (&all)[max], int given) : count(given) {
    for (int c = 0; c < max; ++c) factors[c] = all[c];
  }
  constexpr float const* data() const { return factors; }
  bool operator==(ClassWeights const&) const = default;

  /// Throws ShapeError unless these can be the weights of this number of classes.
  constexpr void check(Index classes) const {
    require(count == 0 || count == classes, "class_weights: there must be one for each class, or none at all");
    float sum = 0;
    for (int k = 0; k < count; ++k) {
      require(factors[k] >= 0 && is_finite(factors[k]), "class_weights: they must be finite numbers of at least 0");
      sum += factors[k];
    }
    require(count == 0 || (sum > 0 && is_finite(sum)), "class_weights: their sum must be above 0 and finite");
  }
  /// The number by which every weight is multiplied.
  template <class T>
  constexpr T scale(ClassNormalization normalize) const {
    if (count == 0 || normalize == ClassNormalization::none) return 1;
    T sum{};
    for (int k = 0; k < count; ++k) sum += factors[k];
    return static_cast<T>(count) / sum;
  }
  template <class T>
  constexpr T factor(Index label) const {
    return count == 0 ? T{1} : static_cast<T>(factors[label]);
  }
};

/// The factor of each position of a sample in a loss with class weights, without the weight of the position's class:
/// loss_weight times the scale of the class weights, divided by the number of positions that count.
template <class L, class T>
constexpr T share_of_position(L const& loss, T const* labels, Index positions) {
  Index const count = freestanding::max<Index>(1, labels_that_count(loss, labels, positions));
  return loss.class_weights.template scale<T>(loss.normalize) * loss.loss_weight / static_cast<T>(count);
}

/// f(start of a line, its label, share_of_position) for each position of a sample whose label counts. The gradients of
/// the other lines are set to 0.
template <class L, class T, class F>
constexpr void for_each_label(L const& loss, Along const& a, T const* labels, T* dy, F f) {
  T const share = share_of_position(loss, labels, a.lines());
  for (Index n = 0; n < a.lines(); ++n) {
    Index const start = a.line(n);
    if (is_ignored(loss, labels[n])) {
      for (Index k = 0; k < a.extent; ++k) dy[start + k * a.inner] = T{};
    } else {
      f(start, static_cast<Index>(labels[n]), share);
    }
  }
}

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::ClassWeights, factors, count);
