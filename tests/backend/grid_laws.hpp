// The laws of a network on the kernels of the GPU as loops on the host, with the threads in three orders.
#pragma once

#include "support/layer_laws.hpp"

#include <coldpress/backend/grid.hpp>

namespace coldpress::test {

/// Forward and backward give the reference's numbers, and with training the same bits in every order of the threads.
template <class Net, Shape in, bool trains>
void grid_law(Index batch, std::uint64_t seed, Violations& violations) {
  using N = Network<Net, in, DynamicBatch, Grid>;
  shape_law<Net, in, Grid>(batch, seed, violations);
  backend_law<Net, in, Grid>("grid's ", batch, seed, violations);
  auto const made = [&](grid::Order order) {
    grid::order() = order;
    auto const all = pass(random_network<N>(seed), batch, seed);
    auto result = all.output;
    result.insert(result.end(), all.input_gradient.begin(), all.input_gradient.end());
    result.insert(result.end(), all.gradients.begin(), all.gradients.end());
    if constexpr (trains && N::weight_count > 0) {
      auto const after = trained<N, MeanSquaredError{}>(batch, seed, 2);
      result.insert(result.end(), after.begin(), after.end());
    }
    grid::order() = grid::Order::forward;
    return result;
  };
  auto const forward = made(grid::Order::forward);
  for (auto const order : {grid::Order::backward, grid::Order::shuffled})
    demand(same_bits(forward, made(order)), violations, "the order of threads changes something" + place<N>(batch));
}
template <class Net, Shape... shapes>
void check_grid(std::initializer_list<Index> batches = {1, 2, 5, 33}) {
  Violations violations;
  for (Index batch : batches) (grid_law<Net, shapes, true>(batch, static_cast<std::uint64_t>(batch), violations), ...);
  check_none(violations);
}
/// The same without training, a third of what is compiled, for layers whose gradients no optimizer takes where they are
/// computed.
template <class Net, Shape... shapes>
void check_grid_passes(std::initializer_list<Index> batches = {1, 2, 5, 33}) {
  Violations violations;
  for (Index batch : batches) (grid_law<Net, shapes, false>(batch, static_cast<std::uint64_t>(batch), violations), ...);
  check_none(violations);
}
// The same at night alone, since each network takes the compiler long. For each commit, some networks are checked here,
// and networks from configs compute with the same kernels where nvcc is (cuda.networks).
template <class Net, Shape... shapes>
void check_grid_at_night(std::initializer_list<Index> batches = {1, 2, 5, 33}) {
  if constexpr (COLDPRESS_NIGHTLY) check_grid<Net, shapes...>(batches);
}
template <class Net, Shape... shapes>
void check_grid_passes_at_night(std::initializer_list<Index> batches = {1, 2, 5, 33}) {
  if constexpr (COLDPRESS_NIGHTLY) check_grid_passes<Net, shapes...>(batches);
}

}  // namespace coldpress::test
