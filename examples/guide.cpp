// From a table to a trained network: load the data, hold some out, train, keep the best, and use it.
// ctest:
#include <coldpress/dynamic.hpp>
#include <coldpress/train.hpp>

#include <cstdio>
#include <fstream>
#include <vector>

using namespace coldpress;

int main() {
  // A table of whether a point is inside a circle: the first column is the target, the others are the sample.
  {
    std::ofstream table{"points.csv"};
    table << "inside,x,y\n";
    for (int i = 0; i < 400; ++i) {
      double const x = (i % 20) / 10.0 - 0.95, y = (i / 20) / 10.0 - 0.95;
      table << (x * x + y * y < 0.5) << ',' << x << ',' << y << '\n';
    }
  }

  // Load data.
  auto const all = data::open_source("csv:points.csv");
  auto const parts = data::split(*all, 0.2, 1, true);  // holds out a fifth of each class, chosen by the seed 1

  // Describe the network and how it is trained.
  dynamic::SequentialConfig layers;
  layers.add_input("point", Shape{2});
  layers.add_layer({"linear1", Linear{32}}).add_layer({"tanh1", TanH{}});
  layers.add_layer({"linear2", Linear{2}}).add_layer({"scores", LogSoftmax{}});
  dynamic::SolverConfig const config{.network = dynamic::LayerConfig{"circle", layers},
                                     .objective = dynamic::LayerConfig{"loss", NegativeLogLikelihood{2}},
                                     .solver = Adam{},
                                     .base_lr = 0.03f};

  // Train, and keep the weights that did best on what was held out.
  dynamic::Backend const cpu{"cpu"};
  auto solver = dynamic::Solver::from_config(cpu, config, {}, 42);
  train::Trainer trainer{solver, *parts.training, {.epochs = 100, .batch = 32, .seed = 1}};
  Metric const accuracy{"validation/accuracy", Better::higher};
  trainer.every(train::epochs(1), train::Validation{*parts.held_out});
  auto const& best = trainer.every(train::epochs(1), train::SaveBest{"best.juice", accuracy});
  trainer.every(train::epochs(1), train::StopEarly{{.metric = accuracy, .patience = 20}});
  trainer.every(train::epochs(10), [](train::Trainer& now) {
    std::printf("epoch %.0f: loss %.3f\n", now.epochs_done(), *now.epoch_score().loss);
  });
  trainer.run();

  // Deploy: this program could be another one, which knows nothing but the file.
  auto layer = dynamic::Layer::load(cpu, "best.juice");
  auto const inside = layer.predict(std::vector{0.1f, 0.2f});
  bool const is_inside = inside[1] > inside[0];
  std::printf("%.0f %% of what was held out is right; (0.1, 0.2) is %s\n", 100 * *best.best().value(),
              is_inside ? "inside" : "outside");
  return *best.best().value() >= 0.9 && is_inside ? 0 : 1;
}
