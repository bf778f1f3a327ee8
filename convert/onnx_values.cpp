// Reads the numbers of a tensor, as raw bytes or as protobuf's lists, and checks how many there are.
#include "onnx_values.hpp"

#include <coldpress/core/bfloat16.hpp>
#include <coldpress/core/error.hpp>
#include <coldpress/persist/model.hpp>

#include "data/stored_numbers.hpp"
#include "weights.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace coldpress::convert::onnx {
namespace {

/// A double beyond the range of a float becomes infinite.
float narrowed(double value) {
  constexpr double greatest = std::numeric_limits<float>::max();
  return std::abs(value) > greatest ? std::copysign(HUGE_VALF, static_cast<float>(value < 0 ? -1 : 1))
                                    : static_cast<float>(value);
}

[[noreturn]] void wrong_count(std::size_t found, Index size, Tensor const& tensor) {
  throw FormatError{"has " + std::to_string(found) + " values, but its shape " + persist::text(tensor.shape) +
                    " requires " + std::to_string(size)};
}

/// Appends what `to_value` makes of each number of type T in the bytes; `values` is still empty.
template <class T, class Value, class Convert>
void append_raw(std::string const& bytes, std::vector<Value>& values, Convert to_value) {
  std::size_t const count = bytes.size() / sizeof(T);
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    T number;
    std::memcpy(&number, bytes.data() + i * sizeof(T), sizeof(T));
    values.push_back(to_value(number));
  }
}
template <class Numbers, class Value, class Convert>
void append(Numbers const& numbers, std::vector<Value>& values, Convert to_value) {
  values.reserve(static_cast<std::size_t>(numbers.size()));
  for (auto const number : numbers) values.push_back(to_value(number));
}

std::size_t width_of(Type type) {
  switch (type) {
    case Type::uint8:
    case Type::int8:
    case Type::boolean:
      return 1;
    case Type::uint16:
    case Type::int16:
    case Type::float16:
    case Type::bfloat16:
      return 2;
    case Type::float32:
    case Type::int32:
    case Type::uint32:
      return 4;
    case Type::int64:
    case Type::float64:
    case Type::uint64:
      return 8;
    default:
      return 0;
  }
}

/// The number of values that the message has.
std::size_t count_of(proto::Tensor const& message, Type type) {
  if (message.has_raw_data()) {
    std::size_t const width = width_of(type), bytes = message.raw_data().size();
    if (bytes % width != 0) throw FormatError{"has " + std::to_string(bytes) + " bytes, which are no whole values"};
    return bytes / width;
  }
  auto const count = [&] {
    switch (type) {
      case Type::float32:
        return message.float_data_size();
      case Type::float64:
        return message.double_data_size();
      case Type::int64:
        return message.int64_data_size();
      case Type::uint32:
      case Type::uint64:
        return message.uint64_data_size();
      default:
        return message.int32_data_size();
    }
  };
  return static_cast<std::size_t>(count());
}

Int whole(auto number) { return {static_cast<Index>(number), false}; }

void read_floats(proto::Tensor const& message, Tensor& to) {
  auto const same = [](auto value) { return narrowed(static_cast<double>(value)); };
  auto const half = [](auto bits) { return static_cast<float>(data::Half{static_cast<std::uint16_t>(bits)}); };
  auto const bfloat = [](auto bits) {
    Bfloat16 number;
    number.bits = static_cast<std::uint16_t>(bits);
    return static_cast<float>(number);
  };
  std::string const& raw = message.raw_data();
  if (to.type == Type::float32) {
    if (message.has_raw_data()) {
      to.floats.resize(raw.size() / sizeof(float));
      if (!raw.empty()) std::memcpy(to.floats.data(), raw.data(), raw.size());
    } else {
      to.floats.assign(message.float_data().begin(), message.float_data().end());
    }
  } else if (to.type == Type::float64) {
    message.has_raw_data() ? append_raw<double>(raw, to.floats, same) : append(message.double_data(), to.floats, same);
  } else if (to.type == Type::float16) {
    message.has_raw_data() ? append_raw<std::uint16_t>(raw, to.floats, half)
                           : append(message.int32_data(), to.floats, half);
  } else {
    message.has_raw_data() ? append_raw<std::uint16_t>(raw, to.floats, bfloat)
                           : append(message.int32_data(), to.floats, bfloat);
  }
}

void read_ints(proto::Tensor const& message, Tensor& to) {
  auto const same = [](auto value) { return whole(value); };
  std::string const& raw = message.raw_data();
  if (!message.has_raw_data()) {
    if (to.type == Type::int64) return append(message.int64_data(), to.ints, same);
    if (to.type == Type::uint32 || to.type == Type::uint64) return append(message.uint64_data(), to.ints, same);
    return append(message.int32_data(), to.ints, same);
  }
  switch (to.type) {
    case Type::uint8:
    case Type::boolean:
      return append_raw<std::uint8_t>(raw, to.ints, same);
    case Type::int8:
      return append_raw<std::int8_t>(raw, to.ints, same);
    case Type::uint16:
      return append_raw<std::uint16_t>(raw, to.ints, same);
    case Type::int16:
      return append_raw<std::int16_t>(raw, to.ints, same);
    case Type::int32:
      return append_raw<std::int32_t>(raw, to.ints, same);
    case Type::uint32:
      return append_raw<std::uint32_t>(raw, to.ints, same);
    case Type::uint64:
      return append_raw<std::uint64_t>(raw, to.ints, same);
    default:
      return append_raw<std::int64_t>(raw, to.ints, same);
  }
}

}  // namespace

Tensor tensor_of(proto::Tensor& message) {
  if (message.data_location() != 0 || message.external_data_size() > 0) {
    throw UnsupportedError{
        "has its values in another file, which is not read: save the model with them inside (onnx.save without "
        "save_as_external_data, torch.onnx.export with external_data=False)"};
  }
  Tensor tensor{.type = static_cast<Type>(message.data_type()), .origin = message.name()};
  if (width_of(tensor.type) == 0)
    throw UnsupportedError{"has values of ONNX's type " + std::to_string(message.data_type()) + ", which is not read"};
  if (message.dims_size() > Shape::max_rank) {
    throw FormatError{"has a shape of " + std::to_string(message.dims_size()) + " axes, expected at most " +
                      std::to_string(Shape::max_rank)};
  }
  tensor.shape.assign(message.dims().begin(), message.dims().end());
  auto const size = size_of(tensor.shape);
  if (!size) throw FormatError{"has the impossible shape " + persist::text(tensor.shape)};
  std::size_t const count = count_of(message, tensor.type);
  if (static_cast<Index>(count) != *size) wrong_count(count, *size, tensor);
  if (tensor.floating()) {
    read_floats(message, tensor);
  } else {
    read_ints(message, tensor);
  }
  proto::Tensor{}.Swap(&message);  // does not hold the values twice
  return tensor;
}

}  // namespace coldpress::convert::onnx
