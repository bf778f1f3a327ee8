// The command where memory runs out: at each of its first hundred allocations and every fourth of the others; in nightly
// at each of all.
#include "tools/command.hpp"

namespace coldpress::command {
namespace {

/// The command with a number of its main, which fails in memory as tests/preload/failing_memory.cpp says.
class Failing {
 public:
  explicit Failing(std::vector<std::string> arguments) {
    int down[2], up[2];
    REQUIRE(::pipe2(down, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(up, O_CLOEXEC) == 0);
    arguments.insert(arguments.begin(), std::getenv("COLDPRESS_COMMAND"));
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    folder_.put("err", "");
    // LD_PRELOAD would take a path with a blank for two.
    std::filesystem::create_symlink(std::getenv("COLDPRESS_FAILING_MEMORY"), folder_ / "memory.so");
    id_ = ::fork();
    REQUIRE(id_ >= 0);
    if (id_ == 0) {
      ::dup2(::open("/dev/null", O_WRONLY), 1);
      ::dup2(::open((folder_ / "err").c_str(), O_WRONLY | O_APPEND), 2);
      int const from = ::fcntl(down[0], F_DUPFD, 10), to = ::fcntl(up[1], F_DUPFD, 10);
      ::dup2(from, 3), ::dup2(to, 4);
      ::setenv("MALLOC_PERTURB_", "165", 1);  // what is freed is overwritten, so that its use is seen
      ::setenv("LD_PRELOAD", (folder_ / "memory.so").c_str(), 1);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(down[0]), ::close(up[1]);
    to_ = down[1], from_ = up[0];
  }
  Failing(Failing const&) = delete;
  ~Failing() {
    ::close(to_), ::close(from_);
    ::waitpid(id_, nullptr, 0);
  }

  struct Outcome {
    Result result;
    bool failed;  // there was such an allocation
  };
  Outcome run(int number) {
    folder_.put("err", "");
    int answer[2] = {0, 0};
    REQUIRE(::write(to_, &number, sizeof number) == sizeof number);
    REQUIRE(::read(from_, answer, sizeof answer) == sizeof answer);
    int const status = answer[0];
    return {{WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), {}, content(folder_ / "err")},
            answer[1] != 0};
  }

 private:
  TemporaryFolder folder_;
  pid_t id_;
  int to_ = -1, from_ = -1;
};

TEST_CASE("a training whose memory runs out anywhere says so, and leaves whole files") {
  if (!has_command()) return;
  if (!std::getenv("COLDPRESS_FAILING_MEMORY")) {
    WARN("skipped: no library makes allocations fail here: it needs glibc, and a build without sanitizers");
    return;
  }
  TemporaryFolder folder;
  std::string const save = folder / "net", checkpoint = folder / "checkpoint";
  std::vector<std::string> const arguments{"train",
                                           "--config",
                                           folder.put("config", dropout_config),
                                           "--data",
                                           "csv:" + folder.put("data", sides(20)),
                                           "--save",
                                           save,
                                           "--checkpoint",
                                           checkpoint,
                                           "--epochs",
                                           "1"};
  output(arguments);
  std::string const network = content(save), state = content(checkpoint);
  Failing command{arguments};
  for (int const sign : {1, -1}) {
    int fine = 0, sentences = 0;
    bool failed = true;
    for (int n = 1; failed; n += (n < 100 || COLDPRESS_NIGHTLY) ? 1 : 4) {
      INFO((sign > 0 ? "allocation " : "allocations from ") << n);
      folder.put("net", "old"), folder.put("checkpoint", "old");
      auto const [result, happened] = command.run(sign * n);
      INFO(result.code << ": " << result.err);
      failed = happened;
      bool const said =
          result.code == 1 && result.err.starts_with("coldpress: ") && result.err.find('\n') + 1 == result.err.size();
      bool const ended = result.code == 0 && result.err.empty();
      CHECK((said || ended));
      std::string const found = content(save), kept = content(checkpoint);
      CHECK((found == network || (found == "old" && !ended)));
      CHECK((kept == state || (kept == "old" && !ended)));
      CHECK(folder.names().size() == 4);
      fine += ended, sentences += said;
    }
    CHECK(fine >= 1);
    CHECK(sentences > 100);
  }
}

}  // namespace
}  // namespace coldpress::command
