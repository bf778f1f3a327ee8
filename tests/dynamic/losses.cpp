// Losses give PyTorch's values: tests/golden/layers.py made them.
#include "tensors.hpp"

#include "support/golden_file.hpp"

namespace {

using namespace coldpress;
using namespace coldpress::test;

void check(LayerConfig const& config) {
  GoldenCase const golden = golden_cases("layers.txt").at(config.name);
  Index const batch = static_cast<Index>(golden.at("in")[0]), targets = static_cast<Index>(golden.at("target").size());
  SharedTensor const x = tensor({batch, static_cast<Index>(golden.at("in")[1])}, copy_of<float>(golden.at("x")));
  SharedTensor const target = tensor({batch, targets / batch}, copy_of<float>(golden.at("target")));
  for (char const* backend : {"cpu", "cpu:reference"}) {
    Net loss = Net::from_config(Backend{backend}, config);
    INFO(backend << ", " << config.name);
    CHECK(excess(values_of(loss.forward({x, target})[0]), golden.at("y"), 12) <= 1);
    CHECK(excess(values_of(loss.backward()[0]), golden.at("dx"), 1) <= 1);
  }
}

}  // namespace

TEST_CASE("NegativeLogLikelihood is PyTorch's") { check({"negative_log_likelihood", NegativeLogLikelihood{5}}); }
TEST_CASE("MeanSquaredError is PyTorch's") { check({"mean_squared_error", MeanSquaredError{}}); }
