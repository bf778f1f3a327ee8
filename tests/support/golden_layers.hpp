// Compares layers with PyTorch; the scripts of tests/golden computed the values.
#pragma once

#include <coldpress/backend/reference.hpp>
#include <coldpress/coldpress.hpp>

#include "support/compare.hpp"
#include "support/golden_file.hpp"

namespace coldpress::test {

template <Layer auto layer, Shape in, class Backend>
void check_golden_with(GoldenCase const& golden) {
  using Net = Network<Sequential<layer>, in, DynamicBatch, Backend>;
  using T = typename Net::T;
  Net net;
  auto const numbers = [&](char const* word) { return copy_of<T>(golden.at(word)); };
  auto const batch = static_cast<Index>(golden.at("in")[0]);
  REQUIRE(golden.at("x").size() == static_cast<std::size_t>(batch * in.size()));
  std::vector<double> const out(golden.at("out").begin() + 1, golden.at("out").end());
  REQUIRE(out == std::vector<double>(Net::output_shape.extents, Net::output_shape.extents + Net::output_shape.rank()));
  for (int i = 0; i < Net::weight_count; ++i) net.write_weight(i, numbers(i == 0 ? "weight" : "bias"));
  typename Net::TrainingWorkspace workspace;
  auto const x = numbers("x"), dy = numbers("dy");
  auto const check = [&](auto const& values, char const* word) {
    INFO(word);
    std::vector<double> const& wanted = golden.at(word);
    REQUIRE(std::size(values) == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      CHECK(static_cast<double>(values[i]) == Approx(wanted[i]).epsilon(0).margin(sizeof(T) == 8 ? 1e-12 : 2e-5));
  };
  check(net.forward(x).values, "y");
  check(net.forward_training(x, workspace).values, "y");
  auto const dx = net.backward(dy, workspace);
  REQUIRE((dx.size() > 0) == golden.contains("dx"));
  if (dx.size() > 0) check(dx.values, "dx");
  for (int i = 0; i < Net::weight_count; ++i) {
    std::vector<T> gradient(static_cast<std::size_t>(Net::weight_shape(i).size()));
    net.read(workspace.gradients().data(), i, gradient);
    check(gradient, i == 0 ? "dweight" : "dbias");
  }
}

/// Checks that output and gradients are those of the case `name`, on the CPU and on the reference.
template <Layer auto layer, Shape in>
void check_golden_layer(std::string const& name, std::string const& file = "layers.txt") {
  INFO(file << " " << name);
  auto const cases = golden_cases(file);
  check_golden_with<layer, in, Cpu>(cases.at(name));
  check_golden_with<layer, in, Reference<double>>(cases.at(name));
}

}  // namespace coldpress::test
