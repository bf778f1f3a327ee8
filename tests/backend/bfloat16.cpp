// Weights in half the bytes: rounding, and networks that compute with rounded weights as if these were floats.
#include <coldpress/backend/cpu_bfloat16.hpp>
#include <coldpress/coldpress.hpp>

#include "support/catch.hpp"
#include "support/layer_laws.hpp"

#include <bit>
#include <cmath>
#include <limits>

using namespace coldpress;

namespace {

float rounded(float x) { return static_cast<float>(Bfloat16{x}); }

/// The law: a network with halves gives the bits of one with floats, once its dense matrices are rounded.
template <class Layers, Shape in, class BatchSize = DynamicBatch>
void check(Index batch) {
  using Floats = Network<Layers, in, BatchSize>;
  using Halves = Network<Layers, in, BatchSize, CpuBfloat16>;
  auto const floats = std::make_unique<Floats>(3);
  auto const halves = std::make_unique<Halves>(4);
  bool rounds = false;
  for (int i = 0; i < Floats::weight_count; ++i) {
    auto values = test::Random{static_cast<std::uint64_t>(i) + 7}.values<float>(Floats::weight_shape(i).size());
    halves->write_weight(i, values);
    std::vector<float> kept(values.size());
    halves->read_weight(i, kept);
    rounds = rounds || kept != values;
    if (kept != values) {
      for (float& value : values) value = rounded(value);
      CHECK(test::same_bits(kept, values));
    }
    floats->write_weight(i, kept);
  }
  CHECK(rounds);
  CHECK(Halves::parameter_size < Floats::parameter_size);
  auto const x = test::Random{1}.values<float>(batch * in.size());
  CHECK(test::same_bits(test::copy_of<float>(halves->forward(x)), floats->forward(x)));
}

}  // namespace

TEST_CASE("rounding takes the nearer of two neighbours, the even one in the middle") {
  for (std::uint32_t high = 0; high < 0x7f80; ++high) {
    double const below = std::bit_cast<float>(high << 16);
    double const above = high == 0x7f7f ? 0x1p128 : static_cast<double>(std::bit_cast<float>((high + 1) << 16));
    for (std::uint32_t const low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      float const x = std::bit_cast<float>(high << 16 | low);
      double const down = static_cast<double>(x) - below, up = above - static_cast<double>(x);
      double const wanted = down < up || (down == up && high % 2 == 0) ? below : above;
      float const got = rounded(x);
      bool const right = wanted == 0x1p128 ? std::isinf(got) : static_cast<double>(got) == wanted;
      if (!right || rounded(-x) != -got) FAIL("of " << x << " it makes " << got);
    }
  }
  CHECK(std::isinf(rounded(std::numeric_limits<float>::infinity())));
  CHECK(std::isnan(rounded(std::numeric_limits<float>::quiet_NaN())));
  CHECK(std::isnan(rounded(std::bit_cast<float>(0x7f800001u))));  // whose upper half is infinity's
  CHECK(std::signbit(rounded(-0.0f)));
}

TEST_CASE("vectors of halves are those of their floats") {
  std::vector<Bfloat16> halves;
  for (int l = 0; l < cpu::lanes; ++l) halves.push_back(Bfloat16{static_cast<float>(l) * -1.375f});
  cpu::Vector const all = cpu::load(halves.data());
  for (int count = 1; count <= cpu::lanes; ++count) {
    std::vector<Bfloat16> const some(halves.begin(), halves.begin() + count);  // exactly that long: sanitizers watch
    cpu::Vector const part = cpu::load_partial(some.data(), count);
    for (int l = 0; l < cpu::lanes; ++l) {
      auto const n = static_cast<std::size_t>(l);
      CHECK(all[l] == static_cast<float>(halves[n]));
      CHECK(part[l] == (l < count ? all[l] : 0));
    }
  }
}

TEST_CASE("networks with halves compute what their rounded weights say") {
  using Mlp = Sequential<Linear{70}, ReLU{}, Linear{33}, TanH{}, Linear{10}>;
  for (Index const batch : {1, 2, 7, 20}) check<Mlp, Shape{37}>(batch);
  check<Mlp, Shape{37}, Batch<1>>(1);
  check<Mlp, Shape{37}, Batch<5>>(5);
  check<Sequential<Rnn{.hidden_size = 6, .output = RnnOutput::last_step}, Linear{4}>, Shape{5, 3}>(2);
  check<
      Sequential<Convolution{.num_output = 5, .filter_shape = 3}, ReLU{}, Linear{12}, BatchNormalization{}, Linear{4}>,
      Shape{2, 9, 8}>(3);
}

TEST_CASE("tied weights are read both ways") {
  constexpr auto autoencoder = [](auto x) {
    auto const code = x | Linear{19};
    return code | TanH{} | tied(code);
  };
  for (Index const batch : {1, 6}) check<Graph<graph(autoencoder)>, Shape{37}>(batch);
}
