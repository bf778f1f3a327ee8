// Draws curves with axes, ticks and a legend as the text of an SVG file.
#include <coldpress/data/chart.hpp>

#include <coldpress/core/error.hpp>
#include <coldpress/data/atomic_file.hpp>
#include <coldpress/data/markup.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

namespace coldpress::data {
namespace {

// All lengths are in pixels.
constexpr double width = 880, left = 78, right = 28, plot_width = width - left - right, plot_height = 250;
constexpr double title_height = 40, legend_row = 22, below_plot = 62;
constexpr double letter = 6.9;  // average width in the legend

// Distinguishable also for colour-blind readers and in print (Okabe and Ito).
constexpr std::array colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333"};

/// A number as text; independent of the locale, unlike printf.
std::string number(double value, std::chars_format format, int digits) {
  std::array<char, 400> text;
  auto const end = std::to_chars(text.data(), text.data() + text.size(), value, format, digits).ptr;
  return {text.data(), end};
}
std::string pixel(double value) { return number(value, std::chars_format::fixed, 1); }

std::size_t letters(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(utf8, [](char c) { return (c & 0xc0) != 0x80; }));
}

// Beyond this, differences and ticks would overflow.
bool plottable(double value) { return std::abs(value) < 1e300; }

/// The range of an axis, and its ticks at multiples of 1, 2 or 5 times a power of ten.
class Axis {
 public:
  void cover(double value) {
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  /// Chooses about `ticks` ticks; `round_out` extends the axis to ticks at both ends.
  void settle(int ticks, bool round_out) {
    if (low_ > high_) low_ = 0, high_ = 1;
    double const size = std::max(std::abs(low_), std::abs(high_));
    // If the values are nearly constant, leave room on both sides.
    bool const zero = size < 1e-290;
    if (high_ - low_ <= 1e-9 * size || zero) {
      double const margin = zero ? 1 : size / 10;
      low_ -= margin;
      high_ += margin;
    }
    double const rough = (high_ - low_) / ticks;
    exponent_ = static_cast<int>(std::floor(std::log10(rough)));
    double const unit = std::pow(10., exponent_), digit = rough / unit;
    step_ = (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10) * unit;
    if (digit > 5) ++exponent_;
    if (round_out) {
      low_ = std::floor(low_ / step_ + 1e-6) * step_;
      high_ = std::ceil(high_ / step_ - 1e-6) * step_;
    }
  }
  double share(double value) const { return (value - low_) / (high_ - low_); }

  template <class Use>
  void for_each_tick(Use use) const {
    double const last = std::floor(high_ / step_ + 1e-6);
    for (double tick = std::ceil(low_ / step_ - 1e-6); tick <= last; ++tick) use(tick * step_, label(tick));
  }

 private:
  std::string label(double tick) const {
    double const value = tick * step_;
    if (tick == 0) return "0";
    if (exponent_ < -4 || std::max(std::abs(low_), std::abs(high_)) >= 1e6) {
      int const digits = static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9)) - exponent_;
      return number(value, std::chars_format::scientific, std::clamp(digits, 0, 12));
    }
    return number(value, std::chars_format::fixed, std::max(0, -exponent_));
  }

  double low_ = std::numeric_limits<double>::infinity(), high_ = -low_, step_ = 1;
  int exponent_ = 0;
};

double x_of(Curve const& curve, std::size_t i) { return curve.x.empty() ? static_cast<double>(i) : curve.x[i]; }

struct Pixel {
  double x, y;
};

/// One unbroken stretch of a curve as path data. Points in the same pixel column are reduced to the first, lowest,
/// highest and last, which looks the same and keeps a long series small.
std::string path_data(std::span<Pixel const> points) {
  std::string path;
  auto const add = [&](Pixel p) {
    path += path.empty() ? 'M' : 'L';
    path += pixel(p.x) + " " + pixel(p.y);
  };
  for (std::size_t i = 0; i < points.size();) {
    double const column = std::floor(points[i].x);
    std::size_t end = i + 1;
    while (end < points.size() && std::floor(points[end].x) == column) ++end;
    if (end - i <= 4) {
      for (; i < end; ++i) add(points[i]);
      continue;
    }
    auto const [lowest, highest] = std::ranges::minmax_element(points.subspan(i, end - i), {}, &Pixel::y);
    add(points[i]);
    add(*std::min(lowest, highest));
    add(*std::max(lowest, highest));
    add(points[end - 1]);
    i = end;
  }
  return path;
}

class Drawing {
 public:
  void chart(Chart const& chart) {
    Axis x, y;
    for (Curve const& curve : chart.curves) {
      if (!curve.x.empty() && curve.x.size() != curve.y.size())
        throw ShapeError{"chart '" + chart.title + "': curve '" + curve.name + "' has x and y of different lengths, " +
                         std::to_string(curve.x.size()) + " and " + std::to_string(curve.y.size())};
      for (std::size_t i = 0; i < curve.y.size(); ++i)
        if (plottable(x_of(curve, i)) && plottable(curve.y[i])) x.cover(x_of(curve, i)), y.cover(curve.y[i]);
    }
    x.settle(8, false);
    y.settle(5, true);

    text(left, top_ + 26, "class=\"title\"", chart.title);
    top_ += title_height;
    legend(chart.curves);
    axes(x, y, chart);
    for (std::size_t i = 0; i < chart.curves.size(); ++i) line(chart.curves[i], colour(i), x, y);
    top_ += plot_height + below_plot;
  }

  std::string finished() const {
    auto const w = pixel(width), h = pixel(std::max(top_, 1.));
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h + "\" viewBox=\"0 0 " + w +
           " " + h +
           "\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" font-size=\"12\" fill=\"#333\">\n"
           "<style>.title{font-size:16px;font-weight:bold;fill:#111}.grid{stroke:#e4e4e4}.frame{stroke:#888}"
           ".curve{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}</style>\n"
           "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n" +
           body_ + "</svg>\n";
  }

 private:
  static char const* colour(std::size_t curve) { return colours[curve % colours.size()]; }
  double pixel_x(Axis const& x, double value) const { return left + plot_width * x.share(value); }
  double pixel_y(Axis const& y, double value) const { return top_ + plot_height * (1 - y.share(value)); }

  void text(double x, double y, std::string const& attributes, std::string_view content) {
    if (content.empty()) return;
    body_ += "<text x=\"" + pixel(x) + "\" y=\"" + pixel(y) + "\" " + attributes + ">" + escaped(content) + "</text>\n";
  }
  void segment(double x1, double y1, double x2, double y2, std::string const& attributes) {
    body_ += "<line x1=\"" + pixel(x1) + "\" y1=\"" + pixel(y1) + "\" x2=\"" + pixel(x2) + "\" y2=\"" + pixel(y2) +
             "\" " + attributes + "/>\n";
  }

  void legend(std::vector<Curve> const& curves) {
    double x = left;
    bool any = false;
    for (std::size_t i = 0; i < curves.size(); ++i) {
      if (curves[i].name.empty()) continue;
      double const needed = 30 + letter * static_cast<double>(letters(curves[i].name)) + 22;
      if (x > left && x + needed > width - right) x = left, top_ += legend_row;
      segment(x, top_ + 4, x + 22, top_ + 4,
              "class=\"curve\" stroke=\"" + std::string{colour(i)} + "\" style=\"stroke-width:3\"");
      text(x + 29, top_ + 8, "", curves[i].name);
      x += needed;
      any = true;
    }
    if (any) top_ += legend_row;
  }

  void axes(Axis const& x, Axis const& y, Chart const& chart) {
    double const bottom = top_ + plot_height;
    y.for_each_tick([&](double value, std::string const& label) {
      segment(left, pixel_y(y, value), width - right, pixel_y(y, value), "class=\"grid\"");
      text(left - 8, pixel_y(y, value) + 4, "text-anchor=\"end\"", label);
    });
    x.for_each_tick([&](double value, std::string const& label) {
      segment(pixel_x(x, value), bottom, pixel_x(x, value), bottom + 5, "class=\"frame\"");
      text(pixel_x(x, value), bottom + 19, "text-anchor=\"middle\"", label);
    });
    segment(left, top_, left, bottom, "class=\"frame\"");
    segment(left, bottom, width - right, bottom, "class=\"frame\"");
    text(left + plot_width / 2, bottom + 40, "text-anchor=\"middle\"", chart.x_label);
    double const middle = top_ + plot_height / 2;
    text(18, middle, "text-anchor=\"middle\" transform=\"rotate(-90 18 " + pixel(middle) + ")\"", chart.y_label);
  }

  void line(Curve const& curve, std::string const& stroke, Axis const& x, Axis const& y) {
    std::string path;
    std::vector<Pixel> stretch;
    for (std::size_t i = 0; i <= curve.y.size(); ++i) {
      if (i < curve.y.size() && plottable(x_of(curve, i)) && plottable(curve.y[i])) {
        stretch.push_back({pixel_x(x, x_of(curve, i)), pixel_y(y, curve.y[i])});
      } else {
        if (stretch.size() == 1)
          body_ += "<circle cx=\"" + pixel(stretch[0].x) + "\" cy=\"" + pixel(stretch[0].y) + "\" r=\"2.6\" fill=\"" +
                   stroke + "\"/>\n";
        else
          path += path_data(stretch);
        stretch.clear();
      }
    }
    if (!path.empty()) body_ += "<path class=\"curve\" stroke=\"" + stroke + "\" d=\"" + path + "\"/>\n";
  }

  std::string body_;
  double top_ = 0;
};

}  // namespace

std::string svg(std::vector<Chart> const& charts) {
  Drawing drawing;
  for (Chart const& chart : charts) drawing.chart(chart);
  return drawing.finished();
}

void write_svg(std::string const& path, std::vector<Chart> const& charts) {
  std::string const text = svg(charts);
  write_atomically(path, std::as_bytes(std::span{text}));
}

}  // namespace coldpress::data
