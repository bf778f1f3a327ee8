#include "tools/command.hpp"

#include <coldpress/data/npy.hpp>
#include <coldpress/persist.hpp>

#include <cmath>

namespace coldpress::command {
namespace {

/// A network that gives its input back, with `last` behind.
std::string identity(TemporaryFolder const& folder, std::optional<dynamic::LayerType> last = {}) {
  dynamic::SequentialConfig net;
  net.add_input("data", {3}).add_layer({"fc", Linear{.output_size = 3}});
  if (last) net.add_layer({"last", *last});
  persist::write_model(folder / "net.juice",
                       {.name = "net",
                        .config = {"net", net},
                        .weights = {{"fc-0", {3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}, {"fc-0-bias", {1, 3}, {0, 0, 0}}}});
  return folder / "net.juice";
}

/// A layer that reads and makes values with names.
dynamic::LayerConfig layer(char const* name, dynamic::LayerType const& type, std::vector<std::string> inputs,
                           std::vector<std::string> outputs = {}) {
  dynamic::LayerConfig config{name, type};
  config.inputs = std::move(inputs), config.outputs = std::move(outputs);
  return config;
}

// The label, and the scores: right, right by the first of equal ones, wrong by the same, wrong, right.
constexpr char const* labelled = "0,3,1,2\n1,0,5,5\n2,0,5,5\n0,1,2,3\n2,1,1,4\n";

TEST_CASE("eval counts labels with the highest output, the first of equal ones") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const model = identity(folder), data = "csv:" + folder.put("data", labelled);
  for (char const* batch : {"64", "2", "1"}) {
    std::string const text = output({"eval", "--model", model, "--data", data, "--batch", batch});
    INFO(text);
    CHECK(text.starts_with("accuracy 0.6000\n5 samples, "));
    CHECK(text.ends_with(" samples/s\n"));
  }
}

TEST_CASE("eval takes the loss that fits, or the one it is told") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const data = "csv:" + folder.put("data", labelled);
  double const rows[][3] = {{3, 1, 2}, {0, 5, 5}, {0, 5, 5}, {1, 2, 3}, {1, 1, 4}};
  int const labels[] = {0, 1, 2, 0, 2};
  double log_loss = 0, raw = 0;
  for (int i = 0; i < 5; ++i) {
    double sum = 0;
    for (double const score : rows[i]) sum += std::exp(score);
    log_loss -= (rows[i][labels[i]] - std::log(sum)) / 5;
    raw -= rows[i][labels[i]] / 5;
  }
  std::string text = output({"eval", "--model", identity(folder, LogSoftmax{}), "--data", data, "--batch", "2"});
  CHECK(text.starts_with("negative_log_likelihood "));
  CHECK(std::stod(text.substr(24)) == Approx(log_loss).epsilon(1e-5));
  text = output({"eval", "--model", identity(folder), "--data", data, "--loss", "negative_log_likelihood"});
  CHECK(std::stod(text.substr(24)) == Approx(raw).epsilon(1e-5));
  CHECK(contains(text, "\naccuracy 0.6000\n"));
}

TEST_CASE("eval measures cross entropy and accuracy of labels at positions, whose classes are along the other axis") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const model = folder / "net.juice", x = folder / "x.npy", y = folder / "y.npy";
  // Two samples of two positions, each with three scores. The second label of the second sample is left out.
  double const rows[2][2][3] = {{{3, 1, 2}, {0, 5, 4}}, {{1, 2, 3}, {1, 1, 4}}};
  std::vector<float> const labels{0, 1, 0, -100};
  auto const log_p = [&](int sample, int position, int label) {
    double sum = 0;
    for (double const score : rows[sample][position]) sum += std::exp(score);
    return rows[sample][position][label] - std::log(sum);
  };
  double const expected = -((log_p(0, 0, 0) + log_p(0, 1, 1)) / 2 + log_p(1, 0, 0)) / 2;
  auto const measured = [&](Shape output, std::vector<Index> targets, std::optional<dynamic::LayerType> last) {
    dynamic::SequentialConfig net;
    net.add_input("data", output).add_layer({"same", Reshape{output}});
    if (last) net.add_layer({"last", *last});
    persist::write_model(model, {.name = "net", .config = {"net", net}});
    std::vector<float> samples;
    for (auto const& sample : rows)
      for (int i = 0; i < 6; ++i)
        samples.push_back(static_cast<float>(output[0] == 3 ? sample[i % 2][i / 2] : sample[i / 3][i % 3]));
    data::write_npy(x, std::vector<Index>{2, output[0], output[1]}, samples);
    targets.insert(targets.begin(), 2);
    data::write_npy(y, targets, labels);
    std::string text = command::output({"eval", "--model", model, "--data", "npy:" + x + "," + y});
    INFO(text);
    CHECK(contains(text, "\naccuracy 0.6667\n2 samples, "));
    std::size_t const at = text.find(' ');
    CHECK(std::stod(text.substr(at)) == Approx(expected).epsilon(1e-5));
    return text.substr(0, at);
  };
  for (auto const& targets : {std::vector<Index>{2, 1}, {2}}) CHECK(measured({2, 3}, targets, {}) == "softmax_loss");
  for (auto const& targets : {std::vector<Index>{1, 2}, {2}}) CHECK(measured({3, 2}, targets, {}) == "softmax_loss");
  CHECK(measured({2, 3}, {2, 1}, SoftmaxOver{.axis = -1}) == "multinomial_logistic");
  CHECK(measured({2, 3}, {2, 1}, SoftmaxOver{.axis = -1, .logarithm = true}) == "softmax_loss");
  CHECK(contains(command::output({"eval", "--model", model, "--data", "npy:" + x + "," + y, "--loss", "focal_loss"}),
                 "\naccuracy 0.6667\n"));
}

TEST_CASE("eval does to samples and targets what was done to those of the training") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const file = identity(folder);
  auto model = persist::read_model(file);
  // The first value is then the smallest: only the label 0 is wrong where the others were.
  model.transforms = {data::Noise{9}, data::SubtractMean{.mean = {100, 0, 0}},
                      data::Standardize{.mean = {1}, .deviation = {2}}};
  persist::write_model(file, model);
  std::string const data = "csv:" + folder.put("data", labelled);
  CHECK(output({"eval", "--model", file, "--data", data}).starts_with("accuracy 0.4000\n"));
  model.transforms = {data::OneHot{3}, data::Scale{2, 1}};
  persist::write_model(file, model);
  double loss = 0;
  double const rows[][3] = {{3, 1, 2}, {0, 5, 5}, {0, 5, 5}, {1, 2, 3}, {1, 1, 4}};
  int const labels[] = {0, 1, 2, 0, 2};
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 3; ++j) loss += std::pow(2 * rows[i][j] + 1 - (labels[i] == j), 2) / 5;
  std::string const text = output({"eval", "--model", file, "--data", data});
  CHECK(text.starts_with("mean_squared_error "));
  CHECK(std::stod(text.substr(19)) == Approx(loss).epsilon(1e-5));
  CHECK(
      failure({"eval", "--model", file, "--data", "csv:" + folder.put("data", "7,1,2,3\n")}) ==
      "csv:" + folder / "data" +
          ": transforms[0] one_hot: the target of sample 0 is 7.000000, expected a label: a whole number from 0 to 2");
}

/// The beginning of a network with losses and statistics of its own: its samples are the scores of three classes.
static dynamic::SequentialConfig scores_and_labels() {
  dynamic::SequentialConfig net;
  net.add_input("data", {3}).add_input("label", {1});
  net.add_layer(layer("same", Reshape{{3}}, {"data"}, {"scores"}));
  return net;
}

TEST_CASE("eval measures the losses that are inside a network") {
  if (!has_command()) return;
  TemporaryFolder folder;
  dynamic::SequentialConfig net = scores_and_labels();
  net.add_layer(layer("cost", SoftmaxLoss{}, {"scores", "label"}));
  net.add_layer(layer("half", SoftmaxLoss{.loss_weight = 0.5f}, {"scores", "label"}));
  net.add_layer(layer("right", Accuracy{}, {"scores", "label"}));
  dynamic::LayerConfig config{"net", net};
  config.outputs = {"scores"};
  std::string const model = folder / "net.juice", data = "csv:" + folder.put("data", "0,3,1,2\n1,0,5,5\n2,0,5,4\n");
  persist::write_model(model, {.name = "net", .config = config});
  double const rows[][3] = {{3, 1, 2}, {0, 5, 5}, {0, 5, 4}};
  double loss = 0;
  for (int i = 0; i < 3; ++i)
    loss += std::log(std::exp(rows[i][0]) + std::exp(rows[i][1]) + std::exp(rows[i][2])) - rows[i][i];
  for (char const* batch : {"64", "2"}) {
    std::string const text = output({"eval", "--model", model, "--data", data, "--batch", batch});
    INFO(text);
    REQUIRE(text.starts_with("loss "));
    CHECK(std::stod(text.substr(5)) == Approx(1.5 * loss / 3).epsilon(1e-5));
    CHECK(contains(text, "\naccuracy 0.6667\nright 0.6667\n3 samples"));
  }
}

TEST_CASE("an accuracy inside a network is the accuracy if it is called so, since it knows which labels to leave out") {
  if (!has_command()) return;
  TemporaryFolder folder;
  dynamic::SequentialConfig net = scores_and_labels();
  net.add_layer(layer("cost", SoftmaxLoss{.ignore_index = 2}, {"scores", "label"}));
  net.add_layer(layer("accuracy", Accuracy{.ignore_index = 2}, {"scores", "label"}));
  dynamic::LayerConfig config{"net", net};
  config.outputs = {"scores"};
  std::string const model = folder / "net.juice", data = "csv:" + folder.put("data", "0,3,1,2\n1,0,5,5\n2,0,5,4\n");
  persist::write_model(model, {.name = "net", .config = config});
  for (char const* batch : {"64", "2", "1"})  // in the last ones of which no label counts
    CHECK(contains(output({"eval", "--model", model, "--data", data, "--batch", batch}),
                   "\naccuracy 1.0000\n3 samples, "));
}

TEST_CASE("eval refuses data that do not fit") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const model = identity(folder, LogSoftmax{});
  auto const refused = [&](char const* rows, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"eval", "--model", model, "--data", "csv:" + folder.put("data", rows)});
    return failure(more);
  };
  CHECK(contains(refused("0,1,2\n"), "the network takes samples of shape {3}, not {2}"));
  CHECK(contains(refused("3,1,2,3\n"), "of sample 0 is 3"));
  CHECK(contains(refused("1,1,2,3\n0.5,1,2,3\n"), "of sample 1 is 0.5"));
  CHECK(contains(refused("1,1,2,3\n", {"--loss", "mean_squared_error"}),
                 "the targets have shape {1}, but mean_squared_error expects {3}"));
  CHECK(contains(refused("1,1,2,3\n", {"--backend", "cpu:v9"}), "v9"));
}

}  // namespace
}  // namespace coldpress::command
