// An LSTM learns the data of Juice's own example, from a shuffled split.
#include <coldpress/coldpress.hpp>
#include <coldpress/data/batches.hpp>

#include "support/catch.hpp"

#include <cstdlib>
#include <filesystem>

using namespace coldpress;

TEST_CASE("an LSTM forecasts Juice's Mackey-Glass data with a mean squared error below 1e-4") {
  char const* const folder = std::getenv("COLDPRESS_TEST_DATA");
  std::string const path = std::string{folder ? folder : ""} + "/mackey-glass/norm_mackeyglass_test.csv.gz";
  if (!folder || !std::filesystem::exists(path)) {
    WARN("skipped: COLDPRESS_TEST_DATA has no mackey-glass/norm_mackeyglass_test.csv.gz");
    return;
  }
  using Forecaster =
      Network<Sequential<Rnn{.hidden_size = 16, .output = RnnOutput::last_step}, Linear{1}>, Shape{10, 1}>;
  auto const data = data::split(data::open("csv:" + path), 0.2, 1);
  Forecaster network{2};
  Solver<Forecaster, MeanSquaredError{}, Sgd{.learning_rate = 0.05f, .momentum = 0.9f}> solver{network};
  data::Batches batches{data.training, 40, 3};
  double error = 1;
  int epochs = 0;
  for (; epochs < 3 && error > 1e-4; ++epochs) {
    for (auto const& batch : batches.epoch()) solver.train_minibatch(batch.samples, batch.targets);
    auto const y = network.forward(data.held_out.samples);
    error = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      double const d = static_cast<double>(y.values[i]) - static_cast<double>(data.held_out.targets[i]);
      error += d * d / static_cast<double>(y.size());
    }
    UNSCOPED_INFO("epoch " << epochs + 1 << ": " << error);
  }
  CHECK(error < 1e-4);
  CHECK(data.held_out.size() > 1700);
}
