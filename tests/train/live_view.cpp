#include <coldpress/coldpress.hpp>
#include <coldpress/train.hpp>

#include "train/task.hpp"

#include <algorithm>

#include <unistd.h>

namespace coldpress::train {
namespace {

/// How many columns a text without control sequences takes.
std::size_t columns(std::string const& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

TEST_CASE("a live chart draws each value where it belongs") {
  Statistics statistics;
  LiveChart const chart{.statistics = {"loss"}, .height = 2, .colours = false};
  CHECK(live_chart(statistics, chart, 30).empty());
  statistics.add("loss", 1, 3);
  CHECK(live_chart(statistics, chart, 30).empty());  // one value is no curve
  statistics.add("loss", 9, 1);
  // From the upper left to the lower right dot, 20 x 8 of them in 10 x 2 characters.
  auto const lines = live_chart(statistics, chart, 19);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].starts_with("       3 \u2809"));
  CHECK(lines[1].starts_with("       1  "));
  CHECK(lines[1].ends_with("\u28c0"));
  CHECK(lines[2] == "         loss 1");
  CHECK(columns(lines[0]) == 19);
  CHECK(columns(lines[1]) == 19);
  CHECK(live_chart(statistics, chart, 18).empty());  // no room
}

TEST_CASE("a live chart leaves out what is not finite or has no value, and never is wider than the terminal") {
  Statistics statistics;
  for (std::uint64_t i = 1; i <= 100; ++i) {
    statistics.add("training/loss", i, i == 50 ? NAN : 1000.0 / static_cast<double>(i));
    statistics.add("validation/loss", i, 5);
  }
  LiveChart chart{.colours = false};
  chart.statistics.push_back("unknown");
  for (int width = 0; width < 100; ++width) {
    for (std::string const& line : live_chart(statistics, chart, width))
      CHECK(columns(line) <= static_cast<std::size_t>(width));
  }
  auto const lines = live_chart(statistics, chart, 80);
  CHECK(lines.size() == 9);
  CHECK(lines.back() == "         training/loss 10  validation/loss 5");
  // The scale is logarithmic: 1000 to 5, and 70 is in the middle.
  CHECK(lines.front().starts_with("   1e+03 "));
  CHECK(lines[7].starts_with("       5 "));
}

TEST_CASE("a live view writes plain lines where there is no terminal") {
  Task const data = task(40);
  Typed net;
  std::FILE* const file = std::tmpfile();
  {
    Trainer trainer{*net.solver, *data.training, {.epochs = 2, .batch = 10}};
    LiveView& view = trainer.every(steps(1), LiveView{{}, file});
    view.print("before");
    trainer.every(epochs(1), Summary{{}, [&](std::string_view) { view.print("a note"); }});
    trainer.run();
  }
  std::rewind(file);
  std::string text;
  for (int c; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
  std::fclose(file);
  CHECK(text.starts_with("before\na note\na note\nepoch 2/2  100%  loss "));
  CHECK(text.find('\33') == std::string::npos);
  CHECK_THROWS_AS((LiveView{{.statistics = {"\33[2J"}}}), ConfigError);
}

}  // namespace
}  // namespace coldpress::train
