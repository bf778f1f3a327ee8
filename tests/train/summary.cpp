#include <coldpress/coldpress.hpp>
#include <coldpress/train.hpp>

#include "train/task.hpp"

namespace coldpress::train {
namespace {

TEST_CASE("a summary writes the step, the epoch and the last values of statistics") {
  Task const data = task(40);
  Typed net;
  Trainer trainer{*net.solver, *data.training, {.epochs = 2, .batch = 16}};
  std::vector<std::string> lines;
  auto const write = [&](std::string_view line) { lines.emplace_back(line); };
  trainer.every(steps(1), [](Trainer& of) {
    of.statistics().add("answer", of.iteration(), 42);
    if (of.iteration() == 4) of.statistics().add("validation/loss", 4, 0.123456);
  });
  trainer.every(steps(2), Summary{{"answer", "validation/loss"}, write});
  trainer.run();
  CHECK(lines == std::vector<std::string>{"step 2  epoch 0.80  answer 42  validation/loss -",
                                          "step 4  epoch 1.40  answer 42  validation/loss 0.1235",
                                          "step 6  epoch 2.00  answer 42  validation/loss 0.1235"});
}

TEST_CASE("a summary without names has all statistics") {
  Task const data = task(40);
  Typed net;
  Trainer trainer{*net.solver, *data.training, {.epochs = 1, .batch = 16, .record_every = 1}};
  std::string last;
  trainer.every(epochs(1), Summary{{}, [&](std::string_view line) { last = line; }});
  trainer.run();
  for (Series const& series : trainer.statistics().all())
    CHECK(last.find("  " + series.name + " ") != std::string::npos);
  CHECK(last.ends_with("learning_rate 0.2  training/loss_epoch " + last.substr(last.rfind(' ') + 1)));
}

}  // namespace
}  // namespace coldpress::train
