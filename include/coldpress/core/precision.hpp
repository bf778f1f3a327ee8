// The precision of the operands of matrix products.
#pragma once

#include <coldpress/core/spelling.hpp>

namespace coldpress {

/// The format that the operands of matrix products are rounded to before they are multiplied. Sums are always floats.
/// `fp32` rounds nothing, `tf32` keeps 11 bits of precision, and `bf16` keeps 8.
enum class Precision { fp32, tf32, bf16 };
constexpr auto spellings(Precision) { return std::array<std::string_view, 3>{"fp32", "tf32", "bf16"}; }

}  // namespace coldpress
