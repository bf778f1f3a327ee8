// The audio thread asks nothing of the system: it plays where the kernel allows nothing but to end.
#include "audio/models.hpp"

#include "support/catch.hpp"
#include "support/sanitizer.hpp"

#if defined __linux__
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace audio_test;

TEST_CASE("playing, fading and resampling make no system call") {
#if !defined __linux__ || defined COLDPRESS_ADDRESS_SANITIZER || defined COLDPRESS_THREAD_SANITIZER
  WARN("skipped: this needs seccomp of Linux, and no sanitizer, which makes system calls of its own");
#else
  TemporaryFolder folder;
  auto const a = folder.put("a.nam", wavenet(3).text), b = folder.put("b.nam", wavenet(8).text);
  auto const x = tones(64);
  std::vector<float> y(64);
  for (double const rate : {48000., 44100.}) {
    INFO(rate);
    audio::Player player{{.sample_rate = rate, .most = 64}};
    try {
      player.load(a);
      player.process(x, y);
      player.load(b);
    } catch (UnsupportedError const& error) {
      WARN("skipped: " << error.what());
      return;
    }
    // 0: it played; 1: it did not hear the other model; 2: the kernel has no such mode.
    pid_t const child = ::fork();
    if (child == 0) {
      if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) ::_exit(2);
      for (int block = 0; block < 200; ++block) player.process(x, y);
      ::syscall(SYS_exit, player.changes() == 2 && player.has_retired() ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
      WARN("skipped: this kernel has no strict mode of seccomp");
      return;
    }
    REQUIRE(WIFEXITED(status));  // any system call would have killed it
    CHECK(WEXITSTATUS(status) == 0);
  }
#endif
}
