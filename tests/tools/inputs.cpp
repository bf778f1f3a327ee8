// The command with networks that take several arrays of each sample: training, validation, evaluation and prediction.
#include "tools/command.hpp"

#include <coldpress/data/npy.hpp>
#include <coldpress/data/output.hpp>
#include <coldpress/data/sample_stream.hpp>
#include <coldpress/persist.hpp>

#include <array>
#include <cmath>

namespace coldpress::command {
namespace {

/// A classifier of sequences of different lengths.
std::string const tagger = R"((network = (name = "tagger", layerType = (sequential = (
  inputs = [(name = "sequence", sampleShape = [6, 2]), (name = "lengths", sampleShape = [1])],
  layers = [
    (name = "rnn", layerType = (rnn = (hiddenSize = 5, output = "LastStep")), inputs = ["sequence", "lengths"]),
    (name = "scores", layerType = (linear = (outputSize = 3))),
    (name = "classes", layerType = (logSoftmax = void))]))),
loss = (name = "loss", layerType = (negativeLogLikelihood = (numClasses = 3))),
solver = (solver = (adam = ()), baseLr = 0.02), epochs = 3, batch = 8, seed = 5))";

struct Sequences {
  static constexpr Index size = 45;
  TemporaryFolder folder;
  std::string config, path = folder / "train.npz", save = folder / "net.juice";
  std::vector<float> x, lengths, y;

  explicit Sequences(std::string const& text = tagger) : config(folder.put("net.txt", text)) {
    for (Index i = 0; i < size; ++i) {
      for (int k = 0; k < 12; ++k) x.push_back(std::sin(static_cast<float>(i * 12 + k)));
      lengths.push_back(static_cast<float>(1 + i % 6));
      y.push_back(static_cast<float>(i % 6 / 2));
    }
    write(path, {{"sequence", {6, 2}, &x}, {"lengths", {1}, &lengths}, {"y", {1}, &y}});
  }
  struct Array {
    std::string name;
    Shape shape;
    std::vector<float> const* values;
  };
  static void write(std::string const& path, std::vector<Array> const& arrays) {
    auto const file = data::open_output(path, arrays[0].shape, arrays[0].name);
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      if (k > 0) file->next(arrays[k].name, arrays[k].shape);
      file->append(*arrays[k].values);
    }
    file->finish();
  }
  std::vector<std::string> train(std::string const& data, std::vector<std::string> const& more = {}) const {
    std::vector<std::string> all{"train", "--config", config, "--data", data, "--save", save};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// The weights after the run of the config, whose minibatches are gathered here, one array at a time.
  std::vector<persist::NamedTensor> by_hand() const {
    auto const training = persist::read_training(config);
    auto solver = persist::solver_of({}, training);
    std::vector<Index> order(static_cast<std::size_t>(size));
    for (Index epoch = 0; epoch < training.epochs; ++epoch) {
      data::shuffle(order, training.seed, static_cast<std::uint64_t>(epoch));
      for (Index first = 0; first < size; first += training.batch) {
        std::vector<float> a, b, t;
        for (Index i = first; i < std::min(size, first + training.batch); ++i) {
          Index const row = order[static_cast<std::size_t>(i)];
          a.insert(a.end(), x.begin() + row * 12, x.begin() + (row + 1) * 12);
          b.push_back(lengths[static_cast<std::size_t>(row)]), t.push_back(y[static_cast<std::size_t>(row)]);
        }
        std::array<dynamic::Values, 2> const inputs{a, b};
        solver.train_minibatch(std::span<dynamic::Values const>{inputs}, t);
      }
    }
    return persist::model_of(solver.network()).weights;
  }
};

double after(std::string const& text, std::string const& label) {
  INFO(text);
  auto const at = text.rfind(label);
  REQUIRE(at != std::string::npos);
  return std::stod(text.substr(at + label.size()));
}

}  // namespace

TEST_CASE("a network of two inputs is trained from a file whose arrays are called as its inputs") {
  if (!has_command()) return;
  Sequences const with;
  std::string const text = output(with.train("npz:" + with.path));
  CHECK(contains(text, "45 samples of sequence {6, 2} and lengths {1}, "));
  auto const weights = with.by_hand();
  CHECK(persist::read_model(with.save).weights == weights);
  // Under other names, and compressed or not, they are the same arrays.
  std::string const other = with.folder / "other.npz";
  Sequences::write(other, {{"tokens, all", {6, 2}, &with.x}, {"n", {1}, &with.lengths}, {"label", {1}, &with.y}});
  output(with.train("npz:" + other + "?x=\"tokens, all\",n&y=label"));
  CHECK(persist::read_model(with.save).weights == weights);
  // A row of a table has the values of both.
  std::string rows;
  for (Index i = 0; i < Sequences::size; ++i) {
    auto const at = static_cast<std::size_t>(i);
    char number[32];
    std::snprintf(number, sizeof number, "%.9g", static_cast<double>(with.y[at]));
    rows += number;
    for (std::size_t k = 0; k < 13; ++k) {
      std::snprintf(number, sizeof number, ",%.9g",
                    static_cast<double>(k < 12 ? with.x[at * 12 + k] : with.lengths[at]));
      rows += number;
    }
    rows += "\n";
  }
  output(with.train("csv:" + with.folder.put("rows.csv", rows)));
  CHECK(persist::read_model(with.save).weights == weights);
}

TEST_CASE("a run with two inputs is validated, goes on from a checkpoint, is measured and predicts") {
  if (!has_command()) return;
  Sequences const with;
  std::string const data = "npz:" + with.path, checkpoint = with.folder / "run";
  std::string const text =
      output(with.train(data, {"--validate", "0.2", "--test", data, "--html", with.folder / "page"}));
  CHECK(contains(text, "36 samples of sequence {6, 2} and lengths {1}, "));
  CHECK(contains(text, "  validation loss "));
  std::string const whole = content(with.save);
  std::string const measured = output({"eval", "--model", with.save, "--data", data});
  CHECK(after(measured, "negative_log_likelihood ") == Approx(after(text, "  test loss ")).epsilon(1e-5));
  CHECK(contains(measured, "accuracy "));
  output(with.train(data, {"--validate", "0.2", "--test", data, "--checkpoint", checkpoint, "--epochs", "1"}));
  CHECK(content(with.save) != whole);
  output({"train", "--resume", checkpoint, "--data", data, "--test", data, "--epochs", "3", "--save", with.save});
  CHECK(content(with.save) == whole);
  output({"find-rate", "--config", with.config, "--data", data, "--steps", "20"});

  // Prediction needs no targets.
  std::string const input = with.folder / "input.npz", to = with.folder / "y.npy";
  Sequences::write(input, {{"lengths", {1}, &with.lengths}, {"sequence", {6, 2}, &with.x}});
  CHECK(output({"predict", "--model", with.save, "--input", "npz:" + input, "--output", to, "--batch", "7"}) ==
        "45 samples of sequence {6, 2} and lengths {1} to {3} in " + to + "\n");
  auto network = dynamic::Layer::load({}, with.save);
  network.set_mode(dynamic::Mode::inference);
  std::array<dynamic::Values, 2> const both{with.x, with.lengths};
  auto const y = network.executable().forward(both, dynamic::Mode::inference)[0];
  CHECK(data::read_npy(to).values == std::vector<float>(y.begin(), y.end()));

  // Neither do transforms of targets, which are in the file of a network.
  persist::Model model = persist::read_model(with.save);
  model.transforms = {data::OneHot{3}};
  persist::write_model(with.save, model);
  output({"predict", "--model", with.save, "--input", "npz:" + input, "--output", to});
  CHECK(data::read_npy(to).values == std::vector<float>(y.begin(), y.end()));

  CHECK(
      contains(output({"bench", "--model", with.save, "--batch", "45", "--seconds", "0.01", "--input", "npz:" + input}),
               "minibatches of 45 samples: "));
  CHECK(failure({"bench", "--model", with.save, "--batch", "44", "--input", "npz:" + input}) ==
        "'npz:" + input + "' has 45 samples of 13 values, expected 44 of 13");

  std::string const shown = output({"data", "inspect", data + "?x=sequence,lengths"});
  CHECK(contains(shown, "samples of sequence {6, 2} and lengths {1}, from "));
}

TEST_CASE("losses of a network take several arrays of targets") {
  if (!has_command()) return;
  Sequences const with{R"((network = (name = "two", layerType = (sequential = (
    inputs = [(name = "sequence", sampleShape = [6, 2]), (name = "lengths", sampleShape = [1]),
              (name = "label", sampleShape = [1]), (name = "height", sampleShape = [1])],
    layers = [
      (name = "rnn", layerType = (rnn = (hiddenSize = 5, output = "LastStep")), inputs = ["sequence", "lengths"],
       outputs = ["state"]),
      (name = "scores", layerType = (linear = (outputSize = 3)), inputs = ["state"], outputs = ["scores"]),
      (name = "value", layerType = (linear = (outputSize = 1)), inputs = ["state"], outputs = ["value"]),
      (name = "one", layerType = (softmaxLoss = ()), inputs = ["scores", "label"]),
      (name = "other", layerType = (meanSquaredError = void), inputs = ["value", "height"])])),
    outputs = ["scores", "value"]),
    solver = (baseLr = 0.02), epochs = 2, batch = 8, seed = 5))"};
  std::vector<float> height;
  for (float const value : with.y) height.push_back(1 - value);
  Sequences::write(
      with.path,
      {{"sequence", {6, 2}, &with.x}, {"lengths", {1}, &with.lengths}, {"y", {1}, &with.y}, {"h", {1}, &height}});
  std::string const data = "npz:" + with.path + "?y=y,h";
  output(with.train(data));
  auto const training = persist::read_training(with.config);
  auto solver = persist::solver_of({}, training);
  std::vector<Index> order(static_cast<std::size_t>(Sequences::size));
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    data::shuffle(order, 5, epoch);
    for (Index first = 0; first < Sequences::size; first += 8) {
      std::array<std::vector<float>, 4> of;
      for (Index i = first; i < std::min(Sequences::size, first + 8); ++i) {
        auto const row = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]);
        of[0].insert(of[0].end(), with.x.begin() + static_cast<std::ptrdiff_t>(row * 12),
                     with.x.begin() + static_cast<std::ptrdiff_t>(row * 12 + 12));
        of[1].push_back(with.lengths[row]), of[2].push_back(with.y[row]), of[3].push_back(height[row]);
      }
      std::array<dynamic::Values, 4> const inputs{of[0], of[1], of[2], of[3]};
      solver.train_minibatch(std::span<dynamic::Values const>{inputs});
    }
  }
  CHECK(persist::read_model(with.save).weights == persist::model_of(solver.network()).weights);
  CHECK(contains(output({"eval", "--model", with.save, "--data", data}), "loss "));
  output({"predict", "--model", with.save, "--input", "npz:" + with.path, "--output", with.folder / "y.npz"});
  CHECK(failure(with.train("npz:" + with.path)) ==
        "npz:" + with.path +
            "?x=sequence,lengths: the targets have shape {1}, but the network takes label {1} and "
            "height {1}");
}

TEST_CASE("a network of one input, and of targets for its own loss, takes other numbers of steps") {
  if (!has_command()) return;
  Sequences const with{R"((network = (name = "own", layerType = (sequential = (
    inputs = [(name = "sequence", sampleShape = [6, 2]), (name = "label", sampleShape = [1])],
    layers = [
      (name = "rnn", layerType = (rnn = (hiddenSize = 5, output = "LastStep")), inputs = ["sequence"]),
      (name = "scores", layerType = (linear = (outputSize = 3)), outputs = ["scores"]),
      (name = "loss", layerType = (softmaxLoss = ()), inputs = ["scores", "label"])])), outputs = ["scores"]),
    solver = (baseLr = 0.02), batch = 8))"};
  std::vector<float> const fewer(with.x.begin(), with.x.begin() + 8 * Sequences::size);
  Sequences::write(with.path, {{"x", {4, 2}, &fewer}, {"y", {1}, &with.y}});
  CHECK(contains(output(with.train("npz:" + with.path)), "45 samples of {4, 2}, "));
  output({"eval", "--model", with.save, "--data", "npz:" + with.path});
  output({"predict", "--model", with.save, "--input", "npz:" + with.path, "--output", with.folder / "y.npy"});
}

TEST_CASE("arrays that do not suit a network of two inputs are refused, with the file and the array") {
  if (!has_command()) return;
  Sequences const with;
  std::string const named = "?x=sequence,lengths";
  auto const refused = [&](std::vector<Sequences::Array> const& arrays, std::string const& options = "") {
    std::string const path = with.folder / "bad.npz";
    std::filesystem::remove(path);
    Sequences::write(path, arrays);
    std::string const said = failure(with.train("npz:" + path + options));
    INFO(said);
    REQUIRE((said.starts_with(path) || said.starts_with("npz:" + path)));
    CHECK_FALSE(std::filesystem::exists(with.save));
    return said.substr(said.find(path) + path.size());
  };
  std::vector<float> const few(with.lengths.begin(), with.lengths.end() - 1), wide(2 * Sequences::size, 1.0f);
  CHECK(refused({{"sequence", {6, 2}, &with.x}, {"y", {1}, &with.y}}) ==
        ": has no member 'lengths.npy'; it has 'sequence.npy', 'y.npy'; others are named as in "
        "npz:FILE?x=NAME,NAME&y=NAME");
  CHECK(refused({{"sequence", {6, 2}, &with.x}, {"lengths", {1}, &few}, {"y", {1}, &with.y}}) ==
        ": member 'lengths.npy': holds 44 samples for the 45 samples of member 'sequence.npy'");
  CHECK(refused({{"sequence", {6, 2}, &with.x}, {"lengths", {2}, &wide}, {"y", {1}, &with.y}}) ==
        named + ": the array 'lengths' has shape {2} for each sample, but the network's input 'lengths' expects {1}");
  CHECK(refused({{"sequence", {2, 6}, &with.x}, {"lengths", {1}, &with.lengths}, {"y", {1}, &with.y}}) ==
        named +
            ": the array 'sequence' has shape {2, 6} for each sample, but the network's input 'sequence' expects "
            "{6, 2}");
  std::vector<Sequences::Array> const good{
      {"sequence", {6, 2}, &with.x}, {"lengths", {1}, &with.lengths}, {"y", {1}, &with.y}};
  CHECK(refused(good, "?x=lengths,sequence") ==
        "?x=lengths,sequence: the array 'lengths' is number 1 of the samples, but the network's input of this name is "
        "number 2");
  CHECK(contains(refused(good, "?x=sequence"),
                 "?x=sequence: the network takes sequence {6, 2} and lengths {1} of each sample, but the samples have "
                 "shape {6, 2}; "));
  CHECK(contains(refused(good, "?x=sequence,lengths,lengths"), "the samples have 3 arrays, "));
  for (char const* const options : {"?x=sequence,", "?x=,", "?x=sequence,,lengths"})
    CHECK(failure(with.train("npz:" + with.path + options)) ==
          "the option 'x' has an empty name; it names arrays, as in x=NAME,NAME");
  std::vector<float> infinite = with.lengths;
  infinite[7] = std::numeric_limits<float>::infinity();
  CHECK(contains(refused({{"sequence", {6, 2}, &with.x}, {"lengths", {1}, &infinite}, {"y", {1}, &with.y}}),
                 "member 'lengths.npy': value 0 of sample 7 is inf, expected finite values"));

  // What is wrong with the words for data is not said of the network's file.
  std::string const asked = "npz:" + with.folder / "wh?o.npz", no_option = "npz: has no option 'o.npz'; it has x, y. ";
  CHECK(failure(with.train(asked)).starts_with(no_option));

  // Other formats and commands.
  CHECK(contains(failure(with.train("csv:" + with.folder.put("t.csv", sides(45)))),
                 "the network takes sequence {6, 2} and lengths {1} of each sample, but the samples have shape {2}; "));
  output(with.train("npz:" + with.path));
  std::string const x = with.folder / "x.npy";
  data::write_npy(x, std::array<Index, 3>{Sequences::size, 6, 2}, with.x);
  CHECK(contains(failure({"predict", "--model", with.save, "--input", x, "--output", with.folder / "y.npy"}),
                 x + ": the network takes sequence {6, 2} and lengths {1} of each sample"));
  CHECK(failure({"eval", "--model", with.save, "--data", asked}).starts_with(no_option));
  CHECK(failure(with.train("npz:" + with.path, {"--test", asked})).starts_with(no_option));
  CHECK(contains(failure({"eval", "--model", with.save, "--data", "npz:" + with.path + "?x=lengths,sequence"}),
                 "the array 'lengths' is number 1 of the samples"));
}

TEST_CASE("targets of several arrays are refused where no loss in the network reads them, unless a loss is named") {
  if (!has_command()) return;
  std::string text = tagger;
  Sequences const with{text.replace(text.find("outputSize = 3"), 14, "outputSize = 2")};
  std::vector<float> label;
  for (float const y : with.y) label.push_back(y > 0 ? 1.0f : 0.0f);
  Sequences::write(with.path, {{"sequence", {6, 2}, &with.x}, {"lengths", {1}, &with.lengths}, {"y", {1}, &label}});
  output(with.train("npz:" + with.path, {"--set", "loss.layerType.negativeLogLikelihood.numClasses=2"}));
  std::vector<std::string> eval{"eval", "--model", with.save, "--data", "npz:" + with.path + "?y=y,y"};
  CHECK(failure(eval) ==
        "npz:" + with.path +
            "?y=y,y: the targets are 2 arrays, which are for the losses inside a network, and this one "
            "has none; name one array as in ?y=NAME, or the loss with --loss");
  eval.insert(eval.end(), {"--loss", "mean_squared_error"});
  CHECK(output(eval).starts_with("mean_squared_error "));
}

TEST_CASE("transforms of samples are refused where these are made of several arrays") {
  if (!has_command()) return;
  std::string text = tagger;
  Sequences const with{text.insert(text.rfind(')'), ", transforms = [(scale = (factor = 2))]")};
  CHECK(contains(failure(with.train("npz:" + with.path)),
                 "transforms[0] scale: is for samples of one array, and these have 2; "));
}

}  // namespace coldpress::command
