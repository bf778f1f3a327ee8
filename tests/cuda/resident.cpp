// Minibatches that stay on the GPU: steps on them copy nothing from the host, and have the bits of steps that do.
#include "cuda/devices.hpp"
#include "cuda/since.hpp"
#include "dynamic/random_case.hpp"

#include <coldpress/cuda.hpp>
#include <coldpress/testing/random.hpp>

#include <limits>

namespace {

using namespace coldpress;
using namespace coldpress::test;

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

Trainer solver_on(std::string const& backend, dynamic::LayerType const& loss, int passes_a_launch = 1) {
  LayerConfig const network =
      sequential({{"first", Linear{9}}, {"drop", Dropout{}}, {"last", Linear{3}}, {"scores", LogSoftmax{}}}, Shape{6});
  SolverConfig config{.base_lr = 0.05f, .momentum = 0.9f};
  config.objective = LayerConfig{"loss", loss};
  return {Net::from_config(Backend{backend, {.passes_a_launch = passes_a_launch}}, network, {}, 11), config};
}
struct Minibatch {
  SharedTensor x, labels;
};
Minibatch minibatch(std::uint64_t number) {
  Floats labels;
  Random random{number};
  for (int i = 0; i < 5; ++i) labels.push_back(static_cast<float>(random.integer(0, 2)));
  return {noise({5, 6}, number), tensor({5, 1}, labels)};
}
std::vector<Minibatch> minibatches(std::uint64_t count) {
  std::vector<Minibatch> all;
  for (std::uint64_t number = 0; number < count; ++number) all.push_back(minibatch(number));
  return all;
}
std::vector<Minibatch> uploaded(Net const& net, std::vector<Minibatch> const& all) {
  std::vector<Minibatch> there;
  for (auto const& [x, labels] : all) there.push_back({net.upload(x), net.upload(labels)});
  return there;
}

}  // namespace

TEST_CASE("steps on minibatches that were uploaded copy nothing, and have the bits of steps on the host's") {
  std::string const device = GENERATE(from_range(devices()));
  int const together = GENERATE(1, 3);
  Trainer solver = solver_on(device, NegativeLogLikelihood{3}, together),
          plain = solver_on(device, NegativeLogLikelihood{3});
  auto const here = minibatches(5), there = uploaded(solver.network(), here);
  auto const train = [](Trainer& by, std::vector<Minibatch> const& all, std::size_t steps) {
    for (std::size_t step = 0; step < steps; ++step)
      by.train_minibatch(all[step % all.size()].x, all[step % all.size()].labels);
  };
  train(solver, there, 10), train(plain, here, 10);
  Since const since;
  train(solver, there, 10);
  auto const made = since();
  CHECK(made.uploads == 0);
  CHECK(made.copies == 0);
  CHECK(made.downloads == 0);  // labels were looked at when they were uploaded
  CHECK(made.waits == 0);
  CHECK(made.allocations == 0);
  CHECK(made.graphs == 0);
  CHECK(made.launches == (together == 1 ? 10 : 3));
  train(plain, here, 10);
  CHECK(solver.loss() == plain.loss());
  CHECK(same_bits(weights_of(solver.network()), weights_of(plain.network())));
  // By turns with those of the host.
  for (std::size_t step = 0; step < 8; ++step) {
    auto const& [x, labels] = (step % 3 == 1 ? there : here)[step % 5];
    solver.train_minibatch(x, labels);
    plain.train_minibatch(here[step % 5].x, here[step % 5].labels);
  }
  CHECK(same_bits(weights_of(solver.network()), weights_of(plain.network())));
}

TEST_CASE("what is uploaded is checked as the host's is, and stays what it was") {
  std::string const device = GENERATE(from_range(devices()));
  Trainer solver = solver_on(device, NegativeLogLikelihood{3}), plain = solver_on("cpu", NegativeLogLikelihood{3});
  SharedTensor const x = noise({2, 6}, 1), labels = tensor({2, 1}, {0, 2});
  auto const refused = [&](SharedTensor const& samples, SharedTensor const& wanted) {
    std::string const by_cpu = error_of<DataError>([&] { plain.train_minibatch(samples, wanted); }).what();
    auto const& net = solver.network();
    SharedTensor const samples_there = net.upload(samples), wanted_there = net.upload(wanted);
    for (int time = 0; time < 2; ++time)
      CHECK(error_of<DataError>([&] { solver.train_minibatch(samples_there, wanted_there); }).what() == by_cpu);
  };
  refused(x, tensor({2, 1}, {0, 3}));
  refused(x, tensor({2, 1}, Floats{1.5f, 0}));
  refused(x, tensor({2, 1}, {0, -1}));
  refused(tensor({2, 6}, Floats{1, 2, 3, 4, 5, 6, 7, 8, not_a_number, 10, 11, 12}), labels);
  CHECK_THROWS_AS(solver.train_minibatch(solver.network().upload(x), noise({3, 1}, 2)), ShapeError);

  SharedTensor const there = solver.network().upload(x);
  solver.train_minibatch(x, labels);
  x.write_only()[0] = 77;
  CHECK(there.read()[0] == noise({2, 6}, 1).read()[0]);
  Since const since;
  solver.train_minibatch(there, labels);  // it is there still, though it was read
  CHECK(since().uploads == 1);
  there.read_write()[0] = 5;
  solver.train_minibatch(there, labels);  // but now it is the host's
  CHECK(since().uploads == 3);
}

TEST_CASE("where a network computes on the host its tensors are there already") {
  Trainer const solver = solver_on("cpu", NegativeLogLikelihood{3});
  SharedTensor const x = noise({2, 6}, 1), there = solver.network().upload(x);
  CHECK(there.is(x));
}

TEST_CASE("what is uploaded serves forward and backward, other networks, and outlives its own") {
  std::string const device = GENERATE(from_range(devices()));
  auto const dense = [&](Index in, Index out, std::string const& backend) {
    return Net::from_config(Backend{backend}, sequential({{"first", Linear{9}}, {"last", Linear{out}}}, Shape{in}), {},
                            11);
  };
  std::optional<Net> net = dense(6, 3, device);
  Net other = dense(6, 3, device), reference = dense(6, 3, "cpu:reference");
  SharedTensor const x = noise({5, 6}, 1), dy = noise({5, 3}, 2), there = net->upload(x), dy_there = net->upload(dy);
  Since since;
  for (int time = 0; time < 3; ++time) {
    net->forward(there);
    net->backward(dy_there), net->backward(dy_there);
    net->update_weights(), net->clear_weights_gradients();
    reference.forward(x);
    reference.backward(dy), reference.backward(dy);
    reference.update_weights(), reference.clear_weights_gradients();
  }
  CHECK(since().uploads == 0);
  CHECK(excess_of(weights_of(*net), weights_of(reference), 300) <= 1);
  {
    SharedTensor const gone = net->upload(x);
    net->forward(gone);
  }
  Floats const gradient = values_of(net->backward(dy)),
               wanted = values_of(reference.backward((reference.forward(x), dy)));
  CHECK(excess_of(gradient, wanted, 300) <= 1);
  since = Since{};
  SharedTensor const& y = other.forward(there);  // of another network: copied there
  CHECK(since().uploads == 0);
  CHECK(since().copies == 1);
  CHECK(excess_of(values_of(y), values_of(dense(6, 3, "cpu:reference").forward(x)), 300) <= 1);
  net.reset();
  CHECK(same_bits(values_of(there), values_of(x)));
}

TEST_CASE("steps of a network that is a type copy nothing where its minibatches were uploaded") {
  using Layers = Sequential<Linear{9}, TanH{}, Dropout{.probability = 0.2f}, Linear{3}, LogSoftmax{}>;
  using Gpu = Network<Layers, Shape{6}, DynamicBatch, Cuda>;
  constexpr auto loss = NegativeLogLikelihood{3};
  int const together = GENERATE(1, 3);
  Gpu net{3, Cuda::on("cuda:emulated", together)}, plain{3, Cuda::on("cuda:emulated")};
  Solver<Gpu, loss> solver{net}, plain_solver{plain};
  testing::Random random{11};
  Floats const x = random.values<float>(4 * 6), labels{0, 2, 1, 1};
  auto const x_there = net.upload(x), labels_there = net.upload(labels);
  auto const train = [&](int steps) {
    for (int step = 0; step < steps; ++step)
      solver.train_minibatch(x_there, labels_there), plain_solver.train_minibatch(x, labels);
  };
  train(6);
  Since const since;
  for (int step = 0; step < 10; ++step) solver.train_minibatch(x_there, labels_there);
  auto const made = since();
  CHECK(made.uploads == 0);
  CHECK(made.copies == 0);
  CHECK(made.downloads == 0);
  CHECK(made.waits == 0);
  CHECK(made.allocations == 0);
  CHECK(made.launches == (together == 1 ? 10 : 3));
  float last = 0;
  for (int step = 0; step < 10; ++step) last = plain_solver.train_minibatch(x, labels);
  train(1), train(1);
  CHECK(last > 0);
  for (int i = 0; i < Gpu::weight_count; ++i) {
    Floats a(static_cast<std::size_t>(Gpu::weight_shape(i).size())), b = a;
    net.read_weight(i, a), plain.read_weight(i, b);
    CHECK(same_bits(a, b));
  }
  CHECK(same_bits(copy_of<float>(net.forward(x_there)), copy_of<float>(plain.forward(x))));

  using Cpu = Network<Layers, Shape{6}>;
  Cpu cpu{3};
  Solver<Cpu, loss> by_cpu{cpu};
  auto const refused = [&](Floats const& samples, Floats const& wanted) {
    std::string const text = error_of<DataError>([&] { by_cpu.train_minibatch(samples, wanted); }).what();
    auto const there = net.upload(samples), wanted_there = net.upload(wanted);
    CHECK(error_of<DataError>([&] { solver.train_minibatch(there, wanted_there); }).what() == text);
  };
  refused(x, {0, 2, 3, 1}), refused(x, {0, 2, 0.5f, 1});
  Floats bad = x;
  bad[7] = not_a_number;
  refused(bad, labels);
  CHECK_THROWS_AS(solver.train_minibatch(x_there, net.upload(Floats{1, 2})), ShapeError);
  CHECK_THROWS_AS(plain_solver.train_minibatch(x_there, labels), UnsupportedError);
}

TEST_CASE("inputs of several kinds, and backward by hand, take what was uploaded") {
  using Layers = Sequential<Linear{5}, TanH{}>;
  using Gpu = Network<Layers, Shape{6}, DynamicBatch, Cuda>;
  Gpu const net{3, Cuda::on("cuda:emulated")};
  Gpu::TrainingWorkspace one{net.transfer()}, two{net.transfer()};
  testing::Random random{5};
  Floats const x = random.values<float>(4 * 6), dy = random.values<float>(4 * 5);
  net.forward_training(net.upload(x), one), net.forward_training(x, two);
  auto const dx = copy_of<float>(net.backward(net.upload(dy), one));
  CHECK(same_bits(dx, copy_of<float>(net.backward(dy, two))));
}
