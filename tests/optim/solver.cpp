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
    CHECK(error.sentence().find("a label must be a whole number") != std::string::npos);
  }
  CHECK_THROWS_AS(solver.train_minibatch(points, std::vector<float>{0, 1, 2}), ShapeError);
  CHECK_THROWS_AS(solver.train_minibatch(std::vector<float>(7), labels), ShapeError);
  CHECK_THROWS_AS(solver.train_minibatch(std::vector<float>{}, std::vector<float>{}), ShapeError);
  CHECK(unchanged());
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
