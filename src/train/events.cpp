// Encodes what TensorBoard shows as protobuf messages, in records with checksums.
#include "events.hpp"

#include "picture.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace coldpress::train::detail {
namespace {

// The kinds of fields in the wire format.
constexpr unsigned of_varint = 0, of_64_bits = 1, of_length = 2, of_32_bits = 5;

constexpr std::array<std::uint32_t, 256> castagnoli = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0u);
    table[i] = crc;
  }
  return table;
}();

std::uint32_t masked_crc(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (char const byte : bytes) crc = (crc >> 8) ^ castagnoli[(crc ^ static_cast<unsigned char>(byte)) & 255u];
  return std::rotr(~crc, 15) + 0xa282ead8u;
}

/// Little-endian.
template <class Unsigned>
void put(std::string& bytes, Unsigned value) {
  for (std::size_t i = 0; i < sizeof value; ++i) bytes += static_cast<char>((value >> (8 * i)) & 255u);
}

Message event(double time, std::uint64_t step) { return Message{}.real(1, time).integer(2, step); }
std::string summary_event(double time, std::uint64_t step, Message const& value) {
  return record(event(time, step).message(5, Message{}.message(1, value)).bytes());
}

}  // namespace

void Message::varint(std::uint64_t value) {
  for (; value >= 128; value >>= 7) bytes_ += static_cast<char>((value & 127u) | 128u);
  bytes_ += static_cast<char>(value);
}
template <class Number>
void Message::fixed(Number value) {
  put(bytes_, value);
}
Message& Message::integer(int field, std::uint64_t value) {
  return varint((static_cast<unsigned>(field) << 3) | of_varint), varint(value), *this;
}
Message& Message::real(int field, double value) {
  return varint((static_cast<unsigned>(field) << 3) | of_64_bits), fixed(std::bit_cast<std::uint64_t>(value)), *this;
}
Message& Message::single(int field, float value) {
  return varint((static_cast<unsigned>(field) << 3) | of_32_bits), fixed(std::bit_cast<std::uint32_t>(value)), *this;
}
Message& Message::text(int field, std::string_view bytes) {
  varint((static_cast<unsigned>(field) << 3) | of_length), varint(bytes.size());
  bytes_ += bytes;
  return *this;
}
Message& Message::reals(int field, std::span<double const> values) {
  varint((static_cast<unsigned>(field) << 3) | of_length), varint(8 * values.size());
  for (double const value : values) fixed(std::bit_cast<std::uint64_t>(value));
  return *this;
}

std::string record(std::string_view bytes) {
  std::string out;
  put(out, std::uint64_t{bytes.size()});
  put(out, masked_crc(out));
  out += bytes;
  put(out, masked_crc(bytes));
  return out;
}

std::string version_event(double time) { return record(Message{}.real(1, time).text(3, "brain.Event:2").bytes()); }
std::string start_event(double time, std::uint64_t step) {
  return record(event(time, step).message(7, Message{}.integer(1, 1)).bytes());
}
std::string scalar_event(double time, std::uint64_t step, std::string_view tag, double value) {
  return summary_event(time, step, Message{}.text(1, tag).single(2, static_cast<float>(value)));
}

std::string histogram_event(double time, std::uint64_t step, std::string_view tag, std::span<float const> values) {
  constexpr int intervals = 30;
  double least = std::numeric_limits<double>::infinity(), greatest = -least, sum = 0, squares = 0, count = 0;
  for (double const value : values) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value), greatest = std::max(greatest, value);
    sum += value, squares += value * value, ++count;
  }
  std::vector<double> limits, counts;
  if (count > 0) {
    double const width = (greatest - least) / intervals;
    bool const spread = least + width > least;
    for (int i = 1; spread && i < intervals; ++i) limits.push_back(least + width * i);
    limits.push_back(greatest);
    counts.resize(limits.size());
    for (double const value : values) {
      if (std::isfinite(value))
        ++counts[static_cast<std::size_t>(std::ranges::lower_bound(limits, value) - limits.begin())];
    }
  } else {
    least = greatest = 0;
  }
  Message const histogram = Message{}
                                .real(1, least)
                                .real(2, greatest)
                                .real(3, count)
                                .real(4, sum)
                                .real(5, squares)
                                .reals(6, limits)
                                .reals(7, counts);
  return summary_event(time, step, Message{}.text(1, tag).message(5, histogram));
}

std::string picture_event(double time, std::uint64_t step, std::string_view tag, Shape const& shape,
                          std::span<float const> values) {
  int const rank = shape.rank();
  Message const image = Message{}
                            .integer(1, static_cast<std::uint64_t>(shape[rank - 2]))
                            .integer(2, static_cast<std::uint64_t>(shape[rank - 1]))
                            .integer(3, channels_of(shape) == 3 ? 3 : 1)
                            .text(4, png(shape, values));
  return summary_event(time, step, Message{}.text(1, tag).message(4, image));
}

std::string text_event(double time, std::uint64_t step, std::string_view tag, std::string_view text) {
  constexpr int dt_string = 7;
  Message const metadata = Message{}.message(1, Message{}.text(1, "text"));
  Message const shape = Message{}.message(2, Message{}.integer(1, 1));
  Message const tensor = Message{}.integer(1, dt_string).message(2, shape).text(8, text);
  return summary_event(time, step, Message{}.text(1, tag).message(9, metadata).message(8, tensor));
}

}  // namespace coldpress::train::detail
