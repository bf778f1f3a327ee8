// ctest:
// Models of amplifiers in an audio thread: one plays, and another is loaded and faded in while sound runs. A plugin for
// JUCE, CLAP or VST3 makes the same calls; docs/plugin.md says where.
#include <coldpress/audio/player.hpp>
#include <coldpress/coldpress.hpp>
#include <coldpress/persist.hpp>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

using namespace coldpress;

/// What a plugin has: a player for each channel, made when the host says sample rate and block size.
struct Plugin {
  audio::Player player;
  Plugin(double sample_rate, Index block) : player{{.sample_rate = sample_rate, .most = block}} {}
  /// The audio thread: no heap, no lock, no system call.
  void process(std::vector<float>& block) { player.process(block, block); }

  /// Any other thread, one at a time. If the file cannot be played, what was played before plays on.
  bool load(std::string const& path) {
    try {
      player.load(path);
      return true;
    } catch (Error const& error) {
      std::printf("refused: %s\n", error.what());
      return false;
    }
  }
};

int main(int argc, char** argv) {
  std::vector<std::string> paths(argv + 1, argv + argc);  // .nam or .juice files
  if (paths.empty()) {                                    // none: two small amplifiers that nobody has trained
    using Amp = Sequential<Convolution{.num_output = 1, .filter_shape = 3}, TanH{}>;
    paths = {"amp1.juice", "amp2.juice"};
    for (std::uint64_t seed : {0, 1}) save(Network<Amp, Shape{64, 1}>{seed}, paths[seed]);
  }

  Plugin plugin{48000, 64};
  std::atomic<bool> runs = true;
  std::atomic<double> peak = 0;
  std::thread audio{[&] {
    std::vector<float> block(64);
    for (int t = 0, rest = 400; runs || rest-- > 0;) {  // blocks until the last model has faded in
      for (float& x : block) x = 0.5f * std::sin(0.03f * static_cast<float>(t++ % 20944));
      plugin.process(block);
      for (float const y : block) peak = std::max(0.999 * peak, std::abs(double{y}));
    }
  }};
  for (std::string const& path : paths) plugin.load(path);
  runs = false;
  audio.join();
  auto const* const model = plugin.player.model();
  std::printf("%s plays, peak %.3f\n", model ? model->path().c_str() : "no model", peak.load());
  return model ? 0 : 1;
}
