#include "support/equivalence.hpp"

using namespace coldpress;

TEST_CASE("LRN, ChannelPooling, Crop and GlobalAveragePooling are the same as types, as a config and in a file") {
  test::check_equivalence<
      Sequential<Linear{6 * 5 * 7}, Reshape{Shape{6, 5, 7}}, LRN{.size = 3}, TanH{},
                 ChannelPooling{.filter_size = 3, .stride = 2, .padding = {1, 0}},
                 LRN{.size = 3, .power = 0.6f, .mode = LRNMode::within},
                 Crop{.size = {3, 4}, .random_crop = true, .random_mirror = true, .seed = 7},
                 ChannelPooling{.mode = PoolingMode::average, .filter_size = 2, .axis = -1}, GlobalAveragePooling{}>,
      Shape{3}>();
}
TEST_CASE("Slice, Reduce, SoftmaxOver and LayerNormalization are the same as types, as a config and in a file") {
  test::check_equivalence<
      Sequential<Linear{4 * 19}, Reshape{Shape{4, 19}}, LayerNormalization{}, Slice{.begin = 1},
                 SoftmaxOver{.axis = -1}, SoftmaxOver{.logarithm = true}, LayerNormalization{},
                 Reduce{.operation = ReduceOperation::mean, .axis = 0}, Sigmoid{}, Linear{3}, Reduce{}>,
      Shape{5}>();
}
TEST_CASE("Expand is the same as a type, as a config and in a file") {
  test::check_equivalence<Sequential<Linear{5}, Expand{{4, 5}}, TanH{}, Linear{2}>, Shape{3}>();
}
TEST_CASE("Linear along the last axis is the same as a type, as a config and in a file") {
  test::check_equivalence<Sequential<Linear{.output_size = 5, .last_axis = true}, TanH{},
                                     Linear{.output_size = 1, .has_bias = false, .last_axis = true},
                                     Linear{.output_size = 3, .has_bias = false}>,
                          Shape{4, 7}>();
}
TEST_CASE("ScaledDotProductAttention is the same as a type, as a config and in a file") {
  test::check_equivalence<
      Sequential<Linear{5 * 24}, Reshape{Shape{5, 24}},
                 ScaledDotProductAttention{.heads = 4, .kv_heads = 2, .causal = true, .window = 3, .scale = 0.5f},
                 Linear{3}>,
      Shape{3}>();
}
TEST_CASE("Argmax, Onehot and Embedding are the same as types, as a config and in a file") {
  test::check_equivalence<Sequential<Linear{12}, Reshape{Shape{3, 4}}, Argmax{.axis = -1},
                                     Embedding{.vocabulary = 4, .features = 5}, TanH{}, Linear{2}>,
                          Shape{3}>();
  test::check_equivalence<
      Sequential<Linear{12}, Reshape{Shape{3, 4}}, Argmax{.axis = -1}, Onehot{.num_classes = 4, .axis = 1}, Linear{2}>,
      Shape{3}>();
}
TEST_CASE("gates, learned slopes and normalisations are the same as types, as a config and in a file") {
  test::check_equivalence<
      Sequential<Linear{4 * 38}, Reshape{Shape{4, 38}}, RMSNormalization{}, Glu{.gate = GluGate::silu},
                 BatchNormalization{.axis = -1}, PReLU{.num_parameters = 19, .axis = -1}, Mish{}, Linear{12},
                 Reshape{Shape{6, 2}}, GroupNormalization{.groups = 3}, HardSigmoid{}, GroupNormalization{.groups = 0},
                 PReLU{}, LogSigmoid{}, Glu{.gate = GluGate::gelu_approximate, .axis = 0},
                 Clip{.min = -3, .max = -0.1f}, Linear{3}>,
      Shape{5}>();
}
TEST_CASE("positions are the same as types, as a config and in a file") {
  test::check_equivalence<Sequential<Linear{4 * 6}, Reshape{Shape{4, 6}}, LearnedPositions{.most = 5}, TanH{},
                                     SinusoidalPositions{}, RotaryPositions{.size = 2, .interleaved = true}, Linear{3}>,
                          Shape{5}>();
}
TEST_CASE("maxima, minima and products are the same as types, as a config and in a file") {
  test::check_equivalence<
      Sequential<Linear{3 * 4 * 5}, Reshape{Shape{3, 4, 5}}, Reduce{.operation = ReduceOperation::max, .axis = 1},
                 Linear{12}, Reshape{Shape{3, 4}}, Reduce{.operation = ReduceOperation::prod, .axis = -1}, Linear{6},
                 Reduce{.operation = ReduceOperation::min}>,
      Shape{5}>();
  constexpr auto joins = graph([](auto x) {
    auto const a = x | Linear{20} | TanH{}, b = x | Linear{20}, c = x | Linear{20};
    return apply(Min{}, apply(Max{}, a, b) | Sigmoid{}, c) | Linear{2};
  });
  test::check_equivalence<Graph<joins>, Shape{5}>();
}
TEST_CASE("Where, Gather and TopK are the same as types, as a config and in a file") {
  constexpr auto chosen = graph([](auto x) {
    auto const a = x | Linear{20} | TanH{}, b = x | Linear{20};
    auto const rows = apply(Where{}, b | ReLU{}, a, b) | Reshape{{4, 5}} | TopK{.k = 3, .axis = -1};
    auto const places = x | Linear{28} | Reshape{{7, 4}} | Argmax{.axis = -1};
    return apply(Gather{}, rows, places) | TopK{.k = 6} | Linear{2};
  });
  test::check_equivalence<Graph<chosen>, Shape{5}>();
}
TEST_CASE("an axis that a sample does not have is an error that names the layer") {
  dynamic::SequentialConfig config;
  config.add_input("data", {3}).add_layer({"tail", Slice{.axis = 1}});
  try {
    dynamic::Layer::from_config(dynamic::Backend::like_static(), {"network", config});
    FAIL("built");
  } catch (ShapeError const& error) {
    std::string const text = error.what();
    INFO(text);
    CHECK(text.find("tail") != std::string::npos);
    CHECK(text.find("no axis of this number") != std::string::npos);
  }
}
