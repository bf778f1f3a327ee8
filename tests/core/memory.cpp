#include <coldpress/core/memory.hpp>

#include "support/catch.hpp"

#include <cstdint>

using namespace coldpress;

namespace {
template <class T>
bool aligned(T const* p) {
  return reinterpret_cast<std::uintptr_t>(p) % alignment == 0;
}
}  // namespace

TEST_CASE("memory is aligned and zeroed") {
  HeapMemory<float> heap{37};
  FixedMemory<float, 37> fixed;
  CHECK(aligned(heap.data()));
  CHECK(aligned(fixed.data()));
  for (Index i = 0; i < 37; ++i) CHECK((heap.data()[i] == 0 && fixed.data()[i] == 0));
}

TEST_CASE("heap memory grows and never shrinks") {
  HeapMemory<double> memory;
  CHECK(memory.size() == 0);
  memory.reserve(10);
  double* const data = memory.data();
  memory.reserve(5);
  CHECK((memory.data() == data && memory.size() == 10));
  memory.reserve(11);
  CHECK(memory.size() == 11);
}

TEST_CASE("heap memory is copied deeply and moved cheaply") {
  HeapMemory<float> a{3};
  a.data()[1] = 5;
  HeapMemory<float> b{a};
  b.data()[1] = 6;
  CHECK(a.data()[1] == 5);
  float* const data = b.data();
  HeapMemory<float> c{std::move(b)};
  CHECK(c.data() == data);
  a = c;
  CHECK((a.data() != c.data() && a.data()[1] == 6));
  a = HeapMemory<float>{};
  CHECK(a.size() == 0);
}

TEST_CASE("fixed memory refuses more than the object holds") {
  FixedMemory<float, 4> memory;
  CHECK_NOTHROW(memory.reserve(4));
  CHECK_THROWS_AS(memory.reserve(5), ShapeError);
}

TEST_CASE("a batch the compiler knows accepts that many samples alone") {
  CHECK(Batch<3>::count(3) == 3);
  CHECK_THROWS_AS(Batch<3>::count(2), ShapeError);
  CHECK_THROWS_AS(Batch<3>::count(4), ShapeError);
  CHECK(DynamicBatch::count(17) == 17);
}
