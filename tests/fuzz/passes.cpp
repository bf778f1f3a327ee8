// Models that are made into networks (corpus/model) and run: inference, training's two passes, a step of a stream.
// Inputs are zeros and ones, which are labels, too; weights are what the layers ask for, since few files have them
// right.
#include <coldpress/persist.hpp>

#include "fuzz.hpp"
#include "size.hpp"

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  using dynamic::SharedTensor;
  auto model = persist::parse_model(bytes, "input");
  if (!is_small(model.config) || !is_affordable(model, 1 << 14, 1 << 12)) return;
  if (dynamic::declares_input(model.config)) {
    model.weights.clear();
    for (auto const& weight : dynamic::weights_of(model.config, {})) {
      std::vector<float> values(static_cast<std::size_t>(weight.shape.size()));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) / 8 - 0.25f;
      Index const* const extents = weight.shape.extents;
      model.weights.push_back({weight.name, {extents, extents + weight.shape.rank()}, std::move(values)});
    }
  }
  auto layer = persist::layer_of(dynamic::Backend{}, model);
  Index const batch = 1 + static_cast<Index>(bytes.size() % 3);
  auto const tensors = [&](auto const& shapes) {
    std::vector<SharedTensor> made;
    for (Shape const& shape : shapes) {
      made.emplace_back(std::vector<Index>{batch, shape.size()});
      auto const values = made.back().write_only();
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 3 == 0 ? 0.0f : 1.0f;
    }
    return made;
  };
  auto const inputs = tensors(layer.input_shapes()), gradients = tensors(layer.output_shapes());
  auto const outputs = layer.forward(inputs);
  demand(outputs.size() == gradients.size(), "a pass makes another number of outputs than the network has");
  for (std::size_t k = 0; k < outputs.size(); ++k)
    demand(outputs[k].read().size() == gradients[k].read().size(), "an output has another size than its shape");
  layer.backward(gradients);
  if (inputs.size() == 1) layer.step(inputs[0].read());
}
