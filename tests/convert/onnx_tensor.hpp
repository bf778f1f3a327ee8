// Tensors in the files of ONNX's own tests, and models whose inputs are replaced by such tensors, without protobuf:
// field numbers are those that ONNX published.
#pragma once

#include "convert/caffe_writer.hpp"

#include <coldpress/core/shape.hpp>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace onnx_test {

using coldpress::Index;

/// f(field, bytes, number) for each field of a message: those of fixed or of given length as bytes, others as numbers.
template <class F>
void each_field(std::string_view message, F f) {
  auto const varint = [&] {
    std::uint64_t value = 0;
    for (int shift = 0; !message.empty(); shift += 7) {
      auto const byte = static_cast<unsigned char>(message[0]);
      message.remove_prefix(1);
      value |= std::uint64_t{byte & 127u} << shift;
      if (byte < 128) break;
    }
    return value;
  };
  while (!message.empty()) {
    std::uint64_t const tag = varint(), wire = tag & 7;
    std::uint64_t const number = wire == 0 || wire == 2 ? varint() : wire == 1 ? 8 : 4;
    std::string_view bytes;
    if (wire != 0)
      bytes = message.substr(0, number), message.remove_prefix(std::min<std::size_t>(number, message.size()));
    f(static_cast<int>(tag >> 3), bytes, wire == 0 ? number : 0);
  }
}

/// Packed numbers, or the one that stands alone.
inline void append_varints(std::vector<double>& to, std::string_view bytes, std::uint64_t number) {
  if (bytes.empty()) return to.push_back(static_cast<double>(static_cast<std::int64_t>(number)));
  while (!bytes.empty()) {
    std::uint64_t value = 0;
    int shift = 0;
    do {
      value |= std::uint64_t{static_cast<unsigned char>(bytes[0]) & 127u} << shift;
      shift += 7;
      bool const last = static_cast<unsigned char>(bytes[0]) < 128;
      bytes.remove_prefix(1);
      if (last) break;
    } while (!bytes.empty());
    to.push_back(static_cast<double>(static_cast<std::int64_t>(value)));
  }
}
template <class T>
void append_raw(std::vector<double>& to, std::string_view bytes) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + i, sizeof(T));
    to.push_back(static_cast<double>(value));
  }
}

struct Tensor {
  std::vector<Index> shape;
  std::vector<double> values;
};

/// Nothing for a tensor of another type than float, double, an integer or bool, and for what is no tensor.
inline std::optional<Tensor> read_tensor(std::string_view message) {
  Tensor tensor;
  std::uint64_t type = 0;
  std::string_view raw;
  each_field(message, [&](int field, std::string_view bytes, std::uint64_t number) {
    if (field == 1) {
      std::vector<double> dims;
      append_varints(dims, bytes, number);
      tensor.shape.insert(tensor.shape.end(), dims.begin(), dims.end());
    } else if (field == 2) {
      type = number;
    } else if (field == 4) {
      append_raw<float>(tensor.values, bytes);
    } else if (field == 5 || field == 7 || field == 11) {
      append_varints(tensor.values, bytes, number);
    } else if (field == 9) {
      raw = bytes;
    } else if (field == 10) {
      append_raw<double>(tensor.values, bytes);
    }
  });
  if (type == 1) append_raw<float>(tensor.values, raw);
  if (type == 2 || type == 9) append_raw<std::uint8_t>(tensor.values, raw);
  if (type == 3) append_raw<std::int8_t>(tensor.values, raw);
  if (type == 6) append_raw<std::int32_t>(tensor.values, raw);
  if (type == 7) append_raw<std::int64_t>(tensor.values, raw);
  if (type == 11) append_raw<double>(tensor.values, raw);
  Index size = 1;
  for (Index const extent : tensor.shape) {
    if (extent < 0 || extent > (Index{1} << 30) || size > Index{1} << 30) return {};  // what is no tensor at all
    size *= extent;
  }
  bool const known = type == 1 || type == 2 || type == 3 || type == 6 || type == 7 || type == 9 || type == 11;
  if (!known || size != static_cast<Index>(tensor.values.size())) return {};
  return tensor;
}

/// The names of a model's inputs, in their order.
inline std::vector<std::string> inputs_of(std::string_view model) {
  std::vector<std::string> names;
  each_field(model, [&](int field, std::string_view graph, std::uint64_t) {
    if (field != 7) return;
    each_field(graph, [&](int inner, std::string_view value, std::uint64_t) {
      if (inner != 11) return;
      each_field(value, [&](int part, std::string_view name, std::uint64_t) {
        if (part == 1) names.emplace_back(name);
      });
    });
  });
  return names;
}

/// A model in which an input has this tensor: messages that follow each other are one, so that it need not be changed.
inline std::string with_constant(std::string const& model, std::string const& input, std::string const& tensor) {
  using caffe_writer::part;
  return model + part(7, part(5, tensor + part(8, input)));
}

}  // namespace onnx_test
