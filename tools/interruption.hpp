// Ctrl-C and SIGTERM, heard between two steps.
#pragma once

#include <csignal>

namespace coldpress::command {

/// While one lives, the first signal of a kind only sets a flag; the second ends the process.
class Interruption {
 public:
  Interruption() {
    asked() = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { asked() = 1; };
    action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
    for (Signal& signal : signals_) {
      sigaction(signal.number, nullptr, &signal.before);
      if (signal.before.sa_handler != SIG_IGN) sigaction(signal.number, &action, nullptr);
    }
  }
  Interruption(Interruption const&) = delete;
  ~Interruption() {
    for (Signal const& signal : signals_) sigaction(signal.number, &signal.before, nullptr);
  }
  explicit operator bool() const { return asked() != 0; }

 private:
  static std::sig_atomic_t volatile& asked() {
    static std::sig_atomic_t volatile flag = 0;
    return flag;
  }
  struct Signal {
    int number;
    struct sigaction before = {};
  };
  Signal signals_[2] = {{SIGINT}, {SIGTERM}};
};

}  // namespace coldpress::command
