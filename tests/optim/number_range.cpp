// The ranges of optimizers' numbers, which types and configs check.
#include "support/catch.hpp"

#include <coldpress/optim/number_range.hpp>
#include <coldpress/optim/optimizers.hpp>

#include <limits>

using namespace coldpress;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(),
                not_a_number = std::numeric_limits<float>::quiet_NaN();

/// An optimizer of the user's, of which only numbers of the type float have a range.
struct Own {
  float learning_rate = 0.1f;
  static constexpr bool momentum = true;
  double epsilon = 0;
  float beta1[2] = {2, 3};
};

}  // namespace

TEST_CASE("numbers of optimizers have ranges by the names of their fields") {
  static_assert(numbers_in_range(Sgd{}) && numbers_in_range(Nesterov{}) && numbers_in_range(Adam{}) &&
                numbers_in_range(AdamW{}) && numbers_in_range(Adagrad{}) && numbers_in_range(Adadelta{}) &&
                numbers_in_range(RMSprop{}) && numbers_in_range(Own{}));
  for (float const wrong : {-1e-9f, infinity, not_a_number}) {
    CHECK_FALSE(numbers_in_range(Sgd{.learning_rate = wrong}));
    CHECK_FALSE(numbers_in_range(Sgd{.momentum = wrong}));
    CHECK_FALSE(numbers_in_range(Adam{.beta2 = wrong}));
    CHECK_FALSE(numbers_in_range(RMSprop{.rho = wrong}));
    CHECK_FALSE(numbers_in_range(Adam{.epsilon = wrong}));
    CHECK_FALSE(numbers_in_range(AdamW{.weight_decay = wrong}));
  }
  CHECK(numbers_in_range(Sgd{.learning_rate = 0, .momentum = 0}));
  CHECK_FALSE(numbers_in_range(Sgd{.momentum = 1}));
  CHECK_FALSE(numbers_in_range(Adam{.beta1 = 1}));
  CHECK_FALSE(numbers_in_range(Adam{.epsilon = 0}));
  CHECK(numbers_in_range(AdamW{.weight_decay = 7}));
}
