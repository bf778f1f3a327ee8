// Ctrl-C and other requests to end, which are honoured between two steps of a training or two minibatches.
#pragma once

#include <csignal>
#include <initializer_list>

namespace coldpress::command {

/// From listen() on until the process ends, these signals only set a flag, so that results can be saved first. Signals
/// that the process was started to ignore, as by nohup, stay ignored.
class Interruption {
 public:
  static void listen() {
    // SIGINT and SIGTERM take effect at once the second time, because people press Ctrl-C again and services send
    // SIGTERM again. A terminal that closes may send SIGHUP several times, and every line written for a reader that is
    // gone causes a SIGPIPE.
    for (int const which : {SIGINT, SIGTERM}) listen(which, static_cast<int>(SA_RESETHAND));
    for (int const which : {SIGHUP, SIGPIPE}) listen(which, 0);
  }
  /// Whether SIGINT, SIGTERM or SIGHUP has come.
  static bool asked() { return flag(SIGINT) != 0; }
  /// Whether SIGPIPE has come: the output is no longer read.
  static bool unread() { return flag(SIGPIPE) != 0; }

 private:
  static void listen(int which, int once) {
    struct sigaction action {
    }, before{};
    action.sa_handler = [](int heard) { flag(heard) = 1; };
    action.sa_flags = SA_RESTART | once;
    sigaction(which, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(which, &action, nullptr);
  }
  static std::sig_atomic_t volatile& flag(int which) {
    static std::sig_atomic_t volatile flags[2];
    return flags[which == SIGPIPE];
  }
};

}  // namespace coldpress::command
