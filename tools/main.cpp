// The command coldpress, which works with networks and trainings in files, without a line of C++.

#include "commands.hpp"
#include "print.hpp"
#include "ranks.hpp"

#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>
#include <new>

#include <fcntl.h>

namespace {

constexpr char const* version = "coldpress 0.1.0";  // as in CMakeLists.txt; a test compares them
constexpr int succeeded = 0, failed = 1, bad_use = 2;

int fail(char const* sentence) {
  std::fflush(stdout);
  std::fprintf(stderr, "coldpress: %s\n", sentence);
  return failed;
}

int run(int argc, char** argv) {
  CLI::App app{"Trains, evaluates, runs and inspects neural networks in files of coldpress and Juice.", "coldpress"};
  app.set_version_flag("--version", version);
  app.footer(
      "Exit status: 0 for success, 1 for failures, 2 for usage errors. Help on each command: coldpress COMMAND --help");
  coldpress::command::add_inspect(app);
  coldpress::command::add_train(app);
  coldpress::command::add_find_rate(app);
  coldpress::command::add_eval(app);
  coldpress::command::add_predict(app);
  coldpress::command::add_layers(app);
  coldpress::command::add_data(app);
  coldpress::command::add_export(app);
  coldpress::command::add_convert(app);
  coldpress::command::add_amp(app);
  coldpress::command::add_stream(app);
  coldpress::command::add_bench(app);
  coldpress::command::add_completion(app);
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) throw CLI::RequiredError("A command");
  } catch (CLI::ParseError const& error) {
    if (coldpress::distributed::launched_rank() > 0) {  // mpirun has given the same options to rank 0
      if (error.get_exit_code() == 0) return succeeded;
      coldpress::command::let_rank_0_speak();
    }
    if (app.exit(error) != 0) return bad_use;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) return fail("the output cannot be written");
  return succeeded;
}

/// Opens /dev/null for standard streams that are closed, so that no file gets the descriptor of one and is written over
/// by what is printed. They still cannot be read or written.
void reserve_streams() {
  for (int const stream : {0, 1, 2})
    if (::fcntl(stream, F_GETFD) < 0) static_cast<void>(::open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY));
}

}  // namespace

int main(int argc, char** argv) {
  reserve_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that becomes larger than it may is an error, as a full disk is
  try {
    return run(argc, argv);
  } catch (std::bad_alloc const&) {
    return fail("there is not enough memory");
  } catch (std::exception const& error) {
    std::fflush(stdout);
    std::fputs("coldpress: ", stderr);
    coldpress::command::show(error.what(), stderr, "  ");
    return failed;
  }
}
