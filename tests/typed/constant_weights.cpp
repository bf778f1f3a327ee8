// Networks that borrow constant weights: the same bits as a network that owns them, and nothing that changes them.
#include <coldpress/coldpress.hpp>
#include <coldpress/compiled_in.hpp>

#include "support/catch.hpp"
#include "support/heap.hpp"

#include <array>
#include <memory>
#include <type_traits>
#include <vector>

using namespace coldpress;

namespace {

constexpr auto branches = graph([](auto x) {
  auto const a = x | Linear{5} | TanH{};
  return (a | Linear{5}) + a;
});

template <class Net>
concept Writes = requires(Net& net) {
  net.write_weight(0, std::span<float const>{});
};

template <class Net>
std::vector<std::vector<float>> weights_of(Net const& net) {
  std::vector<std::vector<float>> all;
  for (int i = 0; i < Net::weight_count; ++i)
    net.read_weight(i, all.emplace_back(static_cast<std::size_t>(Net::weight_shape(i).size())));
  return all;
}
template <class Net>
auto arranged(std::vector<std::vector<float>> const& values) {
  return [&]<std::size_t... i>(std::index_sequence<i...>) { return Net::arranged(values[i]...); }
  (std::make_index_sequence<std::size_t{Net::weight_count}>{});
}

/// The outputs of a network with weights of its own, and of one that borrows them.
template <class Type, Inputs in, class BatchSize, class Call>
void check_same_bits(Call call) {
  Network<Type, in, BatchSize> own{11};
  using Constant = Network<Type, in, BatchSize, ConstantWeights<>>;
  auto const weights = std::make_unique<typename Constant::Weights>(arranged<Constant>(weights_of(own)));
  Constant borrowing{*weights, 11};
  CHECK(borrowing.parameters().data() == weights->values);
  CHECK(weights_of(borrowing) == weights_of(own));
  for (int turn = 0; turn < 3; ++turn) CHECK(call(borrowing) == call(own));
}
std::vector<float> input(std::size_t size) {
  std::vector<float> x(size);
  for (std::size_t i = 0; i < size; ++i) x[i] = RandomStream{3}.uniform(i) - 0.5f;
  return x;
}
auto const outputs_of = [](Index size) {
  return [x = input(static_cast<std::size_t>(size))](auto& net) {
    auto const y = net.forward(x).values;
    return std::vector<float>(y.begin(), y.end());
  };
};

}  // namespace

TEST_CASE("constant weights give the bits of weights of one's own") {
  check_same_bits<Sequential<Convolution{.num_output = 6, .filter_shape = 3}, ReLU{}, Pooling{.filter_shape = 2},
                             Linear{7}, BatchNormalization{}, LogSoftmax{}>,
                  Shape{2, 9, 9}, DynamicBatch>(outputs_of(2 * 9 * 9 * 3));
  check_same_bits<Graph<branches>, Shape{4}, Batch<2>>(outputs_of(8));
  check_same_bits<
      Sequential<Rnn{.hidden_size = 5, .rnn_type = RnnType::gru, .output = RnnOutput::last_step}, Linear{2}>, Shape{3},
      Batch<1>>([x = input(3)](auto& net) {
    auto const y = net.step(x).values;
    return std::vector<float>(y.begin(), y.end());
  });
}

TEST_CASE("the compiler arranges constant weights for the kernels that a program links by default, too") {
  using Net = Network<Sequential<Linear{2}>, Shape{3}, Batch<1>, ConstantWeights<>>;
  static constexpr float matrix[] = {1, 2, 3, -1, 0, 1};
  static constexpr std::array<float, 2> bias{0.5f, -0.25f};
  static constexpr Net::Weights weights = Net::arranged(matrix, bias);
  Net net{weights};
  auto const y = net.forward(std::array<float, 3>{1, 1, 2});
  CHECK(y[0] == 9.5f);
  CHECK(y[1] == 0.75f);
}

TEST_CASE("constant weights are arranged by the compiler, and only read") {
  using Net = Network<Sequential<Linear{2}, ReLU{}>, Shape{3}, Batch<1>, ConstantWeights<Cpu>>;
  static constexpr float matrix[] = {1, 2, 3, -1, 0, 1};
  static constexpr std::array<float, 2> bias{0.5f, -0.25f};
  static constexpr Net::Weights weights = Net::arranged(matrix, bias);
  static Net net{weights};
  std::size_t const calls = test::heap.calls;
  auto const y = net.forward(std::array<float, 3>{1, 1, 2});
  CHECK(test::heap.calls == calls);
  CHECK(y[0] == 9.5f);
  CHECK(y[1] == 0.75f);
  STATIC_REQUIRE_FALSE(Net::trains);
  STATIC_REQUIRE_FALSE(Writes<Net>);
  STATIC_REQUIRE(std::is_same_v<decltype(net.parameters()), std::span<float const>>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<Net, Net::Weights&&>);
  STATIC_REQUIRE_FALSE(std::is_constructible_v<Net, std::uint64_t>);
}

TEST_CASE("arrays that do not fit the weights are refused") {
  using Net = Network<Sequential<Linear{2}>, Shape{3}, Batch<1>, ConstantWeights<>>;
  std::vector<float> const matrix(6), bias(3);
  CHECK_THROWS_AS(static_cast<void>(Net::arranged(matrix, bias)), ShapeError);
}
