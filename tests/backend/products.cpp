// The products of every backend against naive loops in double precision, over odd sizes: 1 to 130 columns, rows that
// touch and rows that are padded.
#include <coldpress/layers.hpp>
#include <coldpress/optim/sgd.hpp>

#include "support/matrix.hpp"

using namespace coldpress;
using namespace coldpress::test;

namespace {

/// Doubles what it is given; enough of an operation to be applied.
struct Twice {
  [[maybe_unused]] static constexpr bool needs_input = false, heavy = false;
  template <class T>
  T value(T x, Position) const {
    return x + x;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("affine is then(x Wᵀ + b), whatever lies around", "", Cpu, Reference<float>, Reference<double>) {
  using T = typename TestType::Scalar;
  Fixture<TestType> f;
  for (Index out = 1; out <= 130; ++out) {
    Index const rows = row_counts[out % 6], in = 1 + out * 37 % 70;
    bool const padded = out % 3 != 0;
    INFO(rows << " x " << in << " -> " << out);
    Doubles const w = random_doubles(out * in), b = random_doubles(out);
    auto const weight = stored<TestType>({out, in}, w), bias = stored<TestType>({out}, b);
    auto x = Matrix<TestType>::random_values(rows, in, out % 2 == 0);
    Matrix<TestType> y{rows, out, padded}, kept{rows, out};
    Doubles sums, wanted;
    for (Index i = 0; i < rows; ++i) {
      for (Index o = 0; o < out; ++o) {
        double sum = b[static_cast<std::size_t>(o)];
        for (Index k = 0; k < in; ++k) sum += x.at(i, k) * w[static_cast<std::size_t>(o * in + k)];
        sums.push_back(sum);
        wanted.push_back(std::max(sum, 0.0) * 2);
      }
    }
    f.backend.affine(x.rows(), weight.data(), bias.data(), y.rows(), PostOps<Chain<>, T>{});
    check(y.values(), sums, in);
    CHECK(y.kept_in());
    f.backend.affine(x.rows(), weight.data(), bias.data(), y.rows(),
                     PostOps<Chain<ReLUOp, Twice>, T>{{}, 0, kept.rows().data, kept.rows().pitch});
    check(y.values(), wanted, in);
    check(kept.values(), sums, in);
    CHECK((y.kept_in() && kept.kept_in()));
  }
}

TEMPLATE_TEST_CASE("product is slope(dy W)", "", Cpu, Reference<float>, Reference<double>) {
  using T = typename TestType::Scalar;
  Fixture<TestType> f;
  for (Index in = 1; in <= 70; ++in) {
    Index const rows = row_counts[in % 6], out = 1 + in * 37 % 70;
    bool const padded = in % 3 != 0;
    INFO(rows << " x " << out << " -> " << in);
    Doubles const w = random_doubles(out * in);
    auto const weight = stored<TestType>({out, in}, w);
    auto dy = Matrix<TestType>::random_values(rows, out), output = Matrix<TestType>::random_values(rows, in);
    Matrix<TestType> dx{rows, in, padded};
    Doubles plain, sloped;
    for (Index i = 0; i < rows; ++i) {
      for (Index k = 0; k < in; ++k) {
        double sum = 0;
        for (Index o = 0; o < out; ++o) sum += dy.at(i, o) * w[static_cast<std::size_t>(o * in + k)];
        plain.push_back(sum);
        sloped.push_back(sum * (1 - output.at(i, k) * output.at(i, k)));
      }
    }
    f.backend.product(dy.rows(), weight.data(), dx.rows(), Derivative<Chain<>, T>{.chain = {}});
    check(dx.values(), plain, out);
    CHECK(dx.kept_in());
    f.backend.product(
        dy.rows(), weight.data(), dx.rows(),
        Derivative<Chain<TanHOp>, T>{.chain = {}, .output = output.rows().data, .output_pitch = output.rows().pitch});
    check(dx.values(), sloped, out);
    CHECK(dx.kept_in());
    if constexpr (adds_in_place<TestType>) {
      auto added = Matrix<TestType>::random_values(rows, in, padded);
      Doubles wanted = added.values();
      for (std::size_t e = 0; e < wanted.size(); ++e) {
        double const y = output.values()[e];
        wanted[e] = (wanted[e] + plain[e]) * (1 - y * y);
      }
      Derivative<Chain<TanHOp>, T, std::true_type> adding{};
      adding.output = output.rows().data, adding.output_pitch = output.rows().pitch;
      f.backend.product(dy.rows(), weight.data(), added.rows(), adding);
      check(added.values(), wanted, out, 1);
      CHECK(added.kept_in());
    }
  }
}

TEMPLATE_TEST_CASE("weight_gradient is dyᵀ x and sum_rows Σ dy, to memory or through the optimizer with the same bits",
                   "", Cpu, Reference<float>, Reference<double>) {
  using T = typename TestType::Scalar;
  Fixture<TestType> f;
  for (Index out = 1; out <= 70; ++out) {
    Index const rows = row_counts[out % 6];
    Index const in = out <= cpu::tile_rows ? 2 * cpu::tile_columns * cpu::lanes : 1 + out * 23 % 70;  // those may turn
    INFO(rows << ": " << out << " x " << in);
    Shape const shape{out, in};
    auto x = Matrix<TestType>::random_values(rows, in, out % 2 == 0), dy = Matrix<TestType>::random_values(rows, out);
    Doubles weights, biases(static_cast<std::size_t>(out));
    for (Index o = 0; o < out; ++o) {
      for (Index k = 0; k < in; ++k) {
        double sum = 0;
        for (Index i = 0; i < rows; ++i) sum += dy.at(i, o) * x.at(i, k);
        weights.push_back(sum);
      }
      for (Index i = 0; i < rows; ++i) biases[static_cast<std::size_t>(o)] += dy.at(i, o);
    }
    auto gradient = stored<TestType>(shape, Doubles(weights.size())), bias_gradient = stored<TestType>({out}, biases);
    f.backend.weight_gradient(x.rows(), dy.rows(), GradientSink<T>{gradient.data()});
    f.backend.sum_rows(dy.rows(), GradientSink<T>{bias_gradient.data()});
    check(canonical<TestType>(shape, gradient), weights, rows);
    check(canonical<TestType>({out}, bias_gradient), biases, rows);

    constexpr Sgd sgd{.learning_rate = 0.1f, .momentum = 0.5f};
    auto fused = stored<TestType>(shape, random_doubles(out * in)),
         state = stored<TestType>(shape, random_doubles(out * in));
    auto plain = fused, plain_state = state;
    f.backend.weight_gradient(x.rows(), dy.rows(), UpdateSink<Sgd, T>{sgd, 0.25f, fused.data(), {state.data()}});
    f.backend.apply_gradient(gradient.data(), static_cast<Index>(plain.size()),
                             UpdateSink<Sgd, T>{sgd, 0.25f, plain.data(), {plain_state.data()}});
    CHECK(canonical<TestType>(shape, fused) == canonical<TestType>(shape, plain));
    CHECK(canonical<TestType>(shape, state) == canonical<TestType>(shape, plain_state));

    for (T const scale : {T(1), T(1e30f)}) {  // the squares of the larger ones are beyond a float
      double squares = 0;
      for (T& g : gradient) g *= scale, squares += static_cast<double>(g) * static_cast<double>(g);
      CHECK(f.backend.squared_norm(gradient.data(), static_cast<Index>(gradient.size())) ==
            Approx(squares).epsilon(1e-5));
    }
  }
}

namespace {
/// What the backward functions of a Linear read.
struct LinearPass {
  using Variant = std::false_type;  // not along the last axis
  Shape in;
  Rows<float> x, dy, dx;
  float const* p[1];
  GradientSink<float> sinks[2];
  Derivative<Chain<>, float> derivative;
};
}  // namespace

TEST_CASE("Linear needs no more scratch than it asks for") {
  for (Index const in : {1, 7, 16, 33, 200}) {
    for (Index const out : {1, 2, 5, 17, 64, 1030}) {
      INFO(in << " -> " << out);
      Linear const layer{out};
      auto const weight = stored<Cpu>({out, in}, random_doubles(in * out));
      auto gradient = stored<Cpu>({out, in}, Doubles(static_cast<std::size_t>(in * out))),
           bias_gradient = stored<Cpu>({out}, Doubles(static_cast<std::size_t>(out)));
      auto x = Matrix<Cpu>::random_values(7, in), dy = Matrix<Cpu>::random_values(7, out);
      Matrix<Cpu> dx{7, in};
      LinearPass const pass{{in},         x.rows(),        dy.rows(),
                            dx.rows(),    {weight.data()}, {{gradient.data()}, {bias_gradient.data()}},
                            {.chain = {}}};
      auto const in_scratch = [&](Extent extent, auto const& run) {
        Guarded<float> scratch(static_cast<std::size_t>(layer.scratch<Cpu>({in}, extent)));
        Cpu backend{};
        backend.scratch = scratch.data();
        run(backend);
      };
      in_scratch({.training = false, .input_gradient = true},
                 [&](Cpu const& backend) { layer.backward_input(backend, pass); });
      in_scratch({.training = true, .input_gradient = false},
                 [&](Cpu const& backend) { layer.backward_parameters(backend, pass); });
      for (Index k = 0; k < in; ++k) {
        double sum = 0;
        for (Index o = 0; o < out; ++o)
          sum += dy.at(6, o) * static_cast<double>(Cpu::get(of({out, in}), weight.data(), o * in + k));
        CHECK(dx.at(6, k) == Approx(sum).margin(1e-4));
      }
    }
  }
}

TEST_CASE("matrices that do not fit the cache are multiplied in parts") {
  constexpr Index rows = 31, in = 200, out = 1100, scratch = Cpu::product_scratch(in, out);
  static_assert(scratch < out * in, "the matrix is not transposed at once");
  Doubles const w = random_doubles(out * in);
  auto const weight = stored<Cpu>({out, in}, w);
  auto x = Matrix<Cpu>::random_values(rows, in), dy = Matrix<Cpu>::random_values(rows, out);
  Matrix<Cpu> y{rows, out}, dx{rows, in};
  auto gradient = stored<Cpu>({out, in}, Doubles(w.size()));
  std::vector<float> memory(scratch + 1, 1234.5f);
  Cpu backend{};
  backend.scratch = memory.data();
  backend.affine(x.rows(), weight.data(), nullptr, y.rows(), PostOps<Chain<>, float>{});
  backend.product(dy.rows(), weight.data(), dx.rows(), Derivative<Chain<>, float>{.chain = {}});
  backend.weight_gradient(x.rows(), dy.rows(), GradientSink<float>{gradient.data()});

  Doubles values(rows * out), gradients(rows * in), of_weights(out * in);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t o = 0; o < out; ++o) {
      double const g = dy.at(static_cast<Index>(i), static_cast<Index>(o));
      for (std::size_t k = 0; k < in; ++k) {
        double const v = x.at(static_cast<Index>(i), static_cast<Index>(k));
        values[i * out + o] += v * w[o * in + k];
        gradients[i * in + k] += g * w[o * in + k];
        of_weights[o * in + k] += g * v;
      }
    }
  }
  check(y.values(), values, in);
  check(dx.values(), gradients, out);
  check(canonical<Cpu>({out, in}, gradient), of_weights, rows);
  CHECK((y.kept_in() && dx.kept_in() && memory.back() == 1234.5f));
}

TEST_CASE("the weights of one output are a run, and a row has the same bits in every batch") {
  Fixture<Cpu> f;
  for (Index in = 1; in <= 140; ++in) {
    Doubles const w = random_doubles(in);
    auto weight = stored<Cpu>({1, in}, w), bias = stored<Cpu>({1}, random_doubles(1));
    for (std::size_t k = 0; k < w.size(); ++k) CHECK(weight[k] == static_cast<float>(w[k]));
    // What an infinite gradient, or 0 / 0 in an optimizer, leaves behind the run: it is not read.
    std::fill(weight.begin() + in, weight.end(), std::numeric_limits<float>::quiet_NaN());
    auto x = Matrix<Cpu>::random_values(5, in, false);
    Matrix<Cpu> all{5, 1}, one{1, 1};
    f.backend.affine(x.rows(), weight.data(), bias.data(), all.rows(), PostOps<Chain<>, float>{});
    for (Index i = 0; i < 5; ++i) {
      f.backend.affine(Rows<float const>{x.rows().row(i), 1, in, in}, weight.data(), bias.data(), one.rows(),
                       PostOps<Chain<>, float>{});
      CHECK(one.at(0, 0) == all.at(i, 0));
    }
    Matrix<Cpu> dx{5, in};
    f.backend.product(all.rows(), weight.data(), dx.rows(), Derivative<Chain<>, float>{.chain = {}});
    for (Index c = 0; c < dx.rows().pitch; ++c)
      CHECK(dx.rows().row(4)[c] == (c < in ? all(4, 0) * weight[static_cast<std::size_t>(c)] : 0));
    CHECK((all.kept_in() && one.kept_in() && dx.kept_in()));
  }
}

TEST_CASE("extents that the compiler knows and those at run time give the same bits") {
  Fixture<Cpu> f;
  auto const compare = [&]<Index rows, Index in, Index out>(Fixed<rows> r, Fixed<in> i, Fixed<out> o) {
    auto const weight = stored<Cpu>({out, in}, random_doubles(out * in)),
               bias = stored<Cpu>({out}, random_doubles(out));
    auto x = Matrix<Cpu>::random_values(rows, in), dy = Matrix<Cpu>::random_values(rows, out);
    Matrix<Cpu> y{rows, out}, y2{rows, out}, dx{rows, in}, dx2{rows, in};
    Rows const fixed_x{x.rows().data, r, i, Cpu::pitch(in)}, fixed_dx{dx2.rows().data, r, i, Cpu::pitch(in)};
    Rows const fixed_y{y2.rows().data, r, o, Cpu::pitch(out)}, fixed_dy{dy.rows().data, r, o, Cpu::pitch(out)};
    f.backend.affine(x.rows(), weight.data(), bias.data(), y.rows(), PostOps<Chain<ReLUOp, Twice>, float>{});
    f.backend.affine(fixed_x, weight.data(), bias.data(), fixed_y, PostOps<Chain<ReLUOp, Twice>, float>{});
    CHECK(same_bits(y.values(), y2.values()));
    f.backend.product(dy.rows(), weight.data(), dx.rows(), Derivative<Chain<>, float>{.chain = {}});
    f.backend.product(fixed_dy, weight.data(), fixed_dx, Derivative<Chain<>, float>{.chain = {}});
    CHECK(same_bits(dx.values(), dx2.values()));
    auto gradient = stored<Cpu>({out, in}, Doubles(static_cast<std::size_t>(out * in))), gradient2 = gradient;
    f.backend.weight_gradient(x.rows(), dy.rows(), GradientSink<float>{gradient.data()});
    f.backend.weight_gradient(fixed_x, fixed_dy, GradientSink<float>{gradient2.data()});
    CHECK(same_bits(gradient, gradient2));
  };
  compare(Fixed<1>{}, Fixed<7>{}, Fixed<1>{});
  compare(Fixed<1>{}, Fixed<16>{}, Fixed<1>{});
  compare(Fixed<1>{}, Fixed<40>{}, Fixed<1>{});
  compare(Fixed<1>{}, Fixed<75>{}, Fixed<1>{});
  compare(Fixed<13>{}, Fixed<33>{}, Fixed<1>{});
  compare(Fixed<1>{}, Fixed<7>{}, Fixed<31>{});
  compare(Fixed<1>{}, Fixed<70>{}, Fixed<67>{});
  compare(Fixed<6>{}, Fixed<33>{}, Fixed<10>{});
  compare(Fixed<13>{}, Fixed<65>{}, Fixed<70>{});
  compare(Fixed<13>{}, Fixed<64>{}, Fixed<2>{});
  compare(Fixed<7>{}, Fixed<80>{}, Fixed<1030>{});
}

TEST_CASE("a product has the bits of its rows one by one, in whatever ranges of its tiles it is computed") {
  Index const depth = 5, columns_of[] = {1, cpu::lanes, cpu::lanes + 1, 3 * cpu::lanes};
  for (Index const columns : columns_of) {
    Index const pitch = Cpu::pitch(columns);
    std::vector<float> const b = numbers.values<float>(depth * pitch);
    for (Index rows = 1; rows <= 35; ++rows) {
      INFO(rows << " x " << depth << " x " << columns);
      std::vector<float> const a = numbers.values<float>(rows * depth);
      auto const multiply = [&](std::vector<float>& y, Index first, Index count, cpu::Parts some) {
        cpu::multiply(count, columns, depth, cpu::Left{a.data() + first * depth, depth, 1}, cpu::Right{b.data(), pitch},
                      cpu::Added{y.data() + first * columns, columns, columns}, {}, some);
      };
      auto const zeros = std::vector<float>(static_cast<std::size_t>(rows * columns));
      auto by_row = zeros;
      for (Index row = 0; row < rows; ++row) multiply(by_row, row, 1, {});
      auto whole = zeros;
      multiply(whole, 0, rows, {});
      CHECK(same_bits(whole, by_row));
      Index const tiles = cpu::tiles_of<cpu::Left>(rows, columns);
      for (Index const at_once : {1, 2, 3}) {
        auto in_ranges = zeros;
        for (Index tile = 0; tile < tiles; tile += at_once)
          multiply(in_ranges, 0, rows, {tile, std::min(tile + at_once, tiles)});
        CHECK(same_bits(in_ranges, by_row));
      }
    }
  }
}
