// coldpress find-rate: what it suggests for a problem whose limits are known, and that it changes nothing.
#include "tools/command.hpp"

#include <cmath>

namespace coldpress::command {
namespace {

/// The number after `label`.
double after(std::string const& text, std::string const& label) {
  INFO(text);
  auto const at = text.find(label);
  REQUIRE(at != std::string::npos);
  return std::stod(text.substr(at + label.size()));
}

/// y = w x + b from x = 1 to targets of 0 and 2: the loss is 1 + (w + b - 1)², whose curvature along (1, 1) is 4, so
/// that descent converges at rates below 1/2 and diverges above.
std::string const line =
    R"((network = (name = "line", layerType = (linear = (outputSize = 1, weight = (constant = 0)))),
loss = (name = "loss", layerType = (meanSquaredError = void)),
solver = (baseLr = 0.01, lrPolicy = (exp = (gamma = 0.5))), data = "csv:ones.csv", batch = 6))";

struct Case {
  TemporaryFolder folder;
  std::string config;
  explicit Case(std::string const& text = line) : config(folder.put("line.txt", text)) {
    std::string rows;
    for (int i = 0; i < 8; ++i) rows += "0,1\n2,1\n";
    folder.put("ones.csv", rows);
  }
};

}  // namespace

TEST_CASE("find-rate finds where the loss falls fastest and from where it diverges, whatever the config's policy") {
  if (!has_command()) return;
  Case const with;
  std::string const text = output({"find-rate", "--config", with.config, "--from", "1e-4", "--to", "100"});
  double const diverges = after(text, "The loss diverges at a rate of "),
               fastest = after(text, "fastest at a rate of ");
  double const suggested = after(text, "Suggested: baseLr = ");
  CHECK((diverges > 0.5 && diverges < 5));
  CHECK((fastest > 1e-2 && fastest < 0.25));
  CHECK(suggested == Approx(std::min(fastest, diverges / 10)).epsilon(0.06));  // to two digits
  CHECK(contains(text, "        rate         loss     smoothed\n      0.0001 "));
  CHECK(text == output({"find-rate", "--config", with.config, "--from", "1e-4", "--to", "100"}));
  CHECK(content(with.config) == line);
}

TEST_CASE("find-rate says when nothing diverges or falls") {
  if (!has_command()) return;
  Case const with;
  std::string const small = output(
      {"find-rate", "--config", with.config, "--from", "1e-3", "--to", "1e-2", "--steps", "20", "--batch", "16"});
  CHECK(contains(small, "The loss does not diverge up to a rate of 0.01.\n"));
  CHECK(contains(small, "Suggested: baseLr = "));
  std::string const large = output({"find-rate", "--config", with.config, "--from", "10", "--to", "1e6"});
  CHECK(contains(large, "The loss diverges at a rate of 1"));
  CHECK(contains(large, "The loss does not fall before, so no rate is suggested; "));
}

TEST_CASE("find-rate suggests nothing where the loss is noise alone") {
  if (!has_command()) return;
  // Rates at which nothing is learnt, so that the losses differ by the minibatches alone.
  Case const with;
  std::string rows;
  for (int i = 0; i < 2000; ++i) rows += std::to_string(std::sin(1e3 * (i + 1) * (i + 2))) + ",1\n";
  std::string const data = "csv:" + with.folder.put("noise.csv", rows);
  int suggested = 0, noisy = 0;
  for (int seed = 0; seed < 20; ++seed) {
    std::string const text = output({"find-rate", "--config", with.config, "--data", data, "--from", "1e-9", "--to",
                                     "1e-7", "--seed", std::to_string(seed)});
    suggested += contains(text, "Suggested");
    noisy += contains(text, "It falls no further than it varies from update to update, so no rate is suggested; ");
  }
  CHECK(suggested == 0);
  CHECK(noisy > 10);
}

TEST_CASE("find-rate works for one update of several minibatches, and for the rest of a run, which stays as it is") {
  if (!has_command()) return;
  Case const with{std::string{line}.replace(line.find("baseLr"), 6, "accumulate = 3, momentum = 0.5, baseLr")};
  std::string const checkpoint = with.folder / "run";
  output({"train", "--config", with.config, "--save", with.folder / "net", "--checkpoint", checkpoint, "--epochs", "9",
          "--steps", "4"});
  std::string const before = content(checkpoint);
  std::string const text = output({"find-rate", "--resume", checkpoint, "--data", "csv:" + with.folder / "ones.csv"});
  CHECK(after(text, "The loss diverges at a rate of ") > 0.1);
  CHECK(content(checkpoint) == before);
  CHECK(text != output({"find-rate", "--config", with.config}));  // which begins anew
}

TEST_CASE("find-rate draws the loss by the rate") {
  if (!has_command()) return;
  Case const with;
  output({"find-rate", "--config", with.config, "--report", with.folder / "rates.svg"});
  std::string const svg = content(with.folder / "rates.svg");
  CHECK(svg.starts_with("<"));
  CHECK(contains(svg, "Loss by learning rate"));
  CHECK(contains(svg, "smoothed"));
}

TEST_CASE("find-rate refuses what makes no sense") {
  if (!has_command()) return;
  Case const with;
  CHECK(run({"find-rate"}).code == 2);
  CHECK(run({"find-rate", "--config", with.config, "--from", "1", "--to", "1"}).code == 2);
  CHECK(run({"find-rate", "--config", with.config, "--from", "0"}).code == 2);
  CHECK(run({"find-rate", "--config", with.config, "--to", "inf"}).code == 2);
  CHECK(run({"find-rate", "--config", with.config, "--steps", "2"}).code == 2);
  CHECK(run({"find-rate", "--config", with.config, "--report", with.config}).code == 2);
  CHECK(content(with.config) == line);
  CHECK(contains(failure({"find-rate", "--config", with.config, "--data", "csv:" + with.folder / "none.csv"}),
                 "none.csv"));
}

}  // namespace coldpress::command
