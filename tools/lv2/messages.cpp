// Maps the URIs of LV2 to numbers, parses what the host asks for, and writes the path that is played.
#include "messages.hpp"

#include <lv2/atom/util.h>
#include <lv2/buf-size/buf-size.h>
#include <lv2/patch/patch.h>
#include <lv2/state/state.h>

namespace coldpress::lv2 {

Urids::Urids(LV2_URID_Map* map) {
  if (!map) return;
  auto const of = [&](char const* uri) { return map->map(map->handle, uri); };
  model = of(model_uri);
  path = of(LV2_ATOM__Path), string = of(LV2_ATOM__String), urid = of(LV2_ATOM__URID), integer = of(LV2_ATOM__Int);
  max_block = of(LV2_BUF_SIZE__maxBlockLength);
  get = of(LV2_PATCH__Get), set = of(LV2_PATCH__Set);
  property = of(LV2_PATCH__property), value = of(LV2_PATCH__value);
  changed = of(LV2_STATE__StateChanged);
}

Request request_of(LV2_Atom const& message, Urids const& urids) {
  // LV2_Atom_Forge is the one place that knows the types of objects; a message is one if its body says what it is.
  if (message.size < sizeof(LV2_Atom_Object_Body)) return {};
  auto const& object = reinterpret_cast<LV2_Atom_Object const&>(message);
  LV2_Atom const* property = nullptr;
  LV2_Atom const* value = nullptr;
  if (object.body.otype != urids.get && object.body.otype != urids.set) return {};
  lv2_atom_object_get(&object, urids.property, &property, urids.value, &value, 0);
  bool const names_one = property && property->type == urids.urid && property->size == sizeof(LV2_URID);
  bool const ours = names_one && reinterpret_cast<LV2_Atom_URID const*>(property)->body == urids.model;
  if (object.body.otype == urids.get) return {.tells = ours || !property};
  if (!ours || !value || (value->type != urids.path && value->type != urids.string)) return {};
  std::string_view const text{static_cast<char const*>(LV2_ATOM_BODY_CONST(value)), value->size};
  return {.tells = false, .load = text.substr(0, text.find('\0'))};
}

Writer::Writer(LV2_URID_Map* map) {
  if (map) lv2_atom_forge_init(&forge_, map);
}

void Writer::write(LV2_Atom_Sequence& port, Urids const& urids, bool says, bool changed, std::string_view path) {
  lv2_atom_forge_set_buffer(&forge_, reinterpret_cast<std::uint8_t*>(&port), port.atom.size);
  LV2_Atom_Forge_Frame sequence, object;
  lv2_atom_forge_sequence_head(&forge_, &sequence, 0);
  if (says) {
    lv2_atom_forge_frame_time(&forge_, 0);
    lv2_atom_forge_object(&forge_, &object, 0, urids.set);
    lv2_atom_forge_key(&forge_, urids.property);
    lv2_atom_forge_urid(&forge_, urids.model);
    lv2_atom_forge_key(&forge_, urids.value);
    lv2_atom_forge_path(&forge_, path.data(), static_cast<std::uint32_t>(path.size()));
    lv2_atom_forge_pop(&forge_, &object);
  }
  if (changed) {
    lv2_atom_forge_frame_time(&forge_, 0);
    lv2_atom_forge_object(&forge_, &object, 0, urids.changed);
    lv2_atom_forge_pop(&forge_, &object);
  }
  lv2_atom_forge_pop(&forge_, &sequence);
}

}  // namespace coldpress::lv2
