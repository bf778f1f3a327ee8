#include "tools/command.hpp"

#include <coldpress/data/npy.hpp>
#include <coldpress/persist.hpp>

namespace coldpress::command {
namespace {

struct Case {
  TemporaryFolder folder;
  std::string const model = folder / "net.juice";

  Case() {
    dynamic::SequentialConfig net;
    net.add_input("data", {4}).add_layer({"fc", Linear{.output_size = 3}});
    dynamic::Layer::from_config(dynamic::Backend{}, {"net", net}, {}, 5).save(model);
  }
  std::vector<std::string> bench(std::vector<std::string> more) const {
    more.insert(more.begin(), {"bench", "--model", model, "--seconds", "0.01"});
    return more;
  }
};

/// The text with each number that was measured as "#".
std::string without_times(std::string text, int lines) {
  CHECK(std::ranges::count(text, '\n') == lines);
  std::string without;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool const digit = text[i] >= '0' && text[i] <= '9';
    if (!digit && text[i] != '.' && text[i] != '+') without += text[i];
    if (digit && !without.ends_with('#')) without += '#';
  }
  return without;
}

TEST_CASE("bench says how fast a stream and minibatches are") {
  if (!has_command()) return;
  Case const c;
  CHECK(without_times(output(c.bench({"--block", "16"})), 2) ==
        "blocks of # steps: # us each (median; # us at least, # us in # of #,# calls)\n"
        "# times as fast as real time at # steps per second\n");
  std::string const text = output(c.bench({"--batch", "5"}));
  CHECK(text.starts_with("minibatches of 5 samples: "));
  CHECK(text.find(" us each (median; ") != std::string::npos);
  CHECK(text.ends_with(" samples per second\n"));
}

// Silence for all that this network remembers would take minutes, and so would this test.
TEST_CASE("bench measures a network that remembers long no longer than it is told") {
  if (!has_command()) return;
  TemporaryFolder folder;
  dynamic::SequentialConfig net;
  net.add_input("data", {2, 1});
  net.add_layer({"late", Convolution{.num_output = 1024, .filter_shape = {2}, .causal = true, .dilation = {1 << 20}}});
  net.add_layer({"wide", Convolution{.num_output = 1024, .filter_shape = {1}}});
  std::string const model = folder / "late.juice";
  dynamic::Layer::from_config(dynamic::Backend{}, {"net", net}, {}, 5).save(model);
  CHECK(contains(output({"bench", "--model", model, "--seconds", "0.01"}), "blocks of 64 steps: "));
}

TEST_CASE("bench computes the minibatch that it is given") {
  if (!has_command()) return;
  Case const c;
  std::string const x = c.folder / "x.npy";
  data::write_npy(x, std::vector<Index>{5, 4}, std::vector<float>(20));
  output(c.bench({"--batch", "5", "--input", x}));
  CHECK(failure(c.bench({"--batch", "6", "--input", x})) == "'" + x + "' has 5 samples of 4 values, expected 6 of 4");
  data::write_npy(x, std::vector<Index>{4, 5}, std::vector<float>(20));
  CHECK(failure(c.bench({"--batch", "5", "--input", x})) == "'" + x + "' has 4 samples of 5 values, expected 5 of 4");
  CHECK(run(c.bench({"--input", x})).code == 2);
  CHECK(run(c.bench({"--batch", "5", "--block", "2"})).code == 2);
  CHECK(run(c.bench({"--batch", "0"})).code == 2);
}

TEST_CASE("bench and stream say what else to do with a network that no signal can be played through") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const model = folder / "net.juice", x = folder / "x.npy", y = folder / "y.npy";
  data::write_npy(x, std::vector<Index>{4, 2}, std::vector<float>(8));
  std::string const instead =
      "; `coldpress predict` computes its outputs, and `coldpress bench --batch N` says how fast it computes "
      "minibatches";
  auto const refused = [&](dynamic::SequentialConfig const& net, std::string const& words) {
    dynamic::Layer::from_config(dynamic::Backend{}, {"net", net}, {}, 5).save(model);
    CHECK(failure({"bench", "--model", model}) == model + ": " + words + instead);
    CHECK(failure({"stream", "--model", model, "--input", x, "--output", y}) == model + ": " + words + instead);
    CHECK(
        contains(output({"bench", "--model", model, "--batch", "3", "--seconds", "0.01"}), "minibatches of 3 samples"));
  };
  dynamic::SequentialConfig two;
  two.add_input("a", {2}).add_input("b", {2});
  dynamic::LayerConfig sum{"sum", Add{}};
  sum.inputs = {"a", "b"};
  refused(two.add_layer(sum), "has 2 inputs and 1 output, and a signal is one");
  dynamic::SequentialConfig whole;
  whole.add_input("x", {4, 2})
      .add_layer({"rnn", Rnn{.hidden_size = 3, .direction_mode = DirectionMode::bi_directional}});
  refused(whole, "step: layer 'rnn' takes its input, samples of {2}, whole, so a sequence cannot come in parts");
}

TEST_CASE("bench says when noise is nothing that a network can read") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const model = folder / "words.juice", x = folder / "x.npy";
  dynamic::SequentialConfig net;
  net.add_input("words", {3}).add_layer({"table", Embedding{.vocabulary = 5, .features = 2}});
  dynamic::Layer::from_config(dynamic::Backend{}, {"net", net}, {}, 5).save(model);
  std::vector<std::string> const bench{"bench", "--model", model, "--seconds", "0.01", "--batch", "2"};
  CHECK(output(bench).ends_with("give the network a minibatch that it can read with --input\n"));
  data::write_npy(x, std::vector<Index>{2, 3}, std::vector<float>{0, 1, 2, 3, 4, 0});
  auto with_words = bench;
  with_words.insert(with_words.end(), {"--input", x});
  CHECK(output(with_words).ends_with(" samples per second\n"));
}

TEST_CASE("what is not a number is in no range") {
  if (!has_command()) return;
  Case const c;
  for (std::vector<std::string> const& arguments : std::vector<std::vector<std::string>>{
           {"bench", "--model", c.model, "--seconds", "nan"},
           {"stream", "--model", c.model, "--input", "x.npy", "--output", "y.npy", "--size", "nan"},
           {"convert", c.model, c.folder / "a.juice", "--size", "nan"},
           {"find-rate", "--config", c.model, "--from", "nan"},
           {"train", "--config", c.model, "--save", c.folder / "a.juice", "--rank-timeout", "nan"}}) {
    Result const result = run(arguments);
    CHECK(result.code == 2);
    CHECK(contains(result.err, arguments[arguments.size() - 2] + ": must be a number, is nan\n"));
  }
}

TEST_CASE("bench refuses a minibatch that no memory holds") {
  if (!has_command()) return;
  Case const c;
  for (char const* batch : {"1099511627776", "549755813888"}) CHECK(failure(c.bench({"--batch", batch})) != "");
}

}  // namespace
}  // namespace coldpress::command
