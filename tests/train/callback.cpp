#include <coldpress/coldpress.hpp>
#include <coldpress/train.hpp>

#include "train/task.hpp"

namespace coldpress::train {
namespace {

struct Beginner {
  std::vector<std::string>* calls;
  std::uint64_t refuses_at = UINT64_MAX;
  void begin(Trainer& of) {
    if (of.iteration() == refuses_at) throw FileError{"full"};
    calls->push_back("begin " + std::to_string(of.iteration()));
  }
  void operator()(Trainer& of) { calls->push_back("call " + std::to_string(of.iteration())); }
};

TEST_CASE("a callback that has begin is told when a run begins, before its first step") {
  Task const data = task(40);
  Typed net;
  Trainer trainer{*net.solver, *data.training, {.epochs = 1, .batch = 10}};
  std::vector<std::string> calls;
  trainer.every(steps(2), Beginner{&calls});
  trainer.every(steps(3), [](Trainer& of) { of.stop("later"); });
  trainer.run();
  trainer.run();
  CHECK(calls == std::vector<std::string>{"begin 0", "call 2", "begin 3", "call 4"});
}

TEST_CASE("what begin throws comes out of run, and no step is taken") {
  Task const data = task(40);
  Typed net;
  Trainer trainer{*net.solver, *data.training, {.epochs = 1, .batch = 10}};
  std::vector<std::string> calls;
  trainer.every(steps(2), Beginner{&calls, 0});
  CHECK_THROWS_AS(trainer.run(), FileError);
  CHECK(trainer.iteration() == 0);
  CHECK(calls.empty());
}

}  // namespace
}  // namespace coldpress::train
