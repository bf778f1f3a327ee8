// The records and messages of TensorBoard's event files.
#pragma once

// Formats: tensorflow/core/lib/io/record_writer.h, core/util/event.proto, core/framework/summary.proto.

#include <coldpress/core/shape.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace coldpress::train::detail {

/// A message in the wire format of Protocol Buffers, as far as events need it.
class Message {
 public:
  Message& integer(int field, std::uint64_t value);
  Message& real(int field, double value);
  Message& single(int field, float value);
  Message& text(int field, std::string_view bytes);  // also bytes and messages
  Message& message(int field, Message const& inner) { return text(field, inner.bytes_); }
  Message& reals(int field, std::span<double const> values);
  std::string const& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value);
  template <class Number>
  void fixed(Number value);
  std::string bytes_;
};

/// A TFRecord: the length, its checksum, the bytes, their checksum (masked CRC-32C).
std::string record(std::string_view bytes);

// Records of whole events. `time` is in seconds since 1970.
std::string version_event(double time);
/// Drops what has been written for this step and later ones.
std::string start_event(double time, std::uint64_t step);
std::string scalar_event(double time, std::uint64_t step, std::string_view tag, double value);
/// The histogram of the finite values, in 30 intervals between the smallest and the largest.
std::string histogram_event(double time, std::uint64_t step, std::string_view tag, std::span<float const> values);
std::string picture_event(double time, std::uint64_t step, std::string_view tag, Shape const& shape,
                          std::span<float const> values);
/// The text is Markdown.
std::string text_event(double time, std::uint64_t step, std::string_view tag, std::string_view text);

}  // namespace coldpress::train::detail
