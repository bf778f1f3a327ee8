// Connects ports, runs blocks, loads files in the host's worker thread, and saves and restores the path.
#include "plugin.hpp"

#include <lv2/atom/util.h>
#include <lv2/core/lv2_util.h>
#include <lv2/options/options.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace coldpress::lv2 {

namespace {
/// A model for hosts that cannot say which file to play, as lv2apply.
constexpr char const* model_variable = "COLDPRESS_LV2_MODEL";
constexpr Index longest_block = 1 << 16;

/// Returns memory of the host to it.
struct Free {
  LV2_State_Free_Path* host;
  void operator()(char* path) const { host ? host->free_path(host->handle, path) : std::free(path); }
};
using HostPath = std::unique_ptr<char, Free>;
template <class T>
T* feature(LV2_Feature const* const* features, char const* uri) {
  return static_cast<T*>(lv2_features_data(features, uri));
}
}  // namespace

Host::Host(LV2_Feature const* const* features)
    : map(feature<LV2_URID_Map>(features, LV2_URID__map)),
      schedule(feature<LV2_Worker_Schedule>(features, LV2_WORKER__schedule)) {
  lv2_log_logger_init(&logger, map, feature<LV2_Log_Log>(features, LV2_LOG__log));
  auto const* option = feature<LV2_Options_Option const>(features, LV2_OPTIONS__options);
  Urids const urids{map};
  for (; map && option && option->key; ++option) {
    if (option->key == urids.max_block && option->type == urids.integer && option->size == sizeof(std::int32_t))
      most = std::clamp(Index{*static_cast<std::int32_t const*>(option->value)}, Index{1}, longest_block);
  }
}

Plugin::Plugin(double sample_rate, LV2_Feature const* const* features)
    : host_(features),
      urids_(host_.map),
      writer_(host_.map),
      player_({.sample_rate = sample_rate, .most = host_.most}) {
  if (char const* const path = std::getenv(model_variable)) load(path);
}

void Plugin::connect(std::uint32_t port, void* data) {
  if (port < ports_.size()) ports_[port] = data;
}

bool Plugin::load(std::string const& path) {
  std::lock_guard const lock{mutex_};
  try {
    player_.load(path);
    loaded_ = path;
    return true;
  } catch (std::exception const& error) {
    lv2_log_error(&host_.logger, "coldpress: %s%s\n", error.what(),
                  loaded_.empty() ? "" : "; the model before it plays on");
    return false;
  }
}

void Plugin::run(std::uint32_t samples) {
  auto const value = [&](Port port, float otherwise) {
    auto const* const data = static_cast<float const*>(ports_[port]);
    return data ? *data : otherwise;
  };
  if (ports_[control] && host_.map) read_messages();
  player_.set_input_gain(value(input_gain, 0));
  player_.set_output_gain(value(output_gain, 0));
  player_.set_normalized(value(normalize, 1) > 0.5f);
  if (ports_[in] && ports_[out])
    player_.process({static_cast<float const*>(ports_[in]), samples}, {static_cast<float*>(ports_[out]), samples});
  if (ports_[latency]) *static_cast<float*>(ports_[latency]) = static_cast<float>(player_.latency());
  give_work();
  if (ports_[notify] && host_.map) {
    bool const changed = player_.changes() != told_;
    writer_.write(*static_cast<LV2_Atom_Sequence*>(ports_[notify]), urids_, tells_ || changed, changed,
                  player_.model() ? std::string_view{player_.model()->path()} : std::string_view{});
    told_ = player_.changes();
    tells_ = false;
  }
}

void Plugin::read_messages() {
  LV2_ATOM_SEQUENCE_FOREACH(static_cast<LV2_Atom_Sequence const*>(ports_[control]), event) {
    Request const request = request_of(event->body, urids_);
    tells_ = tells_ || request.tells;
    if (!request.load.data()) continue;
    if (request.load.empty() || request.load.size() >= wanted_.size()) {
      tells_ = true;  // which model plays, because this cannot be the path of another
      continue;
    }
    *std::ranges::copy(request.load, wanted_.begin()).out = '\0';
    wanted_size_ = static_cast<std::uint32_t>(request.load.size() + 1);
  }
}

/// Work that finds no room in the host's queue is offered again with the next block.
void Plugin::give_work() {
  auto* const worker = host_.schedule;
  if (!worker) return;
  if (wanted_size_ > 0 && worker->schedule_work(worker->handle, wanted_size_, wanted_.data()) == LV2_WORKER_SUCCESS)
    wanted_size_ = 0;
  if (player_.has_retired() && !collecting_.exchange(true) &&
      worker->schedule_work(worker->handle, 0, nullptr) != LV2_WORKER_SUCCESS)
    collecting_ = false;
}

LV2_Worker_Status Plugin::work(LV2_Worker_Respond_Function respond, LV2_Worker_Respond_Handle handle,
                               std::uint32_t size, void const* job) {
  if (size == 0) {
    std::lock_guard const lock{mutex_};
    player_.collect();
    collecting_ = false;
    return LV2_WORKER_SUCCESS;
  }
  if (load(static_cast<char const*>(job))) return LV2_WORKER_SUCCESS;
  // The host learns which model still plays.
  return respond(handle, 0, nullptr);
}

LV2_State_Status Plugin::save(LV2_State_Store_Function store, LV2_State_Handle handle,
                              LV2_Feature const* const* features) {
  std::lock_guard const lock{mutex_};
  if (loaded_.empty()) return LV2_STATE_SUCCESS;
  if (!host_.map) return LV2_STATE_ERR_NO_FEATURE;
  auto* const map = feature<LV2_State_Map_Path>(features, LV2_STATE__mapPath);
  if (!map) return store(handle, urids_.model, loaded_.c_str(), loaded_.size() + 1, urids_.path, LV2_STATE_IS_POD);
  HostPath const path{map->abstract_path(map->handle, loaded_.c_str()),
                      Free{feature<LV2_State_Free_Path>(features, LV2_STATE__freePath)}};
  if (!path) return LV2_STATE_ERR_UNKNOWN;
  return store(handle, urids_.model, path.get(), std::string_view{path.get()}.size() + 1, urids_.path,
               LV2_STATE_IS_POD | LV2_STATE_IS_PORTABLE);
}

LV2_State_Status Plugin::restore(LV2_State_Retrieve_Function retrieve, LV2_State_Handle handle,
                                 LV2_Feature const* const* features) {
  std::size_t size = 0;
  std::uint32_t type = 0, flags = 0;
  auto const* const stored = static_cast<char const*>(retrieve(handle, urids_.model, &size, &type, &flags));
  if (!stored || size == 0) return LV2_STATE_SUCCESS;  // a state without a model leaves the one that plays
  if (type != urids_.path) return LV2_STATE_ERR_BAD_TYPE;
  std::string path{stored, size};
  path.resize(std::min(path.find('\0'), size));
  if (auto* const map = feature<LV2_State_Map_Path>(features, LV2_STATE__mapPath)) {
    HostPath const absolute{map->absolute_path(map->handle, path.c_str()),
                            Free{feature<LV2_State_Free_Path>(features, LV2_STATE__freePath)}};
    if (!absolute) return LV2_STATE_ERR_UNKNOWN;
    path = absolute.get();
  }
  return load(path) ? LV2_STATE_SUCCESS : LV2_STATE_ERR_UNKNOWN;
}

}  // namespace coldpress::lv2
