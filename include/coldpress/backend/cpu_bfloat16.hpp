// The CPU backend for inference only, with the matrices of dense layers in bfloat16.
#pragma once

// This halves the memory that is held and read; sums are still in float. Weights are rounded when they are written: 8
// of 24 significant bits remain.

#include <coldpress/backend/cpu.hpp>

namespace coldpress {
inline namespace COLDPRESS_ISA {

struct CpuBfloat16 : Cpu {
  static constexpr bool trains = false;

  static constexpr Index storage_size(Parameter const& parameter) { return Halves::storage_size(parameter); }
  static float get(Parameter const& parameter, float const* storage, Index element) {
    return Halves::get(parameter, storage, element);
  }
  static void put(Parameter const& parameter, float* storage, Index element, float value) {
    Halves::put(parameter, storage, element, value);
  }
  template <class X, class Y, class Chain, class Join>
  void affine(X x, float const* weight, float const* bias, Y y, PostOps<Chain, float, Join> const& post_ops) const {
    Cpu::affine(x, Halves::matrix(weight), bias, y, post_ops);
  }
  template <class DY, class DX, class Chain, class Adds>
  void product(DY dy, float const* weight, DX dx, Derivative<Chain, float, Adds> const& derivative) const {
    Cpu::product(dy, Halves::matrix(weight), dx, derivative);
  }

 private:
  using Halves = cpu::HalfLayout;
};
static_assert(concepts::Backend<CpuBfloat16>);

}  // namespace COLDPRESS_ISA
}  // namespace coldpress
