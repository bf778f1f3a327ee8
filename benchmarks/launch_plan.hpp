// Plans how the kernels of the workloads are started on a GPU, without having one.
#pragma once

#include "idle_device.hpp"
#include "workloads.hpp"

#include <coldpress/cuda/backend.hpp>

#include <cstdlib>
#include <memory>
#include <string>

namespace bench {

/// A device that records passes and does nothing. Its memory does not exist but has addresses such as a GPU's.
class Planner final : public IdleDevice {
 public:
  Planner() : IdleDevice("a GPU that is not there") { make_common(); }
  void release_pinned(void* memory) noexcept override { std::free(memory); }
  cuda::Pass last = {};

 private:
  struct Taken final : cuda::TakenDown {
    Taken(Planner& of, cuda::Pass const& from) : TakenDown(from), planner(of) {}
    void change(std::size_t) override {}
    void start() override { planner.last = pass; }
    Planner& planner;
  };
  void* make(std::size_t bytes) override {
    std::uintptr_t const at = next_;
    next_ += (bytes + 511) / 512 * 512;
    return reinterpret_cast<void*>(at);
  }
  void* make_pinned(std::size_t bytes) override { return std::malloc(bytes); }
  int most_blocks(cuda::Call const&) override { return 1 << 30; }
  bool has_cluster(cuda::Call const&, int) override { return true; }
  std::unique_ptr<cuda::TakenDown> take_down(cuda::Pass const& pass) override {
    return std::make_unique<Taken>(*this, pass);
  }

  std::uintptr_t next_ = 0x7f0000000000;
};

template <class Program>
void print_plan(char const* workload, char const* pass, Index batch, Planner const& planner) {
  cuda::Call const& call = planner.last.calls().at(0);
  std::printf("{\"workload\": \"%s\", \"number\": \"%llu\", \"pass\": \"%s\", \"batch\": %lld, \"blocks\": %d, ",
              workload, static_cast<unsigned long long>(fingerprint_of(static_cast<Program const*>(nullptr)).number),
              pass, static_cast<long long>(batch), call.blocks);
  std::printf("\"cluster\": %s, \"barriers\": %lld, \"shared\": %lld, \"arguments\": \"",
              call.in_cluster ? "true" : "false", static_cast<long long>(call.barriers),
              static_cast<long long>(call.shared));
  auto const* const bytes = reinterpret_cast<unsigned char const*>(planner.last.arguments(call));
  for (std::size_t i = 0; i < call.size; ++i) std::printf("%02x", bytes[i]);
  std::printf("\"}\n");
}

/// Plans a step or a forward pass of each workload that does not stream.
template <class... Workloads>
void print_plans_of(TypeList<Workloads...> workloads) {
  for_each_type(workloads, [&]<class W>() {
    if constexpr (!Streams<W>) {
      using Net = Network<typename W::Net, W::shape, Batch<W::batch>, Cuda>;
      auto const planner = std::make_shared<Planner>();
      auto const net = std::make_unique<Net>(7, HostTransfer<Cuda>{planner});
      auto const x = inputs<W>();
      if constexpr (Trains<W>) {
        using Trainer = Solver<Net, W::loss, optimizer>;
        auto const solver = std::make_unique<Trainer>(*net);
        solver->train_minibatch(x, targets<W>(Trainer::target_shape.size()));
        print_plan<typename Trainer::Program>(W::id, "step", W::batch, *planner);
      } else {
        net->forward(x);
        print_plan<typename Net::Inference>(W::id, "forward", W::batch, *planner);
      }
    }
  });
}

}  // namespace bench
