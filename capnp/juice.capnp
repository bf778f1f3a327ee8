# Juice's file format for a network, with its configuration and its weights. It has one root, Layer, and is packed.
#
# The file id, all names and the ordinals up to LayerConfig's @18 are Juice's (spearow/juice, juice/capnp/juice.capnp),
# so that Juice's files load here, and files that use only Juice's features load in Juice. Later members follow Cap'n
# Proto's own rule: their ordinals come after the last one, and their absence means what Juice means. A shape is given
# by one of two fields: `shape`, as in Juice, whose first extent is the batch, or `sampleShape`, which Juice does not
# know and which is the shape of one sample, without a batch.
@0x8316e0f30c445924;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("coldpress::schema");

# How many of a struct's members, by ordinal, are Juice's. A struct without this annotation is not Juice's.
annotation juice @0xab63f0d15fa788f8 (struct) :UInt16;
# If the field is omitted, 0 or empty, it has the default of the layer's C++ struct. Files were written before the
# schema could state that default, and it cannot be changed for them.
annotation own @0x8a28a8e07e8d3cda (field) :Void;
# The number may be 0, which has a meaning of its own. Other sizes are at least 1.
annotation orZero @0xc3a1d9f27b5e4860 (field) :Void;

struct Weight $juice(2) {
  name @0 :Text;
  tensor @1 :Tensor;
}

struct Tensor $juice(2) {
  shape @0 :List(UInt64);
  data @1 :List(Float32);
}

struct Layer $juice(3) {
  name @0 :Text;
  config @1 :LayerConfig;
  weightsData @2 :List(Weight);
  # Of the whole content except these two fields, so that it stays valid when the message is re-encoded. Both or none.
  checksum @3 :UInt64;
  checksumKind @4 :Text;
  # What is done to samples before the network, in order, with all numbers that come from the data.
  transforms @5 :List(Transform);
  # If the network tells classes apart, their names.
  classes @6 :List(Text);
  # What is known of the network beside its layers, such as the sample rate of a model of a device. Each key is there once.
  metadata @7 :List(Entry);
}

struct Entry {
  key @0 :Text;
  value @1 :Text;
}

struct LayerConfig $juice(19) {
  name @0 :Text;
  layerType :union {
    convolution @1 :ConvolutionConfig;
    linear @2 :LinearConfig;
    logSoftmax @3 :Void;
    pooling @4 :PoolingConfig;
    sequential @5 :SequentialConfig;
    softmax @6 :Void;
    relu @7 :Void;
    sigmoid @8 :Void;
    tanh @15 :Void;
    rnn @18 :RnnConfig;
    negativeLogLikelihood @9 :NegativeLogLikelihoodConfig;
    meanSquaredError @17 :Void;
    reshape @10 :ReshapeConfig;
    dropout @16 :DropoutConfig;
    flatten @19 :Void;
    # A layer from outside coldpress.
    custom @20 :CustomConfig;

    # Layers that Mocha had or that users look for, beyond Juice's.
    leakyRelu @22 :LeakyReluConfig;
    exponential @23 :Void;
    power @24 :PowerConfig;
    randomMask @25 :RandomMaskConfig;
    threshold @26 :ThresholdConfig;
    gelu @27 :GeluConfig;
    silu @28 :Void;
    softplus @29 :SoftplusConfig;
    elu @30 :EluConfig;
    channelPooling @31 :ChannelPoolingConfig;
    lrn @32 :LrnConfig;
    crop @33 :CropConfig;
    argmax @34 :ArgmaxConfig;
    onehot @35 :OnehotConfig;
    slice @36 :SliceConfig;
    reduce @37 :ReduceConfig;
    globalAveragePooling @38 :Void;
    layerNormalization @39 :LayerNormalizationConfig;
    embedding @40 :EmbeddingConfig;
    batchNormalization @41 :BatchNormalizationConfig;
    identity @42 :Void;
    softmaxOver @43 :SoftmaxOverConfig;
    add @44 :Void;
    subtract @45 :Void;
    multiply @46 :Void;
    divide @47 :Void;
    concat @48 :ConcatConfig;
    product @49 :ProductConfig;
    tiedLinear @50 :TiedLinearConfig;
    randomNormal @51 :RandomNormalConfig;
    split @52 :Void;
    permute @53 :PermuteConfig;
    squareLoss @54 :Void;
    multinomialLogistic @55 :MultinomialLogisticConfig;
    softmaxLoss @56 :SoftmaxLossConfig;
    softlabelSoftmax @57 :SoftlabelSoftmaxConfig;
    binaryCrossEntropy @58 :Void;
    hinge @59 :Void;
    gaussianKl @60 :Void;
    wasserstein @61 :WassersteinConfig;
    accuracy @62 :AccuracyConfig;
    binaryAccuracy @63 :BinaryAccuracyConfig;
    hardTanh @65 :HardTanhConfig;
    leakyHardTanh @66 :LeakyHardTanhConfig;
    hardSwish @67 :Void;
    softsign @68 :Void;
    errorToSignalRatio @69 :ErrorToSignalRatioConfig;
    stftLoss @70 :StftLossConfig;
    scaledDotProductAttention @71 :ScaledDotProductAttentionConfig;
    prelu @72 :PreluConfig;
    hardSigmoid @73 :HardSigmoidConfig;
    mish @74 :Void;
    logSigmoid @75 :Void;
    clip @76 :ClipConfig;
    glu @77 :GluConfig;
    rmsNormalization @78 :RmsNormalizationConfig;
    groupNormalization @79 :GroupNormalizationConfig;
    max @80 :Void;
    min @81 :Void;
    huber @82 :HuberConfig;
    klDivergence @83 :Void;
    learnedPositions @84 :LearnedPositionsConfig;
    sinusoidalPositions @85 :SinusoidalPositionsConfig;
    rotaryPositions @86 :RotaryPositionsConfig;
    focalLoss @87 :FocalLossConfig;
    cosineSimilarityLoss @88 :CosineSimilarityLossConfig;
    tripletMargin @89 :TripletMarginConfig;
    ctcLoss @90 :CtcLossConfig;
    expand @91 :ExpandConfig;
    where @92 :Void;
    gather @93 :GatherConfig;
    topK @94 :TopKConfig;
    convolutionTranspose @95 :ConvolutionTransposeConfig;
    pad @96 :PadConfig;
    resize @97 :ResizeConfig;
  }
  outputs @11 :List(Text);
  inputs @12 :List(Text);
  params @13 :List(WeightConfig);
  propagateDown @14 :List(Bool);
  # For a loss: a factor of its value and gradient.
  lossWeight @21 :Float32 = 1;
  # For meanSquaredError and huber: what their mean is taken over, samples (as in Juice) or values.
  lossAverage @64 :Text = "samples";
}

struct WeightConfig $juice(1) {
  name @0 :Text;
  # If the filler is absent, or a factor is not a number, the layer's own applies.
  filler @1 :Filler;
  lrMult @2 :Float32 = nan;
  decayMult @3 :Float32 = nan;
  shareMode @4 :DimCheckMode;
  # own: the layer's regularizer. If maxNorm is not a number, the layer's own applies.
  regularizer @5 :Regularizer;
  maxNorm @6 :Float32 = nan;
  maxNormEvery @7 :UInt64 = 1;
}

# The penalty on a weight's size; own means the solver's.
enum Regularizer {
  own @0;
  l2 @1;
  l1 @2;
}

# Which weights may share one name: those of the same shape, or those with equally many values.
enum DimCheckMode {
  strict @0;
  permissive @1;
}

struct Filler {
  union {
    constant @0 :Float32;
    glorot @1 :Void;
    xavier @2 :Void;
    gaussian :group {
      mean @3 :Float32;
      deviation @4 :Float32 = 1;
    }
    juiceBias @5 :Void;
    # The gain.
    orthogonal @6 :Float32 = 1;
  }
}

struct ConvolutionConfig $juice(4) {
  numOutput @0 :UInt64;
  # One number for all axes, as in Juice, or one per axis.
  filterShape @1 :List(UInt64);
  stride @2 :List(UInt64);
  padding @3 :List(UInt64);
  dilation @4 :List(UInt64);
  groups @5 :UInt64 = 1;
  # Juice adds no bias, although it saves one.
  hasBias @6 :Bool;
  # If absent, Glorot and zero.
  weight @7 :Filler;
  bias @8 :Filler;
  weightLrMult @9 :Float32 = 1;
  weightDecayMult @10 :Float32 = 1;
  biasLrMult @11 :Float32 = 1;
  biasDecayMult @12 :Float32 = 1;
  weightRegularizer @13 :Regularizer;
  weightMaxNorm @14 :Float32;
  weightMaxNormEvery @15 :UInt64 = 1;
  biasRegularizer @16 :Regularizer;
  biasMaxNorm @17 :Float32;
  biasMaxNormEvery @18 :UInt64 = 1;
  # If empty, as many zeros after an axis as `padding` says are before it.
  paddingAfter @19 :List(UInt64);
  # As many zeros as keep the extents, but for the stride.
  same @20 :Bool;
  # Whether a sequence sees no later step. Otherwise it is padded as an image is.
  causal @21 :Bool = true;
}

struct ConvolutionTransposeConfig {
  numOutput @0 :UInt64;
  # One number for all axes, or one per axis.
  filterShape @1 :List(UInt64);
  stride @2 :List(UInt64);
  padding @3 :List(UInt64);
  outputPadding @4 :List(UInt64);
  dilation @5 :List(UInt64);
  groups @6 :UInt64 = 1;
  hasBias @7 :Bool = true;
  # If absent, Glorot and zero.
  weight @8 :Filler;
  bias @9 :Filler;
  weightLrMult @10 :Float32 = 1;
  weightDecayMult @11 :Float32 = 1;
  biasLrMult @12 :Float32 = 1;
  biasDecayMult @13 :Float32 = 1;
  weightRegularizer @14 :Regularizer;
  weightMaxNorm @15 :Float32;
  weightMaxNormEvery @16 :UInt64 = 1;
  biasRegularizer @17 :Regularizer;
  biasMaxNorm @18 :Float32;
  biasMaxNormEvery @19 :UInt64 = 1;
}

struct RnnConfig $juice(7) {
  hiddenSize @0 :UInt64;
  numLayers @1 :UInt64 $own;
  rnnType @2 :Text $own;  # LSTM, GRU, ReLU (Juice writes RelU), Tanh
  dropoutProbability @3 :Float32;
  dropoutSeed @4 :UInt64;
  inputMode @5 :Text = "LinearInput";         # or SkipInput
  directionMode @6 :Text = "UniDirectional";  # or BiDirectional
  # Sequence, LastStep, Layers or SequenceAndState. Juice declares {hidden, layers}.
  output @7 :Text = "Layers";
  # How many steps a gradient flows back in time; 0: all.
  truncation @8 :UInt64;
  # For the matrices. If absent, Glorot.
  weight @9 :Filler;
  weightLrMult @10 :Float32 = 1;
  weightDecayMult @11 :Float32 = 1;
  weightRegularizer @12 :Regularizer;
  weightMaxNorm @13 :Float32;
  weightMaxNormEvery @14 :UInt64 = 1;
  # Whether a GRU's reset gate is applied after the product with h, or before.
  resetAfter @15 :Bool = true;
  # Whether the last inputs are the state before the first step: h, and c of an LSTM.
  initialState @16 :Bool;
}

struct LinearConfig $juice(1) {
  outputSize @0 :UInt64;
  # If absent, Glorot and zero.
  weight @1 :Filler;
  bias @2 :Filler;
  weightLrMult @3 :Float32 = 1;
  weightDecayMult @4 :Float32 = 1;
  biasLrMult @5 :Float32 = 1;
  biasDecayMult @6 :Float32 = 1;
  weightRegularizer @7 :Regularizer;
  weightMaxNorm @8 :Float32;
  weightMaxNormEvery @9 :UInt64 = 1;
  biasRegularizer @10 :Regularizer;
  biasMaxNorm @11 :Float32;
  biasMaxNormEvery @12 :UInt64 = 1;
  hasBias @13 :Bool = true;
  # Whether only the last axis is multiplied: {..., features} becomes {..., outputSize}.
  lastAxis @14 :Bool;
}

enum PoolingMode {
  max @0;
  average @1;
}

enum Rounding {
  floor @0;
  ceil @1;
}

struct PoolingConfig $juice(4) {
  mode @0 :PoolingMode;
  filterShape @1 :List(UInt64);
  stride @2 :List(UInt64);
  padding @3 :List(UInt64);
  rounding @4 :Rounding;
  countPadding @5 :Bool;
  # As in ConvolutionConfig.
  paddingAfter @6 :List(UInt64);
  same @7 :Bool;
}

struct DropoutConfig $juice(2) {
  probability @0 :Float32;
  seed @1 :UInt64;
}

struct SequentialConfig $juice(3) {
  layers @0 :List(LayerConfig);
  inputs @1 :List(ShapedInput);
  forceBackward @2 :Bool;
}

struct ShapedInput $juice(2) {
  name @0 :Text;
  # Give one of the two: with the batch first, or the shape of one sample.
  shape @1 :List(UInt64);
  sampleShape @2 :List(UInt64);
}

struct NegativeLogLikelihoodConfig $juice(1) {
  numClasses @0 :UInt64;
}

struct ReshapeConfig $juice(1) {
  # Give one of the two: with the batch first, or the shape of one sample.
  shape @0 :List(UInt64);
  sampleShape @1 :List(UInt64);
}

struct LeakyReluConfig {
  slope @0 :Float32 = 0.01;
}

struct PowerConfig {
  power @0 :Float32 = 1;
  scale @1 :Float32 = 1;
  shift @2 :Float32;
}

struct RandomMaskConfig {
  probability @0 :Float32 = 0.5;
  seed @1 :UInt64 = 42;
}

struct ThresholdConfig {
  epsilon @0 :Float32;
}

struct GeluConfig {
  approximate @0 :Bool;
}

struct SoftplusConfig {
  beta @0 :Float32 = 1;
}

struct EluConfig {
  alpha @0 :Float32 = 1;
}

struct HardTanhConfig {
  minVal @0 :Float32 = -1;
  maxVal @1 :Float32 = 1;
}

struct LeakyHardTanhConfig {
  minVal @0 :Float32 = -1;
  maxVal @1 :Float32 = 1;
  minSlope @2 :Float32 = 0.01;
  maxSlope @3 :Float32 = 0.01;
}

struct PreluConfig {
  numParameters @0 :UInt64 = 1;
  axis @1 :Int32;
  # If absent, 0.25.
  weight @2 :Filler;
  weightLrMult @3 :Float32 = 1;
  weightDecayMult @4 :Float32 = 1;
  weightRegularizer @5 :Regularizer;
  weightMaxNorm @6 :Float32;
  weightMaxNormEvery @7 :UInt64 = 1;
}

struct HardSigmoidConfig {
  alpha @0 :Float32 = 0.16666667;
  beta @1 :Float32 = 0.5;
}

struct ClipConfig {
  min @0 :Float32 = -3.4028235e38;
  max @1 :Float32 = 3.4028235e38;
}

struct GluConfig {
  gate @0 :Text = "sigmoid";  # or tanh, relu, silu, gelu, gelu_approximate
  axis @1 :Int32 = -1;
}

struct ChannelPoolingConfig {
  mode @0 :PoolingMode;
  filterSize @1 :UInt64 = 1;
  stride @2 :UInt64 = 1;
  # One number for both ends, or one for each.
  padding @3 :List(UInt64);
  # The axis of a sample, without the batch; -1 is the last. All layers count axes like this.
  axis @4 :Int32;
}

struct LrnConfig {
  size @0 :UInt64 = 5;
  scale @1 :Float32 = 1;
  shift @2 :Float32 = 1;
  power @3 :Float32 = 0.75;
  mode @4 :Text = "across";  # or within
}

struct CropConfig {
  # Height and width, or one number for both.
  size @0 :List(UInt64);
  randomCrop @1 :Bool;
  randomMirror @2 :Bool;
  seed @3 :UInt64 = 42;
}

struct ArgmaxConfig {
  axis @0 :Int32;
}

struct OnehotConfig {
  numClasses @0 :UInt64 = 10;
  axis @1 :Int32;
}

struct SliceConfig {
  axis @0 :Int32;
  # Negative numbers, and an end of 0, count from the axis's end.
  begin @1 :Int32;
  end @2 :Int32;
}

struct PadConfig {
  mode @0 :Text = "constant";  # or reflect, replicate
  axis @1 :Int32 = 1;
  # One number for all axes from that one on, or one for each.
  before @2 :List(UInt64);
  after @3 :List(UInt64);
  value @4 :Float32;
}

struct ResizeConfig {
  mode @0 :Text = "nearest";  # or linear
  # One number for all axes, or one for each. Give one of the two.
  size @1 :List(UInt64);
  factor @2 :List(UInt64);
}

struct ReduceConfig {
  operation @0 :Text = "sum";  # or mean, max, min, prod
  axis @1 :Int32;
}

struct ScaledDotProductAttentionConfig {
  heads @0 :UInt64 = 1;
  # 0: one per head.
  kvHeads @1 :UInt64 $orZero;
  causal @2 :Bool;
  # 0: all keys.
  window @3 :UInt64 $orZero;
  # 0: 1 / sqrt(size of a head).
  scale @4 :Float32;
}

struct LayerNormalizationConfig {
  epsilon @0 :Float32 = 1e-5;
  # If absent, 1 and 0.
  weight @1 :Filler;
  bias @2 :Filler;
  weightLrMult @3 :Float32 = 1;
  weightDecayMult @4 :Float32 = 1;
  biasLrMult @5 :Float32 = 1;
  biasDecayMult @6 :Float32 = 1;
  weightRegularizer @7 :Regularizer;
  weightMaxNorm @8 :Float32;
  weightMaxNormEvery @9 :UInt64 = 1;
  biasRegularizer @10 :Regularizer;
  biasMaxNorm @11 :Float32;
  biasMaxNormEvery @12 :UInt64 = 1;
}

struct EmbeddingConfig {
  vocabulary @0 :UInt64 = 256;
  features @1 :UInt64 = 16;
  # If absent, gaussian.
  weight @2 :Filler;
  weightLrMult @3 :Float32 = 1;
  weightDecayMult @4 :Float32 = 1;
  weightRegularizer @5 :Regularizer;
  weightMaxNorm @6 :Float32;
  weightMaxNormEvery @7 :UInt64 = 1;
}

struct LearnedPositionsConfig {
  # Steps.
  most @0 :UInt64 = 512;
  # If absent, gaussian with a deviation of 0.02.
  weight @1 :Filler;
  weightLrMult @2 :Float32 = 1;
  weightDecayMult @3 :Float32 = 1;
  weightRegularizer @4 :Regularizer;
  weightMaxNorm @5 :Float32;
  weightMaxNormEvery @6 :UInt64 = 1;
}

struct SinusoidalPositionsConfig {
  base @0 :Float32 = 10000;
}

struct RotaryPositionsConfig {
  # Features of a head; 0: all.
  size @0 :UInt64 $orZero;
  # Heads that are turned; 0: all.
  heads @1 :UInt64 $orZero;
  # Features of a head that are turned; 0: all.
  rotated @2 :UInt64 $orZero;
  base @3 :Float32 = 10000;
  interleaved @4 :Bool;
}

struct BatchNormalizationConfig {
  epsilon @0 :Float32 = 1e-5;
  momentum @1 :Float32 = 0.1;
  weight @2 :Filler;
  bias @3 :Filler;
  weightLrMult @4 :Float32 = 1;
  weightDecayMult @5 :Float32 = 1;
  biasLrMult @6 :Float32 = 1;
  biasDecayMult @7 :Float32 = 1;
  weightRegularizer @8 :Regularizer;
  weightMaxNorm @9 :Float32;
  weightMaxNormEvery @10 :UInt64 = 1;
  biasRegularizer @11 :Regularizer;
  biasMaxNorm @12 :Float32;
  biasMaxNormEvery @13 :UInt64 = 1;
  # The axis of the channels.
  axis @14 :Int32;
}

struct RmsNormalizationConfig {
  epsilon @0 :Float32 = 1e-6;
  # If absent, 1.
  weight @1 :Filler;
  weightLrMult @2 :Float32 = 1;
  weightDecayMult @3 :Float32 = 1;
  weightRegularizer @4 :Regularizer;
  weightMaxNorm @5 :Float32;
  weightMaxNormEvery @6 :UInt64 = 1;
}

struct GroupNormalizationConfig {
  # 0: each channel is a group.
  groups @0 :UInt64 = 32 $orZero;
  epsilon @1 :Float32 = 1e-5;
  # If absent, 1 and 0.
  weight @2 :Filler;
  bias @3 :Filler;
  weightLrMult @4 :Float32 = 1;
  weightDecayMult @5 :Float32 = 1;
  biasLrMult @6 :Float32 = 1;
  biasDecayMult @7 :Float32 = 1;
  weightRegularizer @8 :Regularizer;
  weightMaxNorm @9 :Float32;
  weightMaxNormEvery @10 :UInt64 = 1;
  biasRegularizer @11 :Regularizer;
  biasMaxNorm @12 :Float32;
  biasMaxNormEvery @13 :UInt64 = 1;
}

struct SoftmaxOverConfig {
  axis @0 :Int32;
  logarithm @1 :Bool;
}

struct ConcatConfig {
  # Counted from 0; a negative axis counts from the last.
  axis @0 :Int32;
}

struct ProductConfig {
  # Whether to transpose the second operand.
  transpose @0 :Bool;
  scale @1 :Float32 = 1;
}

struct TiedLinearConfig {
  outputSize @0 :UInt64;
  # If absent, Glorot and zero.
  weight @1 :Filler;
  bias @2 :Filler;
  weightLrMult @3 :Float32 = 1;
  weightDecayMult @4 :Float32 = 1;
  biasLrMult @5 :Float32 = 1;
  biasDecayMult @6 :Float32 = 1;
  weightRegularizer @7 :Regularizer;
  weightMaxNorm @8 :Float32;
  weightMaxNormEvery @9 :UInt64 = 1;
  biasRegularizer @10 :Regularizer;
  biasMaxNorm @11 :Float32;
  biasMaxNormEvery @12 :UInt64 = 1;
}

struct ExpandConfig {
  shape @0 :List(UInt64);
  sampleShape @1 :List(UInt64);
}

struct RandomNormalConfig {
  # Give one of the two: with the batch first, or the shape of one sample.
  shape @0 :List(UInt64);
  seed @1 :UInt64 = 42;
  sampleShape @2 :List(UInt64);
}

struct PermuteConfig {
  # For each axis of the output, the axis of the input. If absent, the axes stay in order.
  axes @0 :List(UInt64);
}

struct MultinomialLogisticConfig {
  # One per class, or none.
  classWeights @0 :List(Float32);
  normalize @1 :Text = "local";  # or global, or none
  axis @2 :Int32;
  # Positions with this label do not count.
  ignoreIndex @3 :Int32 = -100;
}

struct SoftmaxLossConfig {
  # One per class, or none.
  classWeights @0 :List(Float32);
  normalize @1 :Text = "local";  # or global, or none
  axis @2 :Int32;
  labelSmoothing @3 :Float32;
  # Positions with this label do not count.
  ignoreIndex @4 :Int32 = -100;
}

struct SoftlabelSoftmaxConfig {
  axis @0 :Int32;
}

struct WassersteinConfig {
  lambda @0 :Float32 = 10;
  iterations @1 :UInt64 = 50;
  # The exponent of the distances between places.
  power @2 :Float32 = 1;
}

struct AccuracyConfig {
  axis @0 :Int32;
  reportError @1 :Bool;
  # Positions with this label do not count.
  ignoreIndex @2 :Int32 = -100;
}

struct BinaryAccuracyConfig {
  threshold @0 :Float32;
  reportError @1 :Bool;
}

struct ErrorToSignalRatioConfig {
  # c of the filter 1 - c z^-1; 0: none.
  preEmphasis @0 :Float32;
  epsilon @1 :Float32 = 1e-8;
}

struct StftLossConfig {
  # Each has one number, or one for each of up to three resolutions.
  fftSize @0 :List(UInt64) = [1024, 2048, 512];
  hopSize @1 :List(UInt64) = [120, 240, 50];
  windowSize @2 :List(UInt64) = [600, 1200, 240];
  spectralConvergence @3 :Float32 = 1;
  logMagnitude @4 :Float32 = 1;
  magnitude @5 :Float32 = 0;
  epsilon @6 :Float32 = 1e-8;
}

struct HuberConfig {
  delta @0 :Float32 = 1;
}

struct GatherConfig {
  axis @0 :Int32;
}

struct TopKConfig {
  k @0 :UInt64 = 1;
  axis @1 :Int32;
}

struct FocalLossConfig {
  gamma @0 :Float32 = 2;
  # One per class, or none.
  classWeights @1 :List(Float32);
  normalize @2 :Text = "local";  # or global, or none
  axis @3 :Int32;
  # Positions with this label do not count.
  ignoreIndex @4 :Int32 = -100;
}

struct CosineSimilarityLossConfig {
  axis @0 :Int32;
}

struct TripletMarginConfig {
  margin @0 :Float32 = 1;
}

struct CtcLossConfig {
  # As many as a target has room for.
  labels @0 :UInt64 = 32;
  # The class that stands for no label.
  blank @1 :Int32;
}

struct CustomConfig {
  name @0 :Text;
  fields @1 :List(CustomField);
}

struct CustomField {
  name @0 :Text;
  union {
    integer @1 :Int64;
    natural @2 :UInt64;
    number @3 :Float64;
    flag @4 :Bool;
    text @5 :Text;
    extents @6 :List(UInt64);
  }
}

# What a statistic has a number for.
enum Per {
  value @0;
  channel @1;
  all @2;
}

# In the file of a network, no statistic is empty. In a training, those that are empty come from the data.
struct Transform {
  union {
    none @0 :Void;
    subtractMean :group {
      per @1 :Per;
      # A .npy array, or the dataset "mean" of an .h5 or .hdf5 file. Never in the file of a network.
      file @2 :Text;
      mean @3 :List(Float32);
    }
    scale :group {
      factor @4 :Float32 = 1;
      offset @5 :Float32;
    }
    standardize :group {
      per @6 :Per;
      epsilon @7 :Float32;
      mean @8 :List(Float32);
      deviation @9 :List(Float32);
    }
    oneHot :group {
      classes @10 :UInt64;
    }
    # For training alone, except that evaluation crops the centre. Height and width are one number for both, or two.
    crop :group {
      extents @11 :List(UInt64);
    }
    mirror @12 :Void;
    shift :group {
      pixels @13 :List(UInt64);
    }
    rotate :group {
      degrees @14 :Float32;
    }
    noise :group {
      deviation @15 :Float32;
    }
    cutout :group {
      extents @16 :List(UInt64);
    }
    mixup :group {
      alpha @17 :Float32 = 0.2;
    }
  }
}
