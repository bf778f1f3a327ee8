// The only way to Cap'n Proto: its headers, made to compile, and its exceptions, made ours.
#pragma once

#include <coldpress/core/error.hpp>

// Cap'n Proto before 1.0.1 compares a char const* with a StringPtr and counts on the operands being swapped by C++17's
// rules.
#include <kj/string.h>
#if defined(__clang__)
namespace kj {
inline bool operator==(char const* a, StringPtr b) { return b == StringPtr(a); }
inline bool operator!=(char const* a, StringPtr b) { return !(b == StringPtr(a)); }
}  // namespace kj
#endif

#include <capnp/dynamic.h>
#include <capnp/message.h>
#include <kj/exception.h>

#include "coldpress.capnp.h"
#include "juice.capnp.h"

namespace coldpress::persist {

inline std::string text_of(capnp::Text::Reader text) { return {text.begin(), text.size()}; }
inline kj::StringPtr text_for(std::string const& text) { return {text.c_str(), text.size()}; }

/// Throws what a kj::Exception says as a FormatError; std::bad_alloc where memory has run out.
[[noreturn]] void throw_translated(kj::Exception const& exception);

template <class Action>
decltype(auto) translated(Action&& action) {
  try {
    return action();
  } catch (kj::Exception const& exception) {
    throw_translated(exception);
  }
}

}  // namespace coldpress::persist
