// Networks of images.
#include "network_hash.hpp"

namespace coldpress::equal_bits {

void print_images() {
  print<Sequential<Convolution{.num_output = 6, .filter_shape = 5}, Pooling{.filter_shape = 2, .stride = 2}, ReLU{},
                   Convolution{.num_output = 16, .filter_shape = 3}, ReLU{}, Pooling{.filter_shape = 2, .stride = 2},
                   Linear{30}, ReLU{}, Linear{10}, LogSoftmax{}>,
        Shape{1, 20, 20}, NegativeLogLikelihood{.num_classes = 10}, Sgd{.learning_rate = 0.05f, .momentum = 0.9f}>(
      "LeNet");
  print<Sequential<Convolution{.num_output = 5, .filter_shape = 3, .padding = 1, .has_bias = false},
                   BatchNormalization{}, ReLU{}, Convolution{.num_output = 7, .filter_shape = 3, .stride = 2},
                   LRN{.size = 3}, TanH{}, GlobalAveragePooling{}, Linear{4}>,
        Shape{3, 11, 9}>("batch normalisation, LRN");
  print<
      Sequential<Pooling{.mode = PoolingMode::average, .filter_shape = 3, .stride = 2}, Linear{12}, ReLU{}, Linear{2}>,
      Shape{2, 9, 9}>("average pooling");
  print<Sequential<ChannelPooling{.filter_size = 3, .stride = 2}, LRN{.size = 3, .mode = LRNMode::within},
                   Crop{.size = {5, 6}, .random_crop = true, .random_mirror = true, .seed = 7}, Flatten{}, Linear{3}>,
        Shape{6, 8, 9}>("channel pooling, crop");
  print<Sequential<Linear{48}, Reshape{Shape{3, 4, 4}}, Convolution{.num_output = 9, .filter_shape = 1}, GELU{},
                   Slice{.begin = 2, .end = 7}, Permute{.axes = {2, 0, 1}},
                   Reduce{.operation = ReduceOperation::mean, .axis = -1}, Linear{3}>,
        Shape{5}>("views and axes");
  print<Sequential<Convolution{.num_output = 20, .filter_shape = 3, .padding = 1}, ReLU{},
                   Convolution{.num_output = 20, .filter_shape = 3, .padding = 1}, Sigmoid{},
                   Pooling{.filter_shape = 2, .stride = 2}, Linear{5}>,
        Shape{3, 16, 16}, SoftmaxLoss{}, Adam{}>("twenty channels");
}

}  // namespace coldpress::equal_bits
