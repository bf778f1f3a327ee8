// Whoever does the work, the bits of a network that is known at run time are the same: over random shapes of every
// kind of layer whose work is cut, and with every optimizer.
#include "support/executors.hpp"
#include "tensors.hpp"

#include <coldpress/dynamic/register_layer.hpp>

/// A custom layer, whose operation throws at 13.
struct Superstitious {
  static constexpr std::string_view name = "superstitious";
  struct Op {
    static constexpr bool needs_input = false, heavy = false;
    template <class T>
    T value(T x, coldpress::Position) const {
      float values[sizeof(T) / sizeof(float)];
      __builtin_memcpy(values, &x, sizeof x);
      for (float value : values) {
        if (value == 13) throw std::runtime_error{"13"};
      }
      return x;
    }
    template <class T>
    T gradient(T, T, coldpress::Position) const {
      return T{} + 1;
    }
  };
  constexpr coldpress::Shape output_shape(coldpress::Shape in) const { return in; }
  constexpr Op op(std::uint64_t) const { return {}; }
  bool operator==(Superstitious const&) const = default;
};
COLDPRESS_FIELDS(Superstitious);

namespace {

using namespace coldpress;
using namespace coldpress::test;

constexpr Index batches[] = {33, 1, 2, 7};

/// Dense, image or recurrent layers, of random sizes.
LayerConfig random_network(Random& random) {
  auto const size = [&](Index most) { return random.integer(1, most); };
  auto const pick = [&] { return random.integer(0, 1) == 1; };
  std::vector<LayerConfig> layers;
  auto const add = [&](dynamic::LayerType type) {
    layers.push_back({"layer" + std::to_string(layers.size()), std::move(type)});
  };
  Shape in{};
  if (Index const kind = random.integer(0, 2); kind == 0) {
    in = {size(200)};
    if (pick()) add(LogSoftmax{});
    add(Linear{size(150)});
    add(TanH{});
    add(Dropout{.probability = 0.3f});
    add(Linear{size(70)});
    if (pick()) add(BatchNormalization{});
  } else if (kind == 1) {
    in = {size(5), size(9) + 4, size(9) + 4};
    if (pick()) add(Pooling{.filter_shape = 3, .stride = 1, .padding = 1});
    add(Convolution{.num_output = size(9), .filter_shape = {size(3), size(3)}, .stride = size(2), .padding = size(2)});
    add(ReLU{});
    add(Pooling{.mode = pick() ? PoolingMode::max : PoolingMode::average, .filter_shape = 2, .stride = size(2)});
    if (pick()) add(LRN{});
    if (pick()) add(BatchNormalization{});
    add(Convolution{.num_output = size(20), .filter_shape = 1});
  } else {
    in = {size(7), size(30)};
    add(Rnn{.hidden_size = size(40),
            .num_layers = size(2),
            .rnn_type = random.integer(0, 2) == 0 ? RnnType::gru
                        : pick()                  ? RnnType::lstm
                                                  : RnnType::tanh,
            .direction_mode = pick() ? DirectionMode::bi_directional : DirectionMode::uni_directional,
            .truncation = pick() ? 2u : 0u});
    if (pick()) add(Convolution{.num_output = size(20), .filter_shape = size(3)});
    if (pick()) add(LayerNormalization{});
  }
  // Rows of outputs and of input gradients touch: so any layer should be the last, and the first.
  if (pick()) add(Linear{5});
  if (pick()) add(Softmax{});
  return sequential(std::move(layers), in);
}

/// All that passes and training make.
std::vector<Floats> made(LayerConfig const& config, dynamic::AnyOptimizer const& optimizer, bool clip,
                         Backend const& backend) {
  std::vector<Floats> all;
  Random random{7};
  Net net = Net::from_config(backend, config, {}, 3);
  Index const in = net.input_shapes()[0].size(), out = net.output_shapes()[0].size();
  for (Index batch : batches) {
    all.push_back(values_of(net.forward(noise({batch, in}, 1))));
    all.push_back(values_of(net.backward(noise({batch, out}, 2))));
    all.push_back(gradients_of(net));
    all.push_back(copy_of<float>(net.predict(random.values<float>(batch * in))));
  }
  SolverConfig solver_config{.network = config,
                             .objective = LayerConfig{"loss", MeanSquaredError{}},
                             .solver = optimizer,
                             .momentum = std::holds_alternative<Sgd>(optimizer) ? 0.9f : 0};
  if (clip) solver_config.clip_gradients = 0.1f;
  Trainer solver = Trainer::from_config(backend, solver_config, {}, 3);
  for (Index batch : batches) {
    auto const x = random.values<float>(batch * in), t = random.values<float>(batch * out);
    all.push_back({solver.train_minibatch(dynamic::Values{x}, dynamic::Values{t})});
  }
  all.push_back(weights_of(solver.network()));
  return all;
}
bool same(std::vector<Floats> const& a, std::vector<Floats> const& b) {
  return std::ranges::equal(a, b, [](Floats const& x, Floats const& y) { return same_bits(x, y); });
}

}  // namespace

TEST_CASE("random networks: every executor gives the bits of the calling thread") {
  auto const executors = test::executors();
  dynamic::AnyOptimizer const optimizers[] = {Sgd{}, Nesterov{}, Adam{}, AdamW{}, RMSprop{}, Adagrad{}, Adadelta{}};
  for (std::uint64_t number = 0; number < 60; ++number) {
    INFO("network " << number);
    Random random{number};
    LayerConfig const config = random_network(random);
    auto const& optimizer = optimizers[number % std::size(optimizers)];
    bool const clip = number % 5 == 0;
    auto const alone = made(config, optimizer, clip, Backend{});
    for (auto const& executor : executors)
      CHECK(same(alone, made(config, optimizer, clip, Backend{"cpu", {.executor = executor}})));
  }
  CHECK(static_cast<Shuffled&>(*executors[0]).pieces > 10000);
}

TEST_CASE("threads of a backend's own, for each of its networks at once") {
  LayerConfig const config = sequential({{"a", Linear{400}}, {"t", TanH{}}, {"b", Linear{10}}}, Shape{300});
  Backend const backend{"cpu", {.threads = 3}};
  Backend const copy = backend;
  CHECK(backend.options().executor->workers() == 3);
  CHECK(copy.options().executor == backend.options().executor);
  CHECK(Backend{}.options().executor == nullptr);
  CHECK(Backend{"cpu", {.threads = 0}}.options().executor->workers() >= 1);
  auto const x = Random{1}.values<float>(64 * 300);
  Floats const alone = copy_of<float>(Net::from_config(Backend{}, config, {}, 3).predict(x));
  std::array<int, 3> wrong{};
  std::vector<std::thread> threads;
  for (int& mistakes : wrong) {
    threads.emplace_back([&] {
      Net net = Net::from_config(copy, config, {}, 3);
      for (int turn = 0; turn < 50; ++turn) mistakes += !same_bits(net.predict(x), alone);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int const mistakes : wrong) CHECK(mistakes == 0);
  for (int const count : {-1, 4097})
    CHECK(says(error_of<UnsupportedError>([&] {
                 Backend{"cpu", {.threads = count}};
               }),
               "1 to 4096 threads, or with 0"));
  CHECK(says(error_of<UnsupportedError>([] { Backend{"cpu:reference", {.threads = 2}}; }), "calling thread"));
}

TEST_CASE("an exception of a custom layer reaches the caller from any thread, and the network goes on") {
  dynamic::register_layer<Superstitious>();
  Backend const backend{"cpu", {.executor = std::make_shared<FineThreads>(3)}};
  Net net = Net::from_config(backend, sequential({{"s", dynamic::custom_of(Superstitious{})}}, Shape{40}));
  Floats x(64 * 40, 1.0f);
  for (std::size_t bad = 0; bad < x.size(); bad += 97) {
    x[bad] = 13;
    CHECK_THROWS_AS(net.predict(x), std::runtime_error);
    x[bad] = 1;
    CHECK(same_bits(net.predict(x), x));
  }
}
