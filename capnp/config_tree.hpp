// Shared by reading and writing a configuration: limits, the places that errors name, and common checks.
#pragma once

#include "config.hpp"
#include "message.hpp"

namespace coldpress::persist {

inline constexpr std::size_t max_layers = 65536;
inline constexpr unsigned max_entries = 4096;                   // of any other list in a configuration
inline constexpr unsigned max_file_rank = Shape::max_rank + 1;  // with the batch

template <class Action>
decltype(auto) in_field(std::string const& field, Action&& action) {
  return with_context([&]() -> decltype(auto) { return translated(action); },
                      [&](Error& error) { error.in_field(field); });
}

template <class Action>
decltype(auto) in_layer(std::string const& place, Action&& action) {
  return with_context([&]() -> decltype(auto) { return translated(action); },
                      [&](Error& error) {
                        if (!place.empty()) error.in_layer(place);
                      });
}

inline void check_entries(std::size_t entries) {
  if (entries > max_entries)
    throw ConfigError{"has " + std::to_string(entries) + " entries, at most " + std::to_string(max_entries) +
                      " are possible"};
}

/// Counts layers over the whole tree, and limits how deeply containers are nested.
class Tree {
 public:
  void enter(std::size_t depth) {
    if (++layers_ > max_layers) throw ConfigError{"more than " + std::to_string(max_layers) + " layers"};
    if (depth > max_nesting) throw ConfigError{"more than " + std::to_string(max_nesting) + " nested layers"};
  }

 private:
  std::size_t layers_ = 0;
};

/// One number of a PerAxis. It may be 0 here; the layer checks whether that makes sense.
inline Index checked_number(std::uint64_t number) {
  if (number > std::uint64_t{1} << 40) throw ConfigError{"must be at most 2^40, is " + std::to_string(number)};
  return static_cast<Index>(number);
}

/// Checks the name of a custom layer, which must not be that of a layer in the schema.
inline void check_custom_name(std::string const& name) {
  check_text(name);
  if (name.empty()) throw ConfigError{"a custom layer needs the name of its type"};
  for (auto const member : capnp::Schema::from<schema::LayerConfig::LayerType>().getUnionFields())
    if (snake_case(text_of(member.getProto().getName())) == name)
      throw ConfigError{"a custom layer must not be called '" + name + "', the name of another kind of layer"};
}

}  // namespace coldpress::persist
