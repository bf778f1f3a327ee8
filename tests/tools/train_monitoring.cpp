// The report, early stopping and checkpoints of `coldpress train`.
#include "tools/command.hpp"

#include <coldpress/persist.hpp>
#include <coldpress/train/score.hpp>

#include <algorithm>

namespace coldpress::command {
namespace {

/// Whether all elements that begin also end, in order, and nothing else has angle brackets.
bool is_well_formed(std::string const& xml) {
  std::vector<std::string> open;
  std::size_t at = 0, elements = 0;
  for (std::size_t begin; (begin = xml.find('<', at)) != std::string::npos;) {
    std::size_t const end = xml.find('>', begin);
    if (end == std::string::npos || xml.substr(at, begin - at).find('>') != std::string::npos) return false;
    at = end + 1;
    std::string const tag = xml.substr(begin + 1, end - begin - 1);
    if (tag.find('<') != std::string::npos || std::ranges::count(tag, '"') % 2 != 0) return false;
    if (tag.starts_with("?") || tag.starts_with("!")) continue;
    ++elements;
    if (tag.starts_with("/")) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (!tag.ends_with("/")) {
      open.push_back(tag.substr(0, tag.find_first_of(" \n")));
    }
  }
  return open.empty() && elements > 0;
}

TEST_CASE("the report is a picture of loss and accuracy") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const data = "csv:" + folder.put("data", sides(100)), config = folder.put("config", dropout_config);
  output({"train", "--config", config, "--data", data, "--test", data, "--save", folder / "net", "--report",
          folder / "report.svg"});
  std::string const svg = content(folder / "report.svg");
  CHECK(svg.find("<svg") < 100);
  CHECK(is_well_formed(svg));
  for (char const* part : {"Loss", "Accuracy", "training", "test", "epochs", "<polyline"}) {
    INFO(part);
    CHECK((contains(svg, part) || (std::string_view{part} == "<polyline" && contains(svg, "<path"))));
  }
  CHECK_FALSE(is_well_formed(svg.substr(0, svg.size() - 8)));
}

TEST_CASE("a part of the data is held out, and training stops early with the best network") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const data = "csv:" + folder.put("data", sides(200)), config = folder.put("config", dropout_config);
  std::vector<std::string> const train{"train",
                                       "--config",
                                       config,
                                       "--data",
                                       data,
                                       "--validate",
                                       "0.25",
                                       "--epochs",
                                       "50",
                                       "--set",
                                       "solver.baseLr=0.5",
                                       "--patience",
                                       "2",
                                       "--keep-best",
                                       folder / "best",
                                       "--save",
                                       folder / "net",
                                       "--checkpoint",
                                       folder / "run"};
  std::string const text = output(train);
  INFO(text);
  CHECK(contains(text, "150 samples of {2}"));
  CHECK(contains(text, "  validation loss "));
  CHECK(contains(text, "Stopped early: validation/loss has not improved for 2 times, since iteration "));
  CHECK(persist::read_model(folder / "net") == persist::read_model(folder / "best"));
  auto const run = persist::read_checkpoint(folder / "run");
  CHECK(run.monitoring.validate == 0.25);
  CHECK(run.monitoring.early_stopping == EarlyStopping{.patience = 2});
  CHECK(run.solver.base_lr == 0.5f);

  // The loss of the best epoch is that of the network that was saved, on the part that was held out.
  auto const source = data::open_source(data);
  auto const parts = data::split(*source, 0.25, run.seed, true);
  auto const& series = run.statistics;
  auto const found = std::ranges::find(series, "validation/loss", &persist::Series::name);
  REQUIRE(found != series.end());
  auto network = dynamic::Layer::load(dynamic::Backend{}, folder / "net");
  CHECK(*train::evaluate(network, run.loss, *parts.held_out, 8).loss == std::ranges::min(found->values));
}

TEST_CASE("a run with everything that is monitored goes on from its checkpoint bit for bit") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const data = "csv:" + folder.put("data", sides(100)), config = folder.put("config", dropout_config);
  auto const train = [&](std::vector<std::string> more, std::string const& save) {
    std::vector<std::string> all{"train",
                                 "--config",
                                 config,
                                 "--data",
                                 data,
                                 "--save",
                                 folder / save,
                                 "--validate",
                                 "0.2",
                                 "--patience",
                                 "3",
                                 "--metric",
                                 "validation/accuracy"};
    all.insert(all.end(), more.begin(), more.end());
    output(all);
    return persist::read_model(folder / save);
  };
  for (std::vector<std::string> const& average : {std::vector<std::string>{"--ema", "0.9"}, {"--swa", "1"}}) {
    auto with = [&](std::vector<std::string> more) {
      more.insert(more.end(), average.begin(), average.end());
      return more;
    };
    auto const whole = train(with({"--checkpoint", folder / "whole"}), "net");
    train(with({"--checkpoint", folder / "run", "--steps", "23"}), "half");
    auto const rest = train(with({"--resume", folder / "run", "--checkpoint", folder / "run"}), "rest");
    CHECK(rest == whole);
    CHECK(persist::read_checkpoint(folder / "run") == persist::read_checkpoint(folder / "whole"));
  }
}

}  // namespace
}  // namespace coldpress::command
