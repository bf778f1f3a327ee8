// The only access to Cap'n Proto: its headers, made to compile, and its exceptions, translated into coldpress's.
#pragma once

#include <coldpress/core/error.hpp>

// Before version 1.0.1, Cap'n Proto compares a char const* with a StringPtr in a way that is right only under C++17's
// rules for swapped operands.
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

/// Throws the message of a kj::Exception as a FormatError, or std::bad_alloc if memory has run out.
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
