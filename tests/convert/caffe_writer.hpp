// Writes Caffe's messages in protobuf's wire format, without protobuf: field numbers are those that Caffe published.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace caffe_writer {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes += static_cast<char>(value | 128);
  return bytes + static_cast<char>(value);
}
inline std::string number(unsigned field, std::int64_t value) {
  return varint(field << 3) + varint(static_cast<std::uint64_t>(value));
}
/// A text, a message, or packed numbers.
inline std::string part(unsigned field, std::string const& bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + bytes;
}
/// Numbers in little-endian order.
template <class T>
std::string raw(std::vector<float> const& values) {
  std::string bytes;
  for (float const value : values) {
    T const number = static_cast<T>(value);
    char memory[sizeof number];
    std::memcpy(memory, &number, sizeof number);
    bytes.append(memory, sizeof memory);
  }
  return bytes;
}

/// The ways in which Caffe has written arrays.
enum class Style { packed, unpacked, doubles, legacy_shape };

inline std::string blob(std::vector<std::int64_t> const& shape, std::vector<float> const& values,
                        Style style = Style::packed) {
  std::string bytes;
  if (style == Style::legacy_shape) {
    auto four = shape;
    while (four.size() < 4) four.insert(four.begin(), 1);  // num, channels, height, width
    for (unsigned i = 0; i < 4; ++i) bytes += number(i + 1, four[i]);
  } else {
    std::string dims;
    for (auto const extent : shape) dims += varint(static_cast<std::uint64_t>(extent));
    bytes += part(7, part(1, dims));
  }
  if (style == Style::doubles) return bytes + part(8, raw<double>(values));
  if (style != Style::unpacked) return bytes + part(5, raw<float>(values)) + part(6, raw<float>(values));  // and diff
  for (float const value : values) bytes += varint(5 << 3 | 5) + raw<float>({value});
  return bytes;
}

struct Layer {
  std::string name, type;
  std::vector<std::string> bottom, top, blobs;
  std::string more = {};  // other fields
};

/// A layer of NetParameter, field 100.
inline std::string layer(Layer const& l) {
  std::string bytes = part(1, l.name) + part(2, l.type) + number(10, 1);
  for (auto const& name : l.bottom) bytes += part(3, name);
  for (auto const& name : l.top) bytes += part(4, name);
  for (auto const& blob : l.blobs) bytes += part(7, blob);
  return part(100, bytes + l.more);
}
/// The same in older files (V1LayerParameter), field 2.
inline std::string old_layer(Layer const& l) {
  std::string bytes;
  for (auto const& name : l.bottom) bytes += part(2, name);
  for (auto const& name : l.top) bytes += part(3, name);
  bytes += part(4, l.name) + number(5, l.type == "Convolution" ? 4 : l.type == "InnerProduct" ? 14 : 18);
  for (auto const& blob : l.blobs) bytes += part(6, blob);
  return part(2, bytes);
}
/// The same in the oldest files (V0LayerParameter).
inline std::string oldest_layer(Layer const& l) {
  std::string bytes = part(1, l.name) + part(2, l.type == "Convolution" ? "conv" : "innerproduct");
  for (auto const& blob : l.blobs) bytes += part(50, blob);
  std::string outer = part(1, bytes);
  for (auto const& name : l.bottom) outer += part(2, name);
  return part(2, outer);
}

}  // namespace caffe_writer
