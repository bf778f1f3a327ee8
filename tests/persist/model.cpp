#include <coldpress/persist/model.hpp>

#include "persist/files.hpp"

#include <limits>

namespace coldpress::persist {
namespace {

using dynamic::Custom;
using dynamic::LayerConfig;
using dynamic::SequentialConfig;

Model round_trip(Model const& model) { return parse(text_of(serialize(model))); }

Model with_config(LayerConfig config) { return {.name = "net", .config = std::move(config)}; }

template <class... Layers>
void check_round_trips(TypeList<Layers...>) {
  auto const check = [](auto layer) {
    if constexpr (std::is_same_v<decltype(layer), Reshape>) layer.shape = {2, 3};
    if constexpr (requires { layer.num_output; }) layer.num_output = 2;
    Model const model = with_config({"layer", layer});
    INFO(layer.name);
    CHECK(round_trip(model) == model);
  };
  (check(Layers{}), ...);
}

TEST_CASE("every built-in layer and loss comes back from a file") {
  check_round_trips(BuiltinLayers{});
  check_round_trips(BuiltinLosses{});
  check_round_trips(BuiltinStatistics{});
}

TEST_CASE("fields that are not at their defaults come back from a file") {
  auto const check = [](dynamic::LayerType layer) {
    Model const model = with_config({"layer", layer});
    CHECK(round_trip(model) == model);
  };
  check(Linear{.output_size = Index{1} << 40, .weight = Constant{-0.5f}, .bias = JuiceBias{}});
  check(Linear{.output_size = 1, .weight = Gaussian{0.5f, 0.01f}, .bias = Xavier{}});
  check(Linear{.output_size = 1, .weight = Constant{0}, .bias = Glorot{}});
  check(Dropout{.probability = 0, .seed = std::numeric_limits<std::uint64_t>::max()});
  check(Reshape{{1, 2, 3, 4, 5, 6, 7, 8}});
  check(NegativeLogLikelihood{.num_classes = 1});
  check(NegativeLogLikelihood{.num_classes = 3, .loss_weight = 0.5f});
  check(MeanSquaredError{.loss_weight = 2});
  check(MeanSquaredError{.loss_weight = 2, .loss_average = Average::values});
  check(SquareLoss{.loss_weight = 0.5f});
  check(MultinomialLogistic{{1, 2, 0.5f}, ClassNormalization::global, -1, 3, 255});
  check(SoftmaxLoss{{0.25f}, ClassNormalization::none, 2, 0.5f, 0.125f, -1});
  check(Huber{.delta = 0.5f, .loss_weight = 2, .loss_average = Average::values});
  check(KLDivergence{.loss_weight = 0.5f});
  check(FocalLoss{0.5f, {1, 2}, ClassNormalization::none, -1, 2, 255});
  check(CosineSimilarityLoss{.axis = -1, .loss_weight = 2});
  check(TripletMargin{.margin = 0.25f, .loss_weight = 2});
  check(CTCLoss{.labels = 7, .blank = 28, .loss_weight = 0.5f});
  check(SoftlabelSoftmax{.axis = 1, .loss_weight = 2});
  check(BinaryCrossEntropy{.loss_weight = 0});
  check(Wasserstein{.lambda = 3, .iterations = 7, .power = 2, .loss_weight = 4});
  check(ErrorToSignalRatio{.pre_emphasis = 0.85f, .epsilon = 0.5f, .loss_weight = 2});
  check(StftLoss{.fft_size = {512, 64}, .hop_size = 32, .window_size = {512, 60}, .magnitude = 2, .loss_weight = 0.1f});
  check(Accuracy{.axis = -2, .report_error = true, .ignore_index = 0});
  check(BinaryAccuracy{.threshold = -0.5f, .report_error = true});
  for (RnnType const type : {RnnType::lstm, RnnType::gru, RnnType::relu, RnnType::tanh}) check(Rnn{.rnn_type = type});
  check(Rnn{.rnn_type = RnnType::gru, .reset_after = false});
  check(Rnn{.initial_state = true});
  for (RnnOutput const output : {RnnOutput::sequence, RnnOutput::last_step, RnnOutput::layers}) {
    check(Rnn{.hidden_size = 3,
              .num_layers = 4,
              .dropout_probability = 0.5f,
              .dropout_seed = 7,
              .input_mode = InputMode::skip_input,
              .direction_mode = DirectionMode::bi_directional,
              .output = output,
              .truncation = 5,
              .weight = Gaussian{0, 0.1f}});
  }
  check(Convolution{.num_output = 6,
                    .filter_shape = {3, 2},
                    .stride = {2, 2, 3},
                    .padding = {0, 1},
                    .padding_after = {2, 0},
                    .causal = false,
                    .dilation = 4,
                    .groups = 3,
                    .has_bias = false,
                    .weight = Xavier{},
                    .bias = {.filler = Constant{0.5f}, .lr_mult = 2}});
  Weight const weight{Orthogonal{1.5f}, 2, 3, Regularizer::l1, {4.5f, 7}}, bias{{}, 5, 6, Regularizer::l2, {0.5f, 8}};
  check(Linear{3, weight, bias});
  check(Linear{.output_size = 3, .has_bias = false, .last_axis = true});
  check(Expand{{2, 3}});
  check(Convolution{.num_output = 6, .filter_shape = 3, .weight = weight, .bias = bias});
  check(Convolution{.num_output = 6, .filter_shape = 3, .padding_after = 0, .same = true});
  check(Rnn{.weight = {Gaussian{}, 2, 3, Regularizer::l1, {4.5f, 7}}});
  check(BatchNormalization{0.5f, 0.25f, {Constant{2}, 2, 3, Regularizer::l1, {4.5f, 7}}, bias, -1});
  check(LayerNormalization{.weight = weight, .bias = bias});
  check(Embedding{.weight = weight});
  check(Pooling{.mode = PoolingMode::average,
                .filter_shape = {1, 2, 3},
                .stride = 3,
                .padding = {0, 0, 1},
                .padding_after = {1, 0},
                .rounding = Rounding::ceil,
                .count_padding = true});
  check(ChannelPooling{.mode = PoolingMode::average,
                       .filter_size = 4,
                       .stride = 3,
                       .padding = {0, 2},
                       .axis = std::numeric_limits<int>::min()});
  check(LRN{.size = 3, .scale = 1e-4f, .shift = 2, .power = 0.5f, .mode = LRNMode::within});
  check(Crop{.size = {3, 4}, .random_crop = true, .random_mirror = true, .seed = 0});
  check(PReLU{.num_parameters = 7, .axis = -1, .weight = weight});
  check(HardSigmoid{.alpha = 0.2f, .beta = 0.25f});
  check(Clip{.min = -1.5f, .max = 6});
  check(Glu{.gate = GluGate::gelu_approximate, .axis = 2});
  check(RMSNormalization{.epsilon = 0.01f, .weight = weight});
  check(GroupNormalization{.groups = 0, .epsilon = 0.01f, .weight = weight, .bias = bias});
  check(LearnedPositions{.most = 7, .weight = weight});
  check(SinusoidalPositions{.base = 100});
  check(RotaryPositions{.size = 8, .heads = 3, .rotated = 4, .base = 100, .interleaved = true});
  check(Gather{.axis = -2});
  check(TopK{.k = 7, .axis = -1});
  check(Reduce{.operation = ReduceOperation::prod, .axis = 3});
  check(ConvolutionTranspose{.num_output = 6,
                             .filter_shape = {3, 2},
                             .stride = 2,
                             .padding = {0, 1},
                             .output_padding = {1, 0},
                             .dilation = {1, 3},
                             .groups = 2,
                             .has_bias = false,
                             .weight = weight,
                             .bias = bias});
  check(Pad{.mode = PadMode::replicate, .axis = -2, .before = {1, 2}, .after = 3, .value = -1.5f});
  check(Resize{.mode = ResizeMode::linear, .size = {3, 4}});
  check(Resize{.factor = {2, 1}});
  check(Argmax{.axis = -1});
  check(Onehot{.num_classes = 3, .axis = 2});
  check(Slice{.axis = 1, .begin = -5, .end = std::numeric_limits<int>::max()});
  check(Reduce{.operation = ReduceOperation::mean, .axis = -2});
  check(GlobalAveragePooling{});
  check(SoftmaxOver{.axis = 3, .logarithm = true});
  check(LayerNormalization{.epsilon = 0.01f, .weight = Constant{2}, .bias = {.filler = Gaussian{}, .lr_mult = 0.5f}});
  check(Embedding{.vocabulary = 1000, .features = 7, .weight = {.filler = Xavier{}, .decay_mult = 0}});
}

TEST_CASE("wiring and options of a layer come back from a file") {
  LayerConfig layer{"fc", Linear{}};
  layer.inputs = {"a", "b"};
  layer.outputs = {"größe"};
  layer.params = {{.name = "shared"}, {.name = "", .filler = Gaussian{}}, {.name = "", .filler = Constant{0}}};
  layer.params[0].regularizer = Regularizer::l2, layer.params[1].regularizer = Regularizer::l1;
  layer.params[1].max_norm = MaxNorm{}, layer.params[2].max_norm = MaxNorm{0.75f, 3};
  layer.propagate_down = {true, false};
  Model const model = with_config(layer);
  CHECK(round_trip(model) == model);
}

TEST_CASE("nested containers, inputs and weights come back from a file") {
  SequentialConfig inner;
  inner.force_backward = true;
  inner.add_layer({"fc", Linear{.output_size = 6}}).add_layer({"view", Reshape{{2, 3}}});
  SequentialConfig outer;
  outer.add_input("x", {4}).add_input("y", {2, 2, 2});
  outer.add_layer(container("first", inner)).add_layer(container("empty", {})).add_layer({"relu", ReLU{}});
  Model model = with_config(container("outer", outer));
  model.batch = 3;
  model.weights = {tensor("fc-0", {6, 4}), tensor("other", {1, 2, 1, 3, 1, 1, 1, 2})};
  CHECK(round_trip(model) == model);
}

TEST_CASE("a custom layer comes back from a file") {
  Custom const snake{"snake",
                     {{"a", std::int64_t{-3}},
                      {"b", std::uint64_t{1} << 63},
                      {"c", 0.1},
                      {"d", true},
                      {"e_f", std::string{"text"}},
                      {"g", std::vector<std::uint64_t>{0, 1, 2}},
                      {"none", std::vector<std::uint64_t>{}}}};
  Model const model = with_config({"layer", snake});
  CHECK(round_trip(model) == model);
  Model const camel = with_config({"layer", Custom{"logSoftmax", {}}});
  CHECK(round_trip(camel) == camel);
}

TEST_CASE("a model of a megabyte of equal weights is read, however well it packs") {
  Model model = with_config({"fc", Linear{.output_size = 512}});
  model.weights = {{"fc-0", {512, 1024}, std::vector<float>(512 * 1024)}};
  CHECK(round_trip(model) == model);
}

TEST_CASE("write_model and read_model") {
  TemporaryFolder folder;
  write_model(folder / "net.juice", small_model());
  CHECK(read_model(folder / "net.juice") == small_model());
  CHECK(folder.names().size() == 1);
  CHECK(contains(message<FileError>([&] { read_model(folder / "none.juice"); }), "none.juice"));
}

TEST_CASE("what cannot be read again is not written") {
  TemporaryFolder folder;
  write_model(folder / "net.juice", small_model());
  auto const refuses = [&]<class Expected>(Model const& model, char const* part, Expected*) {
    std::string const text = message<Expected>([&] { write_model(folder / "net.juice", model); });
    INFO(text);
    CHECK(contains(text, part));
    CHECK(contains(text, "net.juice"));
    CHECK(read_model(folder / "net.juice") == small_model());
  };
  ConfigError* const config = nullptr;
  FormatError* const format = nullptr;
  auto const changed = [](auto change) {
    Model model = small_model();
    change(model, std::get<SequentialConfig>(model.config.layer_type));
    return model;
  };
  refuses(changed([](auto&, auto& net) { net.layers[1].layer_type = Linear{.output_size = 0}; }),
          "layers[1] fc1': outputSize: must be at least 1", config);
  refuses(changed([](auto&, auto& net) { net.layers[1].layer_type = Linear{.output_size = -5}; }), "outputSize",
          config);
  refuses(changed([](auto&, auto& net) { net.layers[3].layer_type = Dropout{.probability = 1}; }),
          "probability: must be at least 0 and below 1", config);
  refuses(changed([](auto&, auto& net) { net.layers[0].layer_type = Reshape{}; }), "shape", config);
  refuses(changed([](auto&, auto& net) { net.layers[0].layer_type = Reshape{{23}}; }),
          "but the incoming samples have 24", config);
  refuses(changed([](auto&, auto& net) { net.layers[0].name = "fc1"; }), "'fc1' is given twice", config);
  refuses(changed([](auto&, auto& net) { net.layers[0].name = ""; }), "has no name", config);
  refuses(changed([](auto&, auto& net) { net.inputs[0].shape = {}; }), "inputs", config);
  refuses(changed([](auto&, auto& net) { net.inputs.push_back(net.inputs[0]); }), "given twice", config);
  refuses(changed([](auto&, auto& net) { net.layers[2].layer_type = Custom{"sequential", {}}; }), "custom", config);
  refuses(changed([](auto&, auto& net) { net.layers[2].layer_type = Custom{"", {}}; }), "name", config);
  refuses(changed([](auto&, auto& net) {
            net.layers[2].layer_type = Custom{"pooling", {}};
          }),
          "another kind of layer", config);
  refuses(changed([](auto&, auto& net) {
            net.layers[2].layer_type = Pooling{.filter_shape = {2, -1}};
          }),
          "filterShape", config);
  refuses(changed([](auto& model, auto&) { model.batch = 0; }), "batch", config);
  refuses(changed([](auto& model, auto&) { model.weights[1].name = "fc1-0"; }),
          "weightsData[1] fc1-0: the name 'fc1-0' is given twice", config);
  refuses(changed([](auto& model, auto&) { model.weights[1].values.pop_back(); }),
          "shape {1, 20} has 20 values, but the data has 19", format);
  refuses(changed([](auto& model, auto&) { model.weights[1].values.push_back(0); }),
          "shape {1, 20} has 20 values, but the data has 21", format);
  refuses(changed([](auto& model, auto&) {
            model.weights[0] = tensor("fc1-0", {20, 23});
          }),
          "require {20, 24}", config);
  refuses(changed([](auto& model, auto&) { model.weights[1].shape = {1, 1, 1, 1, 1, 1, 1, 1, 20}; }), "1 to 8 extents",
          config);
  refuses(changed([](auto& model, auto&) { model.name = "\xff"; }), "is not UTF-8 at byte 0", format);
}

TEST_CASE("containers nest 32 deep and no deeper") {
  auto const nested = [](int depth) {
    LayerConfig config{"relu", ReLU{}};
    for (int i = 1; i < depth; ++i) config = container("c", SequentialConfig{}.add_layer(config));
    return with_config(config);
  };
  CHECK(round_trip(nested(32)) == nested(32));
  CHECK(contains(message<ConfigError>([&] { serialize(nested(33)); }), "more than 32 nested layers"));
}

TEST_CASE("a network has 65536 layers and no more") {
  SequentialConfig net;
  for (int i = 1; i < 65536; ++i) net.add_layer({"relu" + std::to_string(i), ReLU{}});
  CHECK(round_trip(with_config(container("net", net))) == with_config(container("net", net)));
  net.add_layer({"last", ReLU{}});
  CHECK(
      contains(message<ConfigError>([&] { serialize(with_config(container("net", net))); }), "more than 65536 layers"));
}

// The file that a real Juice wrote; golden values from `capnp decode` of it.
TEST_CASE("a real file of Juice is read in full") {
  char const* const data = std::getenv("COLDPRESS_TEST_DATA");
  std::string const path = std::string{data ? data : ""} + "/juice/mackey-glass-rnn.juice";
  if (!data || !std::filesystem::exists(path)) {
    WARN("skipped: COLDPRESS_TEST_DATA has no juice/mackey-glass-rnn.juice");
    return;
  }
  Model const model = read_model(path);
  CHECK(model.name == "network");
  CHECK(model.batch == 40);
  CHECK_FALSE(model.checksummed);

  SequentialConfig net;
  net.force_backward = true;
  net.add_input("data_input", {1, 10});
  net.add_layer({"reshape", Reshape{{10, 1, 1}}});
  net.add_layer({"LSTMInitial", Rnn{.hidden_size = 5,
                                    .num_layers = 2,
                                    .dropout_probability = 0.5f,
                                    .dropout_seed = 123,
                                    .output = RnnOutput::layers}});
  net.add_layer({"linear1", Linear{.output_size = 1}});
  net.add_layer({"sigmoid", Sigmoid{}});
  CHECK(model.config == container("network", net));

  REQUIRE(model.weights.size() == 4);
  CHECK(model.weights[0].name == "LSTMInitial-0");
  CHECK(model.weights[0].shape == std::vector<Index>{580, 1, 1});
  CHECK(model.weights[0].values[0] == 0.01419343f);
  CHECK(model.weights[1].name == "LSTMInitial-0-bias");
  CHECK(model.weights[1].shape == std::vector<Index>{1, 5});
  CHECK(model.weights[1].values == std::vector<float>(5, 0.99999398f));
  CHECK(model.weights[2].name == "linear1-0");
  CHECK(model.weights[2].shape == std::vector<Index>{1, 10});
  CHECK(model.weights[2].values == std::vector<float>{-.35452464f, .15221764f, -.49906287f, -.45086858f, .079486184f,
                                                      -.32064974f, -.1324652f, .26886234f, -.379092f, .24302471f});
  CHECK(model.weights[3].name == "linear1-0-bias");
  CHECK(model.weights[3].values == std::vector<float>{.21098706f});

  Model again = round_trip(model);
  CHECK(again.checksummed);
  again.checksummed = false;
  CHECK(again == model);

  CHECK(parse(capnp("convert packed:binary", juice_schema, content(path))) == model);
  // What we write of it says to a reader that knows Juice alone what Juice's own file says.
  CHECK(capnp("decode --packed", juice_schema, text_of(serialize(model))) ==
        capnp("decode --packed", juice_schema, content(path)));
}

TEST_CASE("plain and packed messages, of one segment or many, are read") {
  Model const model = small_model();
  std::string const packed = text_of(serialize(model));
  std::string const plain = capnp("convert packed:binary", own_schema, packed);
  CHECK(plain.size() > packed.size());
  CHECK(parse(plain) == model);
  CHECK(parse(capnp("encode --packed --segment-size=8", own_schema, capnp("decode --packed", own_schema, packed))) ==
        model);
  CHECK(parse(capnp("encode --segment-size=8", own_schema, capnp("decode --packed", own_schema, packed))) == model);
  std::string const shifted = " " + plain;
  CHECK(parse_model(bytes_of(shifted).subspan(1), "unaligned") == model);
}

TEST_CASE("a checksum survives encoding the message anew and nothing else") {
  std::string const text = capnp("decode --packed", own_schema, text_of(serialize(small_model())));
  CHECK(parse_described(text) == small_model());
  auto const edited = [&](std::string const& from, std::string const& to) {
    std::string changed = text;
    auto const at = changed.find(from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    return changed;
  };
  auto const at = text.find("checksum = ");
  std::string const sum = text.substr(at, text.find(',', at) - at);
  CHECK(contains(message<ChecksumError>([&] { parse_described(edited(sum, "checksum = 0")); }), "there is none"));
  CHECK(contains(message<ChecksumError>([&] { parse_described(edited(sum, "checksum = 1")); }),
                 "does not match its checksum: the file is damaged, or from a newer version of coldpress"));
  CHECK(contains(
      message<ChecksumError>([&] { parse_described(edited("checksumKind = \"coldpress 1\"", "checksumKind = \"\"")); }),
      "of which kind"));
  CHECK(contains(message<ChecksumError>([&] { parse_described(edited("coldpress 1", "coldpress 2")); }),
                 "unknown kind: the file is damaged, or from a newer version of coldpress"));
  CHECK(contains(message<ChecksumError>([&] { parse_described(edited("0.25", "0.5")); }), "does not match"));
  CHECK(contains(message<ChecksumError>([&] { parse_described(edited("-0.625", "-0.75")); }), "does not match"));
  CHECK(contains(message<ChecksumError>([&] { parse_described(edited("\"fc2-0\"", "\"fc2-1\"")); }), "does not match"));

  // Juice reads our file, leaves out what it does not know, and writes one of its own.
  std::string const juice = capnp("decode --packed", juice_schema, text_of(serialize(small_model())));
  CHECK_FALSE(contains(juice, "checksum"));
  Model expected = small_model();
  expected.checksummed = false;
  CHECK(parse(capnp("encode --packed", juice_schema, juice)) == expected);
}

// The words that checksum.hpp describes, folded by hand for a model with nothing but names.
TEST_CASE("the checksum is the one that is described") {
  std::string const text =
      capnp("decode --packed", own_schema, text_of(serialize({.name = "ab", .config = {"c", Flatten{}}})));
  auto const mix = [](std::uint64_t a, std::uint64_t b) {
    std::uint64_t z = a + 0x9e3779b97f4a7c15u * (b + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  };
  std::uint64_t sum = 0;
  auto const fold_text = [&](std::string word) {
    sum = mix(sum, word.size());
    word.resize((word.size() + 7) / 8 * 8);
    for (std::size_t i = 0; i < word.size(); i += 8) {
      std::uint64_t bytes = 0;
      for (std::size_t b = 0; b < 8; ++b) bytes |= std::uint64_t{static_cast<unsigned char>(word[i + b])} << 8 * b;
      sum = mix(sum, bytes);
    }
  };
  for (char const* word : {"name", "ab", "config", "name", "c", "layerType", "flatten"}) fold_text(word);
  for (int ends = 0; ends < 3; ++ends) sum = mix(sum, 0);
  INFO(text);
  CHECK(contains(text, "checksum = " + std::to_string(sum)));
}

std::string sequential(std::string const& inputs, std::string const& layers, std::string const& weights = "") {
  return "(config = (layerType = (sequential = (layers = [" + layers + "], inputs = [" + inputs +
         "]))), weightsData = [" + weights + "])";
}
std::string fc(int outputs) {
  return R"((name = "fc", layerType = (linear = (outputSize = )" + std::to_string(outputs) + ")))";
}
std::string weight(int rows, int columns) {
  std::string text =
      R"((name = "fc-0", tensor = (shape = [)" + std::to_string(rows) + ", " + std::to_string(columns) + "], data = [0";
  for (int i = 1; i < rows * columns; ++i) text += ", 0";
  return text + "]))";
}
std::string reshape(std::string const& shape) {
  return R"((name = "view", layerType = (reshape = (shape = )" + shape + ")))";
}

TEST_CASE("the first extent of a shape is the batch, unless the weights know better") {
  struct Case {
    std::string text;
    Index batch;
    Shape sample;
  };
  auto const input = [](std::string const& shape) { return "(name = \"x\", shape = " + shape + ")"; };
  for (auto const& [text, batch, sample] :
       {Case{sequential(input("[40, 1, 10]"), ""), 40, {1, 10}}, Case{sequential(input("[1]"), ""), 1, {1}},
        Case{sequential(input("[5, 3]"), fc(2), weight(2, 3)), 5, {3}},
        Case{sequential(input("[3]"), fc(2), weight(2, 3)), 1, {3}},
        Case{sequential(input("[3]"), fc(2), weight(2, 1)), 3, {1}},
        Case{sequential(input("[2, 3]"), fc(2), weight(2, 6)), 1, {2, 3}},
        Case{sequential(input("[4, 6]"), reshape("[4, 2, 3]") + ", " + fc(1), weight(1, 6)), 4, {6}},
        Case{sequential(input("[6]"), reshape("[4, 2, 3]") + ", " + fc(1), weight(1, 6)), 4, {6}},
        Case{sequential(input("[4, 6]"), reshape("[1, 2, 3]"), ""), 4, {6}}}) {
    INFO(text);
    Model const model = parse_described(text);
    CHECK(model.batch == batch);
    CHECK(std::get<SequentialConfig>(model.config.layer_type).inputs[0].shape == sample);
  }
  auto const refused = [&](std::string const& text) { return message<ConfigError>([&] { parse_described(text); }); };
  CHECK(contains(refused(sequential(input("[40]"), fc(2))), "nothing tells whether {40} is a batch or a sample"));
  CHECK(contains(refused(sequential(input("[5, 3]"), fc(2), weight(2, 4))),
                 "layer 'layers[0] fc': weight 'fc-0' has shape {2, 4}, but configuration and inputs require {2, 3}"));
  CHECK(contains(refused(sequential(input("[4, 6]"), reshape("[4, 5]"))), "but the incoming samples have 6"));
  CHECK(contains(refused(sequential(input("[4, 6]"), reshape("[3, 6]"))), "has a batch of 3, but others have 4"));
  CHECK(contains(refused(sequential(input("[]"), "")), "1 to 9 extents"));
  CHECK(contains(refused(sequential(input("[5, 3]"), fc(2), weight(2, 3) + ", " + weight(2, 3))),
                 "weightsData[1]: the name 'fc-0' is given twice"));

  // A reshape after layers that are not known, and a container inside one that has no inputs.
  std::string const unknown = R"((name = "own", layerType = (custom = (name = "own"))))";
  auto const after = parse_described(sequential(input("[4, 6]"), unknown + ", " + reshape("[4, 2, 9]")));
  CHECK(std::get<SequentialConfig>(after.config.layer_type).layers[1].layer_type ==
        dynamic::LayerType{Reshape{{2, 9}}});
  CHECK(contains(refused(sequential(input("[4, 6]"), unknown + ", " + reshape("[5, 2, 9]"))), "batch"));
  CHECK(contains(refused(sequential("", reshape("[18]"))), "nothing tells"));
  auto const nested = parse_described(
      sequential("", R"((name = "in", layerType = (sequential = (inputs = [(name = "x", shape = [7, 2])]))))"));
  CHECK(nested.batch == 7);
}

TEST_CASE("samples are followed by name where layers are wired by hand") {
  std::string const wired = R"((name = "a", layerType = (linear = (outputSize = 3)), outputs = ["a_out"]),
      (name = "fc", layerType = (linear = (outputSize = 2)), inputs = ["x"], outputs = ["b_out"]))";
  auto const text = sequential(R"((name = "x", shape = [5]))", wired, weight(2, 5));
  auto const model = parse_described(text);
  CHECK(model.batch == 1);
  CHECK(std::get<SequentialConfig>(model.config.layer_type).inputs[0].shape == Shape{5});
}

}  // namespace
}  // namespace coldpress::persist
