// coldpress train under mpirun writes what one process writes, and ends in order when something fails.
#include "tools/command.hpp"
#include "tools/page.hpp"

#include <coldpress/persist.hpp>

#include <algorithm>
#include <fstream>

namespace coldpress::command {
namespace {

bool has_mpi() {
  static bool const found = std::getenv("COLDPRESS_MPIRUN") != nullptr;
  if (!found) WARN("skipped: COLDPRESS_MPIRUN does not name the mpirun of coldpress's MPI");
  return found && has_command();
}

std::vector<std::string> launcher(int ranks) {
  // More processes than cores, as whoever runs the tests.
  for (char const* const setting : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                                    "OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_mpi_yield_when_idle"})
    ::setenv(setting, "1", 1);
  ::setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
  return {std::getenv("COLDPRESS_MPIRUN"), "-n", std::to_string(ranks)};
}

/// 100 samples in batches of 8 and microbatches of 3.
struct Case {
  TemporaryFolder folder;
  std::string config = folder.put("config", dropout_config), data = "csv:" + folder.put("data", sides(100));
  std::string net = folder / "net", checkpoint = folder / "checkpoint";

  std::vector<std::string> begin(std::vector<std::string> more) const {
    more.insert(more.begin(),
                {"train", "--config", config, "--data", data, "--set", "solver.microbatch=3", "--save", net});
    return more;
  }
  std::vector<std::string> go_on(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"train", "--resume", checkpoint, "--data", data, "--save", net});
    return more;
  }
  /// Runs on this many processes what must succeed. 0: without mpirun.
  std::string network(int ranks, std::vector<std::string> arguments) const {
    auto const result = ranks == 0 ? run(arguments) : Running{arguments, false, launcher(ranks)}.wait();
    INFO(result.out << result.err);
    REQUIRE(result.code == 0);
    return content(net);
  }
};

/// The parent of a process; 0 if it has ended.
pid_t parent_of(std::string const& process) {
  std::ifstream file{"/proc/" + process + "/stat"};
  std::string const text{std::istreambuf_iterator<char>{file}, {}};
  auto const after = text.rfind(')');  // of the program's name
  char state = 0;
  int parent = 0;
  if (after == std::string::npos || std::sscanf(text.c_str() + after + 1, " %c %d", &state, &parent) != 2) return 0;
  return state == 'Z' ? 0 : parent;
}
/// The processes that mpirun has started, in the order of their ranks.
std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (auto const& entry : std::filesystem::directory_iterator{"/proc"}) {
    std::string const name = entry.path().filename();
    if (name.find_first_not_of("0123456789") == std::string::npos && parent_of(name) == parent)
      children.push_back(std::stoi(name));
  }
  std::ranges::sort(children);
  return children;
}

/// Waits until some steps are saved, then sends a signal to one rank, and returns how the run ended.
Result disturbed(Case const& c, int ranks, int rank, int signal, std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--epochs", "1000000", "--checkpoint", c.checkpoint, "--checkpoint-every", "5"});
  Running training{c.begin(more), false, launcher(ranks)};
  training.until([&] { return std::filesystem::exists(c.checkpoint); });
  auto const processes = children_of(training.id());
  REQUIRE(processes.size() == static_cast<std::size_t>(ranks));
  ::kill(processes[static_cast<std::size_t>(rank)], signal);
  auto const result = training.wait();
  for (pid_t const process : processes) {
    for (int tries = 0; tries < 3000 && parent_of(std::to_string(process)) != 0; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    CHECK(parent_of(std::to_string(process)) == 0);
  }
  INFO(result.out << result.err);
  CHECK(result.code != 0);
  // The last checkpoint is whole, and goes on to the bits of a run that nobody disturbed.
  auto const steps = persist::read_checkpoint(c.checkpoint).iteration;
  std::string const further = std::to_string(steps + 7);
  auto const resumed = c.network(2, c.go_on({"--epochs", "1000000", "--steps", further}));
  CHECK(resumed == c.network(0, c.begin({"--epochs", "1000000", "--steps", further})));
  return result;
}

}  // namespace

TEST_CASE("mpirun -n 2 and 3 write the files of one process, whatever is monitored") {
  if (!has_mpi()) return;
  Case const c;
  std::string const log = c.folder / "log.csv", best = c.folder / "best", report = c.folder / "report.svg";
  auto const files = [&](int ranks, std::vector<std::string> more = {}) {
    for (std::string const& file : {log, best, report, c.checkpoint}) std::filesystem::remove(file);
    more.insert(more.end(), {"--validate", "0.2", "--patience", "50", "--ema", "0.9", "--keep-best", best,
                             "--checkpoint", c.checkpoint, "--log", log, "--report", report});
    std::string all = c.network(ranks, c.begin(more));
    auto checkpoint = persist::read_checkpoint(c.checkpoint);
    std::erase_if(checkpoint.states, [](auto const& state) { return state.name == "csv_log"; });  // has seconds
    auto const bytes = persist::serialize(checkpoint);
    all.append(reinterpret_cast<char const*>(bytes.data()), bytes.size());
    std::string const lines = content(log);
    return all + content(best) + content(report) + std::to_string(std::ranges::count(lines, '\n'));
  };
  std::string const alone = files(0);
  CHECK(files(2) == alone);
  CHECK(files(3) == alone);
  CHECK(files(2, {"--set", "solver.shardOptimizer=true"}) == alone);
  CHECK(files(3, {"--set", "solver.shardOptimizer=true"}) == alone);
  std::vector<std::string> const rounded{"--set", "solver.bfloat16Gradients=true"};
  std::string const other = files(0, rounded);
  CHECK(other != alone);
  CHECK(files(3, rounded) == other);
}

TEST_CASE("statistics of the whole minibatch are asked for on the command line, and are those of one process") {
  if (!has_mpi()) return;
  Case c;
  std::string const norm = "(name = \"norm\", layerType = (batchNormalization = ())), ";
  c.config = c.folder.put("config", std::string{dropout_config}.insert(dropout_config.find("(name = \"tanh\""), norm));
  std::string const apart = c.network(0, c.begin({}));
  auto const together = [&](int ranks) {
    return c.network(ranks, c.begin({"--set", "solver.syncBatchNormalization=true"}));
  };
  std::string const alone = together(0);
  CHECK(alone != apart);
  CHECK(together(3) == alone);
}

TEST_CASE("a run goes on, bit for bit, on another number of processes") {
  if (!has_mpi()) return;
  Case const c;
  std::string const whole = c.network(0, c.begin({}));
  c.network(3, c.begin({"--steps", "17", "--checkpoint", c.checkpoint}));
  c.network(2, c.go_on({"--steps", "30", "--checkpoint", c.checkpoint}));
  CHECK(c.network(0, c.go_on()) == whole);
  c.network(0, c.begin({"--steps", "9", "--checkpoint", c.checkpoint}));
  CHECK(c.network(3, c.go_on()) == whole);
  // The same where the ranks divide the optimizer's state, of which the checkpoint knows nothing.
  std::vector<std::string> const shards{"--set",     "solver.shardOptimizer=true", "--steps", "17", "--checkpoint",
                                        c.checkpoint};
  c.network(3, c.begin(shards));
  CHECK(c.network(2, c.go_on()) == whole);
  std::string text = dropout_config;
  auto const at = text.find("solver = (") + 10;
  text.insert(at, "microbatch = 3, shardOptimizer = true, ");
  std::string const config = c.folder.put("sharded", text);
  c.network(0, c.begin({"--steps", "9", "--checkpoint", c.checkpoint}));
  CHECK(c.network(3, c.go_on({"--config", config})) == whole);
}

TEST_CASE("rank 0 alone prints, and says how the minibatch is divided") {
  if (!has_mpi()) return;
  Case const c;
  auto const result = Running{c.begin({}), false, launcher(2)}.wait();
  INFO(result.out << result.err);
  CHECK(result.code == 0);
  CHECK(result.out.find("batch 8, 3 parts on 2 ranks, cpu") != std::string::npos);
  CHECK(result.out.find("Saved the network") == result.out.rfind("Saved the network"));
}

TEST_CASE("what all ranks find wrong is said once") {
  if (!has_mpi()) return;
  Case const c;
  auto const said = [&](std::vector<std::string> const& arguments, std::string const& words) {
    auto const result = Running{arguments, false, launcher(3)}.wait();
    INFO(result.out << result.err);
    CHECK(result.code != 0);
    auto const at = result.err.find(words);
    REQUIRE(at != std::string::npos);
    CHECK(result.err.find(words, at + 1) == std::string::npos);
  };
  said({"train", "--config", c.config, "--data", c.data, "--save", c.net},
       "microbatch: is 0, but ranks share the parts of a minibatch");
  said(c.begin({"--set", "solver.baseLr=3e38"}), " A smaller learning rate or clipped gradients may help");
  said(c.begin({"--metric", "loss"}), "--metric");
  said({"train"}, "--save is required");
  said(c.begin({"--nonsense"}), "--nonsense");
  auto const help = Running{{"train", "--help"}, false, launcher(2)}.wait();
  CHECK(help.code == 0);
  CHECK(help.out.find("--rank-timeout") != std::string::npos);
  CHECK(help.out.find("--rank-timeout") == help.out.rfind("--rank-timeout"));
  auto const amp =
      Running{{"amp", "train", "--input", "a", "--output", "b", "--save", c.net}, false, launcher(2)}.wait();
  CHECK(amp.code != 0);
  CHECK(amp.err.find("coldpress amp train runs as one process, but the launcher has started 2") != std::string::npos);
}

TEST_CASE("ranks with other data or options are refused, with what differs") {
  if (!has_mpi()) return;
  Case const c;
  auto const refusal = [&](std::vector<std::string> const& of_rank_0, std::vector<std::string> const& of_rank_1) {
    std::vector<std::string> first = launcher(1);
    first.push_back(std::getenv("COLDPRESS_COMMAND"));
    auto const arguments = c.begin(of_rank_0);
    first.insert(first.end(), arguments.begin(), arguments.end());
    first.insert(first.end(), {":", "-n", "1"});
    auto const result = Running{c.begin(of_rank_1), false, first}.wait();
    CHECK(result.code != 0);
    CHECK_FALSE(std::filesystem::exists(c.net));
    return result.err;
  };
  auto const says = [](std::string const& text, char const* words) {
    INFO(text);
    CHECK(text.find("coldpress: rank 1 does not train the same as rank 0: ") != std::string::npos);
    CHECK(text.find(words) != std::string::npos);
  };
  std::string const validate = "--validate", test = "--test";
  std::string text = sides(50);
  std::string const same = "csv:" + c.folder.put("test", text);
  text.replace(0, 1, text[0] == '1' ? "0" : "1");  // the first label
  std::string const other = "csv:" + c.folder.put("other", text);
  says(refusal({validate, "0.2", "--patience", "3"}, {validate, "0.2", "--patience", "4"}),
       "the hash of network, loss, solver, seed and monitoring is ");
  says(refusal({validate, "0.2"}, {validate, "0.3"}), "the hash of network, loss, solver, seed and monitoring is ");
  says(refusal({"--steps", "3"}, {"--steps", "4"}), "--steps is 4, not 3");
  says(refusal({test, same}, {test, other}), "the hash of 50 samples of the test data is ");
  says(refusal({test, same}, {}), "the test data is none, not 50 samples of {2}, targets of {1}");
}

TEST_CASE("the commands of docs/distributed.md run") {
  if (!has_mpi()) return;
  launcher(1);  // its environment
  TemporaryFolder folder;
  std::filesystem::create_symlink(std::getenv("COLDPRESS_COMMAND"), folder / "coldpress");
  folder.put("net.capnp.txt", dropout_config);
  std::string const data = "csv:" + folder.put("points", sides(100));
  int scripts = 0;
  for (auto const& [language, page] : code_blocks(content(source_file("docs/distributed.md")))) {
    if (language != "sh") continue;
    std::string text = page;
    for (auto at = text.find("mnist:DIR"); at != std::string::npos; at = text.find("mnist:DIR"))
      text.replace(at, 9, data);
    std::string const script =
        "cd '" + folder / "." + "' && PATH=\"$PWD:$PATH\" sh -e '" + folder.put("script", text) + "' >out 2>&1";
    int const code = std::system(script.c_str());
    INFO(text << content(folder / "out"));
    CHECK(code == 0);
    ++scripts;
  }
  CHECK(scripts == 1);
}

TEST_CASE("a rank that is asked to end ends all, after a checkpoint") {
  if (!has_mpi()) return;
  for (char const* const shards : {"false", "true"}) {
    Case const c;
    auto const result = disturbed(c, 3, 1, SIGTERM, {"--set", std::string{"solver.shardOptimizer="} + shards});
    CHECK(result.err.find("coldpress: interrupted after step ") != std::string::npos);
  }
}

TEST_CASE("kill -9 of a rank ends the run") {
  if (!has_mpi()) return;
  for (int const rank : {0, 1}) {
    Case const c;
    auto const result = disturbed(c, 2, rank, SIGKILL);
    CHECK(result.err.find("signal 9") != std::string::npos);  // mpirun says it
  }
}

TEST_CASE("a rank that hangs ends the run after the time limit") {
  if (!has_mpi()) return;
  Case const c;
  auto const result = disturbed(c, 2, 1, SIGSTOP, {"--rank-timeout", "3"});
  CHECK(result.err.find("rank 1 has ") != std::string::npos);
  CHECK(result.err.find(" for 3.000000 s (seen by rank 0)") != std::string::npos);
}

TEST_CASE("processes of a launcher that MPI does not know refuse to write the same files") {
  if (!has_command()) return;
  Case const c;
  ::setenv("PMI_SIZE", "2", 1);
  auto const result = run(c.begin({}));
  ::unsetenv("PMI_SIZE");
  INFO(result.err);
  CHECK(result.code == 1);
  CHECK(result.err.starts_with("coldpress: the launcher has started 2 processes, but "));
  CHECK_FALSE(std::filesystem::exists(c.net));
}

}  // namespace coldpress::command
