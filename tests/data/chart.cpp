#include <coldpress/data/chart.hpp>

#include "data/files.hpp"

#include <cmath>

using namespace coldpress;
using namespace coldpress::data;

namespace {

int count(std::string const& text, std::string_view part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// What stands between each `before` and the next `after`.
std::vector<std::string> between(std::string const& text, std::string_view before, char after) {
  std::vector<std::string> found;
  for (auto at = text.find(before); at != std::string::npos; at = text.find(before, at + 1))
    found.push_back(text.substr(at + before.size(), text.find(after, at + before.size()) - at - before.size()));
  return found;
}

std::vector<std::string> y_ticks(std::vector<double> const& y) {
  return between(svg({{.curves = {{.name = "c", .y = y}}}}), "text-anchor=\"end\">", '<');
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("ticks are round numbers around the values") {
  CHECK(y_ticks({0.1, 0.93}) == Words{"0", "0.2", "0.4", "0.6", "0.8", "1.0"});
  CHECK(y_ticks({-3, 12}) == Words{"-5", "0", "5", "10", "15"});
  CHECK(y_ticks({0, 1e-6}) == Words{"0", "2e-07", "4e-07", "6e-07", "8e-07", "1.0e-06"});
  CHECK(y_ticks({0, 60000}) == Words{"0", "20000", "40000", "60000"});
  CHECK(y_ticks({5}) == Words{"4.4", "4.6", "4.8", "5.0", "5.2", "5.4", "5.6"});
  CHECK(y_ticks({}) == Words{"0", "0.2", "0.4", "0.6", "0.8", "1.0"});
}

TEST_CASE("extreme values give a finite drawing of few ticks") {
  for (auto const& y : std::vector<std::vector<double>>{{0, 0},
                                                        {1e299, -1e299},
                                                        {1e-310, 2e-310},
                                                        {1e15, 1e15 + 0.125},
                                                        {NAN, INFINITY, -INFINITY},
                                                        {1e308, 1},
                                                        {-1e-300, 1e-300}}) {
    std::string const text = svg({{.curves = {{.name = "c", .y = y}}}});
    CHECK_FALSE(contains(text, "nan"));
    CHECK_FALSE(contains(text, "inf"));
    CHECK(count(text, "text-anchor=\"end\"") >= 2);
    CHECK(count(text, "text-anchor=\"end\"") <= 12);
  }
}

TEST_CASE("points stand where the axes say") {
  // The plot is 774 wide from 78 and 250 high from 62.
  auto const paths = between(svg({{.curves = {{.name = "c", .x = {0, 5, 10}, .y = {0, 1, 0.5}}}}}), " d=\"", '"');
  CHECK(paths == Words{"M78.0 312.0L465.0 62.0L852.0 187.0"});
}

TEST_CASE("values that are not finite are gaps, and a lone value is a dot") {
  std::string const text = svg({{.curves = {{.name = "c", .y = {1, 2, NAN, 3, INFINITY, 4, 5}}}}});
  auto const paths = between(text, " d=\"", '"');
  REQUIRE(paths.size() == 1);
  CHECK(count(paths[0], "M") == 2);
  CHECK(count(paths[0], "L") == 2);
  CHECK(count(text, "<circle") == 1);
}

TEST_CASE("a long curve is thinned, and keeps its peaks") {
  std::vector<double> y(200000, 0.5);
  y[70001] = 1;
  y[130003] = 0;
  std::string const text = svg({{.curves = {{.name = "c", .y = y}}}});
  CHECK(text.size() < 60000);
  CHECK(count(text, " 62.0") >= 1);
  CHECK(count(text, " 312.0L") >= 1);
}

TEST_CASE("texts are escaped, curves named, charts stacked") {
  std::string const text = svg({{.title = "a < b & \"c\"\n",
                                 .x_label = "epoch",
                                 .y_label = "loss",
                                 .curves = {{.name = "<one>", .y = {1, 2}}, {.name = "two", .y = {2, 1}}}},
                                {.title = "second", .curves = {{.name = "", .y = {1}}}}});
  CHECK(contains(text, ">a &lt; b &amp; &quot;c&quot; </text>"));
  CHECK(contains(text, ">&lt;one&gt;</text>"));
  CHECK(contains(text, ">two</text>"));
  CHECK(contains(text, ">epoch</text>"));
  CHECK(contains(text, ">loss</text>"));
  CHECK(contains(text, ">second</text>"));
  CHECK(between(text, "<path class=\"curve\" stroke=\"", '"') == Words{"#0072b2", "#d55e00"});
  CHECK(count(text, "<svg") == 1);
  CHECK(count(text, "<text") == count(text, "</text>"));
}

TEST_CASE("a curve with x and y of different lengths is refused") {
  CHECK(message<ShapeError>([] {
          svg({{.title = "t", .curves = {{.name = "c", .x = {1}, .y = {1, 2}}}}});
        }) == "chart 't': curve 'c' has x and y of different lengths, 1 and 2");
}

TEST_CASE("write_svg writes a file that another write replaces") {
  TemporaryFolder const folder;
  std::string const path = folder / "chart.svg";
  std::vector<Chart> const charts{{.title = "one", .curves = {{.name = "c", .y = {1, 2}}}}};
  write_svg(path, charts);
  write_svg(path, charts);
  CHECK(content(path) == svg(charts));
  CHECK(folder.names() == Words{"chart.svg"});
  CHECK(
      contains(message<FileError>([&] { write_svg(folder / "none/chart.svg", charts); }), "No such file or directory"));
}
