// The LV2 plugin: a Player, the messages that say which file it plays, and the state that a host saves.
#pragma once

#include "messages.hpp"

#include <coldpress/audio/player.hpp>

#include <lv2/core/lv2.h>
#include <lv2/log/logger.h>
#include <lv2/state/state.h>
#include <lv2/worker/worker.h>

#include <array>
#include <mutex>
#include <string>

namespace coldpress::lv2 {

/// The ports, in the order of coldpress.ttl.
enum Port : std::uint32_t { control, notify, in, out, input_gain, output_gain, normalize, latency };

/// What the host gives to an instance, in so far as it does.
struct Host {
  explicit Host(LV2_Feature const* const* features);
  LV2_URID_Map* map = nullptr;
  LV2_Worker_Schedule* schedule = nullptr;
  LV2_Log_Logger logger{};
  Index most = 1024;  // samples of a block
};

class Plugin {
 public:
  Plugin(double sample_rate, LV2_Feature const* const* features);

  void connect(std::uint32_t port, void* data);
  void activate() { player_.reset(); }
  void run(std::uint32_t samples);

  // The worker's side.
  LV2_Worker_Status work(LV2_Worker_Respond_Function respond, LV2_Worker_Respond_Handle handle, std::uint32_t size,
                         void const* job);
  /// In the audio thread, after the worker has loaded a file or could not.
  void tell() { tells_ = true; }

  LV2_State_Status save(LV2_State_Store_Function store, LV2_State_Handle handle, LV2_Feature const* const* features);
  LV2_State_Status restore(LV2_State_Retrieve_Function retrieve, LV2_State_Handle handle,
                           LV2_Feature const* const* features);

 private:
  /// Returns whether the model was loaded; if not, the host's log says why.
  bool load(std::string const& path);
  void read_messages();
  void give_work();

  Host host_;
  Urids urids_;
  Writer writer_;
  audio::Player player_;
  std::array<void*, 8> ports_{};

  // Of the audio thread. A job for the worker is a path with the 0 after it, or nothing if models are to be collected.
  std::array<char, longest_path> wanted_{};
  std::uint32_t wanted_size_ = 0;  // 0: no file is to be loaded
  bool tells_ = false;             // whether the host is to be told which model plays
  Index told_ = 0;                 // Player::changes when it last was
  std::atomic<bool> collecting_ = false;

  // Of the threads that load and save.
  std::mutex mutex_;
  std::string loaded_;
};

}  // namespace coldpress::lv2
