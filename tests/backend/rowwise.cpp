// What every backend does row by row, against naive loops in double precision, over 1 to 70 columns.
#include <coldpress/layers.hpp>
#include <coldpress/optim/sgd.hpp>

#include "support/matrix.hpp"

using namespace coldpress;
using namespace coldpress::test;

TEMPLATE_TEST_CASE("map and map_gradient apply a chain and its slope, in place or not, and read no padding", "", Cpu,
                   Reference<float>, Reference<double>) {
  using T = typename TestType::Scalar;
  using Two = Chain<TanHOp, SigmoidOp>;
  Fixture<TestType> f;
  for (Index columns = 1; columns <= 70; ++columns) {
    Index const rows = row_counts[columns % 6];
    bool const padded = columns % 2 == 0;
    INFO(rows << " x " << columns);
    auto x = Matrix<TestType>::random_values(rows, columns, padded),
         dy = Matrix<TestType>::random_values(rows, columns);
    Matrix<TestType> y{rows, columns, padded}, dx{rows, columns, padded};
    Doubles values, derivatives;
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) {
        double const t = std::tanh(x.at(i, j)), s = 1 / (1 + std::exp(-t));
        values.push_back(s);
        derivatives.push_back(dy.at(i, j) * s * (1 - s) * (1 - t * t));
      }
    }
    f.backend.map(x.rows(), y.rows(), PostOps<Two, T>{});
    check(y.values(), values, 4);
    Derivative<Two, T> const derivative{{}, 0, x.rows().data, x.rows().pitch, y.rows().data, y.rows().pitch};
    f.backend.map_gradient(dy.rows(), dx.rows(), derivative);
    check(dx.values(), derivatives, 4);
    CHECK((y.kept_in() && dx.kept_in()));
    auto sum = Matrix<TestType>::random_values(rows, columns, padded);
    Doubles sums = sum.values();
    for (std::size_t e = 0; e < sums.size(); ++e) {
      double const t = std::tanh(x.values()[e]), s = 1 / (1 + std::exp(-t));
      sums[e] = (sums[e] + dy.values()[e]) * s * (1 - s) * (1 - t * t);
    }
    f.backend.add_gradient(dy.rows(), sum.rows(), derivative);
    check(sum.values(), sums, 5, 1);
    CHECK(sum.kept_in());
    f.backend.map_gradient(dy.rows(), dy.rows(), derivative);
    CHECK(dy.values() == dx.values());
    f.backend.map(x.rows(), x.rows(), PostOps<Two, T>{});
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
      check(dx.values(), gradient, columns, 1);
      CHECK((y.kept_in() && dx.kept_in()));
      Rows<T> const label_rows{labels.data(), rows, 1, 1}, target_rows{targets.data(), rows, columns, columns};
      auto const tolerance = sizeof(T) == 4 ? 1e-5 : 1e-12;
      CHECK(static_cast<double>(f.backend.loss(NegativeLogLikelihood{columns}, kind, x.rows(), y.rows(), label_rows,
                                               dx.rows())) == Approx(nll).epsilon(tolerance).margin(tolerance));
      check(y.values(), wanted, columns);
      check(dx.values(), nll_gradient, columns, 1);
      CHECK(static_cast<double>(f.backend.loss(MeanSquaredError{}, kind, x.rows(), x.rows(), target_rows, dx.rows())) ==
            Approx(square).epsilon(tolerance));
      check(x.values(), wanted, columns);  // in place
      check(dx.values(), square_gradient, columns, 2);
      CHECK(dx.kept_in());
    }
  }
}
