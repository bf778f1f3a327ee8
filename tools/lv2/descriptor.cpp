// The functions by which a host reaches the plugin.
#include "plugin.hpp"

#include <cstdio>
#include <cstring>

namespace coldpress::lv2 {
namespace {

Plugin& of(LV2_Handle instance) { return *static_cast<Plugin*>(instance); }

LV2_Handle instantiate(LV2_Descriptor const*, double rate, char const*, LV2_Feature const* const* features) {
  try {
    return new Plugin{rate, features};
  } catch (std::exception const& error) {
    std::fprintf(stderr, "coldpress: %s\n", error.what());
    return nullptr;
  }
}

constexpr LV2_Worker_Interface worker{
    .work = [](LV2_Handle instance, auto respond, auto handle, std::uint32_t size,
               void const* job) { return of(instance).work(respond, handle, size, job); },
    .work_response =
        [](LV2_Handle instance, std::uint32_t, void const*) {
          of(instance).tell();
          return LV2_WORKER_SUCCESS;
        },
    .end_run = nullptr};

constexpr LV2_State_Interface state{
    .save = [](LV2_Handle instance, auto store, auto handle, std::uint32_t,
               auto features) { return of(instance).save(store, handle, features); },
    .restore = [](LV2_Handle instance, auto retrieve, auto handle, std::uint32_t,
                  auto features) { return of(instance).restore(retrieve, handle, features); }};

constexpr LV2_Descriptor descriptor{
    .URI = plugin_uri,
    .instantiate = instantiate,
    .connect_port = [](LV2_Handle instance, std::uint32_t port, void* data) { of(instance).connect(port, data); },
    .activate = [](LV2_Handle instance) { of(instance).activate(); },
    .run = [](LV2_Handle instance, std::uint32_t samples) { of(instance).run(samples); },
    .deactivate = nullptr,
    .cleanup = [](LV2_Handle instance) { delete &of(instance); },
    .extension_data = [](char const* uri) -> void const* {
      if (std::strcmp(uri, LV2_WORKER__interface) == 0) return &worker;
      if (std::strcmp(uri, LV2_STATE__interface) == 0) return &state;
      return nullptr;
    }};

}  // namespace
}  // namespace coldpress::lv2

LV2_SYMBOL_EXPORT LV2_Descriptor const* lv2_descriptor(std::uint32_t index) {
  return index == 0 ? &coldpress::lv2::descriptor : nullptr;
}
