// From a table to a trained network: load the data, hold some out, train, keep the best, and use it.
// ctest:
#include <coldpress/data/batches.hpp>
#include <coldpress/data/dataset.hpp>
#include <coldpress/dynamic.hpp>
#include <coldpress/persist.hpp>

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
  data::Dataset const all = data::open("csv:points.csv");
  auto const [training, held_out] = data::split(all, 0.2, 1);  // holds out a fifth, chosen by the seed 1

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
  data::Batches batches{training, 32, 1};  // reshuffled in each epoch
  Index best = 0;
  for (int epoch = 0; epoch < 100; ++epoch) {
    for (auto const& batch : batches.epoch()) solver.train_minibatch(batch.samples, batch.targets);
    if (epoch % 10 == 0) std::printf("epoch %d: loss %.3f\n", epoch, double{solver.loss()});
    auto const scores = solver.mut_network().predict(held_out.samples);
    Index right = 0;
    for (Index i = 0; i < held_out.size(); ++i) {
      auto const k = static_cast<std::size_t>(i);
      right += (scores[2 * k + 1] > scores[2 * k]) == (held_out.targets[k] == 1);
    }
    if (right > best) best = right, solver.network().save("best.juice");
  }

  // Deploy: this program could be another one, which knows nothing but the file.
  auto layer = dynamic::Layer::load(cpu, "best.juice");
  auto const inside = layer.predict(std::vector{0.1f, 0.2f});
  bool const is_inside = inside[1] > inside[0];
  std::printf("%d of %d held out are right; (0.1, 0.2) is %s\n", static_cast<int>(best),
              static_cast<int>(held_out.size()), is_inside ? "inside" : "outside");
  return best * 10 >= held_out.size() * 9 && is_inside ? 0 : 1;
}
