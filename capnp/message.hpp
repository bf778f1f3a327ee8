// Messages as bytes: framing, packing and their limits.
#pragma once

#include "capnproto.hpp"

#include <capnp/serialize.h>

#include <cstddef>
#include <span>
#include <vector>

namespace coldpress::persist {

/// The maximum nesting depth of containers, including a container at the root.
inline constexpr int max_nesting = 32;

/// A message to be read. The frame is checked before anything is allocated or followed. The bytes must outlive it.
class Message {
 public:
  /// Accepts a plain or a packed message, which the segment table distinguishes. Throws FormatError.
  explicit Message(std::span<std::byte const> bytes);

  template <class Root>
  typename Root::Reader root() {
    return reader_->getRoot<Root>();
  }
  /// Whether the first pointer of the root leads to a struct, as in a checkpoint, and not to a text, as in a model.
  bool starts_with_struct();
  /// Whether it leads to a text, as in a model, and not to a struct or nowhere, as in a training without a network.
  bool starts_with_text();

 private:
  kj::Array<capnp::word> words_;  // used if the bytes could not be read in place
  kj::Own<capnp::FlatArrayMessageReader> reader_;
};

/// The packed message, or the plain one if the message is so empty that a reader would refuse it packed.
std::vector<std::byte> to_bytes(capnp::MessageBuilder& message);

}  // namespace coldpress::persist
