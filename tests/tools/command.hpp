// Runs the built command as a user does.
#pragma once

#include "data/files.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>

namespace coldpress::command {

inline bool has_command() {
  static bool const found = std::getenv("COLDPRESS_COMMAND") != nullptr;
  if (!found) WARN("skipped: COLDPRESS_COMMAND does not name the command");
  return found;
}

/// A folder with real data, or empty.
inline std::string test_data(std::string const& name) {
  char const* const root = std::getenv("COLDPRESS_TEST_DATA");
  if (root && std::filesystem::exists(std::filesystem::path{root} / name)) return std::string{root} + "/" + name;
  WARN("skipped: COLDPRESS_TEST_DATA has no " << name);
  return {};
}

inline std::string source_file(std::string const& name) {
  if (char const* root = std::getenv("COLDPRESS_SOURCE_DIR")) return std::string{root} + "/" + name;
  return (std::filesystem::path(__FILE__).parent_path() / "../.." / name).lexically_normal().string();
}

struct Result {
  int code;  // minus the signal that ended it
  std::string out, err;
};

/// The command while it runs.
class Running {
 public:
  /// `unread`: nobody reads what it prints. `launcher` is the beginning of a command line that runs it.
  explicit Running(std::vector<std::string> arguments, bool unread = false,
                   std::vector<std::string> const& launcher = {}) {
    arguments.insert(arguments.begin(), std::getenv("COLDPRESS_COMMAND"));
    arguments.insert(arguments.begin(), launcher.begin(), launcher.end());
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::string const out = folder_ / "out", err = folder_ / "err";
    id_ = ::fork();
    REQUIRE(id_ >= 0);
    if (id_ > 0) return;
    std::signal(SIGPIPE, SIG_DFL);
    int ends[2];
    if (unread && ::pipe(ends) == 0) {
      ::close(ends[0]);
      ::dup2(ends[1], 1);
    } else {
      ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT, 0600), 1);
    }
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT, 0600), 2);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  Running(Running const&) = delete;
  ~Running() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    wait();
  }
  /// Waits until `happened`, however long that takes, or until the command has ended.
  template <class Happened>
  void until(Happened happened) const {
    siginfo_t ended{};
    while (!happened() && ::waitid(P_PID, static_cast<id_t>(id_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  bool has_printed() const { return !content(folder_ / "out").empty(); }
  pid_t id() const { return id_; }
  void signal(int number) const { ::kill(id_, number); }
  Result wait() {
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = 0;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), content(folder_ / "out"),
            content(folder_ / "err")};
  }

 private:
  TemporaryFolder folder_;
  pid_t id_;
};

inline Result run(std::vector<std::string> arguments) { return Running{std::move(arguments)}.wait(); }

/// Runs what must succeed, without a word on the error stream, and returns what it prints.
inline std::string output(std::vector<std::string> arguments) {
  auto const result = run(std::move(arguments));
  INFO(result.out << result.err);
  REQUIRE(result.code == 0);
  CHECK(result.err.empty());
  return result.out;
}

/// Runs what must fail with exit code 1, and returns its one line on the error stream without "coldpress: ".
inline std::string failure(std::vector<std::string> arguments) {
  auto const result = run(std::move(arguments));
  INFO(result.out << result.err);
  REQUIRE(result.code == 1);
  REQUIRE(result.err.starts_with("coldpress: "));
  REQUIRE(result.err.find('\n') + 1 == result.err.size());
  return result.err.substr(11, result.err.size() - 12);
}

/// Samples (a, b) and targets 2a - b + 0.5, as csv.
inline std::string points(int rows) {
  std::string text = "y,a,b\n";
  for (int i = 0; i < rows; ++i) {
    double const a = (i * 37 % 101) / 50.0 - 1, b = (i * 53 % 97) / 48.0 - 1;
    text += std::to_string(2 * a - b + 0.5) + "," + std::to_string(a) + "," + std::to_string(b) + "\n";
  }
  return text;
}

/// A config of two classes, with random numbers in every step, for samples of two features.
inline std::string const dropout_config = R"((network = (name = "net", layerType = (sequential = (layers = [
  (name = "fc1", layerType = (linear = (outputSize = 16))),
  (name = "tanh", layerType = (tanh = void)),
  (name = "drop", layerType = (dropout = (probability = 0.25, seed = 5))),
  (name = "fc2", layerType = (linear = (outputSize = 2))),
  (name = "scores", layerType = (logSoftmax = void))]))),
loss = (name = "loss", layerType = (negativeLogLikelihood = (numClasses = 2))),
solver = (baseLr = 0.05, momentum = 0.9), epochs = 4, batch = 8, seed = 3))";

/// Labels that say on which side of a line the samples (a, b) are, as csv.
inline std::string sides(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i) {
    double const a = (i * 37 % 101) / 50.0 - 1, b = (i * 53 % 97) / 48.0 - 1;
    text += std::string{a > b ? "1," : "0,"} + std::to_string(a) + "," + std::to_string(b) + "\n";
  }
  return text;
}

}  // namespace coldpress::command
