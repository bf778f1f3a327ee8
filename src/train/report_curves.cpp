// The statistics as JSON for the script of the page, thinned out to what a screen can show.
#include "numbers.hpp"
#include "report.hpp"

#include <coldpress/data/markup.hpp>

#include <algorithm>
#include <cmath>

namespace coldpress::train::detail {
namespace {

constexpr std::size_t most_points = 1500;  // of a curve; more would not be seen

std::string json(std::string_view text) {
  std::string out = "\"";
  for (char const c : persist::printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '<' ? std::string{"\\u003c"} : std::string(1, c);
  }
  return out + '"';
}

std::string json(double value) { return std::isfinite(value) ? rounded(value, 7) : "null"; }

/// Which chart a statistic belongs to: what it measures, whatever it is measured on.
std::string chart_of(std::string const& name) {
  std::string last = name.substr(name.rfind('/') + 1);
  return last.starts_with("loss") ? "loss" : last;
}
std::string title_of(std::string chart) {
  std::ranges::replace(chart, '_', ' ');
  if (!chart.empty() && chart[0] >= 'a' && chart[0] <= 'z') chart[0] = static_cast<char>(chart[0] - 'a' + 'A');
  return chart;
}

/// The numbers of the points that are drawn: all, or the lowest and the highest of each stretch.
std::vector<std::size_t> drawn(std::vector<double> const& y) {
  std::vector<std::size_t> points;
  std::size_t const stretch = y.size() <= most_points ? 1 : 2 * y.size() / most_points + 1;
  for (std::size_t first = 0; first < y.size(); first += stretch) {
    std::size_t low = first, high = first;
    for (std::size_t i = first; i < std::min(y.size(), first + stretch); ++i) {
      if (y[i] < y[low]) low = i;
      if (y[i] > y[high]) high = i;
    }
    points.push_back(std::min(low, high));
    if (low != high) points.push_back(std::max(low, high));
  }
  if (!y.empty() && points.back() + 1 != y.size()) points.push_back(y.size() - 1);
  return points;
}

}  // namespace

std::string shown(std::string_view text) { return data::escaped(persist::printable(text)); }

std::string grouped(Index number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), "\u2009");
  return text;
}

std::string curves_json(std::vector<Series> const& all) {
  std::vector<std::string> charts;
  for (Series const& series : all) {
    std::string const chart = chart_of(series.name);
    if (std::ranges::find(charts, chart) == charts.end()) charts.push_back(chart);
  }
  auto const rank = [](std::string const& chart) {
    return chart == "loss" ? 0 : chart == "accuracy" ? 1 : chart == "learning_rate" ? 3 : 2;
  };
  std::ranges::stable_sort(charts, {}, rank);
  std::string out = "[";
  for (std::string const& chart : charts) {
    out.append(out.size() > 1 ? ",\n" : "").append("{\"title\":").append(json(title_of(chart))).append(",\"series\":[");
    bool first = true;
    for (Series const& series : all) {
      if (chart_of(series.name) != chart) continue;
      std::string x, y;
      for (std::size_t const i : drawn(series.values)) {
        x.append(x.empty() ? "" : ",").append(std::to_string(series.iterations[i]));
        y.append(y.empty() ? "" : ",").append(json(series.values[i]));
      }
      out.append(first ? "" : ",").append("{\"name\":").append(json(series.name));
      out.append(",\"x\":[").append(x).append("],\"y\":[").append(y).append("]}");
      first = false;
    }
    out += "]}";
  }
  return out + "]";
}

}  // namespace coldpress::train::detail
