// Layers that work along an axis give PyTorch's values, forward and backward.
#include "support/golden_layers.hpp"

using namespace coldpress;

namespace {
template <Layer auto layer, Shape in>
void check(std::string const& name) {
  test::check_golden_layer<layer, in>(name, "compute.txt");
}
}  // namespace

TEST_CASE("LRN is PyTorch's, across channels and within them") {
  check<LRN{.size = 5, .scale = 0.5f, .shift = 2}, Shape{7, 2, 3}>("lrn_across");
  check<LRN{.size = 4, .scale = 1.5f, .power = 0.625f}, Shape{6, 2, 1}>("lrn_across_even");
  check<LRN{.size = 3}, Shape{9}>("lrn_row");
  check<LRN{.size = 3, .scale = 0.5f, .mode = LRNMode::within}, Shape{2, 4, 5}>("lrn_within");
  check<LRN{.size = 5, .shift = 2, .power = 1.25f, .mode = LRNMode::within}, Shape{2, 2, 3}>("lrn_within_wide");
}
TEST_CASE("ChannelPooling is PyTorch's over padded windows") {
  check<ChannelPooling{.filter_size = 3, .stride = 2, .padding = {1, 0}}, Shape{7, 2, 3}>("channel_max");
  check<ChannelPooling{.filter_size = 3, .stride = 2}, Shape{6, 2}>("channel_max_ceil");
  check<ChannelPooling{.mode = PoolingMode::average, .filter_size = 3, .stride = 2, .padding = 1, .axis = -1},
        Shape{3, 6}>("channel_average");
  check<ChannelPooling{.mode = PoolingMode::average, .filter_size = 3, .stride = 3, .padding = {0, 2}}, Shape{8, 3}>(
      "channel_average_ceil");
}
TEST_CASE("Crop and Slice are PyTorch's slices") {
  check<Crop{.size = 3}, Shape{2, 5, 7}>("crop");
  check<Crop{.size = {2, 3}}, Shape{4, 3}>("crop_plane");
  check<Slice{.axis = 1, .begin = 1, .end = 4}, Shape{3, 5, 2}>("slice_middle");
  check<Slice{.begin = -2}, Shape{7}>("slice_last");
}
TEST_CASE("Reduce and GlobalAveragePooling are PyTorch's") {
  check<Reduce{.axis = 1}, Shape{3, 4, 2}>("sum_middle");
  check<Reduce{.operation = ReduceOperation::mean, .axis = -1}, Shape{3, 19}>("mean_last");
  check<Reduce{}, Shape{7}>("sum_row");
  check<GlobalAveragePooling{}, Shape{3, 4, 5}>("global_average");
}
TEST_CASE("SoftmaxOver is PyTorch's") {
  check<SoftmaxOver{}, Shape{5, 2, 3}>("softmax_channels");
  check<SoftmaxOver{.axis = -1, .logarithm = true}, Shape{3, 17}>("log_softmax_last");
  check<SoftmaxOver{.axis = 1, .logarithm = true}, Shape{2, 4, 3}>("log_softmax_middle");
}
TEST_CASE("LayerNormalization is PyTorch's") {
  check<LayerNormalization{.epsilon = 0x1p-10f}, Shape{19}>("layer_norm_row");
  check<LayerNormalization{.epsilon = 0x1p-10f}, Shape{3, 2, 5}>("layer_norm_last");
}
TEST_CASE("Argmax, Onehot and Embedding are PyTorch's") {
  check<Argmax{}, Shape{5, 2, 3}>("argmax_channels");
  check<Argmax{.axis = -1}, Shape{3, 9}>("argmax_last");
  check<Onehot{.num_classes = 4}, Shape{1, 2, 3}>("onehot");
  check<Embedding{.vocabulary = 6, .features = 3}, Shape{5}>("embedding");
}
TEST_CASE("PReLU is PyTorch's, with one slope, one for each channel, and one for each feature of a step") {
  check<PReLU{}, Shape{3, 4}>("prelu");
  check<PReLU{.num_parameters = 3}, Shape{3, 2, 4}>("prelu_channels");
  check<PReLU{.num_parameters = 5, .axis = -1}, Shape{3, 5}>("prelu_features");
}
TEST_CASE("Glu is PyTorch's with each of its gates") {
  check<Glu{}, Shape{14}>("glu");
  check<Glu{.axis = 0}, Shape{6, 2, 3}>("glu_channels");
  check<Glu{.gate = GluGate::tanh}, Shape{3, 38}>("glu_tanh");
  check<Glu{.gate = GluGate::relu}, Shape{3, 38}>("glu_relu");
  check<Glu{.gate = GluGate::silu}, Shape{3, 38}>("glu_silu");
  check<Glu{.gate = GluGate::gelu}, Shape{3, 38}>("glu_gelu");
  check<Glu{.gate = GluGate::gelu_approximate}, Shape{3, 38}>("glu_gelu_approximate");
}
TEST_CASE("RMSNormalization is PyTorch's") {
  check<RMSNormalization{.epsilon = 0x1p-10f}, Shape{19}>("rms_norm_row");
  check<RMSNormalization{.epsilon = 0x1p-10f}, Shape{3, 2, 5}>("rms_norm_last");
}
TEST_CASE("GroupNormalization is PyTorch's GroupNorm and InstanceNorm") {
  check<GroupNormalization{.groups = 3, .epsilon = 0x1p-10f}, Shape{6, 3, 2}>("group_norm");
  check<GroupNormalization{.groups = 2, .epsilon = 0x1p-10f}, Shape{8}>("group_norm_row");
  check<GroupNormalization{.groups = 0, .epsilon = 0x1p-10f}, Shape{3, 4, 5}>("instance_norm");
}
TEST_CASE("maxima, minima and products of Reduce are PyTorch's") {
  check<Reduce{.operation = ReduceOperation::max, .axis = 1}, Shape{3, 4, 2}>("max_middle");
  check<Reduce{.operation = ReduceOperation::min, .axis = -1}, Shape{3, 19}>("min_last");
  check<Reduce{.operation = ReduceOperation::prod, .axis = 1}, Shape{3, 4, 2}>("prod_middle");
  check<Reduce{.operation = ReduceOperation::prod, .axis = -1}, Shape{3, 6}>("prod_last");
}
TEST_CASE("TopK is PyTorch's") {
  check<TopK{.k = 4}, Shape{19}>("top_k_row");
  check<TopK{.k = 3, .axis = 1}, Shape{3, 5, 2}>("top_k_middle");
}
TEST_CASE("LearnedPositions and SinusoidalPositions are what PyTorch computes") {
  check<LearnedPositions{.most = 6}, Shape{4, 5}>("learned_positions");
  check<SinusoidalPositions{.base = 1000}, Shape{7, 6}>("sinusoidal_positions_6");
  check<SinusoidalPositions{.base = 1000}, Shape{7, 5}>("sinusoidal_positions_5");
}
TEST_CASE("RotaryPositions are complex factors, and what GPT-NeoX computes") {
  check<RotaryPositions{.base = 1000}, Shape{7, 6}>("rotary_positions");
  check<RotaryPositions{.base = 1000, .interleaved = true}, Shape{7, 6}>("rotary_positions_interleaved");
  check<RotaryPositions{.size = 8, .heads = 2, .rotated = 4, .base = 1000}, Shape{5, 24}>("rotary_positions_heads");
}
TEST_CASE("Expand is PyTorch's") {
  check<Expand{{3, 4, 5}}, Shape{3, 1, 1}>("expand_positions");
  check<Expand{{3, 5}}, Shape{5}>("expand_steps");
}
TEST_CASE("Pad is PyTorch's functional.pad") {
  constexpr auto reflect = PadMode::reflect, replicate = PadMode::replicate;
  check<Pad{.mode = reflect, .before = {2, 1}, .after = {0, 3}}, Shape{2, 4, 5}>("pad_reflect");
  check<Pad{.mode = replicate, .before = {2, 1}, .after = {0, 3}}, Shape{2, 4, 5}>("pad_replicate");
  check<Pad{.mode = reflect, .axis = -3, .before = {2, 0, 3}, .after = 1}, Shape{2, 3, 2, 4}>("pad_reflect_volume");
  check<Pad{.mode = replicate, .axis = 1, .before = {2, 0, 3}, .after = 1}, Shape{2, 3, 2, 4}>("pad_replicate_volume");
  check<Pad{.before = {2, 1}, .after = {3, 0}, .value = 0.75f}, Shape{2, 3, 4}>("pad_constant");
  check<Pad{.axis = 0, .before = {1, 0, 0}, .after = {2, 0, 0}}, Shape{3, 2, 2}>("pad_channels");
  check<Pad{.axis = 0, .before = 2, .after = 1, .value = -1}, Shape{4}>("pad_row");
}
TEST_CASE("Resize is PyTorch's interpolate") {
  constexpr auto linear = ResizeMode::linear;
  check<Resize{.factor = {2, 3}}, Shape{2, 3, 4}>("resize_nearest");
  check<Resize{.size = {8, 3}}, Shape{3, 5, 7}>("resize_nearest_size");
  check<Resize{.mode = linear, .factor = 2}, Shape{2, 3, 4}>("resize_linear_larger");
  check<Resize{.mode = linear, .size = {3, 9}}, Shape{3, 7, 5}>("resize_linear_other");
  check<Resize{.mode = linear, .size = {3, 1}}, Shape{2, 1, 4}>("resize_linear_one");
  check<Resize{.mode = linear, .size = 7}, Shape{4, 3}>("resize_steps");
  check<Resize{.factor = 2}, Shape{5, 2}>("resize_steps_nearest");
}
