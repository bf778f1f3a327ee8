#include "tools/command.hpp"

#include <coldpress/persist.hpp>

namespace coldpress::command {
namespace {

using dynamic::Custom;
using dynamic::SequentialConfig;

persist::Model small_model() {
  SequentialConfig inner;
  inner.add_layer({"fc2", Linear{.output_size = 2, .weight = Gaussian{0, 0.5f}, .bias = Constant{0.25f}}});
  SequentialConfig net;
  net.add_input("image", {2, 3})
      .add_layer({"fc1", Linear{.output_size = 4}})
      .add_layer({"drop", Dropout{.probability = 0.5f, .seed = 7}});
  net.add_layer({"inner", inner});
  return {.name = "net",
          .config = {"net", net},
          .weights = {{"fc1-0", {4, 6}, std::vector<float>(24, 0.5f)},
                      {"fc1-0-bias", {1, 4}, {-1, 0, 0, 1}},
                      {"fc2-0", {2, 4}, {0, 0, 0, 0, 0, 0, 0, 2}},
                      {"fc2-0-bias", {1, 2}, {3, 4}}}};
}

TEST_CASE("inspect shows a network's layers with their fields, its weights and its plan") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const file = folder / "net.juice";
  persist::write_model(file, small_model());
  std::string const text = output({"inspect", file});
  INFO(text);
  CHECK(contains(text, file + ": a network, with a checksum\n"));
  CHECK(contains(
      text,
      "\n  net: sequential  input image {2, 3}\n"
      "    fc1: linear  output_size 4, has_bias true, last_axis false\n"
      "    drop: dropout  probability 0.5, seed 7\n"
      "    inner: sequential\n"
      "      fc2: linear  output_size 2, weight gaussian(0, 0.5), bias 0.25, has_bias true, last_axis false\n"));
  CHECK(contains(text,
                 "\n  name        shape   min  max      rms\n"
                 "  fc1-0       {4, 6}  0.5  0.5      0.5\n"
                 "  fc1-0-bias  {1, 4}   -1    1  0.70711\n"
                 "  fc2-0       {2, 4}    0    2  0.70711\n"
                 "  fc2-0-bias  {1, 2}    3    4   3.5355\n"));
  CHECK(contains(text, "\nparameters\n  38\n"));
  CHECK(contains(text, "\nplan\n  layer"));
  CHECK(
      contains(text, "\n  on a GPU: forward is one graph of 2 kernels, each with as many blocks as it has work for\n"));
}

TEST_CASE("inspect --dot writes names as they are, whatever they have") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const file = folder / "net.juice";
  SequentialConfig net;
  net.add_input("x", {2}).add_layer({R"(a|b "c" \n)", ReLU{}});
  persist::write_model(file, {.name = "net", .config = {"net", net}});
  CHECK(contains(output({"inspect", file, "--dot"}), R"(n1 [label="a|b \"c\" \\n\n{2}\n0 + )"));
}

TEST_CASE("inspect shows what is done to samples, and the classes") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const file = folder / "net.juice";
  auto model = small_model();
  CHECK_FALSE(contains((persist::write_model(file, model), output({"inspect", file})), "transforms"));
  model.transforms = {data::SubtractMean{.per = data::Per::channel, .mean = {0.5f, -1}}, data::Crop{{2, 3}},
                      data::Mirror{}, data::Standardize{.mean = {0, 1, 2, 3, 4, -5, 6, 7, 8}, .deviation = {2}}};
  model.classes = {"cat", "dog\xe2\x80\xae"};
  persist::write_model(file, model);
  std::string const text = output({"inspect", file});
  INFO(text);
  CHECK(contains(text,
                 "\ntransforms of samples\n"
                 "  0: subtract_mean  per channel, mean {0.5, -1}\n"
                 "  1: crop  extents {2, 3}\n"
                 "  2: mirror  (for training alone)\n"
                 "  3: standardize  per value, epsilon 0, mean 9 numbers from -5 to 8, deviation {2}\n"
                 "\nclasses\n"
                 "  0: cat\n"
                 "  1: dog\\u{202e}\n"));
  std::string const config = output({"inspect", folder.put("config", R"((network = (layerType = (tanh = void)),
      transforms = [(subtractMean = (file = "mean.npy")), (noise = (deviation = 0.5))]))")});
  INFO(config);
  CHECK(contains(config,
                 "\ntransforms of samples\n"
                 "  0: subtract_mean  per value, file \"mean.npy\"\n"
                 "  1: noise  deviation 0.5  (for training alone)\n"));
}

TEST_CASE("inspect shows what a training does because of its own course, of a config and of a checkpoint") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const bare = output({"inspect", folder.put("bare", R"((network = (layerType = (tanh = void))))")});
  CHECK_FALSE(contains(bare, "monitoring"));
  persist::Checkpoint checkpoint;
  checkpoint.model = small_model();
  checkpoint.monitoring = {
      .validate = 0.125,
      .early_stopping =
          EarlyStopping{
              .metric = {"validation/accuracy", Better::higher}, .patience = 3, .min_delta = 0.5, .restore_best = true},
      .reduce_on_plateau =
          ReduceOnPlateau{
              .factor = 0.5f, .patience = 2, .min_delta = 0.25, .cooldown = 4, .min_rate = 0.0625f, .reload = true},
      .average = {.kind = WeightAverage::Kind::ema, .decay = 0.75f}};
  auto const text_of = [&] {
    persist::write_checkpoint(folder / "checkpoint", checkpoint);
    return output({"inspect", folder / "checkpoint"});
  };
  std::string const text = text_of();
  INFO(text);
  CHECK(contains(text,
                 "\nmonitoring\n"
                 "  a fraction of 0.125 of the data for validation\n"
                 "  early stopping: validation/accuracy (higher is better), patience 3, min_delta 0.5, ends with the "
                 "best weights\n"
                 "  reduce on plateau: validation/loss (lower is better), factor 0.5, patience 2, min_delta 0.25, "
                 "cooldown 4, min_rate 0.0625, goes back to the best weights\n"
                 "  exponential moving average of the weights, decay 0.75\n"));
  checkpoint.monitoring = {.average = {.kind = WeightAverage::Kind::swa, .from_epoch = 3}};
  CHECK(contains(text_of(), "\nmonitoring\n  mean of the weights after each epoch from epoch 4 on\n"));
}

TEST_CASE("inspect marks what a config left out and Juice has another default for than C++") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const text = output({"inspect", folder.put("config", R"((network = (layerType = (sequential = (layers = [
    (name = "view", layerType = (reshape = (sampleShape = [1, 28, 28]))),
    (name = "conv", layerType = (convolution = (numOutput = 2, filterShape = [5]))),
    (name = "drop", layerType = (dropout = (seed = 1))),
    (name = "rnn", layerType = (rnn = (hiddenSize = 3, output = "Sequence")))])))))")});
  INFO(text);
  CHECK(contains(text, "view: reshape  shape {1, 28, 28}\n"));
  CHECK(contains(text, "groups 1, has_bias false (Juice's default)\n"));
  CHECK(contains(text, "drop: dropout  probability 0 (Juice's default), seed 1\n"));
}

TEST_CASE("inspect spells out in names what a terminal would obey") {
  if (!has_command()) return;
  TemporaryFolder folder;
  auto model = small_model();
  std::get<SequentialConfig>(model.config.layer_type).layers[0].name = "f\xc2\x9bg\xe2\x80\xae";
  model.weights = {};
  persist::write_model(folder / "net", model);
  std::string const text = output({"inspect", folder / "net"});
  CHECK(contains(text, "f\\u{009b}g\\u{202e}: linear"));
  CHECK(!contains(text, "\xc2\x9b"));
  CHECK(!contains(text, "\xe2\x80\xae"));
}

TEST_CASE("inspect shows layers that cannot run, and says why there is no plan") {
  if (!has_command()) return;
  TemporaryFolder folder;
  auto model = small_model();
  auto& net = std::get<SequentialConfig>(model.config.layer_type);
  net.layers[1] = {"wave", Custom{"snake",
                                  {{"frequency", 1.5},
                                   {"taps", std::vector<std::uint64_t>{3, 5}},
                                   {"mode", std::string{"slow"}},
                                   {"on", true},
                                   {"lag", std::int64_t{-2}}}}};
  net.layers[1].inputs = {"fc1"};
  net.layers[1].outputs = {"a", "b"};
  persist::write_model(folder / "net.juice", model);
  std::string const text = output({"inspect", folder / "net.juice"});
  INFO(text);
  CHECK(contains(
      text, "wave: snake  frequency 1.5, taps {3, 5}, mode \"slow\", on true, lag -2, inputs [fc1], outputs [a, b]\n"));
  CHECK(contains(text, "\nno plan\n  layer 'wave'"));
}

TEST_CASE("inspect shows all of a file that Juice wrote") {
  if (!has_command()) return;
  std::string const folder = test_data("juice");
  if (folder.empty()) return;
  std::string const text = output({"inspect", folder + "/mackey-glass-rnn.juice"});
  INFO(text);
  for (char const* part :
       {"a network, without a checksum", "input data_input {1, 10}", "reshape: reshape  shape {10, 1, 1}",
        "LSTMInitial: rnn  hidden_size 5, num_layers 2, rnn_type \"LSTM\", reset_after true, dropout_probability "
        "0.5, dropout_seed 123, "
        "input_mode \"LinearInput\", direction_mode \"UniDirectional\", output \"Layers\" (Juice's default), "
        "truncation 0",
        "linear1: linear  output_size 1", "sigmoid: sigmoid", "LSTMInitial-0 ", "LSTMInitial-0-bias", "linear1-0 ",
        "linear1-0-bias", "parameters\n  596\n", "LSTMInitial  {5, 2}"}) {
    INFO(part);
    CHECK(contains(text, part));
  }
}

TEST_CASE("inspect shows a training, and a checkpoint") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const config = folder.put("config", dropout_config), data = "csv:" + folder.put("data", sides(20));
  std::string text = output({"inspect", config});
  INFO(text);
  for (char const* part :
       {": a training\n", "drop: dropout  probability 0.25, seed 5", "loss: negative_log_likelihood  num_classes 2",
        "learning rate 0.05, momentum 0.9\n", "epochs 4, batch 8, seed 3\n", "no plan\n"}) {
    INFO(part);
    CHECK(contains(text, part));
  }
  output({"train", "--config", config, "--data", data, "--steps", "4", "--checkpoint", folder / "checkpoint", "--save",
          folder / "net"});
  text = output({"inspect", folder / "checkpoint"});
  INFO(text);
  for (std::string const& part :
       {std::string{": a checkpoint, with a checksum\n"}, std::string{"fc2-0-bias/state0"}, "data " + data + "\n",
        std::string{"4 steps: 1 epoch and 8 samples\n"}, std::string{"plan\n"}}) {
    INFO(part);
    CHECK(contains(text, part));
  }
}

}  // namespace
}  // namespace coldpress::command
