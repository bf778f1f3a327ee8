#include <coldpress/coldpress.hpp>

#include "support/catch.hpp"
#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {

using Classifier = Network<Sequential<Linear{16}, TanH{}, Linear{3}, LogSoftmax{}>, Shape{2}>;
using Training = Solver<Classifier, NegativeLogLikelihood{3}, Sgd{.learning_rate = 0.1f, .momentum = 0.9f}>;

/// Points in three sectors around the origin.
void sectors(test::Random& random, Index count, std::vector<float>& points, std::vector<float>& labels) {
  points.clear(), labels.clear();
  for (Index i = 0; i < count; ++i) {
    auto const label = static_cast<float>(random.integer(0, 2));
    float const angle = 2.0944f * label + random.uniform(-0.9f, 0.9f), radius = random.uniform(0.5f, 1);
    points.insert(points.end(), {radius * std::cos(angle), radius * std::sin(angle)});
    labels.push_back(label);
  }
}

}  // namespace

TEST_CASE("a classifier learns sectors") {
  Classifier network{1};
  Training solver{network};
  test::Random random{1};
  std::vector<float> points, labels;
  for (int step = 0; step < 200; ++step) {
    sectors(random, 32, points, labels);
    solver.train_minibatch(points, labels);
  }
  sectors(random, 500, points, labels);
  auto const scores = network.forward(points);
  int right = 0;
  for (Index i = 0; i < 500; ++i) {
    auto const row = scores.sample(i);
    right += std::max_element(row.begin(), row.end()) - row.begin() ==
             static_cast<Index>(labels[static_cast<std::size_t>(i)]);
  }
  CHECK(right > 490);
}

TEST_CASE("the loss and the outputs are those before the update") {
  Classifier network{1};
  Training solver{network};
  test::Random random{1};
  std::vector<float> points, labels;
  sectors(random, 9, points, labels);
  auto const scores = test::copy_of<float>(network.forward(points));
  double wanted = 0;
  for (std::size_t i = 0; i < 9; ++i)
    wanted -= static_cast<double>(scores[3 * i + static_cast<std::size_t>(labels[i])]) / 9;
  CHECK(static_cast<double>(solver.train_minibatch(points, labels)) == Approx(wanted).epsilon(1e-6));
  CHECK(solver.output().batch == 9);
  REQUIRE(solver.output().size() == 27);
  for (std::size_t i = 0; i < 27; ++i) CHECK(solver.output().values[i] == Approx(scores[i]).epsilon(1e-6).margin(1e-6));
}

TEST_CASE("what is refused changes nothing") {
  Classifier network{1};
  Training solver{network};
  test::Random random{1};
  std::vector<float> points, labels;
  sectors(random, 4, points, labels);
  solver.train_minibatch(points, labels);
  auto const parameters = test::copy_of<float>(network.parameters()), velocity = test::copy_of<float>(solver.state(0));
  auto const unchanged = [&] {
    return test::same_bits(parameters, network.parameters()) && test::same_bits(velocity, solver.state(0)) &&
           solver.step() == 1;
  };
  for (float const bad :
       {-1.0f, 3.0f, 0.5f, 1e30f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (std::size_t at : {0u, 3u}) {
      auto wrong = labels;
      wrong[at] = bad;
      CHECK_THROWS_AS(solver.train_minibatch(points, wrong), DataError);
      CHECK(unchanged());
    }
  }
  try {
    solver.train_minibatch(points, std::vector<float>{0, 1, 2, 3});
    FAIL("a label that is no class was taken");
  } catch (DataError const& error) {
    CHECK(error.sentence() ==
          "the label of sample 3 is 3; expected a whole number from 0 to 2 (samples are counted from 0)");
  }
  CHECK_THROWS_AS(solver.train_minibatch(points, std::vector<float>{0, 1, 2}), ShapeError);
  CHECK_THROWS_AS(solver.train_minibatch(std::vector<float>(7), labels), ShapeError);
  CHECK_THROWS_AS(solver.train_minibatch(std::vector<float>{}, std::vector<float>{}), ShapeError);
  CHECK(unchanged());
}

TEST_CASE("a solver that was moved from says so") {
  Classifier network{1};
  using Momentum = coldpress::Solver<Classifier, NegativeLogLikelihood{.num_classes = 3}, Sgd{.momentum = 0.9f}>;
  Momentum solver{network};
  Momentum other = std::move(solver);
  std::vector<float> const point{1, 2}, label{1};
  CHECK_THROWS_WITH(solver.train_minibatch(point, label), "Solver: has been moved from");
  CHECK_NOTHROW(other.train_minibatch(point, label));
}

TEST_CASE("the learning rate may change between steps") {
  Classifier network{1};
  Training solver{network};
  std::vector<float> const points{1, 0}, labels{0};
  solver.optimizer().learning_rate = 0;
  auto const before = test::copy_of<float>(network.parameters());
  solver.train_minibatch(points, labels);
  CHECK(test::same_bits(before, network.parameters()));
  solver.optimizer().learning_rate = 0.1f;
  solver.train_minibatch(points, labels);
  CHECK(!test::same_bits(before, network.parameters()));
}

TEST_CASE("a solver continues where another stopped, bit for bit, Dropout's masks included") {
  using Net = Network<Sequential<Linear{16}, Dropout{.probability = 0.5f}, ReLU{}, Linear{3}>, Shape{5}>;
  using Fit = Solver<Net, MeanSquaredError{}, Sgd{.learning_rate = 0.05f, .momentum = 0.9f}>;
  auto const run = [](Fit& solver, int from, int to) {
    for (int step = from; step < to; ++step) {
      test::Random random{static_cast<std::uint64_t>(step)};
      auto const x = random.values<float>(6 * 5);
      solver.train_minibatch(x, random.values<float>(6 * 3));
    }
  };
  Net through{1}, first{1}, second{1};
  Fit all{through}, start{first}, resumed{second};
  run(all, 0, 10);
  run(start, 0, 5);
  std::copy(first.parameters().begin(), first.parameters().end(), second.parameters().begin());
  std::copy(start.state(0).begin(), start.state(0).end(), resumed.state(0).begin());
  resumed.set_progress(start.progress());
  run(resumed, 5, 10);
  CHECK(test::same_bits(through.parameters(), second.parameters()));
  CHECK(test::same_bits(all.state(0), resumed.state(0)));
}

TEST_CASE("a batch the compiler knows trains as the same batch at run time") {
  using Layers = Sequential<Linear{7}, Sigmoid{}, Linear{3}>;
  using Fixed = Network<Layers, Shape{5}, Batch<4>>;
  auto const any = test::trained<Network<Layers, Shape{5}>, MeanSquaredError{}>(4, 1);
  CHECK(test::same_bits(any, test::trained<Fixed, MeanSquaredError{}>(4, 1)));
  CHECK(test::same_bits(any, test::trained<Fixed, MeanSquaredError{}, SolverOptions{.keep_gradients = true}>(4, 1)));
  auto const one = test::trained<Network<Layers, Shape{5}>, MeanSquaredError{}>(1, 1);
  CHECK(test::same_bits(one, test::trained<Network<Layers, Shape{5}, Batch<1>>, MeanSquaredError{}>(1, 1)));
}

TEST_CASE("a value that is not finite is refused with its place, and changes nothing") {
  using Net = Network<Sequential<Linear{4}, ReLU{}, Linear{2}>, Shape{3}>;
  Net network{1};
  Solver<Net, MeanSquaredError{}, Sgd{.learning_rate = 0.1f, .momentum = 0.9f}> solver{network};
  test::Random random{1};
  auto const x = random.values<float>(5 * 3), t = random.values<float>(5 * 2);
  solver.train_minibatch(x, t);
  auto const before = test::copy_of<float>(network.parameters()), velocity = test::copy_of<float>(solver.state(0));
  auto const refuses = [&](std::vector<float> const& a, std::vector<float> const& b, std::string const& place) {
    try {
      solver.train_minibatch(a, b);
      FAIL_CHECK("was taken: " + place);
    } catch (DataError const& error) {
      CHECK(std::string{error.sentence()}.find(place) != std::string::npos);
    }
    CHECK(test::same_bits(before, network.parameters()));
    CHECK(test::same_bits(velocity, solver.state(0)));
    CHECK(solver.step() == 1);
  };
  auto wrong = x;
  wrong[3 * 4 + 1] = std::numeric_limits<float>::quiet_NaN();
  refuses(wrong, t, "value 1 of sample 4 of input 0 is nan");
  wrong[3 * 4 + 1] = -std::numeric_limits<float>::infinity();
  refuses(wrong, t, "value 1 of sample 4 of input 0 is -inf");
  auto other = t;
  other[2 * 3] = std::numeric_limits<float>::infinity();
  refuses(x, other, "value 0 of sample 3 of the targets is inf");
  Solver<Net, MeanSquaredError{}, Sgd{}, SolverOptions{.check_every = 0}> unchecked{network};
  CHECK_THROWS_AS(unchecked.train_minibatch(x, other), DivergenceError);  // the loss is always looked at
}

TEST_CASE("a loss that is NaN while all weights are finite may come from the inputs") {
  Network<Sequential<Embedding{.vocabulary = 5, .features = 2}, Linear{1}>, Shape{3}> network{1};
  Solver<decltype(network), MeanSquaredError{}> solver{network};
  try {
    solver.train_minibatch(std::vector<float>{0, 5, 1}, std::vector<float>{1});
    FAIL("a number outside the table was taken");
  } catch (DivergenceError const& error) {
    CHECK(std::string_view{error.what()}.ends_with(
        "may help, or other inputs: an embedding makes NaN of a number outside its table"));
  }
}

TEST_CASE("a step whose loss is not finite is not taken, and says whether the weights still are") {
  using Net = Network<Sequential<Linear{4}, Linear{2}>, Shape{3}>;
  Net network{1};
  Solver<Net, MeanSquaredError{}, Sgd{.momentum = 0.9f}> fused{network};
  Solver<Net, MeanSquaredError{}, Adam{}, SolverOptions{.clip_gradients = 1}> clipped{network};
  std::vector<float> const x(6, 1), far(4, 3e30f), t(4, 1);
  fused.train_minibatch(x, t), clipped.train_minibatch(x, t);
  auto const check = [&](auto& solver) {
    auto const before = test::copy_of<float>(network.parameters()), state = test::copy_of<float>(solver.state(0));
    try {
      solver.train_minibatch(x, far);
      FAIL("a loss beyond all numbers was taken");
    } catch (DivergenceError const& error) {
      CHECK((error.step == 2 && error.weight.empty() && std::isinf(error.loss)));
      CHECK(error.sentence() ==
            "the loss of step 2 is inf; the step was not taken: all weights are finite, and as they were before it. A "
            "smaller learning rate or clipped gradients may help");
    }
    CHECK(test::same_bits(before, network.parameters()));
    CHECK(test::same_bits(state, solver.state(0)));
    CHECK(solver.step() == 1);
    CHECK_NOTHROW(solver.check_finite());
  };
  check(fused), check(clipped);
}

TEST_CASE("weights that are not finite end training at the next check, with the name of the first") {
  using Net = Network<Sequential<Linear{4}, ReLU{}, Linear{2}>, Shape{3}>;
  std::vector<float> const x(6, 1), t(4, 1);
  float const minus = -std::numeric_limits<float>::infinity();  // which ReLU turns into 0
  auto const check = [&](std::initializer_list<int> ruined, std::string const& first) {
    Net network{1};
    Solver<Net, MeanSquaredError{}, Sgd{}, SolverOptions{.check_every = 3}> solver{network};
    for (int i : ruined)
      network.write_weight(i, std::vector<float>(static_cast<std::size_t>(Net::weight_shape(i).size()), minus));
    auto const ends = [&](auto action) {
      try {
        action();
        FAIL_CHECK("a ruined weight was not found");
      } catch (DivergenceError const& error) {
        CHECK((error.step == 3 && error.weight == first && std::isfinite(error.loss)));
        CHECK(std::string{error.sentence()}.find("; weight '" + first +
                                                 "' has values that are infinite or NaN: the network can no "
                                                 "longer be used") != std::string::npos);
      }
    };
    CHECK_NOTHROW(solver.train_minibatch(x, t));
    CHECK_NOTHROW(solver.train_minibatch(x, t));
    ends([&] { solver.train_minibatch(x, t); });
    CHECK(solver.step() == 3);
    ends([&] { solver.check_finite(); });
  };
  check({0, 1}, "linear1-0");
  check({1}, "linear1-0-bias");
}
