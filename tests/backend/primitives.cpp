// Every primitive of every backend against naive loops in double precision, over odd sizes: 1 to 70 columns, rows that touch and rows
// that are padded, values that lie around the matrix untouched.
#include <coldpress/backend/cpu.hpp>
#include <coldpress/backend/reference.hpp>
#include <coldpress/layers.hpp>
#include <coldpress/optim/sgd.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"

using namespace coldpress;

namespace {

using Doubles = std::vector<double>;
test::Random numbers{1};

/// A matrix of a backend, in memory that ends in canaries; beyond the columns lies what padding holds: zeros.
template <class Backend>
class Matrix {
 public:
  using T = typename Backend::Scalar;
  Matrix(Index rows, Index columns, bool padded = true)
      : rows_(rows), columns_(columns), pitch_(padded ? Backend::pitch(columns) : columns),
        size_(padded ? rows * pitch_ : (rows * columns + 15) / 16 * 16), memory_(static_cast<std::size_t>(size_ + 16), T{0}) {
    for (Index i = 0; i < 16; ++i) memory_[static_cast<std::size_t>(size_ + i)] = canary;
  }
  static Matrix random_values(Index rows, Index columns, bool padded = true) {
    Matrix m{rows, columns, padded};
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) m(i, j) = static_cast<T>(numbers.uniform());
    }
    return m;
  }
  Rows<T> rows() { return {memory_.data(), rows_, columns_, pitch_}; }
  T& operator()(Index i, Index j) { return memory_[static_cast<std::size_t>(i * pitch_ + j)]; }
  double at(Index i, Index j) const { return static_cast<double>(memory_[static_cast<std::size_t>(i * pitch_ + j)]); }
  Doubles values() const {
    Doubles all;
    for (Index i = 0; i < rows_; ++i) {
      for (Index j = 0; j < columns_; ++j) all.push_back(at(i, j));
    }
    return all;
  }
  /// What lies beyond the matrix is as it was.
  bool kept_in() const {
    for (Index i = 0; i < 16; ++i) {
      if (memory_[static_cast<std::size_t>(size_ + i)] != canary) return false;
    }
    return true;
  }

 private:
  static constexpr T canary = T(1234.5);
  Index rows_, columns_, pitch_, size_;
  std::vector<T> memory_;
};

/// A parameter in the backend's layout, from and to canonical order.
template <class Backend>
std::vector<typename Backend::Scalar> stored(Shape shape, Doubles const& values) {
  std::vector<typename Backend::Scalar> memory(static_cast<std::size_t>(Backend::storage_size(shape)));
  for (Index e = 0; e < shape.size(); ++e) {
    memory[static_cast<std::size_t>(Backend::offset(shape, e))] = static_cast<typename Backend::Scalar>(values[static_cast<std::size_t>(e)]);
  }
  return memory;
}
template <class Backend, class T>
Doubles canonical(Shape shape, std::vector<T> const& memory) {
  Doubles values;
  for (Index e = 0; e < shape.size(); ++e) values.push_back(static_cast<double>(memory[static_cast<std::size_t>(Backend::offset(shape, e))]));
  return values;
}
Doubles random_doubles(Index count) { return numbers.values<double>(count); }

template <class Backend>
struct Fixture {
  using T = typename Backend::Scalar;
  Backend backend{};
  std::vector<T> scratch;
  Fixture() {
    scratch.resize(static_cast<std::size_t>(Backend::scratch_size({80, 80}) * 2 + 16));
    if constexpr (requires { backend.scratch; }) backend.scratch = scratch.data();
  }
};

void check(Doubles const& values, Doubles const& wanted, Index terms) {
  CHECK(test::excess(values, wanted, static_cast<double>(terms)) <= 1);
}

/// Doubles what it is given; enough of an operation to be applied.
struct Twice {
  static constexpr bool needs_input = false, heavy = false;
  template <class T>
  T value(T x, At) const {
    return x + x;
  }
};

constexpr Index row_counts[] = {1, 2, 5, 6, 7, 13};

}  // namespace

TEMPLATE_TEST_CASE("affine is then(x Wᵀ + b), whatever lies around", "", Cpu, Reference<float>, Reference<double>) {
  using T = typename TestType::Scalar;
  Fixture<TestType> f;
  for (Index out = 1; out <= 70; ++out) {
    Index const rows = row_counts[out % 6], in = 1 + out * 37 % 70;
    bool const padded = out % 3 != 0;
    INFO(rows << " x " << in << " -> " << out);
    Doubles const w = random_doubles(out * in), b = random_doubles(out);
    auto const weight = stored<TestType>({out, in}, w), bias = stored<TestType>({out}, b);
    auto x = Matrix<TestType>::random_values(rows, in, out % 2 == 0);
    Matrix<TestType> y{rows, out, padded}, kept{rows, out};
    Doubles sums, wanted;
    for (Index i = 0; i < rows; ++i) {
      for (Index o = 0; o < out; ++o) {
        double sum = b[static_cast<std::size_t>(o)];
        for (Index k = 0; k < in; ++k) sum += x.at(i, k) * w[static_cast<std::size_t>(o * in + k)];
        sums.push_back(sum);
        wanted.push_back(std::max(sum, 0.0) * 2);
      }
    }
    f.backend.affine(x.rows(), weight.data(), bias.data(), y.rows(), Then<Chain<>, T>{});
    check(y.values(), sums, in);
    CHECK(y.kept_in());
    f.backend.affine(x.rows(), weight.data(), bias.data(), y.rows(),
                     Then<Chain<ReLUOp, Twice>, T>{{}, 0, kept.rows().data, kept.rows().pitch});
    check(y.values(), wanted, in);
    check(kept.values(), sums, in);
    CHECK((y.kept_in() && kept.kept_in()));
  }
}

TEMPLATE_TEST_CASE("product is slope(dy W)", "", Cpu, Reference<float>, Reference<double>) {
  using T = typename TestType::Scalar;
  Fixture<TestType> f;
  for (Index in = 1; in <= 70; ++in) {
    Index const rows = row_counts[in % 6], out = 1 + in * 37 % 70;
    bool const padded = in % 3 != 0;
    INFO(rows << " x " << out << " -> " << in);
    Doubles const w = random_doubles(out * in);
    auto const weight = stored<TestType>({out, in}, w);
    auto dy = Matrix<TestType>::random_values(rows, out), output = Matrix<TestType>::random_values(rows, in);
    Matrix<TestType> dx{rows, in, padded};
    Doubles plain, sloped;
    for (Index i = 0; i < rows; ++i) {
      for (Index k = 0; k < in; ++k) {
        double sum = 0;
        for (Index o = 0; o < out; ++o) sum += dy.at(i, o) * w[static_cast<std::size_t>(o * in + k)];
        plain.push_back(sum);
        sloped.push_back(sum * (1 - output.at(i, k) * output.at(i, k)));
      }
    }
    f.backend.product(dy.rows(), weight.data(), dx.rows(), Slope<Chain<>, T>{.chain = {}});
    check(dx.values(), plain, out);
    CHECK(dx.kept_in());
    f.backend.product(dy.rows(), weight.data(), dx.rows(),
                      Slope<Chain<TanHOp>, T>{.chain = {}, .output = output.rows().data, .output_pitch = output.rows().pitch});
    check(dx.values(), sloped, out);
    CHECK(dx.kept_in());
  }
}

TEMPLATE_TEST_CASE("weight_gradient is dyᵀ x and sum_rows Σ dy, to memory or through the optimizer with the same bits", "", Cpu,
                   Reference<float>, Reference<double>) {
  using T = typename TestType::Scalar;
  Fixture<TestType> f;
  for (Index out = 1; out <= 70; ++out) {
    Index const rows = row_counts[out % 6], in = 1 + out * 23 % 70;
    INFO(rows << ": " << out << " x " << in);
    Shape const shape{out, in};
    auto x = Matrix<TestType>::random_values(rows, in, out % 2 == 0), dy = Matrix<TestType>::random_values(rows, out);
    Doubles weights, biases(static_cast<std::size_t>(out));
    for (Index o = 0; o < out; ++o) {
      for (Index k = 0; k < in; ++k) {
        double sum = 0;
        for (Index i = 0; i < rows; ++i) sum += dy.at(i, o) * x.at(i, k);
        weights.push_back(sum);
      }
      for (Index i = 0; i < rows; ++i) biases[static_cast<std::size_t>(o)] += dy.at(i, o);
    }
    auto gradient = stored<TestType>(shape, Doubles(weights.size())), bias_gradient = stored<TestType>({out}, biases);
    f.backend.weight_gradient(x.rows(), dy.rows(), GradientSink<T>{gradient.data()});
    f.backend.sum_rows(dy.rows(), GradientSink<T>{bias_gradient.data()});
    check(canonical<TestType>(shape, gradient), weights, rows);
    check(canonical<TestType>({out}, bias_gradient), biases, rows);

    constexpr Sgd sgd{.learning_rate = 0.1f, .momentum = 0.5f};
    auto fused = stored<TestType>(shape, random_doubles(out * in)), state = stored<TestType>(shape, random_doubles(out * in));
    auto plain = fused, plain_state = state;
    f.backend.weight_gradient(x.rows(), dy.rows(), UpdateSink<Sgd, T>{sgd, 0.25f, fused.data(), {state.data()}});
    f.backend.update(UpdateSink<Sgd, T>{sgd, 0.25f, plain.data(), {plain_state.data()}}, gradient.data(), static_cast<Index>(plain.size()));
    CHECK(canonical<TestType>(shape, fused) == canonical<TestType>(shape, plain));
    CHECK(canonical<TestType>(shape, state) == canonical<TestType>(shape, plain_state));

    double squares = 0;
    for (T const g : gradient) squares += static_cast<double>(g) * static_cast<double>(g);
    CHECK(f.backend.squared_norm(gradient.data(), static_cast<Index>(gradient.size())) == Approx(squares).epsilon(1e-5));
  }
}

TEMPLATE_TEST_CASE("map and map_gradient apply a chain and its slope, in place or not, and read no padding", "", Cpu, Reference<float>,
                   Reference<double>) {
  using T = typename TestType::Scalar;
  using Two = Chain<TanHOp, SigmoidOp>;
  Fixture<TestType> f;
  for (Index columns = 1; columns <= 70; ++columns) {
    Index const rows = row_counts[columns % 6];
    bool const padded = columns % 2 == 0;
    INFO(rows << " x " << columns);
    auto x = Matrix<TestType>::random_values(rows, columns, padded), dy = Matrix<TestType>::random_values(rows, columns);
    Matrix<TestType> y{rows, columns, padded}, dx{rows, columns, padded};
    Doubles values, slopes;
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) {
        double const t = std::tanh(x.at(i, j)), s = 1 / (1 + std::exp(-t));
        values.push_back(s);
        slopes.push_back(dy.at(i, j) * s * (1 - s) * (1 - t * t));
      }
    }
    f.backend.map(x.rows(), y.rows(), Then<Two, T>{});
    check(y.values(), values, 4);
    Slope<Two, T> const slope{{}, 0, x.rows().data, x.rows().pitch, y.rows().data, y.rows().pitch};
    f.backend.map_gradient(dy.rows(), dx.rows(), slope);
    check(dx.values(), slopes, 4);
    CHECK((y.kept_in() && dx.kept_in()));
    f.backend.map_gradient(dy.rows(), dy.rows(), slope);
    CHECK(dy.values() == dx.values());
    f.backend.map(x.rows(), x.rows(), Then<Two, T>{});
    CHECK(x.values() == y.values());
    CHECK((x.kept_in() && dy.kept_in()));
  }
}

TEMPLATE_TEST_CASE("normalize, its gradient and the losses", "", Cpu, Reference<float>, Reference<double>) {
  Fixture<TestType> f;
  using T = typename TestType::Scalar;
  for (Index columns = 1; columns <= 70; ++columns) {
    Index const rows = row_counts[columns % 6];
    INFO(rows << " x " << columns);
    for (Normalization const kind : {Normalization::softmax, Normalization::log_softmax}) {
      bool const logarithmic = kind == Normalization::log_softmax;
      auto x = Matrix<TestType>::random_values(rows, columns), dy = Matrix<TestType>::random_values(rows, columns);
      Matrix<TestType> y{rows, columns, columns % 2 == 0}, dx{rows, columns};
      std::vector<T> labels, targets;
      Doubles wanted, gradient, nll_gradient, square_gradient;
      double nll = 0, square = 0;
      for (Index i = 0; i < rows; ++i) {
        double mass = 0, sum = 0;
        for (Index j = 0; j < columns; ++j) mass += std::exp(x.at(i, j));
        auto const p = [&](Index j) { return std::exp(x.at(i, j)) / mass; };
        auto const value = [&](Index j) { return logarithmic ? std::log(p(j)) : p(j); };
        Index const label = numbers.integer(0, columns - 1);
        labels.push_back(static_cast<T>(label));
        nll -= value(label) / static_cast<double>(rows);
        Doubles from_square;
        for (Index j = 0; j < columns; ++j) {
          targets.push_back(static_cast<T>(numbers.uniform()));
          double const difference = value(j) - static_cast<double>(targets.back());
          square += difference * difference / static_cast<double>(rows);
          from_square.push_back(2 * difference);
          wanted.push_back(value(j));
        }
        double square_sum = 0;
        for (Index j = 0; j < columns; ++j) {
          sum += logarithmic ? dy.at(i, j) : p(j) * dy.at(i, j);
          square_sum += (logarithmic ? 1 : p(j)) * from_square[static_cast<std::size_t>(j)];
        }
        for (Index j = 0; j < columns; ++j) {
          double const g = from_square[static_cast<std::size_t>(j)], n = j == label ? -1 : 0;
          gradient.push_back(logarithmic ? dy.at(i, j) - p(j) * sum : p(j) * (dy.at(i, j) - sum));
          square_gradient.push_back(logarithmic ? g - p(j) * square_sum : p(j) * (g - square_sum));
          nll_gradient.push_back(logarithmic ? n + p(j) : p(j) * (n + p(label)));
        }
      }
      f.backend.normalize(kind, x.rows(), y.rows());
      check(y.values(), wanted, columns);
      f.backend.normalize_gradient(kind, y.rows(), dy.rows(), dx.rows());
      if (columns > 1) check(dx.values(), gradient, columns);
      CHECK((y.kept_in() && dx.kept_in()));
      auto const tolerance = sizeof(T) == 4 ? 1e-5 : 1e-12;
      CHECK(static_cast<double>(f.backend.loss(NegativeLogLikelihood{columns}, kind, x.rows(), y.rows(), labels.data(), dx.rows())) ==
            Approx(nll).epsilon(tolerance).margin(tolerance));
      check(y.values(), wanted, columns);
      if (columns > 1) check(dx.values(), nll_gradient, columns);
      CHECK(static_cast<double>(f.backend.loss(MeanSquaredError{}, kind, x.rows(), x.rows(), targets.data(), dx.rows())) ==
            Approx(square).epsilon(tolerance));
      check(x.values(), wanted, columns);  // in place
      if (columns > 1) check(dx.values(), square_gradient, columns);
      CHECK(dx.kept_in());
    }
  }
}

TEST_CASE("extents that the compiler knows and those at run time give the same bits") {
  Fixture<Cpu> f;
  auto const compare = [&]<Index rows, Index in, Index out>(Fixed<rows> r, Fixed<in> i, Fixed<out> o) {
    auto const weight = stored<Cpu>({out, in}, random_doubles(out * in)), bias = stored<Cpu>({out}, random_doubles(out));
    auto x = Matrix<Cpu>::random_values(rows, in), dy = Matrix<Cpu>::random_values(rows, out);
    Matrix<Cpu> y{rows, out}, y2{rows, out}, dx{rows, in}, dx2{rows, in};
    Rows const fixed_x{x.rows().data, r, i, Cpu::pitch(in)}, fixed_dx{dx2.rows().data, r, i, Cpu::pitch(in)};
    Rows const fixed_y{y2.rows().data, r, o, Cpu::pitch(out)}, fixed_dy{dy.rows().data, r, o, Cpu::pitch(out)};
    f.backend.affine(x.rows(), weight.data(), bias.data(), y.rows(), Then<Chain<TanHOp>, float>{});
    f.backend.affine(fixed_x, weight.data(), bias.data(), fixed_y, Then<Chain<TanHOp>, float>{});
    CHECK(test::same_bits(y.values(), y2.values()));
    f.backend.product(dy.rows(), weight.data(), dx.rows(), Slope<Chain<>, float>{.chain = {}});
    f.backend.product(fixed_dy, weight.data(), fixed_dx, Slope<Chain<>, float>{.chain = {}});
    CHECK(test::same_bits(dx.values(), dx2.values()));
    auto gradient = stored<Cpu>({out, in}, Doubles(static_cast<std::size_t>(out * in))), gradient2 = gradient;
    f.backend.weight_gradient(x.rows(), dy.rows(), GradientSink<float>{gradient.data()});
    f.backend.weight_gradient(fixed_x, fixed_dy, GradientSink<float>{gradient2.data()});
    CHECK(test::same_bits(gradient, gradient2));
  };
  compare(Fixed<1>{}, Fixed<7>{}, Fixed<31>{});
  compare(Fixed<1>{}, Fixed<70>{}, Fixed<67>{});
  compare(Fixed<6>{}, Fixed<33>{}, Fixed<10>{});
  compare(Fixed<13>{}, Fixed<65>{}, Fixed<70>{});
}
