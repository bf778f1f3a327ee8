#include <coldpress/backend/cpu.hpp>
#include <coldpress/backend/erased.hpp>
#include <coldpress/backend/reference.hpp>
#include <coldpress/layers.hpp>

#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"

using namespace coldpress;

#if HAVE_CBLAS  // a machine that is compiled for from another one has none: there they are xtensor-blas's own loops
// BLAS really computes the products: these stand in for the library's functions and count. Several releases of
// xtensor-blas use loops of their own unless HAVE_CBLAS is defined before their headers.
namespace {
int single_products = 0, double_products = 0;
}
extern "C" {
void cblas_sgemm(CBLAS_ORDER, CBLAS_TRANSPOSE, CBLAS_TRANSPOSE, CBLAS_INT, CBLAS_INT, CBLAS_INT, float, float const*,
                 CBLAS_INT, float const*, CBLAS_INT, float, float*, CBLAS_INT) {
  ++single_products;
}
void cblas_dgemm(CBLAS_ORDER, CBLAS_TRANSPOSE, CBLAS_TRANSPOSE, CBLAS_INT, CBLAS_INT, CBLAS_INT, double, double const*,
                 CBLAS_INT, double const*, CBLAS_INT, double, double*, CBLAS_INT) {
  ++double_products;
}
}

TEMPLATE_TEST_CASE("the reference's products are BLAS's", "", float, double) {
  std::vector<TestType> x(6), w(12), y(8), b(4);
  int const before = single_products + double_products;
  int const& mine = sizeof(TestType) == 4 ? single_products : double_products;
  int const mine_before = mine;
  Reference<TestType> const backend;
  Rows<TestType> const in{x.data(), 2, 3, 3}, out{y.data(), 2, 4, 4};
  backend.affine(in, w.data(), b.data(), out, PostOps<Chain<>, TestType>{});
  backend.product(out, w.data(), in, Derivative<Chain<>, TestType>{.chain = {}});
  backend.weight_gradient(in, out, GradientSink<TestType>{w.data()});
  CHECK(mine - mine_before == 3);
  CHECK(single_products + double_products - before == 3);
}
#else
TEST_CASE("the reference's products are BLAS's") { WARN("skipped: compiled without BLAS"); }
#endif

namespace {

/// An operation with its type erased, as kernels make them.
template <class Op>
ErasedOp erased(Op const& op) {
  ErasedOp made = cpu::erased_op<cpu::Vector, Op>(-1);
  made.op = &op;
  return made;
}

}  // namespace

TEST_CASE("the float reference runs chains whose types are erased") {
  TanHOp const tanh;
  DropoutOp const dropout = Dropout{.probability = 0.5f}.op(7);
  SigmoidOp const sigmoid;
  ErasedOp const ops[] = {erased(tanh), erased(dropout), erased(sigmoid)};
  auto const typed = chain_of(tanh, dropout, sigmoid);
  Reference<float> const backend;
  test::Random random{1};
  for (Index const columns : {1, 5, 16, 17, 40}) {
    Index const rows = 3, size = rows * columns;
    auto x = random.values<float>(size), dy = random.values<float>(size);
    auto const zeros = std::vector<float>(static_cast<std::size_t>(size));
    auto y = zeros, y2 = zeros, dx = zeros, dx2 = zeros;
    auto const as_rows = [&](std::vector<float>& v) { return Rows<float>{v.data(), rows, columns, columns}; };
    backend.map(as_rows(x), as_rows(y), PostOps<ErasedChain, float>{{ops, 3}, 4});
    backend.map(as_rows(x), as_rows(y2), PostOps<std::remove_const_t<decltype(typed)>, float>{typed, 4});
    backend.map_gradient(as_rows(dy), as_rows(dx),
                         Derivative<ErasedChain, float>{{ops, 3}, 4, x.data(), columns, y.data(), columns});
    backend.map_gradient(
        as_rows(dy), as_rows(dx2),
        Derivative<std::remove_const_t<decltype(typed)>, float>{typed, 4, x.data(), columns, y2.data(), columns});
    for (std::size_t i = 0; i < x.size(); ++i) {
      CHECK(y[i] == Approx(y2[i]).epsilon(1e-6));
      CHECK(dx[i] == Approx(dx2[i]).epsilon(1e-5).margin(1e-7));
    }
  }
}

TEST_CASE("an erased chain of one operation whose slope is a function of the output needs no input") {
  SigmoidOp const sigmoid;
  ErasedOp const op = erased(sigmoid);
  float y[] = {0.25f, 0.5f}, dy[] = {4, 8}, dx[2];
  Reference<float>{}.map_gradient(Rows<float>{dy, 1, 2, 2}, Rows<float>{dx, 1, 2, 2},
                                  Derivative<ErasedChain, float>{{&op, 1}, 0, nullptr, 0, y, 2});
  CHECK((dx[0] == 0.75f && dx[1] == 2));
}
