// Ctrl-C and whatever else asks a training to end, heard between two steps.
#pragma once

#include <csignal>

namespace coldpress::command {

/// Signals that only set a flag from listen() on, until the process ends: what is to be saved is saved first. Those
/// that the process was started to ignore, as by nohup, stay ignored.
class Interruption {
 public:
  static void listen() {
    // People press Ctrl-C again, and services send SIGTERM again, to end the process at once. A terminal that closes
    // may send SIGHUP several times, and each line for a reader that is gone is a SIGPIPE.
    for (int const number : {SIGINT, SIGTERM}) listen(number, static_cast<int>(SA_RESETHAND));
    for (int const number : {SIGHUP, SIGPIPE}) listen(number, 0);
  }
  /// SIGINT, SIGTERM or SIGHUP has come.
  static bool asked() { return flag(SIGINT) != 0; }
  /// SIGPIPE has come: nobody reads the output any more.
  static bool unread() { return flag(SIGPIPE) != 0; }

 private:
  static void listen(int number, int once) {
    struct sigaction action {
    }, before{};
    action.sa_handler = [](int heard) { flag(heard) = 1; };
    action.sa_flags = SA_RESTART | once;
    sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
  static std::sig_atomic_t volatile& flag(int number) {
    static std::sig_atomic_t volatile flags[2];
    return flags[number == SIGPIPE];
  }
};

}  // namespace coldpress::command
