// Whoever does the work, a static network's bits are the same: forward, backward, and training with every optimizer.
#include <coldpress/coldpress.hpp>

#include "support/catch.hpp"
#include "support/executors.hpp"
#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {

using Floats = std::vector<float>;
constexpr Index batches[] = {1, 2, 5, 64, 77};

struct Results {
  std::vector<Floats> values;
  void add(auto const& more) { values.emplace_back(std::begin(more), std::end(more)); }
  bool operator==(Results const& other) const {
    return std::ranges::equal(values, other.values,
                              [](Floats const& a, Floats const& b) { return test::same_bits(a, b); });
  }
};

template <class Net>
Results passes(Net& net, Executor* executor) {
  Results all;
  test::Random random{2};
  typename Net::Workspace workspace;
  typename Net::TrainingWorkspace training;
  net.run_on(executor), workspace.run_on(executor), training.run_on(executor);
  for (Index batch : batches) {
    auto const x = random.values<float>(batch * Net::input_shape.size()),
               dy = random.values<float>(batch * Net::output_shape.size());
    all.add(net.forward(x));
    all.add(net.forward(x, workspace));
    all.add(net.forward_training(x, training));
    all.add(net.backward(dy, training));
    all.add(training.gradients());
  }
  return all;
}
template <class Net, auto loss, auto optimizer, SolverOptions options = SolverOptions{}>
Results training(Executor* executor) {
  Results all;
  Net net = test::random_network<Net>(3);
  net.run_on(executor);
  Solver<Net, loss, optimizer, options> solver{net};
  test::Random random{4};
  for (Index batch : batches) {
    auto const x = random.values<float>(batch * Net::input_shape.size());
    auto targets = random.values<float>(batch * solver.target_shape.size());
    if (loss.target == Target::label) {
      for (float& label : targets) label = static_cast<float>(random.integer(0, Net::output_shape.size() - 1));
    }
    all.add(std::array{solver.train_minibatch(x, targets)});
    all.add(solver.output());
  }
  all.add(net.parameters());
  return all;
}
template <class F>
void check_all(F f) {
  auto const alone = f(nullptr);
  for (auto const& executor : test::executors()) CHECK(f(executor.get()) == alone);
}
template <class Layers, Shape in>
void check_passes() {
  auto net = test::random_network<Network<Layers, in>>(1);
  check_all([&](Executor* executor) { return passes(net, executor); });
}

using Dense = Sequential<Linear{67}, TanH{}, Dropout{.probability = 0.3f}, Linear{130}, ReLU{}, Linear{10}>;
using Images = Sequential<Convolution{.num_output = 7, .filter_shape = 2}, Pooling{.filter_shape = 2, .stride = 1},
                          Convolution{.num_output = 6, .filter_shape = 3, .padding = 1}, ReLU{}, BatchNormalization{},
                          Pooling{.filter_shape = 2, .stride = 2}, Convolution{.num_output = 5, .filter_shape = 2},
                          Pooling{.mode = PoolingMode::average, .filter_shape = 2, .stride = 1}, LRN{}, Linear{10}>;
template <RnnType type, bool reset_after = true>
using Steps = Sequential<Rnn{.hidden_size = 19,
                             .num_layers = 2,
                             .rnn_type = type,
                             .reset_after = reset_after,
                             .dropout_probability = 0.2f,
                             .direction_mode = DirectionMode::bi_directional},
                         Convolution{.num_output = 9, .filter_shape = 2}, LayerNormalization{}, Linear{3}>;
constexpr NegativeLogLikelihood labels{10};

}  // namespace

TEST_CASE("every pass of dense, image and recurrent layers has the bits of one thread") {
  check_passes<Dense, Shape{33}>();
  check_passes<Sequential<Linear{300}, Softmax{}, Sigmoid{}, Linear{1}>, Shape{5}>();
  check_passes<Images, Shape{3, 9, 8}>();
  check_passes<Steps<RnnType::lstm>, Shape{5, 6}>();
  check_passes<Steps<RnnType::gru>, Shape{5, 6}>();
  check_passes<Steps<RnnType::gru, false>, Shape{5, 6}>();
  check_passes<Steps<RnnType::tanh>, Shape{5, 6}>();
}

TEST_CASE("so have layers that go through a minibatch sample by sample") {
  check_passes<Sequential<Crop{.size = {6, 7}, .random_crop = true, .random_mirror = true},
                          LRN{.size = 3, .mode = LRNMode::within}, ChannelPooling{.filter_size = 2, .stride = 1},
                          BatchNormalization{}, SoftmaxOver{.axis = 1}, Permute{{2, 0, 1}}, Slice{.begin = 1},
                          Reduce{.operation = ReduceOperation::mean, .axis = 1}, LayerNormalization{}>,
               Shape{4, 9, 8}>();
  check_passes<Sequential<GlobalAveragePooling{}, BatchNormalization{}, Linear{3}>, Shape{40, 3, 4}>();
  constexpr auto mix = graph([](auto x) {
    auto const y = blocks::transformer(x, 2, 11);
    auto const code = concat(along{1}, x, y) | Linear{9};
    return code | tied(code);
  });
  check_passes<Graph<mix>, Shape{6, 8}>();
  check_passes<Sequential<Embedding{.vocabulary = 5, .features = 7}, LayerNormalization{}, Linear{3}>, Shape{4}>();
  check_passes<
      Sequential<LearnedPositions{.most = 5}, SinusoidalPositions{}, RotaryPositions{}, RMSNormalization{},
                 Glu{.gate = GluGate::gelu}, BatchNormalization{.axis = -1}, PReLU{.num_parameters = 4}, PReLU{},
                 GroupNormalization{.groups = 2}, Reduce{.operation = ReduceOperation::max}, Linear{3}>,
      Shape{4, 38}>();
}

TEST_CASE("so has training, with every optimizer, fused or not") {
  using Net = Network<Sequential<Linear{67}, ReLU{}, Linear{10}, LogSoftmax{}>, Shape{33}>;
  check_all(training<Net, labels, Sgd{.learning_rate = 0.05f, .momentum = 0.9f}>);
  check_all(training<Net, labels, Nesterov{}>);
  check_all(training<Net, labels, Adam{}>);
  check_all(training<Net, labels, AdamW{}>);
  check_all(training<Net, labels, RMSprop{}>);
  check_all(training<Net, labels, Adagrad{}>);
  check_all(training<Net, labels, Adadelta{}>);
  check_all(training<Net, labels, Sgd{}, SolverOptions{.clip_gradients = 0.1f, .weight_decay = 0.1f}>);
  using Pictures = Network<Images, Shape{3, 9, 8}>;
  check_all(training<Pictures, MeanSquaredError{}, Sgd{.momentum = 0.5f}>);
  check_all(training<Network<Steps<RnnType::lstm>, Shape{5, 6}>, MeanSquaredError{}, Adam{}>);
  using Sequences = Network<Sequential<Convolution{.num_output = 34, .filter_shape = 3, .dilation = 2},
                                       Convolution{.num_output = 10, .filter_shape = 1}, Flatten{}>,
                            Shape{9, 5}>;
  check_all(training<Sequences, SoftmaxLoss{}, Sgd{}>);  // which compares whole samples
}

TEST_CASE("work is cut, also where the compiler knows the batch, unless it knows that it is too little") {
  test::Shuffled executor;
  using Large = Network<Sequential<Linear{512}, Linear{10}>, Shape{300}, Batch<64>, Cpu>;
  auto const large = std::make_unique<Large>(1);
  std::vector<float> const x(64 * 300, 0.5f);
  Floats const alone = test::copy_of<float>(large->forward(x));
  large->run_on(&executor);
  CHECK(test::same_bits(large->forward(x), alone));
  CHECK(executor.runs == 1);  // the second layer is small
  CHECK(executor.pieces > 50);
  large->run_on(nullptr);
  large->forward(x);
  CHECK(executor.runs == 1);
  Network<Sequential<Linear{8}>, Shape{8}, Batch<4>, Cpu> small;
  small.run_on(&executor);
  small.forward(std::span{x.data(), 32});
  CHECK(executor.runs == 1);
}
