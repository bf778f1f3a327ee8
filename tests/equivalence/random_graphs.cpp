// 500 random networks of up to 40 layers and more, as configs: their gradients are those of differences, the backends
// agree, the file gives the same bits, and so do any order of the layers and any executor.
#include "dynamic/other_layers.hpp"
#include "dynamic/random_case.hpp"
#include "persist/files.hpp"
#include "support/executors.hpp"

#include <coldpress/persist.hpp>

using namespace coldpress;
using namespace coldpress::test;

namespace {

constexpr int networks = 500;

Net network_of(LayerConfig const& config, Backend const& backend = Backend{}) {
  return Net::from_config(backend, config, {}, 11);
}
/// With the weights of `net`.
Net like(Net const& net, LayerConfig const& config) {
  Net made = network_of(config);
  std::map<std::string, Floats> weights;
  for (std::size_t w = 0; w < net.learnable_weights_data().size(); ++w)
    weights[name_of(net, w)] = values_of(net.learnable_weights_data()[w]);
  for (std::size_t w = 0; w < weights.size(); ++w) {
    Floats const& values = weights.at(name_of(made, w));
    std::copy(values.begin(), values.end(), made.learnable_weights_data()[w].read_write().begin());
  }
  return made;
}
Net loaded(LayerConfig const& config) {
  persist::Model const model = persist::model_of(network_of(config));
  return persist::layer_of(Backend{}, persist::parse(persist::text_of(persist::serialize(model))), {}, 11);
}

}  // namespace

TEST_CASE("random graphs: the backends agree, and files, executors and any order of the layers give the same bits") {
  int layers = 0, reordered = 0;
  auto const executors = test::executors();
  for (int number = 0; number < networks; ++number) {
    RandomConfig random{static_cast<std::uint64_t>(number), number % 3 == 0 ? 40 : 8, number % 2 == 1};
    LayerConfig const config = random.config(), shuffled = random.shuffled();
    Index const batch = 1 + number % 5;
    INFO("network " << number);
    Case here{random, network_of(config), batch};
    Made const made = here.pass();
    double const count = static_cast<double>(std::get<SequentialConfig>(config.layer_type).layers.size()),
                 terms = static_cast<double>(std::max(random.widest(), batch)) * count * count;  // errors add up
    layers += static_cast<int>(count);

    Made const reference = Case{random, network_of(config, Backend{"cpu:reference"}), batch}.pass();
    CHECK(excess_of(made.outputs, reference.outputs, terms) <= 1);
    CHECK(excess_of(made.inputs, reference.inputs, terms) <= 1);
    for (auto const& [name, values] : made.weights) CHECK(excess_of(values, reference.weights.at(name), terms) <= 1);

    CHECK(same(made, Case{random, loaded(config), batch}.pass()));
    Backend const shared{"cpu", {.executor = executors[static_cast<std::size_t>(number) % executors.size()]}};
    CHECK(same(made, Case{random, network_of(config, shared), batch}.pass()));
    Made const other = Case{random, like(here.net, shuffled), batch}.pass();
    CHECK(same_bits(made.outputs, other.outputs));
    // More than two gradients are added in the order of the layers.
    bool const any_order = random.most_readers() <= 2;
    reordered += any_order;
    if (any_order) CHECK(same(made, other));
    CHECK(excess_of(made.inputs, other.inputs, terms) <= 1);
    for (auto const& [name, values] : made.weights) CHECK(excess_of(values, other.weights.at(name), terms) <= 1);

    if (random.losses() == 0 || here.net.learnable_weights_names().empty()) continue;
    auto const steps = trained(here, true);
    Case apart{random, network_of(config), batch}, file{random, loaded(config), batch},
        mixed{random, like(network_of(config), shuffled), batch}, cut{random, network_of(config, shared), batch};
    for (Case* each : {&apart, &file, &mixed, &cut}) each->net.executable().set_step(1);
    CHECK(same(steps, trained(apart, false)));
    CHECK(same(steps, trained(file, true)));
    CHECK(same(steps, trained(cut, true)));
    if (any_order) CHECK(same(steps, trained(mixed, true)));
  }
  std::printf("%d random networks of %d layers, %d of them with at most two readers of a value\n", networks, layers,
              reordered);
  CHECK(layers > 5000);
  CHECK(reordered > networks / 10);
}

TEST_CASE("layers that random graphs do not have train as on the reference") { check_networks_of_other_layers("cpu"); }

TEST_CASE("random graphs: gradients are those of differences") {
  int values = 0;
  for (int number = 0; number < networks; ++number) {
    bool const losses = number % 2 == 1;
    RandomConfig random{static_cast<std::uint64_t>(number), number % 10 == 0 ? 40 : 8, losses};
    Index const batch = 2;
    INFO("network " << number);
    Case one{random, network_of(random.config(), Backend{"cpu:reference"}), batch};
    std::vector<SharedTensor> variables;
    std::vector<Floats> found;
    std::unique_ptr<Trainer> solver;
    if (losses) {
      if (one.net.learnable_weights_names().empty()) continue;
      solver = std::make_unique<Trainer>(std::move(one.net), SolverConfig{.base_lr = 0, .clip_gradients = 1e30f});
    } else {
      one.pass();
      variables = one.inputs;
      for (SharedTensor const& dx : one.net.input_gradients()) found.push_back(values_of(dx));
    }
    Net const& net = losses ? solver->network() : one.net;
    auto const objective = [&] {
      double sum = 0;
      if (losses) {
        solver->mut_network().executable().set_step(0);
        solver->train_minibatch(one.inputs);
        for (auto const& [name, loss] : solver->losses()) sum += double{loss} * static_cast<double>(batch);
      } else {
        Floats const y = one.forward(), dy = values_of(one.gradients);
        for (std::size_t i = 0; i < y.size(); ++i) sum += double{y[i]} * double{dy[i]};
      }
      return sum;
    };
    objective();
    for (std::size_t w = 0; w < net.learnable_weights_names().size(); ++w) {
      variables.push_back(net.learnable_weights_data()[w]);
      found.push_back(values_of(net.learnable_weights_gradients()[w]));
    }
    // Of large networks a few values of each variable will do.
    for (std::size_t v = 0; v < variables.size(); ++v) {
      for (std::size_t i = 0; i < found[v].size(); i += number % 10 == 0 ? 7 : 1) {
        float const middle = variables[v].read()[i];
        auto const at = [&](float shift) {
          variables[v].read_write()[i] = middle + shift;
          return objective();
        };
        // Differences over h and 2h: what they leave is of the order of h to the fourth.
        float const h = 0.02f;
        double const near = (at(h) - at(-h)) / (2 * double{h}), far = (at(2 * h) - at(-2 * h)) / (4 * double{h}),
                     slope = (4 * near - far) / 3;
        at(0);
        INFO("variable " << v << ", value " << i << ": " << near << " and " << far);
        // Where the function bends so much that the two differ, they say little.
        CHECK(double{found[v][i]} == Approx(slope).epsilon(0.01).margin(2e-3 + 0.2 * std::abs(near - far)));
        ++values;
      }
    }
  }
  CHECK(values > 10000);
}
