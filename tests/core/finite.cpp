#include <coldpress/core/finite.hpp>

#include "support/catch.hpp"

#include <limits>
#include <vector>

using namespace coldpress;

TEMPLATE_TEST_CASE("the first value that is infinite or NaN is found wherever it is", "", float, double) {
  using Limits = std::numeric_limits<TestType>;
  for (std::size_t size = 0; size < 140; ++size) {
    std::vector<TestType> values(size, TestType{-3});
    CHECK(first_not_finite<TestType>(values) == -1);
    for (std::size_t at = 0; at < size; ++at) {
      for (TestType const bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
        auto wrong = values;
        wrong[at] = bad, wrong[size - 1] = at + 1 < size ? -bad : bad;
        REQUIRE(first_not_finite<TestType>(wrong) == static_cast<Index>(at));
      }
    }
  }
}

TEMPLATE_TEST_CASE("finite values may have a sum beyond the largest number", "", float, double) {
  std::vector<TestType> values(100, std::numeric_limits<TestType>::max());
  CHECK(first_not_finite<TestType>(values) == -1);
  values[97] = std::numeric_limits<TestType>::quiet_NaN();
  CHECK(first_not_finite<TestType>(values) == 97);
}

TEST_CASE("an error says which value of which sample it is") {
  std::vector<float> const values{1, 2, 3, 4, 5, std::numeric_limits<float>::infinity()};
  CHECK_NOTHROW(check_finite<float>({values.data(), 5}, 2, "input ", 1));
  CHECK_THROWS_WITH(check_finite<float>(values, 2, "input ", 1),
                    "train_minibatch: value 1 of sample 2 of input 1 is inf; training takes finite numbers, and counts "
                    "samples and values from 0");
  CHECK_THROWS_AS(check_finite<float>(values, 6, "the targets"), DataError);
}
