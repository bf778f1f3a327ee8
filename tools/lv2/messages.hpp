// The messages about the file that is played: patch:Set and patch:Get from the host, patch:Set to it.
#pragma once

#include <lv2/atom/forge.h>
#include <lv2/urid/urid.h>

#include <string>
#include <string_view>

namespace coldpress::lv2 {

inline constexpr char const* plugin_uri = "urn:coldpress:amp";
inline constexpr char const* model_uri = "urn:coldpress:amp#model";
inline constexpr std::uint32_t longest_path = 4096;  // with the 0 after it, as PATH_MAX of Linux

/// The numbers that the host gives to URIs; all 0 if it gives none.
struct Urids {
  explicit Urids(LV2_URID_Map* map);
  LV2_URID model = 0, path = 0, string = 0, urid = 0, integer = 0, max_block = 0;
  LV2_URID get = 0, set = 0, property = 0, value = 0, changed = 0;
};

/// What a message asks for.
struct Request {
  bool tells = false;          // the path of the model that plays
  std::string_view load = {};  // the path of a model, which may be too long
};
Request request_of(LV2_Atom const& message, Urids const& urids);

/// Writes messages to a port. It asks the host for all numbers when it is made, and never later.
class Writer {
 public:
  explicit Writer(LV2_URID_Map* map);
  /// Writes that this file plays, or nothing if `says` is false. `changed` adds that the state to save is another.
  void write(LV2_Atom_Sequence& port, Urids const& urids, bool says, bool changed, std::string_view path);

 private:
  LV2_Atom_Forge forge_{};
};

}  // namespace coldpress::lv2
