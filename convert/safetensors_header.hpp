// The header of a .safetensors file: which bytes are the values of which tensor.
#pragma once

#include <coldpress/core/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coldpress::convert::safetensors {

inline constexpr std::size_t max_name = 0xffff;  // as in a .npz file

/// How the values of a tensor are stored.
struct NumberType {
  std::string_view name;                                                                // as in a header
  std::uint64_t width;                                                                  // of a value, in bytes
  std::size_t (*to_floats)(std::byte const* values, std::size_t count, float* floats);  // as data::to_floats
};

struct Entry {
  std::string name;
  NumberType const* type = nullptr;
  std::vector<Index> shape = {};
  std::uint64_t begin = 0, end = 0;  // in bytes, after the header
  std::uint64_t values = 0;          // their number
};

/// The tensors of a header before `size` bytes of values, all of which they share out among them; in the order of their
/// values. Throws FormatError with the tensor's name, and UnsupportedError for numbers that do not become floats.
[[nodiscard]] std::vector<Entry> parse_header(std::string_view json, std::uint64_t size);

}  // namespace coldpress::convert::safetensors
