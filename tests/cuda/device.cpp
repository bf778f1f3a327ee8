// What a device does with passes when something fails: by one that has no GPU and no kernels, and fails when it is told
// to.
#include <coldpress/cuda/device.hpp>

#include "support/catch.hpp"

#include <new>

#include "../../benchmarks/idle_device.hpp"
#include "../../kernels/cuda/device_copy.hpp"

namespace {

using namespace coldpress;
using cuda::Call;
using cuda::Pass;

class Failing final : public bench::IdleDevice {
 public:
  Failing() : IdleDevice("failing") {}

  enum class FailAt { none, take_down, change, start, blocks };
  FailAt fails = FailAt::none;
  std::vector<int> started = {};  // kernels of each launch
  std::vector<int> waits = {};    // turns

  /// A kernel with an argument.
  void gather(int kernel, int argument) {
    Call call{};
    call.kernel = kernels_ + kernel;
    Device::gather(call, {}, Grid{}, argument);
  }

 private:
  void check(FailAt at) const {
    if (fails == at) throw DeviceError{"as it was told"};
  }
  struct Taken final : cuda::TakenDown {
    Taken(Failing& of, Pass const& from) : TakenDown(from), device(of) { device.check(FailAt::take_down); }
    void change(std::size_t) override { device.check(FailAt::change); }
    void start() override {
      device.check(FailAt::start);
      device.started.push_back(static_cast<int>(pass.calls().size()));
    }
    Failing& device;
  };
  int most_blocks(cuda::Call const&) override { return check(FailAt::blocks), 1; }
  std::unique_ptr<cuda::TakenDown> take_down(Pass const& pass) override { return std::make_unique<Taken>(*this, pass); }
  void wait(int slot) override { waits.push_back(slot); }

  char kernels_[32] = {};
};

}  // namespace

TEST_CASE("after a launch that failed a minibatch goes where it may") {
  int const together = GENERATE(1, 3);
  Failing device;
  device.start_together(together);
  auto const pass = [&] {
    int const place = device.launch_slot();
    device.gather(0, 1);
    try {
      device.submit();
    } catch (DeviceError const&) {
    }
    return place;
  };
  for (int n = 0; n < 2 * together; ++n) CHECK(pass() == n);
  device.fails = Failing::FailAt::start;
  for (int n = 0; n < together; ++n) CHECK(pass() == n);
  device.fails = Failing::FailAt::none;
  device.waits.clear();
  // The next place is that of the other turn, which was waited for.
  for (int n = 0; n < together; ++n) CHECK(pass() == together + n);
  CHECK(device.waits == std::vector<int>{1});
}

TEST_CASE("what is asked for takes nothing away, also where it fails") {
  Failing device;
  device.start_together(4);
  for (int n = 0; n < 2; ++n) device.gather(n, 1), device.submit();
  device.gather(2, 1);
  CHECK_THROWS_AS(device.launch_estimate_of([&] {
    device.gather(3, 1);
    device.fails = Failing::FailAt::blocks;
    device.gather(4, 1);
  }),
                  DeviceError);
  device.fails = Failing::FailAt::none;
  static_cast<void>(device.launch_estimate_of([&] { device.gather(5, 1); }));
  CHECK(device.started.empty());
  device.flush();
  CHECK(device.started == std::vector<int>{3});
  // A pass that fails takes none with it that has ended.
  device.gather(0, 1), device.submit();
  device.gather(1, 1);
  device.fails = Failing::FailAt::blocks;
  CHECK_THROWS_AS(device.gather(2, 1), DeviceError);
  device.fails = Failing::FailAt::none;
  device.flush();
  CHECK(device.started == std::vector<int>{3, 1});
}

TEST_CASE("a graph whose arguments could not be changed goes, and others come") {
  Failing device;
  auto const pass = [&](int kernel, int argument) {
    device.gather(kernel, argument);
    device.submit();
  };
  for (int kernel = 0; kernel < 11; ++kernel) pass(kernel, 1);  // more than are kept
  for (int kernel = 3; kernel < 6; ++kernel) {
    device.fails = Failing::FailAt::change;
    CHECK_THROWS_AS(pass(kernel, 2), DeviceError);
    device.fails = Failing::FailAt::none;
  }
  Index const graphs = cuda::counts().graphs;
  for (int kernel = 3; kernel < 6; ++kernel) pass(kernel, 2);
  CHECK(cuda::counts().graphs - graphs == 3);
  for (int kernel = 3; kernel < 11; ++kernel) pass(kernel, 3);
  CHECK(cuda::counts().graphs - graphs == 3);
}

TEST_CASE("what a pass that never started was to make is an error whenever it is read") {
  auto const device = std::make_shared<Failing>();
  auto const spares = std::make_shared<dynamic::DeviceCopy::Spares>();
  dynamic::DeviceCopy copy{device, spares}, other{device, spares};
  float there[3] = {}, here[3] = {};
  auto const lend = [&](dynamic::DeviceCopy& to) {
    device->gather(0, 1);
    to.lend(there);
  };
  lend(copy);
  device->flush();
  copy.pull(here);
  copy.want(false), copy.settle();
  lend(copy), lend(other);
  device->fails = Failing::FailAt::start;
  CHECK_THROWS_AS(copy.pull(here), DeviceError);  // which starts it
  device->fails = Failing::FailAt::none;
  CHECK_THROWS_AS(copy.pull(here), DeviceError);
  CHECK_THROWS_AS(other.pull(here), DeviceError);
  copy.settle(), other.settle();
  CHECK_THROWS_AS(other.pull(here), DeviceError);
  lend(copy);
  copy.pull(here);
}
