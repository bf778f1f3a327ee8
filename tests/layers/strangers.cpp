// Layers of strangers, as docs/adding-a-layer.md has them: a pointwise one, and one of plain loops that knows nothing
// of fusion or padding.
#include "support/layer_laws.hpp"

using namespace coldpress;

namespace {

struct SnakeOp {
  static constexpr bool needs_input = true;
  static constexpr bool heavy = true;
  float frequency;
  template <class T>
  __attribute__((always_inline)) T value(T x, At) const {
    T const t = Math<T>::tanh(x * frequency);
    return x + t * t;
  }
  template <class T>
  __attribute__((always_inline)) T gradient(T x, T, At) const {
    T const t = Math<T>::tanh(x * frequency);
    return 1 + 2 * frequency * t * (1 - t * t);
  }
};

struct Snake {
  static constexpr std::string_view name = "snake";
  float frequency = 1;
  constexpr Shape output_shape(Shape in) const { return in; }
  constexpr SnakeOp op(std::uint64_t) const { return {frequency}; }
  bool operator==(Snake const&) const = default;
};

/// The values of a sample in reverse.
struct Reverse {
  static constexpr std::string_view name = "reverse";
  static constexpr bool backward_reads_input = false, backward_reads_output = false;
  constexpr Shape output_shape(Shape in) const { return in; }
  void forward(auto const&, auto const& pass) const { reverse(pass.x, pass.y); }
  void backward_input(auto const&, auto const& pass) const { reverse(pass.dy, pass.dx); }
  static void reverse(auto from, auto to) {
    for (Index i = 0; i < from.rows; ++i) {
      for (Index c = 0; c < from.columns; ++c) to.row(i)[c] = from.row(i)[from.columns - 1 - c];
    }
  }
  bool operator==(Reverse const&) const = default;
};

}  // namespace

TEST_CASE("a stranger's pointwise layer keeps the laws") { test::check_layer_laws<Snake{.frequency = 0.5f}>(); }

TEST_CASE("a stranger's plain loops keep the laws") { test::check_layer_laws<Reverse{}>(); }

TEST_CASE("the norm of all gradients does not see what lies between rows") {
  using Net = Network<Sequential<Linear{7}, Reverse{}, Linear{20}, Sigmoid{}, Linear{3}>, Shape{4}>;
  auto const net = test::random_network<Net>(1);
  Net::TrainingWorkspace workspace;
  test::Random random{2};
  for (Index const batch : {9, 3, 5}) {  // smaller ones find what the larger left
    auto const x = random.values<float>(batch * 4), dy = random.values<float>(batch * 3);
    net.forward_training(x, workspace);
    net.backward(dy, workspace);
    double all = 0, seen = 0;
    for (float const g : workspace.gradients()) all += double{g} * double{g};
    for (float const g : test::canonical<Net>(workspace.gradients())) seen += double{g} * double{g};
    CHECK(all == Approx(seen).epsilon(1e-12));
  }
}
