// Nothing is read beyond the samples a user gives, whatever their size. They are exactly that long here: the address
// sanitizer watches.
#include <coldpress/coldpress.hpp>

#include "support/catch.hpp"
#include "support/layer_laws.hpp"

#include <memory>

using namespace coldpress;

namespace {

template <class Layers, Shape in>
void run(Index batch) {
  using Net = Network<Layers, in>;
  Net net = test::random_network<Net>(1);
  test::Random random{1};
  auto const x = std::make_unique<float[]>(static_cast<std::size_t>(batch * in.size()));
  auto const dy = std::make_unique<float[]>(static_cast<std::size_t>(batch * Net::output_shape.size()));
  for (Index i = 0; i < batch * in.size(); ++i) x[static_cast<std::size_t>(i)] = random.uniform();
  for (Index i = 0; i < batch * Net::output_shape.size(); ++i) dy[static_cast<std::size_t>(i)] = random.uniform();
  std::span<float const> const input{x.get(), static_cast<std::size_t>(batch * in.size())};
  std::span<float const> const gradient{dy.get(), static_cast<std::size_t>(batch * Net::output_shape.size())};
  typename Net::TrainingWorkspace workspace;
  net.forward(input);
  net.forward_training(input, workspace);
  for (float const value : net.backward(gradient, workspace)) CHECK(std::isfinite(value));
  if constexpr (Net::weight_count > 0) {
    Solver<Net, MeanSquaredError{}> solver{net};
    CHECK(std::isfinite(solver.train_minibatch(input, gradient)));
  }
}
template <class Layers>
void run_sizes() {
  for (Index const batch : {1, 2, 7}) {
    run<Layers, Shape{5}>(batch);
    run<Layers, Shape{71}>(batch);
  }
}

}  // namespace

TEST_CASE("chains at the input") {
  run_sizes<Sequential<TanH{}, Sigmoid{}>>();
  run_sizes<Sequential<Sigmoid{}, TanH{}, Linear{3}>>();
}
TEST_CASE("softmax at the input") { run_sizes<Sequential<Softmax{}, ReLU{}>>(); }
TEST_CASE("products at the input") { run_sizes<Sequential<Linear{3}, LogSoftmax{}>>(); }
