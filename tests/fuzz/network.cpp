// Models that are made into networks (corpus/model): the plan, and their weights. What a network holds is what its
// model said.
#include <coldpress/persist.hpp>

#include "fuzz.hpp"
#include "size.hpp"

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  auto const model = persist::parse_model(bytes, "input");
  if (!is_small(model.config) || !is_affordable(model, 1 << 16, 1 << 16)) return;
  auto const wanted = persist::weights_in_order(model);
  auto const layer = persist::layer_of(dynamic::Backend{}, model);
  auto const weights = layer.learnable_weights_data();
  demand(weights.size() == wanted.size(), "a network has other weights than its model");
  for (std::size_t i = 0; i < weights.size(); ++i)
    demand(weights[i].read().size() == wanted[i].size(), "a weight has another size than in its model");
}
