// The list of all built-in layers, losses and statistics: the table of contents of the library.
#pragma once

// Configs, files, documentation and tests are made by loops over it.

#include <coldpress/core/type_list.hpp>
#include <coldpress/layers/accuracy.hpp>
#include <coldpress/layers/argmax.hpp>
#include <coldpress/layers/batch_normalization.hpp>
#include <coldpress/layers/binary_accuracy.hpp>
#include <coldpress/layers/binary_cross_entropy.hpp>
#include <coldpress/layers/channel_pooling.hpp>
#include <coldpress/layers/clip.hpp>
#include <coldpress/layers/concat.hpp>
#include <coldpress/layers/convolution.hpp>
#include <coldpress/layers/convolution_transpose.hpp>
#include <coldpress/layers/cosine_similarity_loss.hpp>
#include <coldpress/layers/crop.hpp>
#include <coldpress/layers/ctc_loss.hpp>
#include <coldpress/layers/dropout.hpp>
#include <coldpress/layers/element_wise.hpp>
#include <coldpress/layers/elu.hpp>
#include <coldpress/layers/embedding.hpp>
#include <coldpress/layers/error_to_signal_ratio.hpp>
#include <coldpress/layers/expand.hpp>
#include <coldpress/layers/exponential.hpp>
#include <coldpress/layers/flatten.hpp>
#include <coldpress/layers/focal_loss.hpp>
#include <coldpress/layers/gather.hpp>
#include <coldpress/layers/gaussian_kl.hpp>
#include <coldpress/layers/gelu.hpp>
#include <coldpress/layers/global_average_pooling.hpp>
#include <coldpress/layers/glu.hpp>
#include <coldpress/layers/group_normalization.hpp>
#include <coldpress/layers/hard_sigmoid.hpp>
#include <coldpress/layers/hard_swish.hpp>
#include <coldpress/layers/hard_tanh.hpp>
#include <coldpress/layers/hinge.hpp>
#include <coldpress/layers/huber.hpp>
#include <coldpress/layers/identity.hpp>
#include <coldpress/layers/kl_divergence.hpp>
#include <coldpress/layers/layer_normalization.hpp>
#include <coldpress/layers/leaky_hard_tanh.hpp>
#include <coldpress/layers/leaky_relu.hpp>
#include <coldpress/layers/learned_positions.hpp>
#include <coldpress/layers/linear.hpp>
#include <coldpress/layers/log_sigmoid.hpp>
#include <coldpress/layers/log_softmax.hpp>
#include <coldpress/layers/lrn.hpp>
#include <coldpress/layers/matmul.hpp>
#include <coldpress/layers/mean_squared_error.hpp>
#include <coldpress/layers/mish.hpp>
#include <coldpress/layers/multinomial_logistic.hpp>
#include <coldpress/layers/negative_log_likelihood.hpp>
#include <coldpress/layers/onehot.hpp>
#include <coldpress/layers/pad.hpp>
#include <coldpress/layers/permute.hpp>
#include <coldpress/layers/pooling.hpp>
#include <coldpress/layers/power.hpp>
#include <coldpress/layers/prelu.hpp>
#include <coldpress/layers/random_mask.hpp>
#include <coldpress/layers/random_normal.hpp>
#include <coldpress/layers/reduce.hpp>
#include <coldpress/layers/relu.hpp>
#include <coldpress/layers/reshape.hpp>
#include <coldpress/layers/resize.hpp>
#include <coldpress/layers/rms_normalization.hpp>
#include <coldpress/layers/rnn.hpp>
#include <coldpress/layers/rotary_positions.hpp>
#include <coldpress/layers/scaled_dot_product_attention.hpp>
#include <coldpress/layers/sigmoid.hpp>
#include <coldpress/layers/silu.hpp>
#include <coldpress/layers/sinusoidal_positions.hpp>
#include <coldpress/layers/slice.hpp>
#include <coldpress/layers/softlabel_softmax.hpp>
#include <coldpress/layers/softmax.hpp>
#include <coldpress/layers/softmax_loss.hpp>
#include <coldpress/layers/softmax_over.hpp>
#include <coldpress/layers/softplus.hpp>
#include <coldpress/layers/softsign.hpp>
#include <coldpress/layers/split.hpp>
#include <coldpress/layers/square_loss.hpp>
#include <coldpress/layers/stft_loss.hpp>
#include <coldpress/layers/tanh.hpp>
#include <coldpress/layers/threshold.hpp>
#include <coldpress/layers/tied_linear.hpp>
#include <coldpress/layers/top_k.hpp>
#include <coldpress/layers/triplet_margin.hpp>
#include <coldpress/layers/wasserstein.hpp>
#include <coldpress/layers/where.hpp>

namespace coldpress {

// Each list is a type of its own, not an alias, so that a compiler's message has its name and not its members.
struct BuiltinLayers
    : TypeList<Linear, Convolution, Pooling, Rnn, ReLU, TanH, Sigmoid, Softmax, LogSoftmax, Dropout, Reshape, Flatten,
               LeakyReLU, Exponential, Power, RandomMask, Threshold, GELU, SiLU, Softplus, ELU, Identity,    //
               HardTanh, LeakyHardTanh, HardSwish, Softsign, HardSigmoid, Mish, LogSigmoid, Clip,            //
               PReLU, Glu,                                                                                   //
               ChannelPooling, LRN, Crop, Argmax, Onehot, Slice, Reduce, GlobalAveragePooling, SoftmaxOver,  //
               LayerNormalization, BatchNormalization, RMSNormalization, GroupNormalization,                 //
               Embedding, LearnedPositions, SinusoidalPositions, RotaryPositions,                            //
               Add, Subtract, Multiply, Divide, Max, Min, Concat, MatMul, Permute, Expand, TiedLinear, Split,
               RandomNormal, ScaledDotProductAttention, Where, Gather, TopK,  //
               ConvolutionTranspose, Pad, Resize> {};
struct BuiltinLosses : TypeList<NegativeLogLikelihood, MeanSquaredError,  //
                                SquareLoss, MultinomialLogistic, SoftmaxLoss, SoftlabelSoftmax, BinaryCrossEntropy,
                                Hinge, GaussianKL, Wasserstein, ErrorToSignalRatio, StftLoss,  //
                                Huber, KLDivergence, FocalLoss, CosineSimilarityLoss, TripletMargin, CTCLoss> {};
struct BuiltinStatistics : TypeList<Accuracy, BinaryAccuracy> {};

/// The number that identifies a layer's operation where types are erased: the index of the layer among the built-in
/// ones.
template <class L>
inline constexpr int operation_id = index_of<L>(BuiltinLayers{});

}  // namespace coldpress
