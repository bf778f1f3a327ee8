// Line charts, written as self-contained SVG files.
#pragma once

#include <string>
#include <vector>

namespace coldpress::data {

/// A line of a chart. Values that are not finite are gaps in the line. Without x, the values are drawn at 0, 1, 2, ...
struct Curve {
  std::string name;
  std::vector<double> x = {}, y = {};
};

struct Chart {
  std::string title = {}, x_label = {}, y_label = {};
  std::vector<Curve> curves = {};
};

/// The charts, one below the other, as an SVG document. Throws ShapeError if a curve has x and y of different lengths.
std::string svg(std::vector<Chart> const& charts);

/// Writes svg(charts) atomically. Throws ShapeError, and FileError as write_atomically does.
void write_svg(std::string const& path, std::vector<Chart> const& charts);

}  // namespace coldpress::data
