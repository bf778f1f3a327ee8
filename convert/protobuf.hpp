// Reads the parts of protobuf messages from bytes, without keeping any, so that they can be counted before a message is
// parsed.
#pragma once

#include <coldpress/core/error.hpp>

#include <google/protobuf/io/coded_stream.h>

#include <cstddef>
#include <limits>
#include <span>
#include <string>

namespace coldpress::convert::protobuf {

using google::protobuf::io::CodedInputStream;
using Bytes = std::span<std::byte const>;

inline constexpr std::size_t max_file = std::numeric_limits<int>::max();  // protobuf's own limit

inline CodedInputStream stream_of(Bytes bytes) {
  return CodedInputStream{reinterpret_cast<std::uint8_t const*>(bytes.data()), static_cast<int>(bytes.size())};
}

/// f(number of the field, its bytes) for each field of a message that has a length; others are skipped, and nothing is
/// kept. Returns whether the bytes are a message.
template <class F>
bool for_each_part(Bytes message, F f) {
  enum Wire { varint, fixed64, length_delimited, group, end_of_group, fixed32 };
  CodedInputStream in = stream_of(message);
  while (std::uint32_t const tag = in.ReadTag()) {
    std::uint64_t ignored = 0;
    std::uint32_t length = 0;
    bool whole = false;
    switch (tag & 7) {
      case varint:
        whole = in.ReadVarint64(&ignored);
        break;
      case fixed64:
        whole = in.Skip(8);
        break;
      case fixed32:
        whole = in.Skip(4);
        break;
      case length_delimited: {
        whole = in.ReadVarint32(&length) && length <= message.size();
        auto const start = static_cast<std::size_t>(in.CurrentPosition());
        whole = whole && in.Skip(static_cast<int>(length));
        if (whole) f(static_cast<int>(tag >> 3), message.subspan(start, length));
        break;
      }
      default:
        break;
    }
    if (!whole) return false;
  }
  return in.ConsumedEntireMessage();
}

/// Throws a FormatError unless it holds that bytes are a message. `what` is the kind of file: "file of Caffe".
inline void require_message(bool holds, char const* what) {
  if (!holds) throw FormatError{std::string{"is damaged, or no "} + what + ": a part of it is not a protobuf message"};
}

/// The message that the bytes are, in which messages are nested at most `max_depth` deep.
template <class Message>
Message parsed(Bytes bytes, int max_depth, char const* what) {
  Message message;
  CodedInputStream in = stream_of(bytes);
  in.SetRecursionLimit(max_depth);
  require_message(message.ParseFromCodedStream(&in) && in.ConsumedEntireMessage(), what);
  return message;
}

}  // namespace coldpress::convert::protobuf
