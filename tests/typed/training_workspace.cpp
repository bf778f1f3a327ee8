// No backward pass reads what a layer that threw left unfinished, or what is no longer there.
#include "support/catch.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/core/each.hpp>

#include <array>
#include <stdexcept>
#include <string_view>

namespace {

using namespace coldpress;

bool throws_in_forward = false, throws_in_backward = false;

/// y = x, unless it throws.
struct Throwing {
  static constexpr std::string_view name = "throwing";
  static constexpr Capabilities capabilities{};

  bool operator==(Throwing const&) const = default;
  constexpr Shape output_shape(Shape in) const { return in; }
  void forward(auto const& backend, auto const& pass) const {
    if (throws_in_forward) throw std::runtime_error{"forward"};
    copy(backend, pass.x, pass.y);
  }
  void backward_input(auto const& backend, auto const& pass) const {
    if (throws_in_backward) throw std::runtime_error{"backward"};
    copy(backend, pass.dy, pass.dx);
  }

 private:
  void copy(auto const& backend, auto from, auto to) const {
    each_sample(backend, from, [&](Index n) {
      for (Index i = 0; i < from.columns; ++i) to.row(n)[i] = from.row(n)[i];
    });
  }
};

}  // namespace

TEST_CASE("after a layer has thrown, backward needs another forward") {
  Network<Sequential<Linear{3}, Throwing{}, Linear{2}>, Shape{4}> const net{1};
  decltype(net)::TrainingWorkspace workspace;
  std::array<float, 8> const x{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<float, 4> const dy{1, -1, 2, -2};
  net.forward_training(x, workspace);
  throws_in_forward = true;
  CHECK_THROWS_AS(net.forward_training(x, workspace), std::runtime_error);
  throws_in_forward = false;
  CHECK_THROWS_AS(net.backward(dy, workspace), ShapeError);

  net.forward_training(x, workspace);
  throws_in_backward = true;
  CHECK_THROWS_AS(net.backward(dy, workspace), std::runtime_error);
  throws_in_backward = false;
  CHECK_THROWS_AS(net.backward(dy, workspace), ShapeError);

  net.forward_training(x, workspace);
  CHECK_NOTHROW(net.backward(dy, workspace));
}

TEST_CASE(
    "after reserve, whose memory may be new, backward needs another forward, but not after one that was refused") {
  Network<Sequential<Linear{3}, TanH{}>, Shape{4}> const net{1};
  decltype(net)::TrainingWorkspace workspace;
  std::array<float, 8> const x{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<float, 6> const dy{1, -1, 2, -2, 3, -3};
  net.forward_training(x, workspace);
  workspace.reserve(1000);
  CHECK_THROWS_AS(net.backward(dy, workspace), ShapeError);

  net.forward_training(x, workspace);
  CHECK_THROWS_AS(net.forward_training(std::array<float, 7>{}, workspace), ShapeError);
  CHECK_THROWS_AS(net.backward(std::array<float, 5>{}, workspace), ShapeError);
  CHECK_NOTHROW(net.backward(dy, workspace));
}

TEST_CASE("a workspace that was moved from can be used again, but not for a backward pass at once") {
  Network<Sequential<TanH{}, Sigmoid{}>, Shape{4}> const plain{1};
  decltype(plain)::TrainingWorkspace without;
  plain.forward_training(std::array<float, 4>{1, 2, 3, 4}, without);
  auto const other = std::move(without);
  CHECK_THROWS_AS(plain.backward(std::array<float, 4>{1, 1, 1, 1}, without), ShapeError);

  Network<Sequential<Linear{3}, TanH{}>, Shape{4}> const net{1};
  decltype(net)::TrainingWorkspace workspace;
  std::array<float, 4> const x{1, 2, 3, 4};
  std::array<float, 3> const dy{1, -1, 2};
  net.forward_training(x, workspace);
  auto taken = std::move(workspace);
  CHECK_THROWS_AS(net.backward(dy, workspace), ShapeError);
  CHECK(workspace.gradients().empty());
  net.backward(dy, taken);
  net.forward_training(x, workspace);
  net.backward(dy, workspace);
  CHECK(std::ranges::equal(workspace.gradients(), taken.gradients()));
  auto const copy = workspace;
  CHECK(copy.input_gradient(0).data() != workspace.input_gradient(0).data());
  CHECK(std::ranges::equal(copy.input_gradient(0), workspace.input_gradient(0)));
}
