// Small networks that have every layer which write_onnx writes, in all its forms.
#pragma once

#include "convert/onnx_case.hpp"
#include "convert/onnx_sequence_cases.hpp"

namespace onnx_cases {

inline std::vector<Case> activations() {
  Input const row{{7}}, image{{4, 3, 5}}, steps{{5, 6}};
  return {one("", ReLU{}, {row}),
          one("", TanH{}, {steps}),
          one("", Sigmoid{}, {image}),
          one("", Exponential{}, {row}),
          one("", Softsign{}, {row}),
          one("", Mish{}, {row}),
          one("", HardSwish{}, {steps}),
          one("", SiLU{}, {image}),
          one("", GELU{}, {row}),
          one("approximate", GELU{.approximate = true}, {row}),
          one("", ELU{.alpha = 0.7f}, {row}),
          one("", LeakyReLU{.slope = 0.2f}, {row}),
          one("", HardSigmoid{}, {row}),
          one("steep", HardSigmoid{.alpha = 0.7f, .beta = 0.4f}, {row}),
          one("", Softplus{}, {row}),
          one("steep", Softplus{.beta = 3}, {row}),
          one("", LogSigmoid{}, {row}),
          one("", Clip{.min = -0.3f, .max = 0.6f}, {row}),
          one("open", Clip{.min = 0.1f}, {row}),
          one("", HardTanh{.min_val = -0.5f, .max_val = 0.25f}, {row}),
          one("", LeakyHardTanh{.min_val = -0.5f, .max_val = 0.25f, .min_slope = 0.1f, .max_slope = 0}, {steps}),
          one("", Threshold{.epsilon = 0.125f}, {row}),
          one("", Power{}, {row}),
          one("square", Power{.power = 2, .scale = 3, .shift = -1}, {row}),
          one("root", Power{.power = 0.5f, .shift = 2}, {row}),
          one("inverse", Power{.power = -1, .shift = 3}, {row}),
          one("any", Power{.power = -1.3f, .scale = 0.5f, .shift = 2}, {row}),
          one("", PReLU{}, {row}),
          one("channels", PReLU{.num_parameters = 4}, {image}),
          one("features", PReLU{.num_parameters = 6, .axis = -1}, {steps}),
          one("", Glu{}, {{{5, 6}}}),
          one("tanh", Glu{.gate = GluGate::tanh, .axis = 0}, {image}),
          one("relu", Glu{.gate = GluGate::relu}, {{{6}}}),
          one("silu", Glu{.gate = GluGate::silu}, {steps}),
          one("gelu", Glu{.gate = GluGate::gelu}, {steps}),
          one("gelu_approximate", Glu{.gate = GluGate::gelu_approximate}, {steps}),
          one("", Dropout{.probability = 0.5f}, {row}),
          one("", RandomMask{}, {row})};
}

inline std::vector<Case> matrices() {
  return {one("", Linear{5}, {{{7}}}),
          one("image", Linear{5}, {{{2, 3, 4}}}),
          one("no_bias", Linear{.output_size = 5, .has_bias = false}, {{{7}}}),
          one("last_axis", Linear{.output_size = 5, .last_axis = true}, {{{4, 3}}}),
          one("last_axis_no_bias", Linear{.output_size = 5, .has_bias = false, .last_axis = true}, {{{2, 4, 3}}}),
          one("last_axis_row", Linear{.output_size = 5, .last_axis = true}, {{{3}}}),
          one("", TiedLinear{.output_size = 6}, {{{4}}}),
          one("image", TiedLinear{.output_size = 6}, {{{2, 2}}}),
          one("", MatMul{}, {{{3, 4}}, {{4, 5}}}),
          one("transposed", MatMul{.transpose = true, .scale = 0.5f}, {{{2, 3, 4}}, {{2, 5, 4}}})};
}

inline std::vector<Case> windows() {
  Input const image{{4, 7, 6}}, steps{{9, 4}};
  constexpr auto average = PoolingMode::average;
  return {
      one("", Convolution{.num_output = 3, .filter_shape = 3}, {image}),
      one("uneven",
          Convolution{.num_output = 6,
                      .filter_shape = {3, 2},
                      .stride = {2, 1},
                      .padding = {1, 0},
                      .padding_after = {2, 1},
                      .dilation = {1, 2},
                      .groups = 2,
                      .has_bias = false},
          {image}),
      one("same", Convolution{.num_output = 3, .filter_shape = {4, 3}, .stride = 2, .same = true}, {image}),
      one("depthwise", Convolution{.num_output = 8, .filter_shape = 3, .padding = 1, .groups = 4}, {image}),
      one("volume",
          Convolution{.num_output = 6,
                      .filter_shape = {2, 3, 1},
                      .stride = {1, 2, 1},
                      .padding = {1, 0, 2},
                      .padding_after = {0, 1, 2},
                      .dilation = {2, 1, 1},
                      .groups = 2},
          {{{4, 3, 6, 5}}}),
      one("causal", Convolution{.num_output = 5, .filter_shape = 3, .dilation = 2}, {steps}),
      one("causal_groups", Convolution{.num_output = 6, .filter_shape = 2, .stride = 2, .groups = 2}, {steps}),
      one("step", Convolution{.num_output = 5, .filter_shape = 3, .dilation = 4}, {{{4}}}),
      one("sequence",
          Convolution{.num_output = 5, .filter_shape = 3, .padding = 2, .padding_after = 1, .causal = false}, {steps}),
      one("sequence_same", Convolution{.num_output = 5, .filter_shape = 4, .stride = 2, .same = true}, {steps}),
      one("", ConvolutionTranspose{.num_output = 3, .filter_shape = 4, .stride = 2, .padding = 1}, {image}),
      one("uneven",
          ConvolutionTranspose{.num_output = 6,
                               .filter_shape = {3, 2},
                               .stride = {2, 3},
                               .padding = {0, 1},
                               .output_padding = {1, 2},
                               .dilation = {2, 1},
                               .groups = 2,
                               .has_bias = false},
          {image}),
      one("padded_by_stride",
          ConvolutionTranspose{.num_output = 3, .filter_shape = 3, .output_padding = {0, 1}, .dilation = 2}, {image},
          "its output padding of 1 is not less than its stride of 1"),
      one("sequence", ConvolutionTranspose{.num_output = 5, .filter_shape = 3, .stride = 2}, {steps}),
      one("volume",
          ConvolutionTranspose{.num_output = 4,
                               .filter_shape = {2, 3, 1},
                               .stride = {1, 2, 2},
                               .output_padding = {0, 1, 1},
                               .groups = 2},
          {{{4, 3, 2, 5}}}),
      one("", Pooling{.filter_shape = 2, .stride = 2}, {image}),
      one("uneven", Pooling{.filter_shape = {3, 2}, .stride = {2, 1}, .padding = {1, 0}, .padding_after = {2, 1}},
          {image}),
      one("ceil", Pooling{.filter_shape = 3, .stride = 2, .rounding = Rounding::ceil}, {image}),
      one("same", Pooling{.filter_shape = 3, .stride = 2, .same = true}, {image}),
      one("average", Pooling{.mode = average, .filter_shape = 3, .stride = 2, .padding = 1}, {image}),
      one("average_ceil",
          Pooling{.mode = average, .filter_shape = 3, .stride = 2, .padding = 1, .rounding = Rounding::ceil}, {image}),
      one("average_counts",
          Pooling{.mode = average, .filter_shape = 3, .stride = 2, .padding = 1, .count_padding = true}, {image}),
      one("average_counts_ceil",
          Pooling{.mode = average, .filter_shape = 3, .stride = 2, .rounding = Rounding::ceil, .count_padding = true},
          {image}),
      one("volume", Pooling{.filter_shape = {1, 2, 3}, .stride = {1, 2, 2}}, {{{2, 3, 6, 5}}}),
      one("volume_average", Pooling{.mode = average, .filter_shape = 2, .padding = 1}, {{{2, 3, 6, 5}}}),
      one("", ChannelPooling{.filter_size = 3, .stride = 2}, {{{8, 3, 4}}}),
      one("average", ChannelPooling{.mode = average, .filter_size = 3, .stride = 2, .padding = {1, 2}, .axis = 1},
          {{{3, 8}}}),
      one("row", ChannelPooling{.filter_size = 2, .stride = 1}, {{{6}}}),
      one("", LRN{}, {image}),
      one("even", LRN{.size = 4, .scale = 0.5f, .shift = 2}, {image}),
      one("row", LRN{.size = 3}, {{{6}}}),
      one("within", LRN{.size = 3, .scale = 2, .mode = LRNMode::within}, {image}),
      one("", GlobalAveragePooling{}, {image}),
      one("row", GlobalAveragePooling{}, {{{6}}}),
      one("sequence", GlobalAveragePooling{}, {steps})};
}

inline std::vector<Case> normalizations() {
  Input const image{{6, 3, 4}}, steps{{5, 6}}, row{{6}};
  return {one("", Softmax{}, {row}),
          one("image", Softmax{}, {image}),
          one("", LogSoftmax{}, {row}),
          one("steps", LogSoftmax{}, {steps}),
          one("", SoftmaxOver{.axis = -1}, {steps}),
          one("logarithm", SoftmaxOver{.axis = 1, .logarithm = true}, {image}),
          one("", BatchNormalization{}, {image}),
          one("row", BatchNormalization{.epsilon = 1e-3f}, {row}),
          one("features", BatchNormalization{.axis = -1}, {steps}),
          one("middle", BatchNormalization{.axis = 1}, {image}),
          one("", LayerNormalization{}, {steps}),
          one("row", LayerNormalization{.epsilon = 1e-2f}, {row}),
          one("", RMSNormalization{}, {steps}),
          one("row", RMSNormalization{.epsilon = 1e-2f}, {row}),
          one("", GroupNormalization{.groups = 3}, {image}),
          one("instance", GroupNormalization{.groups = 0, .epsilon = 1e-2f}, {image}),
          one("sequence", GroupNormalization{.groups = 5}, {steps}),
          one("row", GroupNormalization{.groups = 2}, {row})};
}

inline std::vector<Case> joins() {
  Input const row{{7}}, image{{3, 4, 5}};
  return {one("", Add{}, {row, row}),
          one("", Subtract{}, {image, image}),
          one("", Multiply{}, {row, row}),
          one("", Divide{}, {image, image}),
          one("", Max{}, {row, row}),
          one("", Min{}, {image, image}),
          one("", Where{}, {{{7}, 2}, row, row}),
          one("", Concat{}, {image, {{2, 4, 5}}}),
          one("last", Concat{.axis = -1}, {image, {{3, 4, 1}}, {{3, 4, 2}}})};
}

inline std::vector<Case> shapes() {
  Input const image{{3, 4, 5}}, steps{{6, 4}}, row{{12}};
  constexpr auto linear = ResizeMode::linear;
  return {one("", Identity{}, {row}),
          one("", Split{}, {row}),
          one("", Reshape{{3, 4}}, {row}),
          one("", Flatten{}, {image}),
          one("row", Flatten{}, {row}),
          one("", Permute{.axes = {2, 0, 1}}, {image}),
          one("none", Permute{}, {image}),
          one("", Expand{{3, 4, 5}}, {{{3, 1, 5}}}),
          one("axes", Expand{{2, 5, 12}}, {row}),
          one("", Slice{.begin = 2, .end = 6}, {row}),
          one("last", Slice{.axis = -1, .begin = -3, .end = -1}, {image}),
          one("", Crop{.size = {3, 2}, .random_crop = true, .random_mirror = true}, {image}),
          one("", Pad{.before = {1, 2}, .after = {0, 3}, .value = 0.5f}, {image}),
          one("reflect", Pad{.mode = PadMode::reflect, .before = 3, .after = 2}, {image}),
          one("replicate", Pad{.mode = PadMode::replicate, .axis = 0, .before = 3, .after = 7}, {steps}),
          one("", Resize{.factor = {2, 3}}, {image}),
          one("size", Resize{.size = {7, 3}}, {image}),
          one("sequence", Resize{.factor = 3}, {steps}),
          one("linear", Resize{.mode = linear, .factor = 2}, {image}),
          one("linear_size", Resize{.mode = linear, .size = {3, 8}}, {image}),
          one("linear_sequence", Resize{.mode = linear, .size = 9}, {steps}),
          one("none", Resize{}, {image})};
}

inline std::vector<Case> selections() {
  Input const image{{3, 4, 5}}, steps{{6, 4}}, row{{7}};
  std::vector<Case> all{one("", Argmax{}, {row}),
                        one("last", Argmax{.axis = -1}, {image}),
                        one("", TopK{.k = 3}, {row}),
                        one("middle", TopK{.k = 2, .axis = 1}, {image}),
                        one("", Onehot{.num_classes = 5}, {{{1}, 5}}),
                        one("last", Onehot{.num_classes = 3, .axis = -1}, {{{4, 1}, 3}}),
                        one("", Embedding{.vocabulary = 9, .features = 4}, {{{5}, 9}}),
                        one("image", Embedding{.vocabulary = 9, .features = 4}, {{{2, 3}, 9}}),
                        one("", Gather{}, {steps, {{3}, 6}}),
                        one("last", Gather{.axis = -1}, {image, {{2, 3}, 5}})};
  for (auto const operation : {ReduceOperation::sum, ReduceOperation::mean, ReduceOperation::max, ReduceOperation::min,
                               ReduceOperation::prod}) {
    std::string const form{spellings(operation)[static_cast<std::size_t>(operation)]};
    all.push_back(one(form, Reduce{.operation = operation, .axis = 1}, {image}));
    all.push_back(one(form + "_row", Reduce{.operation = operation}, {row}));
  }
  return all;
}

inline std::vector<Case> layers() {
  std::vector<Case> all;
  for (auto const family :
       {activations, matrices, windows, normalizations, sequences, attentions, joins, shapes, selections}) {
    for (Case& each : family()) all.push_back(std::move(each));
  }
  return all;
}

}  // namespace onnx_cases
