// Runs a network on inputs from a file, and says how far its outputs are from those in another file.
#include "check_outputs.hpp"

#include "print.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/data/npy.hpp>
#include <coldpress/persist/network.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace coldpress::command {
namespace {

/// A number in the few digits that matter.
std::string brief(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

data::NpyArray read(std::string const& path, Index samples, Shape const& sample) {
  auto array = data::read_npy(path);
  Index const values = static_cast<Index>(array.values.size());
  bool const fits = !array.extents.empty() && array.extents[0] >= 1 && values == array.extents[0] * sample.size() &&
                    (samples == 0 || array.extents[0] == samples);
  if (fits) return array;
  std::string shape;
  for (Index const extent : array.extents) shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
  ShapeError error{"has the shape {" + shape + "}, and the network has " +
                   (samples == 0 ? "any number of" : std::to_string(samples)) + " samples " + to_string(sample) +
                   " there"};
  error.in_file(path);
  throw error;
}

}  // namespace

void check_outputs(persist::Model const& model, std::string const& inputs, std::string const& outputs) {
  auto layer = persist::layer_of(dynamic::Backend{"cpu"}, model);
  layer.set_mode(dynamic::Mode::inference);
  if (layer.input_shapes().size() != 1) {
    throw UnsupportedError{"--check is for networks with one input, and this one has " +
                           std::to_string(layer.input_shapes().size())};
  }
  auto const x = read(inputs, 0, layer.input_shape()), y = read(outputs, x.extents[0], layer.output_shape());
  dynamic::SharedTensor const samples{x.extents};
  std::ranges::copy(x.values, samples.write_only().begin());
  auto const found = layer.forward(samples).read();
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    double const error = std::abs(static_cast<double>(found[i]) - static_cast<double>(y.values[i]));
    difference = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(difference, error);
    largest = std::max(largest, std::abs(static_cast<double>(y.values[i])));
  }
  double const share = largest > 0 ? difference / largest : difference;
  std::string const said = "the largest error of " + counted(static_cast<Index>(y.values.size()), "output") + " is " +
                           brief(difference) + ", which is " + brief(share) + " of the largest output";
  constexpr double most = 0.01;
  if (!(share <= most)) {
    MismatchError error{"the network computes other values: " + said};
    error.in_file(outputs);
    throw error;
  }
  show("check: " + said);
}

}  // namespace coldpress::command
