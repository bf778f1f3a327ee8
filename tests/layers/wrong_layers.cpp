// The laws can fail: layers and losses that are wrong on purpose, each caught by the very check that the right ones
// pass.
#include "support/loss_laws.hpp"

using namespace coldpress;

namespace {

bool mentions(test::Violations const& violations, std::string_view text) {
  return std::any_of(violations.begin(), violations.end(),
                     [&](auto const& v) { return v.find(text) != std::string::npos; });
}

/// The derivative of x² is 2x.
struct WrongDerivative {
  static constexpr std::string_view name = "wrong_derivative";
  struct Op {
    static constexpr bool needs_input = true, heavy = false;
    template <class T>
    constexpr T value(T x, Position) const {
      return x * x;
    }
    template <class T>
    constexpr T gradient(T x, T, Position) const {
      return x;
    }
  };
  constexpr Shape output_shape(Shape in) const { return in; }
  constexpr Op op(std::uint64_t) const { return {}; }
  bool operator==(WrongDerivative const&) const = default;
};

/// Says that its derivative is a function of the output alone, and reads the input.
struct UndeclaredInput {
  static constexpr std::string_view name = "undeclared_input";
  struct Op {
    static constexpr bool needs_input = false, heavy = false;
    template <class T>
    constexpr T value(T x, Position) const {
      return x * x;
    }
    template <class T>
    constexpr T gradient(T x, T, Position) const {
      return 2 * x;
    }
  };
  constexpr Shape output_shape(Shape in) const { return in; }
  constexpr Op op(std::uint64_t) const { return {}; }
  bool operator==(UndeclaredInput const&) const = default;
};

/// A join whose derivative by its second operand is that by its first.
struct WrongJoin {
  static constexpr std::string_view name = "wrong_join";
  struct Op : MultiplyOp {
    template <class T>
    constexpr T second(T, T b) const {
      return b;
    }
  };
  constexpr Shape output_shape(Shapes in) const { return in[0]; }
  constexpr Op join() const { return {}; }
  bool operator==(WrongJoin const&) const = default;
};

/// Linear whose bias gradient is that of the weights' first column.
struct WrongParameters : Linear {
  static constexpr std::string_view name = "wrong_parameters";
  void backward_parameters(auto const& backend, auto const& pass) const {
    backend.weight_gradient(pass.x, pass.dy, pass.sinks[0]);
    backend.sum_rows(pass.x, pass.sinks[1]);
  }
  bool operator==(WrongParameters const&) const = default;
};

/// Softmax with the gradient of log softmax.
struct WrongBackward : Softmax {
  static constexpr std::string_view name = "wrong_backward";
  void backward_input(auto const& backend, auto const& pass) const {
    backend.normalize_gradient(Normalization::log_softmax, pass.y, pass.dy, pass.dx);
  }
  bool operator==(WrongBackward const&) const = default;
};

/// Computes nothing: the output is what lay there.
struct Idle {
  static constexpr std::string_view name = "idle";
  static constexpr Capabilities capabilities{.backward_reads_input = false, .backward_reads_output = false};
  constexpr Shape output_shape(Shape in) const { return in; }
  void forward(auto const&, auto const&) const {}
  void backward_input(auto const&, auto const&) const {}
  bool operator==(Idle const&) const = default;
};

/// Takes the mean over the minibatch from each value, and does not declare that it mixes samples.
struct Centered {
  static constexpr std::string_view name = "centered";
  static constexpr Capabilities capabilities{.backward_reads_input = false, .backward_reads_output = false};
  constexpr Shape output_shape(Shape in) const { return in; }
  void forward(auto const&, auto const& pass) const { center(pass.x, pass.y); }
  void backward_input(auto const&, auto const& pass) const { center(pass.dy, pass.dx); }
  static void center(auto from, auto to) {
    for (Index c = 0; c < from.columns; ++c) {
      typename decltype(from)::Scalar mean{};
      for (Index i = 0; i < from.rows; ++i) mean += from.row(i)[c] / static_cast<float>(from.rows);
      for (Index i = 0; i < from.rows; ++i) to.row(i)[c] = from.row(i)[c] - mean;
    }
  }
  bool operator==(Centered const&) const = default;
};

struct WrongLoss : MeanSquaredError {
  static constexpr std::string_view name = "wrong_loss";
  template <class T>
  constexpr T gradient(T y, T t) const {
    return y - t;
  }
  bool operator==(WrongLoss const&) const = default;
};

template <Layer auto layer>
test::Violations gradient_violations() {
  test::Violations violations;
  test::gradient_law<Sequential<layer>, Shape{5}>(3, 1, violations);
  return violations;
}

}  // namespace

TEST_CASE("a wrong derivative is caught") {
  test::Violations violations = gradient_violations<WrongDerivative{}>();
  CHECK(mentions(violations, "gradient of input"));
  CHECK(mentions(violations, "but the central difference is"));
  violations.clear();
  test::gradient_law<Sequential<Linear{4}, WrongDerivative{}, Linear{2}>, Shape{3}>(2, 1, violations);
  CHECK(mentions(violations, "gradient of parameter linear1-0, value 0, is "));
  CHECK(mentions(violations, "(in a network around the layer: sample {3}, batch 2)"));
}

TEST_CASE("a wrong derivative of a join is caught") {
  test::Violations violations;
  testing::gradient_law<Graph<testing::between<WrongJoin{}, Shape{3}, Shape{3}>()>, Shape{5}>(2, 1, violations);
  CHECK(mentions(violations, "gradient of input"));
}

TEST_CASE("a derivative that reads an input it did not ask for is caught") {
  CHECK(mentions(gradient_violations<UndeclaredInput{}>(), "gradient of input"));
}

TEST_CASE("a wrong gradient of a parameter is caught") {
  CHECK(mentions(gradient_violations<WrongParameters{{.output_size = 5}}>(), "gradient of parameter"));
}

TEST_CASE("a wrong backward is caught") {
  CHECK(mentions(gradient_violations<WrongBackward{}>(), "gradient of input"));
}

TEST_CASE("a layer that passes no gradient to its input is refused") {
  CHECK(mentions(gradient_violations<Embedding{.vocabulary = 7, .features = 3}>(), "no gradient reaches the input"));
}

TEST_CASE("an output that is not written is caught") {
  test::Violations violations;
  test::shape_law<Sequential<Linear{5}, Idle{}, Linear{5}>, Shape{5}, DefaultBackend>(3, 1, violations);
  CHECK(mentions(violations, "what an earlier pass left"));
}

TEST_CASE("a layer that mixes samples and does not say so is caught") {
  static constexpr Shape in{3};
  static_assert(is_by_sample(Centered{}, Shapes{&in, 1}) && !is_by_sample(BatchNormalization{}, Shapes{&in, 1}));
  test::Violations violations;
  testing::sample_law<Sequential<Linear{4}, Centered{}, Linear{2}>, Shape{3}>(4, 1, violations);
  CHECK(mentions(violations, "mixes_samples is not declared"));
}

TEST_CASE("a wrong loss gradient is caught") {
  test::Violations violations;
  test::loss_gradient_law<Sequential<Linear{4}>, Shape{3}, WrongLoss{}>(3, 1, violations);
  CHECK(mentions(violations, "but the central difference of N losses is"));
}

#if COLDPRESS_LAWS_OF_CONFIGS
namespace {
struct Doubled final : test::TestedLosses {
  std::unique_ptr<TestedLosses> right;

  explicit Doubled(std::unique_ptr<TestedLosses> of) : right(std::move(of)) {
    input = right->input, output = right->output;
  }
  std::span<double> parameters() override { return right->parameters(); }
  double loss_of(std::vector<double> const& x, std::vector<double> const& targets) override {
    return right->loss_of(x, targets);
  }
  std::vector<double> gradients() override {
    auto all = right->gradients();
    for (double& gradient : all) gradient *= 2;
    return all;
  }
};
}  // namespace

TEST_CASE("wrong loss gradients of configs are caught") {
  static constexpr SquareLoss loss{};
  static constexpr TanH tail{};
  std::vector<double> const x(6, 0.5), targets(8, 0.25);
  test::Violations violations;
  Doubled given{test::losses_of_config(test::loss_config<Sequential<Linear{4}>, Shape{3}, loss>(), 1)};
  test::loss_gradient_law(given, x, targets, violations);
  CHECK(mentions(violations, "but the central difference of N losses is"));
  violations.clear();
  Doubled inside{test::losses_of_config(
      test::HiddenLossConfig{test::builtin<BuiltinLosses>(loss), 5, test::builtin<BuiltinLayers>(tail),
                             test::builtin<BuiltinLayers>(tail)},
      1)};
  test::own_losses_gradient_law(inside, 2, 1, violations);
  CHECK(mentions(violations, "but the central difference of N losses is"));
}
#endif

TEST_CASE("right layers and losses are not caught") {
  test::Violations violations;
  test::gradient_law<Sequential<Linear{4}, TanH{}, Softmax{}>, Shape{3}>(3, 1, violations);
  test::loss_gradient_law<Sequential<Linear{4}, LogSoftmax{}>, Shape{3}, NegativeLogLikelihood{4}>(3, 1, violations);
  static constexpr auto hidden = graph(test::Hidden<SquareLoss{}, 5, TanH{}, TanH{}>{});
  test::LossesOfType<testing::Exact<Graph<hidden>, test::hidden_input>, OwnLosses{}> network{1};
  test::own_losses_gradient_law(network, 2, 1, violations);
  CHECK(violations.empty());
}
