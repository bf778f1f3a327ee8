// Dense networks: pointwise layers, every optimizer and its options.
#include "network_hash.hpp"

namespace coldpress::equal_bits {

void print_dense() {
  print<Sequential<Linear{1}>, Shape{1}>("one weight");
  print<Sequential<Linear{71}, ReLU{}, Linear{33}, ReLU{}, Linear{10}, LogSoftmax{}>, Shape{50},
        NegativeLogLikelihood{.num_classes = 10}, Sgd{.learning_rate = 0.05f, .momentum = 0.9f}>("classifier");
  print<Sequential<Linear{30}, TanH{}, Linear{30}, Sigmoid{}, Linear{4}, Softmax{}>, Shape{7}, MultinomialLogistic{},
        Nesterov{}>("tanh, sigmoid, Nesterov");
  print<Sequential<Linear{30}, GELU{}, Linear{30}, SiLU{}, Linear{5}>, Shape{7}, SoftmaxLoss{}, Adam{}>("gelu, Adam");
  print<Sequential<Linear{30}, ELU{}, Linear{30}, Softplus{}, Linear{5}>, Shape{7}, SquareLoss{}, AdamW{}>(
      "elu, AdamW");
  print<Sequential<Linear{30}, LeakyReLU{}, Linear{30}, Threshold{}, Linear{5}>, Shape{7}, Hinge{}, RMSprop{}>(
      "leaky, RMSprop");
  print<Sequential<Linear{30}, Exponential{}, Linear{30}, Power{.power = 2, .scale = 0.1f}, Linear{5}, Sigmoid{}>,
        Shape{7}, BinaryCrossEntropy{}, Adagrad{}>("exponential, Adagrad");
  print<Sequential<Linear{30}, Dropout{.probability = 0.25f}, TanH{}, Linear{30}, RandomMask{}, Identity{}, Linear{5}>,
        Shape{7}, MeanSquaredError{}, Adadelta{}>("masks, Adadelta");
  print<Sequential<Linear{40}, ReLU{}, Linear{6}>, Shape{9}, SoftlabelSoftmax{}, Sgd{.momentum = 0.5f},
        SolverOptions{.clip_gradients = 0.5f, .weight_decay = 0.01f}>("clipped, with decay");
  print<Sequential<Linear{40}, ReLU{}, Linear{6}, Softmax{}>, Shape{9}, Wasserstein{.lambda = 4, .iterations = 10},
        Adam{}, SolverOptions{.accumulate = 2}>("Wasserstein, accumulated");
  print<Sequential<Linear{300}, ReLU{}, Linear{200}, ReLU{}, Linear{3}>, Shape{129}>("wide");
  print<Sequential<Linear{24}, BatchNormalization{}, ReLU{}, Linear{24}, LayerNormalization{}, Linear{3}>, Shape{5}>(
      "normalisations");
}

}  // namespace coldpress::equal_bits
