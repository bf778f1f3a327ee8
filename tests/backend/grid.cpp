// The kernels of the GPU as loops on the host: the laws of every layer, with the threads in three orders.
#include "support/layer_laws.hpp"

#include <coldpress/backend/grid.hpp>

namespace coldpress::test {
namespace {

/// Forward, backward and training give the reference's numbers, and the same bits in every order of the threads.
template <class Net, Shape in>
void grid_law(Index batch, std::uint64_t seed, Violations& violations) {
  using N = Network<Net, in, DynamicBatch, Grid>;
  shape_law<Net, in, Grid>(batch, seed, violations);
  backend_law<Net, in, Grid>("grid's ", batch, seed, violations);
  auto const made = [&](grid::Order order) {
    grid::order() = order;
    auto const all = pass(random_network<N>(seed), batch, seed);
    auto result = all.output;
    result.insert(result.end(), all.input_gradient.begin(), all.input_gradient.end());
    result.insert(result.end(), all.gradients.begin(), all.gradients.end());
    if constexpr (N::weight_count > 0) {
      auto const after = trained<N, MeanSquaredError{}>(batch, seed, 2);
      result.insert(result.end(), after.begin(), after.end());
    }
    grid::order() = grid::Order::forward;
    return result;
  };
  auto const forward = made(grid::Order::forward);
  for (auto const order : {grid::Order::backward, grid::Order::shuffled})
    demand(same_bits(forward, made(order)), violations, "the order of threads changes something" + place<N>(batch));
}
template <class Net, Shape... shapes>
void check(std::initializer_list<Index> batches = {1, 2, 5, 33}) {
  Violations violations;
  for (Index batch : batches) (grid_law<Net, shapes>(batch, static_cast<std::uint64_t>(batch), violations), ...);
  check_none(violations);
}

TEST_CASE("dense layers") {
  check<Sequential<Linear{70}, ReLU{}, Linear{10}, LogSoftmax{}>, Shape{17}, Shape{130}>();
  check<Sequential<Linear{5}, TanH{}, Sigmoid{}, Dropout{}, Linear{100}, Softmax{}>, Shape{7}>();
  check<Sequential<Linear{.output_size = 70, .last_axis = true}, TanH{}, Linear{.output_size = 3, .has_bias = false}>,
        Shape{2, 3, 5}>();
}
TEST_CASE("convolution and pooling") {
  check<
      Sequential<Convolution{.num_output = 6, .filter_shape = {3, 5}, .stride = {2, 1}, .padding = {1, 2}, .groups = 2},
                 ReLU{}, Pooling{.filter_shape = 3, .stride = 2}, Linear{3}>,
      Shape{4, 9, 8}>();
  check<Sequential<Convolution{.num_output = 70, .filter_shape = 2, .dilation = 2, .has_bias = false},
                   Pooling{.mode = PoolingMode::average,
                           .filter_shape = {2, 3},
                           .stride = 2,
                           .padding = 1,
                           .rounding = Rounding::ceil}>,
        Shape{3, 8, 7}>();
  check<Sequential<Convolution{.num_output = 5, .filter_shape = 3, .dilation = 2}, TanH{}>, Shape{11, 4}>();
}
TEST_CASE("convolution of volumes") {
  check<Sequential<Convolution{.num_output = 6,
                               .filter_shape = {3, 1, 2},
                               .stride = {2, 1, 3},
                               .padding = {2, 0, 1},
                               .dilation = {1, 3, 2},
                               .groups = 2},
                   TanH{}, ConvolutionTranspose{.num_output = 3, .filter_shape = {2, 3, 1}, .stride = {3, 1, 2}}>,
        Shape{4, 5, 3, 6}>();
}
TEST_CASE("recurrent layers") {
  check<Sequential<Rnn{.hidden_size = 9}, Linear{2}>, Shape{6, 3}>();
  check<Sequential<Rnn{.hidden_size = 5,
                       .num_layers = 2,
                       .rnn_type = RnnType::gru,
                       .dropout_probability = 0.3f,
                       .direction_mode = DirectionMode::bi_directional,
                       .output = RnnOutput::last_step}>,
        Shape{4, 3}>();
  check<Sequential<Rnn{.hidden_size = 5,
                       .num_layers = 2,
                       .rnn_type = RnnType::gru,
                       .reset_after = false,
                       .dropout_probability = 0.3f,
                       .direction_mode = DirectionMode::bi_directional,
                       .output = RnnOutput::last_step}>,
        Shape{4, 3}>();
  check<Sequential<Rnn{.hidden_size = 300, .rnn_type = RnnType::gru, .reset_after = false, .truncation = 2}>,
        Shape{3, 2}>();
  check<Sequential<Rnn{.hidden_size = 300, .rnn_type = RnnType::tanh, .truncation = 2}>, Shape{3, 2}>();
  check<Sequential<Rnn{.hidden_size = 4,
                       .rnn_type = RnnType::relu,
                       .input_mode = InputMode::skip_input,
                       .output = RnnOutput::layers}>,
        Shape{5, 4}>();
}
TEST_CASE("the parts of split sums have room, and there are enough of them for a GPU") {
  for (Index count : {1, 2, 5, 40}) {
    for (Index m = 1; m < 9000; m = m * 3 / 2 + 1) {
      for (Index n = 1; n < 9000; n = n * 3 / 2 + 1) {
        for (Index k : {0, 1, 100, 128, 129, 5000, 16640, 1000000}) {
          grid::Products products{count, m, n, k};
          for (bool const flat : {false, true}) {
            if (flat && !products.flat()) continue;
            Index const splits = products.wanted_splits(flat),
                        tiles = flat ? products.tiles(32, 128) : products.tiles(64, 64);
            REQUIRE(splits >= 1);
            REQUIRE((splits == 1 || splits * count * m * n <= Grid::partial_sums_capacity));
            if (tiles >= grid::Products::enough || k <= 128) REQUIRE(splits == 1);
            if (k == 1000000) REQUIRE((splits + 1) * tiles > grid::Products::enough);
            products.splits = splits;
            REQUIRE((splits == 1 || (splits - 1) * products.terms() < k));  // no part is empty
          }
        }
      }
    }
  }
}
TEST_CASE("normalisations") {
  check<Sequential<BatchNormalization{}, ReLU{}, Linear{3}>, Shape{3, 4, 4}>();
  check<Sequential<BatchNormalization{}, ReLU{}>, Shape{5}>({5, 33});  // of two values little is left
  check<Sequential<LayerNormalization{}, Linear{3}>, Shape{4, 20}>();
  check<Sequential<BatchNormalization{.axis = -1}, ReLU{}>, Shape{4, 5}>();
  check<Sequential<RMSNormalization{}, TanH{}>, Shape{4, 20}, Shape{70}>();
  check<Sequential<GroupNormalization{.groups = 2}, Linear{3}>, Shape{4, 5, 9}, Shape{6}>();
  check<Sequential<GroupNormalization{.groups = 0}, TanH{}>, Shape{3, 70}>();
  check<Sequential<LRN{}, TanH{}>, Shape{7, 3, 3}>();
  check<Sequential<LRN{.size = 3, .mode = LRNMode::within}>, Shape{2, 5, 5}>();
}
TEST_CASE("layers of plain loops") {  // each before another layer; that has no products, which take long to compile
  check<Sequential<Crop{.size = 3, .random_crop = true, .random_mirror = true}, TanH{}>, Shape{2, 5, 6}>();
  check<Sequential<ChannelPooling{.filter_size = 2, .stride = 2}, TanH{}>, Shape{5, 3}>();
  check<Sequential<Permute{{1, 0}}, SoftmaxOver{.axis = 1}, TanH{}>, Shape{5, 80}>();
  check<Sequential<Expand{{2, 3, 4, 5}}, TanH{}>, Shape{3, 1, 5}>();
  check<Sequential<Slice{.begin = 1}, Reduce{.axis = 1}, TanH{}>, Shape{5, 3}>();
  check<Sequential<Slice{.axis = 1, .begin = 1}, Reduce{.operation = ReduceOperation::mean}, TanH{}>, Shape{3, 4, 2}>();
  check<Sequential<ChannelPooling{.mode = PoolingMode::average, .filter_size = 3, .padding = 1, .axis = 1}, TanH{}>,
        Shape{3, 5, 2}>();
  check<Sequential<GlobalAveragePooling{}, TiedLinear{4}>, Shape{5, 3, 3}>();
  check<Sequential<LearnedPositions{.most = 7}, SinusoidalPositions{}, TanH{}>, Shape{5, 3}>();
  check<Sequential<RotaryPositions{.size = 6, .heads = 2, .rotated = 4}, RotaryPositions{.interleaved = true}, TanH{}>,
        Shape{5, 18}>();
  check<Sequential<Linear{12}, PReLU{}, TanH{}>, Shape{3}>({1, 2, 5});
  check<Sequential<PReLU{.num_parameters = 3, .axis = 1}, TanH{}>, Shape{2, 3, 4}>();
  check<Sequential<Glu{.gate = GluGate::gelu}, TanH{}>, Shape{3, 10}>();
  check<Sequential<Linear{24}, Reshape{{4, 6}}, Glu{.axis = 0}, TanH{}>, Shape{3}>();
  check<Sequential<Reduce{.operation = ReduceOperation::max, .axis = 1}, TanH{}>, Shape{5, 3}>();
  check<Sequential<Reduce{.operation = ReduceOperation::min}, TanH{}>, Shape{3, 4, 2}>();
  check<Sequential<Linear{12}, Reshape{{3, 4}}, Reduce{.operation = ReduceOperation::prod}, TanH{}>, Shape{3}>();
  check<Sequential<Linear{24}, Reshape{{2, 4, 3}}, TopK{.k = 3, .axis = 1}, TanH{}>, Shape{3}>();
}
TEST_CASE("transposed convolutions, and layers that pad and resize") {
  check<Sequential<ConvolutionTranspose{.num_output = 4,
                                        .filter_shape = {3, 2},
                                        .stride = 2,
                                        .padding = {1, 0},
                                        .output_padding = {1, 0},
                                        .groups = 2},
                   ReLU{}, Linear{2}>,
        Shape{2, 4, 3}>();
  check<Sequential<Convolution{.num_output = 3, .filter_shape = 2},
                   ConvolutionTranspose{.num_output = 5, .filter_shape = 3, .dilation = 2, .has_bias = false}>,
        Shape{2, 4, 3}>();
  check<Sequential<Convolution{.num_output = 3, .filter_shape = 2},
                   Pad{.mode = PadMode::reflect, .before = {2, 1}, .after = {0, 1}},
                   Pad{.mode = PadMode::replicate, .axis = 0, .before = {0, 1, 2}, .after = 2},
                   Pad{.axis = -1, .before = 1, .value = 3}, Linear{2}>,
        Shape{2, 4, 3}>();
  check<Sequential<Convolution{.num_output = 3, .filter_shape = 2}, Resize{.factor = {2, 3}},
                   Resize{.mode = ResizeMode::linear, .size = {4, 9}}, Linear{2}>,
        Shape{2, 4, 3}>();
}
TEST_CASE("layers of several inputs") {
  check<Graph<graph([](auto x) {
          auto const a = x | Linear{20}, b = x | Linear{20};
          return apply(Where{}, b | ReLU{}, a, b);
        })>,
        Shape{4}>();
  check<Graph<graph([](auto x) {
          auto const rows = x | Linear{30} | Reshape{{5, 6}};
          return apply(Gather{.axis = 1}, rows, x | Linear{28} | Reshape{{7, 4}} | Argmax{.axis = -1});
        })>,
        Shape{4}>();
  check<Graph<graph([](auto x) {
          auto const a = x | Linear{20}, b = x | Linear{20};
          return apply(Max{}, a, b) - apply(Min{}, a, b);
        })>,
        Shape{4}>();
  check<Graph<graph([](auto x) {
          return apply(Concat{.axis = 1}, x | Linear{6} | Reshape{{3, 2}}, x | Linear{15} | Reshape{{3, 5}},
                       x | Linear{3} | Reshape{{3, 1}});
        })>,
        Shape{4}>();
  check<Graph<graph([](auto x) {
          return apply(MatMul{.scale = 0.5f}, x | Linear{24} | Reshape{{2, 4, 3}}, x | Linear{30} | Reshape{{2, 3, 5}});
        })>,
        Shape{4}>();
  check<Graph<graph([](auto x) {
          return apply(MatMul{.transpose = true}, x | Linear{24} | Reshape{{2, 4, 3}},
                       x | Linear{30} | Reshape{{2, 5, 3}});
        })>,
        Shape{4}>();
}
TEST_CASE("embeddings add up gradients in the order of the samples") {
  constexpr Embedding layer{.vocabulary = 7, .features = 5};
  constexpr Index batch = 9, numbers = 4, size = numbers * layer.features;
  Random random{3};
  std::vector<float> x(batch * numbers), dy = random.values<float>(batch * size),
                                         weight = random.values<float>(layer.vocabulary * layer.features);
  for (float& number : x) number = static_cast<float>(random.integer(-1, layer.vocabulary));
  auto const made = [&](auto backend) {
    // A backend may write whole vectors, as far as the space of a parameter goes.
    auto const space = static_cast<std::size_t>(padded_pitch(layer.vocabulary * layer.features));
    std::vector<float> scratch(space), memory(x.size()), y(dy.size()), gradient(space);
    backend.scratch = scratch.data();
    struct {
      Rows<float const> x;
      float const* p[1];
      Rows<float> y;
      Rows<float const> dy;
      GradientSink<float> sinks[1];
      float* memory;
    } const pass{{x.data(), batch, numbers, numbers}, {weight.data()},     {y.data(), batch, size, size},
                 {dy.data(), batch, size, size},      {{gradient.data()}}, memory.data()};
    layer.forward(backend, pass);
    layer.backward_parameters(backend, pass);
    gradient.resize(weight.size());
    y.insert(y.end(), gradient.begin(), gradient.end());
    return y;
  };
  CHECK(same_bits(made(Grid{}), made(Cpu{})));
}
TEST_CASE("samples that need scratch of their own are as many at a time as there is scratch for") {
  constexpr LRN layer{.size = 3, .mode = LRNMode::within};
  constexpr Shape in{2, 4, 5};
  constexpr Index batch = 5, own = layer.scratch<Grid>(in, {true, true}), size = in.size();
  Random random{4};
  std::vector<float> const x = random.values<float>(batch * size), dy = random.values<float>(batch * size);
  auto const made = [&](int workers) {
    std::vector<float> scratch(static_cast<std::size_t>(workers * own + 1), 77.0f), y(x.size()), dx(x.size()),
        memory(x.size());
    Grid grid;
    grid.scratch = scratch.data(), grid.workers = workers, grid.own_scratch = own;
    struct {
      Shape in;
      Rows<float const> x;
      Rows<float> y;
      Rows<float const> dy;
      Rows<float> dx;
      float* memory;
    } const pass{in,
                 {x.data(), batch, size, size},
                 {y.data(), batch, size, size},
                 {dy.data(), batch, size, size},
                 {dx.data(), batch, size, size},
                 memory.data()};
    layer.forward(grid, pass);
    layer.backward_input(grid, pass);
    CHECK(scratch.back() == 77.0f);
    y.insert(y.end(), dx.begin(), dx.end());
    return y;
  };
  std::vector<float> const all = made(batch);
  for (int const workers : {1, 2, 3}) CHECK(same_bits(made(workers), all));
}

}  // namespace
}  // namespace coldpress::test
