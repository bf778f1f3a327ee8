// Real threads in the place of a GPU's, for ThreadSanitizer: it sees where one reads or writes what another has
// written and no barrier is in between, whatever the order of play was.
#pragma once

#include <coldpress/cuda/device.hpp>

#include <set>

namespace coldpress::test {

/// How the threads of a grid are divided among threads of the host, and which barrier none of them waits at.
struct Races {
  /// Each player has some of the blocks, and each of its members some of these blocks' threads. Threads of a block meet
  /// others whose number differs from theirs by a power of two: of three members such a pair never is the same one.
  int players = 3, members = 1;
  /// Of the kernel with this number, of all that were played since, where nobody waits: at a barrier of all, counted
  /// from 0, or at one of the first player's block, and at so many that follow each other.
  static constexpr Index none = -1;
  Index kernel = none, barrier = none, barrier_in_block = none, in_a_row = 1;

  // What has been met since.
  Index kernels = 0;
  Index barriers = 0, barriers_in_block = 0;  // of that kernel
  std::set<cuda::Loops> played = {};
};
/// Of all emulated devices of the program.
Races& races();

/// What ThreadSanitizer has reported since the program started.
int reports();
/// Whether f() has it report anything: f is called in a process of its own, which ends with the first report.
template <class F>
bool has_race(F const& f);
bool in_process_of_its_own(void (*call)(void const*), void const* f);
template <class F>
bool has_race(F const& f) {
  return in_process_of_its_own([](void const* it) { (*static_cast<F const*>(it))(); }, &f);
}

}  // namespace coldpress::test
