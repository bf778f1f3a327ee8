// The kernels of the GPU as loops on the host: products, convolutions, recurrent layers, normalisations and scratch.
#include "backend/grid_laws.hpp"

#include <coldpress/compiled_in.hpp>

namespace coldpress::test {
namespace {

TEST_CASE("dense layers") {
  check_grid_at_night<Sequential<Linear{70}, ReLU{}, Linear{10}, LogSoftmax{}>, Shape{17}, Shape{130}>();
  check_grid<Sequential<Linear{5}, TanH{}, Sigmoid{}, Dropout{}, Linear{100}, Softmax{}>, Shape{7}>();
  check_grid_at_night<
      Sequential<Linear{.output_size = 70, .last_axis = true}, TanH{}, Linear{.output_size = 3, .has_bias = false}>,
      Shape{2, 3, 5}>();
}
TEST_CASE("convolution and pooling") {
  check_grid<
      Sequential<Convolution{.num_output = 6, .filter_shape = {3, 5}, .stride = {2, 1}, .padding = {1, 2}, .groups = 2},
                 ReLU{}, Pooling{.filter_shape = 3, .stride = 2}, Linear{3}>,
      Shape{4, 9, 8}>();
  check_grid_at_night<Sequential<Convolution{.num_output = 70, .filter_shape = 2, .dilation = 2, .has_bias = false},
                                 Pooling{.mode = PoolingMode::average,
                                         .filter_shape = {2, 3},
                                         .stride = 2,
                                         .padding = 1,
                                         .rounding = Rounding::ceil}>,
                      Shape{3, 8, 7}>();
  check_grid_at_night<Sequential<Convolution{.num_output = 5, .filter_shape = 3, .dilation = 2}, TanH{}>,
                      Shape{11, 4}>();
}
#if COLDPRESS_NIGHTLY
TEST_CASE("convolution of volumes") {
  check_grid<Sequential<Convolution{.num_output = 6,
                                    .filter_shape = {3, 1, 2},
                                    .stride = {2, 1, 3},
                                    .padding = {2, 0, 1},
                                    .dilation = {1, 3, 2},
                                    .groups = 2},
                        TanH{}, ConvolutionTranspose{.num_output = 3, .filter_shape = {2, 3, 1}, .stride = {3, 1, 2}}>,
             Shape{4, 5, 3, 6}>();
}
#endif
TEST_CASE("recurrent layers") {
  check_grid_at_night<Sequential<Rnn{.hidden_size = 9}, Linear{2}>, Shape{6, 3}>();
  check_grid<Sequential<Rnn{.hidden_size = 5,
                            .num_layers = 2,
                            .rnn_type = RnnType::gru,
                            .dropout_probability = 0.3f,
                            .direction_mode = DirectionMode::bi_directional,
                            .output = RnnOutput::last_step}>,
             Shape{4, 3}>();
  check_grid_at_night<Sequential<Rnn{.hidden_size = 5,
                                     .num_layers = 2,
                                     .rnn_type = RnnType::gru,
                                     .reset_after = false,
                                     .dropout_probability = 0.3f,
                                     .direction_mode = DirectionMode::bi_directional,
                                     .output = RnnOutput::last_step}>,
                      Shape{4, 3}>();
  check_grid_at_night<
      Sequential<Rnn{.hidden_size = 300, .rnn_type = RnnType::gru, .reset_after = false, .truncation = 2}>,
      Shape{3, 2}>();
  check_grid_at_night<Sequential<Rnn{.hidden_size = 300, .rnn_type = RnnType::tanh, .truncation = 2}>, Shape{3, 2}>();
  check_grid_at_night<Sequential<Rnn{.hidden_size = 4,
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
  check_grid<Sequential<BatchNormalization{}, ReLU{}, Linear{3}>, Shape{3, 4, 4}>();
  check_grid_at_night<Sequential<BatchNormalization{}, ReLU{}>, Shape{5}>({5, 33});  // of two values little is left
  check_grid_at_night<Sequential<LayerNormalization{}, Linear{3}>, Shape{4, 20}>();
  check_grid_at_night<Sequential<BatchNormalization{.axis = -1}, ReLU{}>, Shape{4, 5}>();
  check_grid_at_night<Sequential<RMSNormalization{}, TanH{}>, Shape{4, 20}, Shape{70}>();
  check_grid_at_night<Sequential<GroupNormalization{.groups = 2}, Linear{3}>, Shape{4, 5, 9}, Shape{6}>();
  check_grid_at_night<Sequential<GroupNormalization{.groups = 0}, TanH{}>, Shape{3, 70}>();
  check_grid_at_night<Sequential<LRN{}, TanH{}>, Shape{7, 3, 3}>();
  check_grid_at_night<Sequential<LRN{.size = 3, .mode = LRNMode::within}>, Shape{2, 5, 5}>();
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
