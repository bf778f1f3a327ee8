// Draws curves in braille characters, and draws them anew in the same place of the terminal.
#include <coldpress/train/live_view.hpp>

#include "numbers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace coldpress::train {
namespace {

constexpr std::size_t label_width = 9;                             // columns before the chart
constexpr std::array colours{"36", "33", "32", "35", "34", "31"};  // of ANSI terminals

/// A picture of braille characters, each with 2 x 4 dots.
class Canvas {
 public:
  Canvas(int columns, int rows) : columns_(columns), cells_(static_cast<std::size_t>(columns * rows)) {}
  void dot(int x, int y, int colour) {
    constexpr unsigned char bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    Cell& cell = cells_[static_cast<std::size_t>(y / 4 * columns_ + x / 2)];
    cell.dots = static_cast<unsigned char>(cell.dots | bits[y % 4][x % 2]);
    cell.colour = colour;
  }
  std::string row(int y, bool coloured) const {
    std::string text;
    int colour = -1;
    for (int x = 0; x < columns_; ++x) {
      Cell const& cell = cells_[static_cast<std::size_t>(y * columns_ + x)];
      if (coloured && cell.dots != 0 && cell.colour != colour) {
        colour = cell.colour;
        text.append("\33[").append(colours[static_cast<std::size_t>(colour)]).append("m");
      }
      if (cell.dots == 0) {
        text += ' ';
      } else {  // U+2800 + dots in UTF-8
        text.append({'\xe2', static_cast<char>(0xa0 | cell.dots >> 6), static_cast<char>(0x80 | (cell.dots & 0x3f))});
      }
    }
    return colour >= 0 ? text + "\33[0m" : text;
  }

 private:
  struct Cell {
    unsigned char dots = 0;
    int colour = 0;
  };
  int columns_;
  std::vector<Cell> cells_;
};

std::string label(std::string const& text) {
  return std::string(label_width - 1 - std::min(text.size(), label_width - 1), ' ') + text + " ";
}

bool speaks_utf8() {
  for (char const* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    char const* const value = std::getenv(name);
    if (!value || !*value) continue;
    std::string text = value;
    std::ranges::transform(text, text.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return text.find("utf-8") != std::string::npos || text.find("utf8") != std::string::npos;
  }
  return false;
}

}  // namespace

std::vector<std::string> live_chart(Statistics const& statistics, LiveChart const& chart, int width) {
  std::vector<Series const*> all;
  for (std::string const& name : chart.statistics) {
    if (Series const* const series = statistics.find(name); series && all.size() < colours.size())
      all.push_back(series);
  }
  double first = std::numeric_limits<double>::infinity(), last = -first, low = first, high = -first;
  for (Series const* const series : all) {
    for (std::size_t i = 0; i < series->values.size(); ++i) {
      if (!std::isfinite(series->values[i])) continue;
      auto const x = static_cast<double>(series->iterations[i]);
      first = std::min(first, x), last = std::max(last, x);
      low = std::min(low, series->values[i]), high = std::max(high, series->values[i]);
    }
  }
  int const columns = width - static_cast<int>(label_width);
  if (!(first < last) || columns < 10 || chart.height < 2) return {};

  bool const logarithmic = low > 0 && high > 20 * low;
  auto const scaled = [&](double value) { return logarithmic ? std::log(value) : value; };
  double const bottom = scaled(low), range = std::max(scaled(high) - bottom, 1e-12 * std::abs(bottom) + 1e-300);
  Canvas canvas{columns, chart.height};
  for (std::size_t s = 0; s < all.size(); ++s) {
    int before_x = -1, before_y = 0;
    for (std::size_t i = 0; i < all[s]->values.size(); ++i) {
      double const value = all[s]->values[i];
      if (!std::isfinite(value)) {
        before_x = -1;
        continue;
      }
      double const along = (static_cast<double>(all[s]->iterations[i]) - first) / (last - first);
      auto const x = static_cast<int>(std::lround(along * (2 * columns - 1)));
      auto const y = static_cast<int>(std::lround((1 - (scaled(value) - bottom) / range) * (4 * chart.height - 1)));
      int const steps = before_x < 0 ? 0 : std::max(x - before_x, std::abs(y - before_y));
      auto const between = [&](int from, int to, int k) {
        return from + static_cast<int>(std::lround(static_cast<double>((to - from) * k) / steps));
      };
      for (int k = 1; k < steps; ++k) canvas.dot(between(before_x, x, k), between(before_y, y, k), static_cast<int>(s));
      canvas.dot(x, y, static_cast<int>(s));
      before_x = x, before_y = y;
    }
  }

  std::vector<std::string> lines;
  for (int y = 0; y < chart.height; ++y) {
    std::string const number = y == 0                  ? detail::rounded(high, 3)
                               : y == chart.height - 1 ? detail::rounded(low, 3)
                                                       : std::string{};
    lines.push_back(label(number) + canvas.row(y, chart.colours));
  }
  std::string names(label_width, ' ');
  std::size_t used = names.size();
  for (std::size_t s = 0; s < all.size(); ++s) {
    if (all[s]->values.empty()) continue;
    std::string const text = all[s]->name + " " + detail::rounded(all[s]->values.back());
    if (used + text.size() > static_cast<std::size_t>(width)) break;
    names += chart.colours ? std::string{"\33["} + colours[s] + "m" + text + "\33[0m  " : text + "  ";
    used += text.size() + 2;
  }
  lines.push_back(names.substr(0, names.find_last_not_of(' ') + 1));
  return lines;
}

std::string epoch_label(Trainer const& trainer) {
  auto const epochs = static_cast<std::uint64_t>(trainer.options().epochs);
  return "epoch " + std::to_string(std::min(trainer.batch().position.epoch + 1, epochs)) + "/" + std::to_string(epochs);
}

bool can_show_chart() { return speaks_utf8(); }
bool can_show_colours() { return std::getenv("NO_COLOR") == nullptr; }

LiveView::LiveView(LiveChart chart, std::FILE* stream) : chart_(std::move(chart)), stream_(stream) {
  if (!can_show_colours()) chart_.colours = false;
  for (std::string const& name : chart_.statistics) {
    if (persist::printable(name) != name)
      throw ConfigError{"a live view cannot show the name '" + persist::printable(name) + "'"};
  }
}

void LiveView::begin(Trainer& trainer) {
  progress_ = std::make_unique<data::Progress>(stream_, trainer.samples(), trainer.samples_done());
  if (!can_show_chart()) return;
  progress_->show_above(
      [&trainer, chart = chart_](int width) { return live_chart(trainer.statistics(), chart, width); });
}

void LiveView::operator()(Trainer& trainer) {
  if (trainer.ended()) return progress_->finish();
  auto const loss = trainer.epoch_score().loss;
  progress_->update(epoch_label(trainer), trainer.samples_done(),
                    loss.value_or(std::numeric_limits<double>::quiet_NaN()));
}

void LiveView::print(std::string_view line) {
  if (progress_) return progress_->print(line);
  std::fprintf(stream_, "%.*s\n", static_cast<int>(line.size()), line.data());
}

}  // namespace coldpress::train
