#pragma once

#include <coldpress/core/spelling.hpp>

namespace coldpress {

/// What the operands of products are rounded to before they are multiplied; sums are floats. `fp32`: nothing is
/// rounded; `tf32`: 11 bits of precision are left; `bf16`: 8.
enum class Precision { fp32, tf32, bf16 };
constexpr auto spellings(Precision) { return std::array<std::string_view, 3>{"fp32", "tf32", "bf16"}; }

}  // namespace coldpress
