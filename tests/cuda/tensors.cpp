// Tensors that layers on a GPU make and are given: their values stay there until somebody reads them, and go from one
// layer to the next without the host. The emulated device's memory is one that a host cannot read.
#include "cuda/devices.hpp"
#include "cuda/since.hpp"
#include "dynamic/random_case.hpp"

#include <sys/resource.h>

#include <fstream>

namespace {

using namespace coldpress;
using namespace coldpress::test;

Net network_of(LayerConfig const& config, std::string const& backend, int passes_a_launch = 1) {
  return Net::from_config(Backend{backend, {.passes_a_launch = passes_a_launch}}, config, {}, 11);
}
/// `in` values, and as many as `out`.
Net dense(Index in, Index out, std::string const& backend, std::string const& name = "net", int passes_a_launch = 1) {
  return network_of(
      sequential({{name + "-first", Linear{9}}, {"tanh", TanH{}}, {name + "-last", Linear{out}}}, Shape{in}), backend,
      passes_a_launch);
}

/// From a host to devices, back, and on a device.
struct Copies {
  Index up, down, on_device;
  bool operator==(Copies const&) const = default;
};
std::ostream& operator<<(std::ostream& to, Copies const& copies) {
  return to << copies.up << " up, " << copies.down << " down, " << copies.on_device << " on a device";
}
template <class F>
Copies copies(F f) {
  Since const since;
  f();
  return {since().uploads, since().downloads, since().copies};
}
Copies copies_of_reading(SharedTensor const& tensor) {
  return copies([&] { tensor.read(); });
}
void add(Floats& to, Floats const& values) { to.insert(to.end(), values.begin(), values.end()); }

/// While it lasts, there is so much more memory and no more.
class Scarce {
 public:
  explicit Scarce(std::size_t bytes) {
    std::size_t pages = 0;
    std::ifstream{"/proc/self/statm"} >> pages;
    ::getrlimit(RLIMIT_AS, &before_);
    rlimit const now{pages * 4096 + bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &now);
  }
  ~Scarce() { ::setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_;
};

}  // namespace

TEST_CASE("what a layer makes is brought over when it is read, once") {
  std::string const device = GENERATE(from_range(devices()));
  Net net = dense(6, 3, device), reference = dense(6, 3, "cpu:reference");
  for (std::uint64_t round = 0; round < 3; ++round) {
    SharedTensor const x = noise({5, 6}, round), dy = noise({5, 3}, round + 10);
    CHECK(copies([&] { net.forward(x); }).down == 0);
    SharedTensor const y = net.forward(x), again = y;
    CHECK(copies([&] { net.backward(dy); }) == Copies{1, 0, 0});
    SharedTensor const& dx = net.input_gradients()[0];
    CHECK(y.shape() == std::vector<Index>{5, 3});
    CHECK(copies_of_reading(y) == Copies{0, 1, 0});
    CHECK(copies_of_reading(again) == Copies{0, 0, 0});
    CHECK(copies_of_reading(dx) == Copies{0, 1, 0});
    CHECK(copies_of_reading(dx) == Copies{0, 0, 0});
    CHECK(excess_of(values_of(y), values_of(reference.forward(x)), 100) <= 1);
    CHECK(excess_of(values_of(dx), values_of(reference.backward(dy)), 100) <= 1);
  }
  SharedTensor const x = noise({5, 6}, 0), dy = noise({5, 3}, 1);
  CHECK(copies([&] { net.forward(x), net.forward(x), net.evaluate({x}); }) == Copies{3, 0, 0});
  net.forward(x), net.backward(dy);
  CHECK(copies([&] { net.forward(x); }) == Copies{1, 0, 1});  // an input gradient that might be read yet
  CHECK(copies([&] { net.forward(x); }) == Copies{1, 0, 0});
}

TEST_CASE("layers on one GPU hand tensors on without the host") {
  std::string const device = GENERATE(from_range(devices()));
  int const together = GENERATE(1, 3);  // the passes of `front` per launch; reading their results starts them
  auto const run = [&](std::string const& backend, bool count) {
    Net front = dense(6, 4, backend, "front", count ? together : 1), back = dense(4, 3, backend, "back");
    Floats made;
    for (std::uint64_t step = 0; step < 4; ++step) {
      Index const batch = 5 + static_cast<Index>(step / 2) * 3;
      // Small gradients: with large ones the weights grow until a last bit of x moves them by more than the bound.
      SharedTensor const x = noise({batch, 6}, step), dy = noise({batch, 3}, step + 10, -0.05f, 0.05f);
      SharedTensor const *y = nullptr, *dx = nullptr;
      auto const forward = copies([&] { y = &back.forward(front.forward(x)); });
      auto const backward = copies([&] { dx = &front.backward(back.backward(dy)); });
      // Nobody has read the gradients of the step before, whose memory a forward pass takes.
      if (count) CHECK(forward == Copies{1, 0, step == 0 ? 1 : 3});
      if (count) CHECK(backward == Copies{1, 0, 1});
      front.update_weights(), back.update_weights();
      if (step == 3) add(made, values_of(*y)), add(made, values_of(*dx));
    }
    add(made, weights_of(front)), add(made, weights_of(back));
    return made;
  };
  CHECK(excess_of(run(device, true), run("cpu:reference", false), 300) <= 1);
}

TEST_CASE("layers on other devices get tensors through the host, once") {
  std::string const device = GENERATE(from_range(devices()));
  Net front = dense(6, 4, device, "front"), middle = dense(4, 4, "cpu", "middle"), back = dense(4, 3, device, "back"),
      reference = dense(6, 4, "cpu:reference", "front");
  SharedTensor const x = noise({5, 6}, 1);
  SharedTensor const& y = front.forward(x);
  CHECK(copies([&] { middle.forward(y); }) == Copies{0, 1, 0});
  CHECK(copies([&] { middle.forward(y); }) == Copies{0, 0, 0});
  CHECK(copies([&] { back.forward(middle.forward(y)); }) == Copies{1, 0, 0});
  CHECK(copies([&] { back.forward(y); }) == Copies{0, 0, 1});  // it is there still, though it was read
  CHECK(excess_of(values_of(y), values_of(reference.forward(x)), 100) <= 1);
  // Who may have written has it on the host.
  auto const values = y.read_write();
  for (float value : {1.0f, 2.0f}) {
    values[0] = value;
    SharedTensor const* z = nullptr;
    CHECK(copies([&] { z = &back.forward(y); }) == Copies{1, 0, 0});
    Net other = dense(4, 3, "cpu:reference", "back");
    CHECK(excess_of(values_of(*z), values_of(other.forward(tensor({5, 4}, values_of(y)))), 100) <= 1);
  }
}

TEST_CASE("a step by hand in Juice's way copies the minibatch, the output that the loss reads, and its gradient") {
  std::string const device = GENERATE(from_range(devices()));
  auto const run = [&](std::string const& backend, bool count) {
    Net net = dense(6, 3, backend), loss = network_of({"loss", MeanSquaredError{}}, backend);
    Floats made;
    for (std::uint64_t step = 0; step < 4; ++step) {
      SharedTensor const x = noise({5, 6}, step), t = noise({5, 3}, step + 10);
      auto const all = copies([&] {
        made.push_back(loss.forward({net.forward(x), t})[0].read()[0]);
        net.backward(loss.backward());
        net.update_weights(), net.clear_weights_gradients();
      });
      if (count) CHECK(all == Copies{2, 1, step == 0 ? 0 : 1});
    }
    add(made, weights_of(net));
    return made;
  };
  CHECK(excess_of(run(device, true), run("cpu:reference", false), 300) <= 1);
}

TEST_CASE("a layer with layers before its loss computes them where the loss is") {
  std::string const device = GENERATE(from_range(devices()));
  LayerConfig const config =
      sequential({{"softmax", LogSoftmax{}}, {"loss", NegativeLogLikelihood{3}}}, {}, "objective");
  Net loss = network_of(config, device), reference = network_of(config, "cpu:reference");
  SharedTensor const y = noise({4, 3}, 1), labels = tensor({4, 1}, {0, 2, 1, 1});
  CHECK(copies([&] { loss.forward({y, labels}), loss.backward(); }) == Copies{0, 0, 0});
  CHECK(excess_of(values_of(loss.forward({y, labels})[0]), values_of(reference.forward({y, labels})[0]), 100) <= 1);
  CHECK(excess_of(values_of(loss.backward()[0]), values_of(reference.backward()[0]), 100) <= 1);
}

TEST_CASE("a tensor says what it said, whatever its layer does before it is read") {
  std::string const device = GENERATE(from_range(devices()));
  auto const run = [&](std::string const& backend) {
    Net net = dense(6, 3, backend);
    SharedTensor const x = noise({5, 6}, 1), others = noise({5, 6}, 2), many = noise({40, 6}, 3), dy = noise({5, 3}, 4);
    Floats made;
    SharedTensor const held = net.forward(x);
    net.forward(others);
    add(made, values_of(held));
    SharedTensor const grown = net.forward(x);
    net.forward(many), net.forward(many);  // in other memory
    add(made, values_of(grown));
    auto const& own = net.forward(x);  // the layer's, which other calls leave as it is
    net.predict(others.read());
    add(made, values_of(own));
    net.forward(x);
    auto const& unread = net.backward(dy);
    SharedTensor const first = unread;
    net.backward(noise({5, 3}, 5)), net.forward(others), net.evaluate({x});
    add(made, values_of(first)), add(made, values_of(net.input_gradients()[0]));
    std::vector<SharedTensor> all;
    for (std::uint64_t seed = 0; seed < 12; ++seed) all.push_back(net.forward(noise({5, 6}, seed)));
    for (int time = 0; time < 2; ++time) all.erase(all.begin() + 3);  // whose memory is another's now
    for (std::uint64_t seed = 20; seed < 23; ++seed) all.push_back(net.forward(noise({5, 6}, seed)));
    add(made, values_of(all));
    return made;
  };
  CHECK(excess_of(run(device), run("cpu:reference"), 100) <= 1);

  Net net = dense(6, 3, device);
  SharedTensor const x = noise({5, 6}, 1);
  auto const held_step = [&] {
    SharedTensor const held = net.forward(x);
    net.forward(x);
  };
  held_step(), held_step();
  Since const since;
  CHECK(copies(held_step) == Copies{2, 0, 1});
  CHECK(since().waits == 0);
  CHECK(since().allocations == 0);
}

TEST_CASE("unread tensors outlive their layer, and follow it where it is moved to") {
  std::string const device = GENERATE(from_range(devices()));
  SharedTensor const x = noise({5, 6}, 1), dy = noise({5, 3}, 2);
  Net reference = dense(6, 3, "cpu:reference"), next = dense(3, 2, device, "next"),
      next_reference = dense(3, 2, "cpu:reference", "next");
  Floats const y = values_of(reference.forward(x)), dx = values_of(reference.backward(dy));
  std::optional<Net> net = dense(6, 3, device);
  net->forward(x);
  Net moved = std::move(*net);
  net.reset();
  SharedTensor const late = moved.forward(x);
  moved.backward(dy);
  SharedTensor const late_gradient = moved.input_gradients()[0];
  Net other = dense(6, 3, device);
  CHECK(copies([&] {
          std::swap(moved, other);
          Net{std::move(other)};
        }).down == 0);
  CHECK(copies([&] { next.forward(late); }) == Copies{0, 0, 1});
  CHECK(copies_of_reading(late) == Copies{0, 1, 0});
  CHECK(excess_of(values_of(late), y, 100) <= 1);
  CHECK(excess_of(values_of(late_gradient), dx, 100) <= 1);
  CHECK(excess_of(values_of(next.forward(late)), values_of(next_reference.forward(late)), 100) <= 1);
}

TEST_CASE("a layer on a GPU may read what it made") {
  std::string const device = GENERATE(from_range(devices()));
  auto const run = [&](std::string const& backend) {
    Net net = dense(4, 4, backend);
    Floats made;
    auto const* y = &net.forward(noise({3, 4}, 1));
    for (int time = 0; time < 3; ++time) y = &net.forward(*y);
    SharedTensor const held = *y;
    add(made, values_of(net.backward(*y)));                               // which is what it was, too
    add(made, values_of(net.backward(net.backward(net.forward(held)))));  // gradients of gradients,
    add(made, values_of(net.forward(net.backward(noise({3, 4}, 2)))));    // and as inputs
    net.input_gradients()[0].read();
    add(made, values_of(net.forward(net.input_gradients()[0])));
    Trainer solver{std::move(net), [] {
                     SolverConfig config{.base_lr = 0.05f};
                     config.objective = LayerConfig{"loss", MeanSquaredError{}};
                     return config;
                   }()};
    y = &held;
    for (int time = 0; time < 3; ++time) y = &solver.train_minibatch(*y, *y);
    add(made, values_of(*y)), add(made, weights_of(solver.network()));
    return made;
  };
  CHECK(excess_of(run(device), run("cpu:reference"), 400) <= 1);
}

TEST_CASE("steps learn from what another network on the GPU makes") {
  std::string const device = GENERATE(from_range(devices()));
  auto const run = [&](std::string const& backend, bool labels, bool count) {
    SolverConfig config{.base_lr = 0.05f};
    config.objective = labels ? LayerConfig{"loss", NegativeLogLikelihood{3}} : LayerConfig{"loss", MeanSquaredError{}};
    Trainer solver{dense(6, 3, backend), config};
    Net teacher = labels ? network_of(sequential({{"drop", Power{.power = 2}}}, Shape{1}), backend)
                         : dense(6, 3, backend, "teacher");
    Floats made;
    for (std::uint64_t step = 0; step < 4; ++step) {
      SharedTensor const x = noise({5, 6}, step), classes = tensor({5, 1}, {0, 1, 1, 0, 1});
      auto const all = copies([&] { solver.train_minibatch(x, teacher.forward(labels ? classes : x)); });
      if (count && step > 0) CHECK(all == Copies{2, labels ? 1 : 0, 1});  // a host looks at labels
      made.push_back(solver.loss());
    }
    add(made, weights_of(solver.network()));
    return made;
  };
  for (bool labels : {false, true})
    CHECK(excess_of(run(device, labels, true), run("cpu:reference", labels, false), 300) <= 1);
}

TEST_CASE("a network that is trained for something else leaves what it made before") {
  std::string const device = GENERATE(from_range(devices()));
  auto const run = [&](std::string const& backend) {
    SolverConfig config{.base_lr = 0.05f};
    config.objective = LayerConfig{"loss", MeanSquaredError{}};
    SharedTensor const x = noise({5, 6}, 1);
    Trainer solver{dense(6, 3, backend), config};
    SharedTensor const held = solver.train_minibatch(x, noise({5, 3}, 2));
    config.objective = LayerConfig{"loss", NegativeLogLikelihood{3}};
    Trainer other{std::move(solver.mut_network()), config};
    other.train_minibatch(x, tensor({5, 1}, {0, 2, 1, 0, 1}));
    Floats made = values_of(held);
    add(made, weights_of(other.network()));
    return made;
  };
  CHECK(excess_of(run(device), run("cpu:reference"), 300) <= 1);
}

TEST_CASE("the input gradients of a step are brought over where they are read") {
  std::string const device = GENERATE(from_range(devices()));
  auto const run = [&](std::string const& backend, bool count) {
    SequentialConfig network{.layers = {{"first", Linear{9}}, {"tanh", TanH{}}, {"last", Linear{3}}}, .inputs = {}};
    network.add_input("data", {6}), network.force_backward = true;
    SolverConfig config{.base_lr = 0.05f};
    config.objective = LayerConfig{"loss", MeanSquaredError{}};
    Trainer solver{network_of({"network", network}, backend), config};
    Floats made;
    auto const step = [&](std::uint64_t seed) { solver.train_minibatch(noise({5, 6}, seed), noise({5, 3}, seed + 9)); };
    for (std::uint64_t seed = 0; seed < 3; ++seed) step(seed);
    Since const since;
    for (std::uint64_t seed = 3; seed < 6; ++seed) step(seed);
    if (count) CHECK(since().downloads == 0);
    if (count) CHECK(since().waits == 0);
    if (count) CHECK(since().copies == 0);
    SharedTensor const dx = solver.network().input_gradients()[0];
    step(6);
    add(made, values_of(dx)), add(made, values_of(solver.network().input_gradients()[0]));
    return made;
  };
  CHECK(excess_of(run(device, true), run("cpu:reference", false), 300) <= 1);
}

TEST_CASE("a call that is refused leaves unread tensors as they are") {
  std::string const device = GENERATE(from_range(devices()));
  Net net = dense(6, 3, device), reference = dense(6, 3, "cpu:reference");
  SharedTensor const x = noise({5, 6}, 1), dy = noise({5, 3}, 2);
  SharedTensor const& y = net.forward(x);
  SharedTensor const& dx = net.backward(dy);
  CHECK_THROWS_AS(net.forward(noise({5, 7}, 1)), ShapeError);
  CHECK_THROWS_AS(net.backward(noise({4, 3}, 1)), ShapeError);
  net.predict(x.read());
  CHECK(excess_of(values_of(y), values_of(reference.forward(x)), 100) <= 1);
  CHECK(excess_of(values_of(dx), values_of(reference.backward(dy)), 100) <= 1);
}

TEST_CASE("where a device has no memory left, reading what it has lost says so, and the rest is there") {
  std::size_t constexpr mebibyte = 1 << 20;
  auto const relu = [] { return network_of(sequential({{"relu", ReLU{}}}, Shape{1000}), "cuda:emulated"); };
  SharedTensor const x = noise({10, 1000}, 1), larger = noise({20000, 1000}, 2);
  Floats const expected = values_of(network_of(sequential({{"relu", ReLU{}}}, Shape{1000}), "cpu").forward(x));
  Net net = relu();
  SharedTensor const held = net.forward(x);
  net.forward(x);
  {
    Scarce const scarce{32 * mebibyte};
    CHECK_THROWS_AS(net.forward(larger), DeviceError);
  }
  CHECK(values_of(held) == expected);
  SharedTensor const& own = net.forward(x);  // it goes on
  CHECK(values_of(own) == expected);
  net.forward(x);
  {
    Scarce const scarce{32 * mebibyte};
    CHECK_THROWS_AS(net.forward(larger), DeviceError);
  }
  for (int time = 0; time < 2; ++time)
    CHECK(says(error_of<DeviceError>([&] { own.read(); }), "the pass that computed it failed"));

  std::optional<Net> last = relu();
  SharedTensor const orphan = last->forward(noise({12000, 1000}, 3));
  {
    Scarce const scarce{32 * mebibyte};
    last.reset();
  }
  for (int time = 0; time < 2; ++time) CHECK(says(error_of<DeviceError>([&] { orphan.read(); }), "no memory left"));
}
