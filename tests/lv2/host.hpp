// A host of LV2 plugins for tests: it loads the bundle, and allocates nothing while the plugin runs.
#pragma once

#include "support/catch.hpp"

#include <lv2/atom/forge.h>
#include <lv2/atom/util.h>
#include <lv2/core/lv2.h>
#include <lv2/log/log.h>
#include <lv2/patch/patch.h>
#include <lv2/state/state.h>
#include <lv2/urid/urid.h>
#include <lv2/worker/worker.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include <dlfcn.h>

namespace lv2_test {

inline constexpr char const* uri = "urn:coldpress:amp";
inline constexpr char const* model_uri = "urn:coldpress:amp#model";

inline LV2_Descriptor const* descriptor() {
  char const* const bundle = std::getenv("COLDPRESS_LV2_BUNDLE");
  REQUIRE(bundle);
  void* const library = ::dlopen((std::string{bundle} + "/coldpress.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  INFO((library ? "" : ::dlerror()));
  REQUIRE(library);
  auto const find = reinterpret_cast<LV2_Descriptor const* (*)(std::uint32_t)>(::dlsym(library, "lv2_descriptor"));
  REQUIRE(find);
  REQUIRE(find(0));
  CHECK(find(1) == nullptr);
  return find(0);
}

/// A value that a plugin has stored.
struct Stored {
  std::string bytes;
  std::uint32_t type = 0, flags = 0;
};
using State = std::map<std::uint32_t, Stored>;

class Host {
 public:
  explicit Host(double rate, bool with_features = true) : plugin_(descriptor()) {
    CHECK(plugin_->URI == std::string{uri});
    instance_ = plugin_->instantiate(plugin_, rate, "", with_features ? features_.data() : nullptr);
    REQUIRE(instance_);
    worker_ = static_cast<LV2_Worker_Interface const*>(plugin_->extension_data(LV2_WORKER__interface));
    state_ = static_cast<LV2_State_Interface const*>(plugin_->extension_data(LV2_STATE__interface));
    REQUIRE(worker_);
    REQUIRE(state_);
    for (std::uint32_t i = 0; i < 4; ++i) plugin_->connect_port(instance_, 4 + i, &controls[i]);
    if (with_features) {
      plugin_->connect_port(instance_, 0, control_.data());
      plugin_->connect_port(instance_, 1, notify_.data());
    }
    plugin_->activate(instance_);
    lv2_atom_forge_init(&forge_, &map_);
  }
  Host(Host const&) = delete;
  ~Host() { plugin_->cleanup(instance_); }

  /// Asks for a file with the next block.
  void set_model(std::string_view path) { send(LV2_PATCH__Set, path); }
  void get_model() { send(LV2_PATCH__Get, {}); }

  /// Runs a block and returns the path that the plugin says it plays, or null. Only the plugin may call the heap.
  char const* run(float const* x, float* y, std::uint32_t samples) {
    auto* const control = reinterpret_cast<LV2_Atom_Sequence*>(control_.data());
    if (!sending_) {
      control->atom = {sizeof(LV2_Atom_Sequence_Body), sequence_};
      control->body = {0, 0};
    }
    sending_ = false;
    auto* const notify = reinterpret_cast<LV2_Atom_Sequence*>(notify_.data());
    notify->atom = {sizeof notify_ - sizeof(LV2_Atom), 0};
    plugin_->connect_port(instance_, 2, const_cast<float*>(x));
    plugin_->connect_port(instance_, 3, y);
    plugin_->run(instance_, samples);
    char const* told = nullptr;
    if (notify->atom.type == 0) return nullptr;  // the plugin has no map
    LV2_ATOM_SEQUENCE_FOREACH(notify, event) {
      auto const* const object = reinterpret_cast<LV2_Atom_Object const*>(&event->body);
      LV2_Atom const* value = nullptr;
      lv2_atom_object_get(object, value_, &value, 0);
      if (object->body.otype == set_ && value) told = static_cast<char const*>(LV2_ATOM_BODY_CONST(value));
    }
    return told;
  }
  /// What a host's worker does between blocks; false if there was nothing to do.
  bool work() {
    if (jobs == 0) return false;
    std::vector<char> const job(queue_[0].begin(), queue_[0].begin() + sizes_[0]);
    --jobs;
    std::rotate(queue_.begin(), queue_.begin() + 1, queue_.end());
    std::rotate(sizes_.begin(), sizes_.begin() + 1, sizes_.end());
    responses_ = 0;
    worker_->work(
        instance_,
        [](LV2_Worker_Respond_Handle host, std::uint32_t, void const*) {
          ++static_cast<Host*>(host)->responses_;
          return LV2_WORKER_SUCCESS;
        },
        this, static_cast<std::uint32_t>(job.size()), job.data());
    for (int i = 0; i < responses_; ++i) worker_->work_response(instance_, 0, nullptr);
    return true;
  }

  State save() {
    State state;
    LV2_Feature const* const features[] = {&map_path_feature_, &free_path_feature_, nullptr};
    CHECK(state_->save(
              instance_,
              [](LV2_State_Handle handle, std::uint32_t key, void const* value, std::size_t size, std::uint32_t type,
                 std::uint32_t flags) {
                (*static_cast<State*>(handle))[key] = {{static_cast<char const*>(value), size}, type, flags};
                return LV2_STATE_SUCCESS;
              },
              &state, 0, features) == LV2_STATE_SUCCESS);
    return state;
  }
  LV2_State_Status restore(State const& state) {
    LV2_Feature const* const features[] = {&map_path_feature_, &free_path_feature_, nullptr};
    return state_->restore(
        instance_,
        [](LV2_State_Handle handle, std::uint32_t key, std::size_t* size, std::uint32_t* type,
           std::uint32_t* flags) -> void const* {
          auto const& all = *static_cast<State const*>(handle);
          auto const found = all.find(key);
          if (found == all.end()) return nullptr;
          *size = found->second.bytes.size(), *type = found->second.type, *flags = found->second.flags;
          return found->second.bytes.data();
        },
        const_cast<State*>(&state), 0, features);
  }

  std::uint32_t urid(std::string const& name) {
    auto const found = urids_.find(name);
    return found != urids_.end() ? found->second
                                 : urids_.emplace(name, static_cast<std::uint32_t>(urids_.size() + 1)).first->second;
  }

  std::array<float, 4> controls{0, 0, 1, -1};  // input_gain, output_gain, normalize, latency
  std::string log;                             // what the plugin has written
  bool refuses_jobs = false;
  std::size_t jobs = 0;

 private:
  void send(char const* type, std::string_view path) {
    LV2_Atom_Forge_Frame sequence, object;
    lv2_atom_forge_set_buffer(&forge_, reinterpret_cast<std::uint8_t*>(control_.data()), sizeof control_);
    lv2_atom_forge_sequence_head(&forge_, &sequence, 0);
    lv2_atom_forge_frame_time(&forge_, 0);
    lv2_atom_forge_object(&forge_, &object, 0, urid(type));
    lv2_atom_forge_key(&forge_, urid(LV2_PATCH__property));
    lv2_atom_forge_urid(&forge_, urid(model_uri));
    if (path.data()) {
      lv2_atom_forge_key(&forge_, value_);
      lv2_atom_forge_path(&forge_, path.data(), static_cast<std::uint32_t>(path.size()));
    }
    lv2_atom_forge_pop(&forge_, &object);
    lv2_atom_forge_pop(&forge_, &sequence);
    sending_ = true;
  }
  static int write_log(void* host, std::uint32_t, char const* format, va_list arguments) {
    char text[4096];
    int const count = std::vsnprintf(text, sizeof text, format, arguments);
    static_cast<Host*>(host)->log += text;
    return count;
  }
  static int print_log(void* host, std::uint32_t type, char const* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int const count = write_log(host, type, format, arguments);
    va_end(arguments);
    return count;
  }
  static char* copy(std::string const& text) { return ::strdup(text.c_str()); }

  std::map<std::string, std::uint32_t> urids_;
  LV2_URID_Map map_{this, [](void* host, char const* name) { return static_cast<Host*>(host)->urid(name); }};
  LV2_Worker_Schedule schedule_{this, [](void* handle, std::uint32_t size, void const* data) {
                                  auto& host = *static_cast<Host*>(handle);
                                  if (host.refuses_jobs || host.jobs == host.queue_.size())
                                    return LV2_WORKER_ERR_NO_SPACE;
                                  if (size > 0) std::memcpy(host.queue_[host.jobs].data(), data, size);
                                  host.sizes_[host.jobs++] = size;
                                  return LV2_WORKER_SUCCESS;
                                }};
  LV2_Log_Log log_{this, print_log, write_log};
  // As hosts do, paths in a state are not those of the disk.
  LV2_State_Map_Path map_path_{nullptr, [](void*, char const* path) { return copy(std::string{"saved:"} + path); },
                               [](void*, char const* path) { return copy(std::string{path}.substr(6)); }};
  LV2_State_Free_Path free_path_{nullptr, [](void*, char* path) { std::free(path); }};
  LV2_Feature map_feature_{LV2_URID__map, &map_}, schedule_feature_{LV2_WORKER__schedule, &schedule_},
      log_feature_{LV2_LOG__log, &log_}, map_path_feature_{LV2_STATE__mapPath, &map_path_},
      free_path_feature_{LV2_STATE__freePath, &free_path_};
  std::array<LV2_Feature const*, 4> features_{&map_feature_, &schedule_feature_, &log_feature_, nullptr};

  LV2_Descriptor const* plugin_;
  LV2_Handle instance_ = nullptr;
  LV2_Worker_Interface const* worker_ = nullptr;
  LV2_State_Interface const* state_ = nullptr;
  LV2_Atom_Forge forge_{};
  std::uint32_t value_ = urid(LV2_PATCH__value), set_ = urid(LV2_PATCH__Set), sequence_ = urid(LV2_ATOM__Sequence);
  alignas(8) std::array<std::uint64_t, 1024> control_{}, notify_{};
  bool sending_ = false;
  std::array<std::array<char, 4096>, 4> queue_{};
  std::array<std::uint32_t, 4> sizes_{};
  int responses_ = 0;
};

}  // namespace lv2_test
