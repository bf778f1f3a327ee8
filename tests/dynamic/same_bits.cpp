// A network type and its config give the same bits: forward, backward, and training with every option.
#include "support/catch.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic.hpp>
#include <coldpress/dynamic/adapter.hpp>

#include <cstring>

namespace {

using namespace coldpress;

std::vector<float> noise(std::size_t count, std::uint64_t key) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 2 * RandomStream{key}.uniform(i) - 1;
  return values;
}

template <class A, class B>
bool same(A const& a, B const& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Every weight of a dynamic network equals that of the static one.
template <class Net>
bool same_weights(Net const& net, dynamic::Layer const& layer) {
  bool equal = static_cast<int>(layer.learnable_weights_data().size()) == Net::weight_count;
  for (int i = 0; i < Net::weight_count && equal; ++i) {
    std::vector<float> values(static_cast<std::size_t>(Net::weight_shape(i).size()));
    net.read_weight(i, values);
    equal = same(values, layer.learnable_weights_data()[static_cast<std::size_t>(i)].read());
  }
  return equal;
}

template <class Net, Shape in>
void check_forward_and_backward() {
  auto const config = dynamic::to_config<Net, in>();
  Network<Net, in> net{11};
  auto layer = dynamic::Layer::from_config(dynamic::Backend::like_static(), config, {}, 11);
  auto adapted = dynamic::Layer::adapt(Network<Net, in>{11});
  REQUIRE(same_weights(net, layer));
  REQUIRE(same_weights(net, adapted));
  Index const out = net.output_shape.size();
  std::uint64_t step = 0;
  for (Index batch : {1, 2, 7, 64, 3}) {
    auto const x = noise(static_cast<std::size_t>(batch * in.size()), 5);
    auto const dy = noise(static_cast<std::size_t>(batch * out), 6);
    for (auto* dynamic_layer : {&layer, &adapted}) {
      dynamic_layer->set_mode(dynamic::Mode::inference);
      REQUIRE(same(net.forward(x), dynamic_layer->forward(std::span<float const>{x})));
      dynamic_layer->set_mode(dynamic::Mode::training);
    }
    typename Network<Net, in>::TrainingWorkspace workspace;
    auto const y = net.forward_training(x, workspace, ++step);
    std::vector<float> const outputs{y.begin(), y.end()};
    auto const dx = net.backward(dy, workspace);
    dynamic::SharedTensor input{{batch, in.size()}}, gradient{{batch, out}};
    std::copy(x.begin(), x.end(), input.write_only().begin());
    std::copy(dy.begin(), dy.end(), gradient.write_only().begin());
    for (auto* dynamic_layer : {&layer, &adapted}) {
      REQUIRE(same(outputs, dynamic_layer->forward(input).read()));
      REQUIRE(same(dx, dynamic_layer->backward(gradient).read()));
      for (int i = 0; i < net.weight_count; ++i) {
        std::vector<float> expected(static_cast<std::size_t>(net.weight_shape(i).size()));
        net.read(workspace.gradients().data(), i, expected);
        REQUIRE(same(expected, dynamic_layer->learnable_weights_gradients()[static_cast<std::size_t>(i)].read()));
      }
    }
  }
}

template <class Net, Shape in, auto loss, SolverOptions options>
void check_training() {
  using Static = Network<Net, in>;
  Static net{12};
  Static fixed_bits{12};
  Solver<Static, loss, Sgd{.learning_rate = 0.05f, .momentum = 0.9f}, options> solver{net};
  dynamic::SolverConfig config{.network = dynamic::to_config<Net, in>(),
                               .objective = dynamic::LayerConfig{"loss", loss},
                               .base_lr = 0.05f,
                               .momentum = 0.9f};
  if (options.clip_gradients > 0) config.clip_gradients = options.clip_gradients;
  auto const backend = dynamic::Backend::like_static();
  auto other = dynamic::Solver::from_config(backend, backend, config, {}, 12);
  dynamic::Solver adapted{dynamic::Layer::adapt(fixed_bits), config};
  Index const targets = loss.target_shape(Static::output_shape).size();
  for (int step = 0; step < 12; ++step) {
    Index const batch = step % 5 == 4 ? 1 : 16 - step % 3;
    auto const x = noise(static_cast<std::size_t>(batch * in.size()), static_cast<std::uint64_t>(step));
    auto t = noise(static_cast<std::size_t>(batch * targets), static_cast<std::uint64_t>(100 + step));
    if (loss.target == Target::label) {
      for (float& label : t) label = std::floor((label + 1) / 2 * static_cast<float>(Static::output_shape.size()));
    }
    float const mean = solver.train_minibatch(x, t);
    REQUIRE(mean == other.train_minibatch(std::span<float const>{x}, std::span<float const>{t}));
    adapted.train_minibatch(std::span<float const>{x}, std::span<float const>{t});
    REQUIRE(same(solver.output(), other.network().executable().output()));
  }
  REQUIRE(same_weights(net, other.network()));
  // The adapter trains a static network in separate passes: the same sums, but softmax and loss apart.
  for (int i = 0; i < net.weight_count; ++i) {
    std::vector<float> a(static_cast<std::size_t>(net.weight_shape(i).size())), b = a;
    net.read_weight(i, a);
    fixed_bits.read_weight(i, b);
    for (std::size_t e = 0; e < a.size(); ++e) REQUIRE(a[e] == Approx(b[e]).margin(1e-5));
  }
}

using Mlp = Sequential<Linear{37}, ReLU{}, Linear{10}, LogSoftmax{}>;
using Deep = Sequential<Flatten{}, Linear{70}, TanH{}, Dropout{.probability = 0.3f}, Linear{33}, Sigmoid{}, Linear{5}>;
using Chained =
    Sequential<TanH{}, ReLU{}, Linear{19}, Sigmoid{}, TanH{}, ReLU{}, Reshape{Shape{1, 19}}, Linear{3}, TanH{}>;
using Nested = Sequential<Sequential<Linear{8}, ReLU{}>{}, Named<"head", Linear{4}>{}, Softmax{}>;
using Wide = Sequential<Linear{256}, Dropout{.probability = 0.5f}, ReLU{}, Linear{17}>;
// Values in blocks of images, in rows, and borders between them.
using Images =
    Sequential<Convolution{.num_output = 6, .filter_shape = 3, .padding = 1}, ReLU{},
               Pooling{.filter_shape = 2, .stride = 2}, Convolution{.num_output = 7, .filter_shape = 2},
               Pooling{.filter_shape = 2, .stride = 1}, TanH{}, BatchNormalization{},
               Convolution{.num_output = 5, .filter_shape = 3, .stride = 2, .padding = 2}, Sigmoid{},
               Dropout{.probability = 0.3f},
               Pooling{.mode = PoolingMode::average, .filter_shape = 3, .stride = 2, .padding = 1}, ReLU{}, Linear{4}>;

}  // namespace

TEST_CASE("forward and backward have the same bits") {
  check_forward_and_backward<Mlp, Shape{23}>();
  check_forward_and_backward<Deep, Shape{3, 5}>();
  check_forward_and_backward<Chained, Shape{12}>();
  check_forward_and_backward<Nested, Shape{1}>();
  check_forward_and_backward<Wide, Shape{65}>();
  check_forward_and_backward<Images, Shape{2, 9, 8}>();
}

TEST_CASE("training has the same bits") {
  check_training<Mlp, Shape{23}, NegativeLogLikelihood{10}, SolverOptions{}>();
  check_training<Mlp, Shape{23}, NegativeLogLikelihood{10}, SolverOptions{.clip_gradients = 0.5f}>();
  check_training<Deep, Shape{3, 5}, MeanSquaredError{}, SolverOptions{}>();
  check_training<Chained, Shape{12}, MeanSquaredError{}, SolverOptions{.clip_gradients = 0.1f}>();
  check_training<Nested, Shape{6}, NegativeLogLikelihood{4}, SolverOptions{}>();
  check_training<Wide, Shape{65}, MeanSquaredError{}, SolverOptions{}>();
  check_training<Images, Shape{2, 9, 8}, MeanSquaredError{}, SolverOptions{}>();
}
