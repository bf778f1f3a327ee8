// A backend whose primitives compute in the host's memory.
#pragma once

#include "any_backend.hpp"
#include "engine.hpp"

namespace coldpress::dynamic {

template <class Primitives>
class HostBackend final : public AnyBackend {
 public:
  explicit HostBackend(Primitives primitives = {}, std::shared_ptr<Executor> executor = nullptr)
      : primitives_(primitives), executor_(std::move(executor)) {}
  std::unique_ptr<Executable> engine(std::unique_ptr<Graph> graph, std::uint64_t seed,
                                     WeightsStart start) const override {
    return std::make_unique<Engine<Primitives>>(std::move(graph), primitives_, executor_, seed, start);
  }
  float loss(SeparateObjective& objective, Values y, Shape shape, Values target, Index batch) const override {
    return objective(primitives_, y, shape, target, batch);
  }

 private:
  Primitives primitives_;
  std::shared_ptr<Executor> executor_;
};

}  // namespace coldpress::dynamic
