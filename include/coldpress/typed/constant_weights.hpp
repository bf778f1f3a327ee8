// Networks whose weights are constants, which stay where they are: in flash, or in the program's read-only memory.
#pragma once

#include <coldpress/core/memory.hpp>
#include <coldpress/run/host_transfer.hpp>
#include <coldpress/typed/default_backend.hpp>

namespace coldpress {
inline namespace COLDPRESS_KERNELS {

/// In place of a backend B, for inference with weights that are constants:
///
///   using Net = Network<Sequential<Linear{2}, TanH{}>, Shape{3}, Batch<1>, ConstantWeights<>>;
///   constexpr float matrix[] = {...}, bias[] = {...};                   // as in a file: {out, in}, then the bias
///   constexpr Net::Weights weights = Net::arranged(matrix, bias);       // in the order that the kernels read
///   Net net{weights};                                                   // copies nothing, and runs no filler
///
/// The weights must exist as long as the network does.
template <class B = DefaultBackend>
struct ConstantWeights {};

template <class BackendType>
inline constexpr bool has_constant_weights = false;
template <class B>
inline constexpr bool has_constant_weights<ConstantWeights<B>> = true;

/// The weights of a network in the layout of its backend.
template <class T, Index size>
struct WeightsOf {
  alignas(alignment) T values[size > 0 ? size : 1] = {};
};

/// Memory that another object owns.
template <class T>
class BorrowedMemory {
 public:
  constexpr BorrowedMemory() = default;
  constexpr explicit BorrowedMemory(T const* values) : values_(values) {}
  constexpr T const* data() const { return values_; }

 private:
  T const* values_ = nullptr;
};

}  // namespace COLDPRESS_KERNELS

template <class B>
struct ComputingOf<ConstantWeights<B>> {
  using type = B;
};
template <class B>
struct HostTransfer<ConstantWeights<B>> : HostTransfer<B> {};

}  // namespace coldpress
