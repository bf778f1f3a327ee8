// What `coldpress train` learns, prints and saves.
#include "tools/command.hpp"

#include <coldpress/persist.hpp>
#include <coldpress/train/score.hpp>

#include <algorithm>

namespace coldpress::command {
namespace {

/// The number after the last `label` in a text.
double last(std::string const& text, std::string const& label) {
  auto const at = text.rfind(label);
  REQUIRE(at != std::string::npos);
  return std::stod(text.substr(at + label.size()));
}

TEST_CASE("a straight line is learnt from csv") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const data = "csv:" + folder.put("points.csv", points(500)), save = folder / "line.juice";
  std::string const text = output({"train", "--config", source_file("examples/configs/linear-regression.capnp.txt"),
                                   "--data", data, "--save", save});
  INFO(text);
  CHECK(last(text, "epoch 20/20  loss ") < 1e-6);
  auto const model = persist::read_model(save);
  REQUIRE(model.weights.size() == 2);
  CHECK(model.weights[0].values[0] == Approx(2).margin(1e-3));
  CHECK(model.weights[0].values[1] == Approx(-1).margin(1e-3));
  CHECK(model.weights[1].values[0] == Approx(0.5).margin(1e-3));
  CHECK(folder.names().size() == 2);

  std::string const measured = output({"eval", "--model", save, "--data", data});
  INFO(measured);
  CHECK(last(measured, "mean_squared_error ") < 1e-6);
  CHECK_FALSE(contains(measured, "accuracy"));
  CHECK(contains(measured, "500 samples, "));
}

TEST_CASE("digits are learnt from the example's config") {
  if (!has_command()) return;
  std::string const digits = test_data("mnist-8k");
  if (digits.empty()) return;
  TemporaryFolder folder;
  std::string const save = folder / "mnist.juice", test = "mnist-test:" + digits;
  std::string const text =
      output({"train", "--config", source_file("examples/configs/mnist-mlp.capnp.txt"), "--data", "mnist:" + digits,
              "--test", test, "--save", save, "--epochs", "10", "--batch", "64"});
  INFO(text);
  CHECK(contains(text, "7000 samples of {28, 28}, 101770 parameters"));
  double const accuracy = last(text.substr(0, text.rfind("samples/s")), "  accuracy ");
  CHECK(accuracy >= 0.93);
  std::string const measured = output({"eval", "--model", save, "--data", test, "--batch", "300"});
  CHECK(last(measured, "accuracy ") == accuracy);
  CHECK(last(measured, "negative_log_likelihood ") == Approx(last(text, "  test loss ")).epsilon(1e-5));
}

TEST_CASE("loss and accuracy of an epoch are means over its samples, also where the last batch is smaller") {
  if (!has_command()) return;
  TemporaryFolder folder;
  // A rate of 0, so that each epoch, and the network at the end, give the same numbers.
  std::string const config = folder.put("config", R"((network = (name = "net", layerType = (sequential = (layers = [
    (name = "fc", layerType = (linear = (outputSize = 2))), (name = "scores", layerType = (logSoftmax = void))]))),
    loss = (name = "loss", layerType = (negativeLogLikelihood = (numClasses = 2))),
    solver = (baseLr = 0), epochs = 3, batch = 4, seed = 3))");
  std::string const data = "csv:" + folder.put("data", sides(9)), save = folder / "net";
  std::string const text = output({"train", "--config", config, "--data", data, "--save", save});
  std::string const whole = output({"eval", "--model", save, "--data", data, "--batch", "9"});
  INFO(text << whole);
  for (std::string const epoch : {"epoch 1/3  ", "epoch 2/3  ", "epoch 3/3  "}) {
    std::string const line = text.substr(text.find(epoch + "loss "));
    CHECK(std::stod(line.substr(line.find("loss ") + 5)) ==
          Approx(last(whole, "negative_log_likelihood ")).epsilon(1e-5));
    CHECK(std::stod(line.substr(line.find("accuracy ") + 9)) == Approx(last(whole, "accuracy ")).margin(1e-4));
  }
}

TEST_CASE("train says that it has updated or averaged nothing") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const config = folder.put("config", dropout_config), data = "csv:" + folder.put("data", sides(40));
  auto const train = [&](std::vector<std::string> const& more) {
    std::vector<std::string> all{"train", "--config", config, "--data", data, "--save", folder / "net.juice"};
    all.insert(all.end(), more.begin(), more.end());
    return output(all);
  };
  CHECK(contains(train({"--set", "solver.accumulate=9", "--steps", "8"}),
                 "note: no weight was updated, since that takes the gradients of 9 steps (solver.accumulate), and the "
                 "run has had 8 steps\n"));
  std::string const updated = train({"--set", "solver.accumulate=8", "--steps", "8"});
  CHECK_FALSE(contains(updated, "note: no weight"));
  CHECK(contains(train({"--swa", "1", "--epochs", "3", "--steps", "2"}),
                 "note: nothing was averaged, since that begins with the end of epoch 2 (average.swa), and the run has "
                 "had 0 whole epochs\n"));
  CHECK_FALSE(contains(train({"--swa", "1", "--epochs", "2"}), "note: nothing was averaged"));
}

TEST_CASE("train says after which step the best network was, and why there is none") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const config = folder.put("config", dropout_config), data = "csv:" + folder.put("data", sides(40)),
                    save = folder / "net.juice", best = folder / "best.juice";
  auto const train = [&](std::vector<std::string> const& more) {
    std::vector<std::string> all{"train", "--config", config, "--data", data, "--save", save, "--validate", "0.2"};
    all.insert(all.end(), more.begin(), more.end());
    return output(all);
  };
  std::string const some = train({"--steps", "3", "--keep-best", best});  // of 4 in an epoch
  INFO(some);
  CHECK(contains(some, "note: --keep-best has not written " + best +
                           ", since validation/loss is measured at the end of each epoch, and the run ended after 3 "
                           "steps, before that of the first\n"));
  CHECK_FALSE(std::filesystem::exists(best));
  CHECK(contains(some, "Saved the network after 3 steps to " + save));

  // With a rate of 0 no epoch is better than the first.
  std::string const all = train({"--set", "solver.baseLr=0", "--epochs", "6", "--keep-best", best});
  INFO(all);
  double least = std::numeric_limits<double>::infinity();
  int steps = 0;
  for (int epoch = 1; epoch <= 6; ++epoch) {
    std::string const line = all.substr(all.find("epoch " + std::to_string(epoch) + "/6  loss "));
    double const loss = std::stod(line.substr(line.find("validation loss ") + 16));
    if (loss < least) least = loss, steps = 4 * epoch;
  }
  CHECK(steps == 4);
  CHECK(last(all, "Saved the best network, that of step ") == steps);
  CHECK(last(all, " (validation/loss ") == Approx(least).epsilon(1e-4));
  CHECK(contains(all, "), to " + best + "\n"));
  CHECK(contains(all, "Saved the network after 24 steps to " + save));
  std::string const kept = content(best);
  std::string const stopped = train({"--set", "solver.baseLr=0", "--epochs", "6", "--patience", "6"});
  INFO(stopped);
  CHECK(contains(stopped, "Saved the best network, that of step " + std::to_string(steps) + " (validation/loss "));
  CHECK(content(save) == kept);
}

TEST_CASE("a classifier of steps is validated and tested as it is trained") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const config = folder.put("config", R"((network = (name = "net", layerType = (sequential = (layers = [
    (name = "tokens", layerType = (embedding = (vocabulary = 256, features = 4))),
    (name = "scores", layerType = (convolution = (numOutput = 256, filterShape = [1], hasBias = true)))]))),
    loss = (name = "loss", layerType = (softmaxLoss = (axis = -1))),
    solver = (baseLr = 0), epochs = 1, batch = 4, seed = 3))");
  std::string text;
  for (int i = 0; i < 200; ++i) text += static_cast<char>('a' + i * i % 7);
  std::string const data = "text:" + folder.put("t.txt", text) + "?steps=16", save = folder / "net.juice";
  std::string const all = output({"train", "--config", config, "--data", data, "--test", data, "--save", save});
  INFO(all);
  CHECK(last(all, "  test loss ") == Approx(last(all, "epoch 1/1  loss ")).epsilon(1e-5));
  CHECK(contains(output({"train", "--config", config, "--data", data, "--validate", "0.25", "--save", save}),
                 "  validation loss "));
}

/// The beginning of a config whose network has losses and statistics of its own, of two scores and a label.
static std::string const own_losses = R"((network = (name = "net", layerType = (sequential = (
    inputs = [(name = "x", sampleShape = [2]), (name = "label", sampleShape = [1])],
    layers = [
      (name = "fc", layerType = (linear = (outputSize = 2)), inputs = ["x"], outputs = ["scores"]),)";

TEST_CASE("losses inside a network are validated, and training stops by them") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const config = folder.put("config", own_losses + R"(
      (name = "cost", layerType = (softmaxLoss = ()), inputs = ["scores", "label"], lossWeight = 0.5)]))),
    solver = (baseLr = 0), epochs = 5, batch = 8, seed = 3))");
  std::string const data = "csv:" + folder.put("data", sides(20)), save = folder / "net.juice";
  std::string const text = output({"train", "--config", config, "--data", data, "--test", data, "--validate", "0.2",
                                   "--patience", "2", "--metric", "test/loss", "--save", save});
  INFO(text);
  CHECK(contains(text, "  validation loss "));
  CHECK(contains(text, "Stopped early: test/loss has not improved for 2 times"));
  CHECK(last(text, "  test loss ") ==
        Approx(last(output({"eval", "--model", save, "--data", data}), "loss ")).epsilon(1e-5));
}

TEST_CASE("statistics inside a network are shown, logged and watched by their names") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const config = folder.put("config", own_losses + R"(
      (name = "cost", layerType = (softmaxLoss = ()), inputs = ["scores", "label"]),
      (name = "hits", layerType = (accuracy = ()), inputs = ["scores", "label"])])), outputs = ["scores"]),
    solver = (baseLr = 0.3), epochs = 4, batch = 8, seed = 3))");
  std::string const data = "csv:" + folder.put("data", sides(60)), save = folder / "net.juice";
  std::string const log = folder / "log.csv", best = folder / "best.juice";
  std::string const text = output({"train", "--config", config, "--data", data, "--validate", "0.2", "--test", data,
                                   "--log", log, "--keep-best", best, "--metric", "test/hits", "--save", save});
  INFO(text);
  CHECK(last(text, "  hits ") == last(text.substr(0, text.rfind("  hits ")), "  accuracy "));
  std::string const header = content(log).substr(0, content(log).find('\n'));
  CHECK(contains(header, "validation/hits"));
  CHECK(contains(header, "test/hits"));
  // High values are the best ones: no other step has more hits.
  std::string const kept = output({"eval", "--model", best, "--data", data});
  CHECK(last(kept, "\nhits ") >= last(text, "  hits "));
  CHECK(contains(failure({"train", "--config", config, "--data", data, "--test", data, "--keep-best", best, "--metric",
                          "test/cost", "--save", save}),
                 "is not measured in this run, only training/loss_epoch, training/accuracy, test/loss, test/accuracy, "
                 "test/hits"));
}

TEST_CASE("a loss in a container of output and target, as in Juice, is trained as the loss alone") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const data = "csv:" + folder.put("data", sides(60)), save = folder / "net.juice";
  auto const config = [&](std::string const& loss, std::string const& last = "logSoftmax") {
    return folder.put("config", R"((network = (name = "net", layerType = (sequential = (layers = [
      (name = "fc", layerType = (linear = (outputSize = 2))), (name = "scores", layerType = ()" +
                                    last + R"( = void))]))), loss = )" + loss +
                                    ", solver = (baseLr = 0.2), epochs = 3, batch = 8, seed = 3, validate = 0.2)");
  };
  auto const run = [&](std::string const& file, std::vector<std::string> const& more = {}) {
    std::vector<std::string> all{"train", "--config", file, "--data", data, "--save", save};
    all.insert(all.end(), more.begin(), more.end());
    std::string const text = output(all);
    return text.substr(0, text.find("  100%"));  // without the time
  };
  std::string const nll = R"((name = "nll", layerType = (negativeLogLikelihood = (numClasses = 2))))",
                    alone = run(config(nll)), weights = content(save), checkpoint = folder / "run";
  CHECK(contains(alone, "  accuracy "));
  auto const contained = [](std::string const& layers) {
    return std::string{R"((name = "classifier", layerType = (sequential = (inputs = [(name = "out", sampleShape = )"} +
           R"([2]), (name = "label", sampleShape = [1])], layers = [)" + layers + "])))";
  };
  std::string const whole = config(contained(nll));
  CHECK(run(whole) == alone);
  CHECK(content(save) == weights);
  CHECK(contains(output({"find-rate", "--config", whole, "--data", data, "--steps", "5"}), "rate"));
  // A run of it goes on, too.
  run(whole, {"--checkpoint", checkpoint, "--epochs", "1"});
  CHECK(content(save) != weights);
  output({"train", "--resume", checkpoint, "--config", whole, "--data", data, "--epochs", "3", "--save", save});
  CHECK(content(save) == weights);
  // Layers before the loss are not part of the network.
  run(config(contained(R"((name = "scores", layerType = (logSoftmax = void)), )" + nll), "identity"));
  auto const same = persist::read_model(save).weights;
  run(config(nll));
  CHECK(same == persist::read_model(save).weights);
  // What does not fit is refused as it is for the loss alone.
  std::string const words = ": the targets have shape {2}, but negative_log_likelihood expects {1}";
  for (std::string const& file : {config(nll), config(contained(nll))}) {
    CHECK(contains(failure({"train", "--config", file, "--data", data + "?targets=1,2", "--save", save}), words));
    CHECK(contains(run(file, {"--set", "network.layerType.sequential.layers[1].layerType=(softmax = void)"}),
                   "note: the loss negativeLogLikelihood takes logarithms of probabilities"));
  }
}

TEST_CASE("what goes into a pipe are whole lines") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const data = "csv:" + folder.put("data", sides(100));
  std::string const text = output({"train", "--config", folder.put("config", dropout_config), "--data", data, "--test",
                                   data, "--save", folder / "net"});
  INFO(text);
  CHECK(std::ranges::none_of(text,
                             [](char c) { return c != '\n' && (static_cast<unsigned char>(c) < ' ' || c == 127); }));
  CHECK(std::ranges::count(text, '\n') == 7);  // what is trained, four epochs, the whole, and where it is
  for (char const* part : {"100 samples of {2}, 82 parameters, batch 8, cpu\n", "epoch 1/4  loss ", "  test loss ",
                           "epoch 4/4  100%  loss ", " samples/s  in 0:00\n", "Saved the network after 52 steps to ",
                           "; waited for data ", " % of the time\n"}) {
    INFO(part);
    CHECK(contains(text, part));
  }
}

TEST_CASE("transforms of a config are learnt from the data, saved, and used wherever the network is") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const data = "csv:" + folder.put("data", sides(100)), config = folder.put("config", dropout_config);
  std::string const set = "transforms=[(standardize = (per = value)), (noise = (deviation = 0.1))]";
  std::vector<std::string> const train{"train",
                                       "--config",
                                       config,
                                       "--data",
                                       data,
                                       "--set",
                                       set,
                                       "--validate",
                                       "0.2",
                                       "--save",
                                       folder / "net",
                                       "--checkpoint",
                                       folder / "run",
                                       "--log",
                                       folder / "log.csv",
                                       "--html",
                                       folder / "page.html",
                                       "--tensorboard",
                                       folder / "events"};
  auto half = train;
  half.insert(half.end(), {"--steps", "17"});
  output(half);
  output({"train", "--resume", folder / "run", "--data", data, "--save", folder / "rest"});
  std::string const text = output(train);
  INFO(text);
  auto const model = persist::read_model(folder / "net");
  CHECK(persist::read_model(folder / "rest") == model);
  REQUIRE(model.transforms.size() == 2);
  CHECK(std::get<data::Standardize>(model.transforms[0]).mean.size() == 2);
  auto const run = persist::read_checkpoint(folder / "run");
  auto const found = std::ranges::find(run.statistics, "validation/loss", &persist::Series::name);
  REQUIRE(found != run.statistics.end());
  auto const source = data::open_source(data);
  auto const parts = data::split(*source, 0.2, run.seed, true);
  auto network = dynamic::Layer::load(dynamic::Backend{}, folder / "net");
  auto const prepared = data::transformed(*parts.held_out, model.transforms);
  CHECK(*train::evaluate(network, run.loss, *prepared, 8).loss == found->values.back());
  CHECK(contains(content(folder / "log.csv"), "validation/loss"));
  CHECK(contains(content(folder / "page.html"), "<html"));
  CHECK_FALSE(std::filesystem::is_empty(folder / "events"));
}

TEST_CASE("options go before the config, and the same seed gives the same network") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const data = "csv:" + folder.put("data", sides(30)), config = folder.put("config", dropout_config);
  auto const trained = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"train", "--config", config, "--data", data, "--save", folder / "net"});
    output(options);
    return content(folder / "net");
  };
  std::string const same = trained({});
  CHECK(trained({}) == same);
  CHECK(trained({"--seed", "3", "--epochs", "4", "--batch", "8"}) == same);
  for (char const* const batches : {"0", "1", "100"}) CHECK(trained({"--prefetch", batches}) == same);
  CHECK(trained({"--seed", "4"}) != same);
  CHECK(trained({"--epochs", "3"}) != same);
  CHECK(trained({"--batch", "7"}) != same);
}

TEST_CASE("a run begins with the weights that another network has under the same names") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const data = "csv:" + folder.put("points.csv", points(100)), base = folder / "base.juice";
  auto const config = [&](std::string const& hidden, std::string const& last) {
    return folder.put(
        "config",
        "(network = (name = \"network\", layerType = (sequential = (layers = [(name = \"hidden\", layerType = "
        "(linear = (outputSize = " +
            hidden +
            ")), params = [(lrMult = 0), (lrMult = 0)]), (name = \"bend\", layerType = (tanh = void)), (name = \"" +
            last +
            "\", layerType = (linear = (outputSize = 1)))]))), loss = (name = \"loss\", layerType = "
            "(meanSquaredError = void)), solver = (baseLr = 0.1), epochs = 1, batch = 10)");
  };
  output({"train", "--config", config("4", "last"), "--data", data, "--seed", "1", "--save", base});
  auto const arguments = [&](std::string const& file) {
    return std::vector<std::string>{"train", "--config",  file, "--data", data,           "--seed",
                                    "2",     "--weights", base, "--save", folder / "fine"};
  };
  std::string const text = output(arguments(config("4", "new")));
  INFO(text);
  CHECK(contains(text, "note: new-0 is not in " + base + " and has its initial value\n"));
  CHECK(contains(text, "note: last-0-bias of " + base + " is not used\n"));
  CHECK(contains(text, "Begins with 2 weights of " + base + "\n"));
  auto const before = persist::read_model(base), after = persist::read_model(folder / "fine");
  for (std::size_t i : {0u, 1u})
    CHECK(before.weights[i].values == after.weights[i].values);  // nothing else changes them
  std::filesystem::remove(folder / "fine");
  CHECK(failure(arguments(config("5", "new"))) ==
        base + ": the weight 'hidden-0' has the shape {4, 2}, expected {5, 2} as in the network that learns on");
  CHECK_FALSE(std::filesystem::exists(folder / "fine"));
}

TEST_CASE("the data in a config count from its folder") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::filesystem::create_directory(folder / "configs");
  folder.put("configs/data", sides(30));
  std::string config = dropout_config;
  folder.put("configs/c", config.insert(config.size() - 1, ", data = \"csv:data\""));
  output({"train", "--config", folder / "configs/c", "--save", folder / "net"});
  std::string const named = content(folder / "net");
  output({"train", "--config", folder / "configs/c", "--data", "csv:" + folder / "configs/data", "--save",
          folder / "net"});
  CHECK(content(folder / "net") == named);
  output(
      {"train", "--config", source_file("examples/configs/xor.capnp.txt"), "--save", folder / "net", "--epochs", "1"});
}

}  // namespace
}  // namespace coldpress::command
