// Compares layers with PyTorch; the scripts of tests/golden computed the values.
#pragma once

#include <coldpress/backend/reference.hpp>
#include <coldpress/coldpress.hpp>

#include "support/compare.hpp"
#include "support/golden_file.hpp"

namespace coldpress::test {

/// What a network of one layer makes of a case's numbers. Comparing them is no template of the layer, because a check
/// of Catch2 takes long to compile.
struct GoldenPasses {
  std::vector<double> shape, inferred, y, dx;
  std::vector<std::vector<double>> gradients;
};
template <Layer auto layer, Shape in, class Backend>
GoldenPasses golden_passes(GoldenCase const& golden) {
  using Net = Network<Sequential<layer>, in, DynamicBatch, Backend>;
  using T = typename Net::T;
  Net net;
  for (int i = 0; i < Net::weight_count; ++i) net.write_weight(i, copy_of<T>(golden.at(i == 0 ? "weight" : "bias")));
  typename Net::TrainingWorkspace workspace;
  auto const x = copy_of<T>(golden.at("x")), dy = copy_of<T>(golden.at("dy"));
  constexpr Shape out = Net::output_shape;
  GoldenPasses made;
  made.shape.assign(out.extents, out.extents + out.rank());
  made.inferred = copy_of<double>(net.forward(x));
  made.y = copy_of<double>(net.forward_training(x, workspace));
  made.dx = copy_of<double>(net.backward(dy, workspace));
  for (int i = 0; i < Net::weight_count; ++i) {
    std::vector<T> gradient(static_cast<std::size_t>(Net::weight_shape(i).size()));
    net.read(workspace.gradients().data(), i, gradient);
    made.gradients.push_back(copy_of<double>(gradient));
  }
  return made;
}
inline void check_golden_passes(GoldenCase const& golden, GoldenPasses const& made, double margin) {
  std::vector<double> const& out = golden.at("out");  // the batch size, and the shape of a sample's output
  REQUIRE(made.shape == std::vector<double>(out.begin() + 1, out.end()));
  auto const check = [&](std::vector<double> const& values, char const* word) {
    INFO(word);
    std::vector<double> const& wanted = golden.at(word);
    REQUIRE(values.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(values[i] == Approx(wanted[i]).epsilon(0).margin(margin));
  };
  check(made.inferred, "y");
  check(made.y, "y");
  REQUIRE((made.dx.size() > 0) == golden.contains("dx"));
  if (made.dx.size() > 0) check(made.dx, "dx");
  for (std::size_t i = 0; i < made.gradients.size(); ++i) check(made.gradients[i], i == 0 ? "dweight" : "dbias");
}

/// The case `name`, whose samples have `size` values.
inline GoldenCase golden_case(std::string const& name, std::string const& file, Index size) {
  GoldenCase const golden = golden_cases(file).at(name);
  REQUIRE(static_cast<double>(golden.at("x").size()) == golden.at("in")[0] * static_cast<double>(size));
  return golden;
}
/// Checks that output and gradients are those of the case `name`, on the CPU and, if golden_reference, on the
/// reference.
template <Layer auto layer, Shape in>
void check_golden_layer(std::string const& name, std::string const& file = "layers.txt") {
  INFO(file << " " << name);
  GoldenCase const golden = golden_case(name, file, in.size());
  check_golden_passes(golden, golden_passes<layer, in, DefaultBackend>(golden), 2e-5);
  if constexpr (golden_reference)
    check_golden_passes(golden, golden_passes<layer, in, Reference<double>>(golden), 1e-12);
}

}  // namespace coldpress::test
