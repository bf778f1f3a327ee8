// The kernels of the GPU as loops on the host: layers that are plain loops, rearrange values or have several inputs.
#include "backend/grid_laws.hpp"

namespace coldpress::test {
namespace {

TEST_CASE("layers of plain loops") {  // each before another layer; that has no products, which take long to compile
  check_grid_passes_at_night<Sequential<Crop{.size = 3, .random_crop = true, .random_mirror = true}, TanH{}>,
                             Shape{2, 5, 6}>();
  check_grid_passes_at_night<Sequential<ChannelPooling{.filter_size = 2, .stride = 2}, TanH{}>, Shape{5, 3}>();
  check_grid_passes_at_night<Sequential<Permute{{1, 0}}, SoftmaxOver{.axis = 1}, TanH{}>, Shape{5, 80}>();
  check_grid_passes_at_night<Sequential<Expand{{2, 3, 4, 5}}, TanH{}>, Shape{3, 1, 5}>();
  check_grid_passes_at_night<Sequential<Slice{.begin = 1}, Reduce{.axis = 1}, TanH{}>, Shape{5, 3}>();
  check_grid_passes_at_night<
      Sequential<Slice{.axis = 1, .begin = 1}, Reduce{.operation = ReduceOperation::mean}, TanH{}>, Shape{3, 4, 2}>();
  check_grid_passes_at_night<
      Sequential<ChannelPooling{.mode = PoolingMode::average, .filter_size = 3, .padding = 1, .axis = 1}, TanH{}>,
      Shape{3, 5, 2}>();
  check_grid_at_night<Sequential<GlobalAveragePooling{}, TiedLinear{4}>, Shape{5, 3, 3}>();
  check_grid_at_night<Sequential<LearnedPositions{.most = 7}, SinusoidalPositions{}, TanH{}>, Shape{5, 3}>();
  check_grid_passes_at_night<
      Sequential<RotaryPositions{.size = 6, .heads = 2, .rotated = 4}, RotaryPositions{.interleaved = true}, TanH{}>,
      Shape{5, 18}>();
  check_grid_at_night<Sequential<Linear{12}, PReLU{}, TanH{}>, Shape{3}>({1, 2, 5});
  check_grid<Sequential<PReLU{.num_parameters = 3, .axis = 1}, TanH{}>, Shape{2, 3, 4}>();
  check_grid_passes<Sequential<Glu{.gate = GluGate::gelu}, TanH{}>, Shape{3, 10}>();
  check_grid_passes_at_night<Sequential<Linear{24}, Reshape{{4, 6}}, Glu{.axis = 0}, TanH{}>, Shape{3}>();
  check_grid_passes_at_night<Sequential<Reduce{.operation = ReduceOperation::max, .axis = 1}, TanH{}>, Shape{5, 3}>();
  check_grid_passes_at_night<Sequential<Reduce{.operation = ReduceOperation::min}, TanH{}>, Shape{3, 4, 2}>();
  check_grid_passes_at_night<
      Sequential<Linear{12}, Reshape{{3, 4}}, Reduce{.operation = ReduceOperation::prod}, TanH{}>, Shape{3}>();
  check_grid_passes_at_night<Sequential<Linear{24}, Reshape{{2, 4, 3}}, TopK{.k = 3, .axis = 1}, TanH{}>, Shape{3}>();
}
TEST_CASE("transposed convolutions, and layers that pad and resize") {
  check_grid<Sequential<ConvolutionTranspose{.num_output = 4,
                                             .filter_shape = {3, 2},
                                             .stride = 2,
                                             .padding = {1, 0},
                                             .output_padding = {1, 0},
                                             .groups = 2},
                        ReLU{}, Linear{2}>,
             Shape{2, 4, 3}>();
  check_grid_passes_at_night<
      Sequential<Convolution{.num_output = 3, .filter_shape = 2},
                 ConvolutionTranspose{.num_output = 5, .filter_shape = 3, .dilation = 2, .has_bias = false}>,
      Shape{2, 4, 3}>();
  check_grid_passes_at_night<Sequential<Convolution{.num_output = 3, .filter_shape = 2},
                                        Pad{.mode = PadMode::reflect, .before = {2, 1}, .after = {0, 1}},
                                        Pad{.mode = PadMode::replicate, .axis = 0, .before = {0, 1, 2}, .after = 2},
                                        Pad{.axis = -1, .before = 1, .value = 3}, Linear{2}>,
                             Shape{2, 4, 3}>();
  check_grid_passes_at_night<Sequential<Convolution{.num_output = 3, .filter_shape = 2}, Resize{.factor = {2, 3}},
                                        Resize{.mode = ResizeMode::linear, .size = {4, 9}}, Linear{2}>,
                             Shape{2, 4, 3}>();
}
TEST_CASE("layers of several inputs") {
  check_grid_passes<Graph<graph([](auto x) {
                      auto const a = x | Linear{20}, b = x | Linear{20};
                      return apply(Where{}, b | ReLU{}, a, b);
                    })>,
                    Shape{4}>();
  check_grid_passes_at_night<
      Graph<graph([](auto x) {
        auto const rows = x | Linear{30} | Reshape{{5, 6}};
        return apply(Gather{.axis = 1}, rows, x | Linear{28} | Reshape{{7, 4}} | Argmax{.axis = -1});
      })>,
      Shape{4}>();
  check_grid_passes_at_night<Graph<graph([](auto x) {
                               auto const a = x | Linear{20}, b = x | Linear{20};
                               return apply(Max{}, a, b) - apply(Min{}, a, b);
                             })>,
                             Shape{4}>();
  check_grid_passes_at_night<Graph<graph([](auto x) {
                               return apply(Concat{.axis = 1}, x | Linear{6} | Reshape{{3, 2}},
                                            x | Linear{15} | Reshape{{3, 5}}, x | Linear{3} | Reshape{{3, 1}});
                             })>,
                             Shape{4}>();
  check_grid_passes<
      Graph<graph([](auto x) {
        return apply(MatMul{.scale = 0.5f}, x | Linear{24} | Reshape{{2, 4, 3}}, x | Linear{30} | Reshape{{2, 3, 5}});
      })>,
      Shape{4}>();
  check_grid_passes_at_night<Graph<graph([](auto x) {
                               return apply(MatMul{.transpose = true}, x | Linear{24} | Reshape{{2, 4, 3}},
                                            x | Linear{30} | Reshape{{2, 5, 3}});
                             })>,
                             Shape{4}>();
}
}  // namespace
}  // namespace coldpress::test
