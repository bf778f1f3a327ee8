#include <coldpress/evaluators/confusion_matrix.hpp>

#include "support/catch.hpp"

#include <limits>

using namespace coldpress;

namespace {
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN(),
                infinity = std::numeric_limits<float>::infinity();
using Classes = std::vector<Index>;
}  // namespace

TEST_CASE("the first of equal scores is the class, and there is none with a NaN") {
  ConfusionMatrix const matrix{3};
  std::vector<float> const outputs{
      0, 2, 1, 5, 5, 5, -1, -3, -1, not_a_number, 9, 0, 9, 0, not_a_number, -infinity, -infinity, infinity};
  CHECK(matrix.get_predictions(outputs) == Classes{1, 0, 0, no_class, no_class, 2});
  CHECK_THROWS_AS(matrix.get_predictions(std::vector<float>(4)), ShapeError);
}

TEST_CASE("samples are counted by class, and the right ones in the accuracy") {
  ConfusionMatrix matrix{3};
  CHECK(std::isnan(matrix.accuracy().value()));
  CHECK(to_string(matrix.accuracy()) == "no samples");
  matrix.add_samples(Classes{0, 1, 2, 2, no_class}, Classes{0, 1, 1, 2, 2});
  CHECK(matrix.count(1, 2) == 1);
  CHECK(matrix.count(2, 2) == 1);
  CHECK(matrix.count(2, no_class) == 1);
  CHECK(matrix.count(0, 2) == 0);
  CHECK(matrix.accuracy().value() == Approx(0.6));
  CHECK(to_string(matrix.accuracy()) == "3/5 = 60.00%");
}

TEST_CASE("the capacity drops the oldest samples, those that are there too") {
  ConfusionMatrix matrix{2};
  matrix.add_samples(Classes{0, 0, 1, 1}, Classes{1, 1, 1, 1});
  matrix.set_capacity(2);
  CHECK(matrix.samples().size() == 2);
  CHECK(to_string(matrix.accuracy()) == "2/2 = 100.00%");
  matrix.add_samples(Classes{0}, Classes{1});
  CHECK(to_string(matrix.accuracy()) == "1/2 = 50.00%");
  matrix.set_capacity({});
  matrix.add_samples(Classes{0, 0}, Classes{1, 1});
  CHECK(matrix.accuracy().samples == 4);
}

TEST_CASE("what makes no sense is refused, and nothing is added") {
  CHECK_THROWS_AS(ConfusionMatrix{0}, ShapeError);
  ConfusionMatrix matrix{2};
  CHECK_THROWS_AS(matrix.add_samples(Classes{0}, Classes{0, 1}), ShapeError);
  for (Index bad : {Index{-1}, Index{2}})
    CHECK_THROWS_AS(matrix.add_samples(Classes{0, 0}, Classes{0, bad}), DataError);
  CHECK_THROWS_AS(matrix.add_samples(Classes{0, 2}, Classes{0, 0}), DataError);
  CHECK_THROWS_AS(matrix.set_capacity(0), ShapeError);
  CHECK(matrix.samples().empty());
}

TEST_CASE("labels may be the floats of a data set, where they are whole") {
  ConfusionMatrix floats{3}, whole{3};
  std::vector<float> const labels{0, 1, 1, 2};
  floats.add_samples(Classes{0, 1, 2, 2}, labels);
  floats.add_samples(Classes{1}, std::span{labels}.subspan(2, 1));
  whole.add_samples(Classes{0, 1, 2, 2, 1}, Classes{0, 1, 1, 2, 1});
  for (Index a = 0; a < 3; ++a) {
    for (Index b = 0; b < 3; ++b) CHECK(floats.count(a, b) == whole.count(a, b));
  }
  CHECK_THROWS_WITH(floats.add_samples(Classes{0, 0}, std::vector<float>{1, 1.5f}),
                    "confusion_matrix: target 1 is 1.5; expected a whole number from 0 to 2 (counted from 0)");
  CHECK_THROWS_AS(floats.add_samples(Classes{0}, std::vector<float>{not_a_number}), DataError);
  CHECK_THROWS_AS(floats.add_samples(Classes{0}, std::vector<float>{infinity}), DataError);
  CHECK_THROWS_WITH(floats.add_samples(Classes{0, 1}, std::vector<float>{1}),
                    "confusion_matrix: got 1 targets for 2 predictions");
  CHECK(floats.samples().size() == 5);
}
