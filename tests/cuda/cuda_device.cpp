// What a GPU's device asks the CUDA runtime for, where the runtime is a model that promises no more than NVIDIA's
// documentation does: a kernel whose blocks wait for each other is started as a cluster, or all blocks at once, however
// often its arguments change.
#include "cuda/modelled_cuda.hpp"

#include "../../kernels/cuda/cuda_device.cpp"

#include "support/catch.hpp"

namespace {

using namespace coldpress;
using namespace coldpress::test;
using model::Launch;

char kernels[8];

/// A kernel's call with a number as its argument. Blocks wait for each other where there are barriers.
struct Kernel {
  int number;
  Index blocks, barriers;
  int argument;

  void gather(cuda::Device& device) const {
    cuda::Call call{};
    call.kernel = kernels + number;
    grid::LaunchEstimate estimate{.blocks = blocks, .barriers = barriers};
    estimate.by_cluster = estimate.by_all = blocks > grid::cluster_blocks ? 1000000 : 1;
    if (blocks > grid::cluster_blocks) estimate.by_cluster *= 8;
    device.gather(call, estimate, Grid{}, argument);
  }
  Launch wanted(bool clusters) const {
    bool const waits = blocks > 1 && barriers > 0, cluster = waits && clusters && blocks <= grid::cluster_blocks;
    auto const count = static_cast<unsigned>(blocks);
    return {kernels + number, count, argument, cluster ? count : 0, waits && !cluster};
  }
};

/// Starts a pass, and says what of it the runtime was asked to start.
std::vector<Launch> started(cuda::Device& device, std::vector<Kernel> const& pass) {
  model::seen().launches.clear();
  for (Kernel const& kernel : pass) kernel.gather(device);
  device.submit();
  return model::seen().launches;
}
std::vector<Launch> wanted(std::vector<Kernel> const& pass, bool clusters) {
  std::vector<Launch> all;
  for (Kernel const& kernel : pass) all.push_back(kernel.wanted(clusters));
  return all;
}

struct Library final : cuda::LibraryCall {
  struct Put {
    void* stream;
    bool captured;
  };
  mutable std::vector<Put> puts;
  void put(void* stream, Operands const&) const override { puts.push_back({stream, model::seen().capturing}); }
  void play(Operands const&) const override {}
};

}  // namespace

TEST_CASE("a pass of one kernel is started without a graph, each time as its blocks have to be") {
  bool const clusters = GENERATE(true, false);
  auto const device = cuda::open_device("cuda:0");
  device->clusters = clusters;
  model::seen() = {};
  for (Index blocks : {1, 12, 100}) {
    for (Index barriers : {0, 5}) {
      for (int step = 0; step < 4; ++step) {
        std::vector<Kernel> const pass{{0, blocks, barriers, step / 2}};
        CHECK(started(*device, pass) == wanted(pass, clusters));
      }
    }
  }
  CHECK(model::seen().graphs == 0);
}

TEST_CASE("kernels of a graph keep how their blocks are started, whichever arguments change") {
  bool const clusters = GENERATE(true, false), refuses = GENERATE(false, true);
  auto const device = cuda::open_device("cuda:0");
  device->clusters = clusters;
  model::seen() = {};
  model::seen().refuses_updates = refuses;
  std::vector<Kernel> pass{{0, 50, 0, 1}, {1, 12, 3, 1}, {2, 100, 2, 1}, {3, 1, 0, 1}};
  CHECK(started(*device, pass) == wanted(pass, clusters));
  int number = 1;
  for (unsigned which = 0; which < 32; ++which) {  // every set of them, and no order of plain and waiting ones left out
    for (std::size_t k = 0; k < pass.size(); ++k) {
      if (which * 7 >> k & 1) pass[k].argument = ++number;
    }
    CHECK(started(*device, pass) == wanted(pass, clusters));
  }
  auto const& seen = model::seen();
  CHECK(seen.graphs == 1);
  CHECK((refuses ? seen.instantiated > 1 : seen.instantiated == 1));
  CHECK((seen.updated > 0) == !refuses);
  CHECK(seen.set_in_executable > 0);  // where plain ones alone changed
}

TEST_CASE("a graph in which no kernel waits is changed one by one") {
  auto const device = cuda::open_device("cuda:0");
  model::seen() = {};
  for (int step = 0; step < 5; ++step) {
    std::vector<Kernel> const pass{{0, 50, 0, step}, {1, 12, 0, 7}, {2, 1, 4, -step}};
    CHECK(started(*device, pass) == wanted(pass, true));
  }
  CHECK(model::seen().graphs == 1);
  CHECK(model::seen().updated == 0);
  CHECK(model::seen().set_in_executable == 4 * 2);
}

TEST_CASE("a library's call is made in the device's stream, once outside of a capture, and captured among kernels") {
  auto const device = cuda::open_device("cuda:0");
  model::seen() = {};
  Library const library;
  device->call_once(library, {});
  REQUIRE(library.puts.size() == 1);
  CHECK(library.puts[0].stream == device->stream());
  CHECK(!library.puts[0].captured);
  CHECK(model::seen().synchronized == 1);
  CHECK(model::seen().graphs == 0);
  for (int step = 0; step < 3; ++step) {
    Kernel const before{0, 12, 3, step}, after{1, 20, 0, 5};
    model::seen().launches.clear();
    before.gather(*device), device->gather(library, {}), after.gather(*device);
    device->submit();
    CHECK(model::seen().launches == std::vector{before.wanted(true), after.wanted(true)});
  }
  REQUIRE(library.puts.size() == 2);
  CHECK(library.puts[1].stream == device->stream());
  CHECK(library.puts[1].captured);
}

TEST_CASE("memory of a pass's values is left as it is on a GPU, so that tools find reads of unwritten values") {
  auto const device = cuda::open_device("cuda:0");
  model::seen() = {};
  device->release(device->allocate_unset(1000));
  CHECK(model::seen().cleared == 0);
  device->release(device->allocate(1000));
  CHECK(model::seen().cleared == 1);

  auto const emulated = cuda::emulated_device();
  for (bool unset : {false, true}) {
    void* const memory = unset ? emulated->allocate_unset(12) : emulated->allocate(12);
    float here[3] = {};
    emulated->download(here, memory, sizeof here);
    for (float value : here) CHECK((unset ? value != value : value == 0));
    emulated->release(memory);
  }
}

TEST_CASE("a pass for which nothing is brought asks for its launch and for nothing else") {
  auto const device = cuda::open_device("cuda:0");
  auto const pass = [&](bool brings, int argument) {
    if (brings) static_cast<void>(device->launch_slot());
    Kernel{0, 12, 3, argument}.gather(*device);
    device->submit();
  };
  for (bool brings : {true, false, false, true, false, true, true}) {
    model::seen() = {};
    pass(brings, 1);
    CHECK(model::seen().recorded == (brings ? 1 : 0));
    CHECK(model::seen().launches.size() == 1);
    CHECK(model::seen().synchronized == 0);
  }
}

TEST_CASE("in emulation a library's call that was never made is not captured") {
  auto const device = cuda::emulated_device();
  Library const library;
  auto const pass = [&] { device->gather(library, {}), device->submit(); };
  CHECK_THROWS_AS(pass(), DeviceError);
  device->call_once(library, {});
  pass();
  pass();
}
