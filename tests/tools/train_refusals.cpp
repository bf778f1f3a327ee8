// What `coldpress train` refuses or warns of.
#include "support/sanitizer.hpp"
#include "tools/command.hpp"

#include <coldpress/persist.hpp>

namespace coldpress::command {
namespace {

TEST_CASE("a run goes on with what it began with, and what contradicts it is refused") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const data = "csv:" + folder.put("data", sides(100)), config = folder.put("config", dropout_config);
  std::string const set = "transforms=[(standardize = (per = value))]";
  output({"train", "--config", config, "--data", data, "--set", set, "--validate", "0.2", "--ema", "0.9", "--steps",
          "15", "--checkpoint", folder / "run", "--save", folder / "half"});
  auto const resume = [&](std::vector<std::string> more) {
    std::vector<std::string> all{"train", "--resume", folder / "run", "--data", data, "--save", folder / "net"};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  CHECK(resume({"--config", config}).code == 0);  // the config says nothing of these
  CHECK(persist::read_model(folder / "net").transforms.size() == 1);
  auto const half = persist::read_checkpoint(folder / "run");
  CHECK(half.monitoring.average.decay == 0.9f);
  CHECK(contains(resume({"--ema", "0.5"}).err, "was made with another average of the weights"));
  CHECK(contains(resume({"--validate", "0.3"}).err, "was made with validate 0.2"));
  CHECK(resume({"--config", config, "--set", "batch=3"}).code == 2);
  std::string synchronised = dropout_config;
  synchronised.insert(synchronised.find("baseLr"), "syncBatchNormalization = true, ");
  CHECK(contains(resume({"--config", folder.put("synchronised", synchronised)}).err,
                 "the checkpoint's sync_batch_normalization is false, the config's is true"));
  std::string const other = folder.put("other", content(config).insert(1, "transforms = [(scale = (factor = 2))], "));
  CHECK(contains(resume({"--config", other}).err, "was made with other transforms than the config's"));
}

TEST_CASE("monitoring that cannot work is refused before the first step") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const data = "csv:" + folder.put("data", sides(20)), config = folder.put("config", dropout_config);
  auto const refused = [&](std::vector<std::string> more) {
    std::vector<std::string> all{"train", "--config", config, "--data", data, "--save", folder / "net"};
    all.insert(all.end(), more.begin(), more.end());
    Result const result = run(all);
    CHECK(result.code != 0);
    CHECK_FALSE(std::filesystem::exists(folder / "net"));
    return result.err;
  };
  CHECK(contains(refused({"--patience", "2"}),
                 "the metric 'validation/loss' is not measured in this run, only training/loss_epoch, "
                 "training/accuracy; --validate 0.1 holds out"));
  CHECK(contains(refused({"--validate", "0.2", "--keep-best", folder / "best", "--metric", "validation/f1"}),
                 "the metric 'validation/f1' is not measured"));
  CHECK(contains(refused({"--validate", "1.5"}), "validate: must be at least 0 and below 1, got 1.5"));
  CHECK(contains(refused({"--validate", "0.001"}), "validate"));
  CHECK(contains(refused({"--ema", "2"}), "average.ema: must be between 0 and 1"));
  CHECK(contains(refused({"--ema", "0.9", "--swa", "1"}), "--ema"));
  CHECK(contains(refused({"--set", "solver.rate=1"}), "SolverConfig has no field 'rate'"));
}

TEST_CASE("train notes a softmax before a loss that takes logarithms") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const data = "csv:" + folder.put("data", sides(30)), note = "note: the loss negativeLogLikelihood takes ";
  auto const said = [&](std::string const& last) {
    std::string text = dropout_config;
    text.replace(text.find("logSoftmax"), 10, last);
    return output(
        {"train", "--config", folder.put("config", text), "--data", data, "--steps", "1", "--save", folder / "net"});
  };
  CHECK(said("softmax").starts_with(note));
  CHECK_FALSE(contains(said("logSoftmax"), note));
  CHECK_FALSE(contains(said("sigmoid"), note));
}

TEST_CASE("what cannot work fails with file and place, and leaves nothing") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const config = folder.put("config", dropout_config), data = folder.put("data", sides(30)),
                    save = folder / "net";
  auto const with = [&](std::string const& from, std::string const& to) {
    std::string text = dropout_config;
    REQUIRE(contains(text, from));
    return folder.put("wrong", text.replace(text.find(from), from.size(), to));
  };
  auto const fails = [&](std::string const& file, std::string const& spec, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"train", "--config", file, "--data", spec, "--save", save});
    return failure(more);
  };
  std::string const csv = "csv:" + data;
  CHECK(fails(folder / "missing", csv) == folder / "missing" + ": cannot open: No such file or directory");
  CHECK(fails(config, "csv:" + folder / "missing") == folder / "missing" + ": cannot open: No such file or directory");
  CHECK(contains(fails(config, "tape:x"), "the data 'tape:x' is not one of mnist:DIR"));
  CHECK(contains(fails(config, csv, {"--test", "csv:" + folder / "missing"}), "missing: cannot open"));
  CHECK(contains(fails(config, csv, {"--backend", "abacus"}), "no backend 'abacus'"));
  CHECK(contains(fails(with("tanh = void", "tahn = void"), csv), folder / "wrong" + ": line 3, column "));
  CHECK(contains(fails(with("outputSize = 16", "outputSize = 0"), csv),
                 folder / "wrong" + ": layer 'layers[0] fc1': outputSize: must be"));
  CHECK(contains(fails(with("numClasses = 2", "numClasses = 3"), csv), "num_classes values: expected 3, got 2"));
  CHECK(
      contains(fails(with("tanh = void", "custom = (name = \"snake\")"), csv), folder / "wrong" + ": layer 'tanh': "));
  CHECK(contains(fails(with("tanh = void", "reshape = (shape = [1, 5])"), csv), folder / "wrong" + ": layer 'tanh': "));
  CHECK(fails(with("loss = (name = \"loss\", layerType = (negativeLogLikelihood = (numClasses = 2))),", ""), csv) ==
        folder / "wrong" +
            ": solver: the config has no objective, which is the field loss of a file, and its network has no loss");
  CHECK(contains(fails(with("baseLr = 0.05", "baseLr = 1e38"), csv), "the loss of step "));
  CHECK(failure({"train", "--config", config, "--save", save}) == config + ": data: is missing");
  std::string const labels = "csv:" + folder.put("labels", "2,0,0\n1,0,0\n");
  CHECK(contains(fails(config, labels), labels + ": the label of sample 0 is 2; expected a whole number from 0 to 1"));
  CHECK(contains(fails(config, csv, {"--test", "csv:" + folder.put("wide", "1,0,0,0\n")}),
                 "wide: the samples have shape {3}, but the network expects {2}"));
  // Asked before the training, which would take days.
  for (std::string const& path :
       {folder / "nowhere/net", folder / "data/net", std::string{"/"}, std::string{"/dev/null"}, std::string{}}) {
    for (char const* option : {"--save", "--checkpoint", "--report"}) {
      INFO(option << " " << path);
      std::vector<std::string> arguments{"train",    "--config",   config, "--data", csv,
                                         "--epochs", "1000000000", option, path};
      if (std::string_view{option} != "--save") arguments.insert(arguments.end(), {"--save", save});
      if (path.empty() && std::string_view{option} != "--save") continue;
      CHECK(contains(failure(arguments), path + ": "));
    }
  }
  for (std::string const& name : folder.names()) CHECK((name != "net" && name.find("tmp") == std::string::npos));
}

TEST_CASE("a run that diverges fails, and what it would have written stays as it was") {
  if (!has_command()) return;
  TemporaryFolder folder;
  auto const config = [&](std::string const& rate) {
    return folder.put("config" + rate,
                      "(network = (name = \"n\", layerType = (sequential = (layers = ["
                      "(name = \"a\", layerType = (linear = (outputSize = 4))),"
                      "(name = \"b\", layerType = (linear = (outputSize = 1)))]))),"
                      "loss = (name = \"loss\", layerType = (meanSquaredError = void)),"
                      "solver = (baseLr = " +
                          rate + "), epochs = 1, batch = 4)");
  };
  std::string const data = "csv:" + folder.put("xor", "0,0,0\n1,0,1\n1,1,0\n0,1,1\n"), save = folder / "net",
                    checkpoint = folder / "checkpoint";
  auto const arguments = [&](std::string const& rate) {
    return std::vector<std::string>{"train", "--config", config(rate), "--data", data, "--save", save};
  };
  // One step: its loss is finite, and the weights after it are not.
  CHECK(contains(failure(arguments("3e38")), "weight 'a-0' has values that are infinite or NaN"));
  CHECK_FALSE(std::filesystem::exists(save));
  auto const both = [&](std::string const& rate) {
    auto all = arguments(rate);
    all.insert(all.end(), {"--checkpoint", checkpoint});
    return all;
  };
  output(both("0.1"));
  std::string const network = content(save), good = content(checkpoint);
  CHECK(contains(failure(both("3e38")), "weight 'a-0' has values that are infinite or NaN"));
  CHECK(content(save) == network);
  CHECK(content(checkpoint) == good);
}

TEST_CASE("what could not be saved at the end is said at the start") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const data = folder.put("data\xff", sides(30)), save = folder / "net", checkpoint = folder / "checkpoint";
  // The training would take days.
  std::vector<std::string> arguments{"train",        "--config",    folder.put("config", dropout_config),
                                     "--data",       "csv:" + data, "--save",
                                     save,           "--epochs",    "1000000000",
                                     "--checkpoint", checkpoint};
  std::string said = failure(arguments);
  INFO(said);
  CHECK(said.starts_with(checkpoint + ": data: is not UTF-8 at byte "));
  std::string text = dropout_config;
  text.insert(text.find("momentum"), "minibatchSize = 1099511627776, ");
  said = failure({"train", "--config", folder.put("config", text), "--data", "csv:" + folder.put("data", sides(30)),
                  "--save", save, "--epochs", "1000000000"});
  INFO(said);
  CHECK(said.starts_with(save + ": "));
  CHECK(contains(said, "2^40"));
  CHECK_FALSE(std::filesystem::exists(save));
  CHECK_FALSE(std::filesystem::exists(checkpoint));
}

TEST_CASE("a network larger than the memory is a failure with a sentence") {
  if (!has_command()) return;
#if defined COLDPRESS_ADDRESS_SANITIZER || defined COLDPRESS_THREAD_SANITIZER
  WARN("skipped: sanitizers need more address space than this test leaves");
#else
  TemporaryFolder folder;
  std::string text = dropout_config;
  text.replace(text.find("outputSize = 16"), 15, "outputSize = 1073741824");
  std::string const command = "ulimit -v 4000000; \"$COLDPRESS_COMMAND\" train --config '" +
                              folder.put("config", text) + "' --data 'csv:" + folder.put("data", sides(30)) +
                              "' --save '" + folder / "net" + "' 2>'" + folder / "err" + "'";
  CHECK(WEXITSTATUS(std::system(command.c_str())) == 1);
  CHECK(content(folder / "err") == "coldpress: there is not enough memory\n");
#endif
}

}  // namespace
}  // namespace coldpress::command
