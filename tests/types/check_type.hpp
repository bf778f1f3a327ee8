// Compares a network type that was written from a model with the model.
#pragma once

#include "support/catch.hpp"
#include "support/random.hpp"
#include "types/changed.hpp"

#include <coldpress/persist.hpp>
#include <coldpress/testing.hpp>

#include <memory>

namespace coldpress::test {

/// The layer is what the compiler made of the text that was written for the changed one.
template <class L>
void check_literal(Change how, L const& layer) {
  INFO(L::name);
  CHECK((layer == changed<L>(how)));
}

/// Samples for the inputs of a config: whole numbers for those that are labels or numbers of rows.
inline std::vector<std::vector<float>> samples_for(dynamic::LayerConfig const& config, Index batch) {
  Random random{3};
  std::vector<std::vector<float>> all;
  for (auto const& [name, shape] : std::get<dynamic::SequentialConfig>(config.layer_type).inputs) {
    auto& values = all.emplace_back(random.values<float>(batch * shape.size()));
    if (!name.starts_with("label")) continue;
    for (float& value : values) value = static_cast<float>(random.integer(0, 2));
  }
  return all;
}

/// The type computes what the model does, bit for bit, and starts with the same weights.
template <class Network>
void check_type(Network (*load)(std::string const&), std::string const& path) {
  persist::Model const model = persist::read_model(path);
  dynamic::Backend const backend = dynamic::Backend::like_static();
  constexpr Index batch = 3;
  auto const samples = samples_for(model.config, batch);
  REQUIRE(samples.size() == std::size_t{Network::input_count});

  auto layer = dynamic::Layer::load(backend, path);
  layer.set_mode(dynamic::Mode::inference);
  std::vector<dynamic::SharedTensor> inputs;
  for (int k = 0; k < Network::input_count; ++k) {
    auto const i = static_cast<std::size_t>(k);
    std::vector<Index> shape{batch};
    shape.insert(shape.end(), Network::inputs[k].extents, Network::inputs[k].extents + Network::inputs[k].rank());
    std::span<float const> const values = samples[i];
    inputs.emplace_back(shape);
    for (Index n = 0; n < batch; ++n) {
      auto const size = values.size() / batch;
      dynamic::write_batch_sample(inputs.back(), values.subspan(static_cast<std::size_t>(n) * size, size), n);
    }
  }
  auto const outputs = layer.forward(inputs);
  REQUIRE(outputs.size() == std::size_t{Network::output_count});

  auto const net = std::make_unique<Network>(load(path));
  auto const workspace = std::make_unique<typename Network::Workspace>();
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    static_cast<void>(net->forward(std::tie(samples[i]...), *workspace));
  }
  (std::make_index_sequence<Network::input_count>{});
  for (int k = 0; k < Network::output_count; ++k) {
    INFO("output " << k);
    CHECK(same_bits(workspace->output(k).values, outputs[static_cast<std::size_t>(k)].read()));
  }

  auto const fresh = dynamic::Layer::from_config(backend, model.config, {}, 7);
  Network const other{7};
  auto const order = dynamic::matching_weights(model.config, dynamic::to_config(other));
  REQUIRE(order.size() == std::size_t{Network::weight_count});
  for (int w = 0; w < Network::weight_count; ++w) {
    std::size_t const same = order[static_cast<std::size_t>(w)];
    INFO(fresh.learnable_weights_names()[same]);
    std::vector<float> values(static_cast<std::size_t>(Network::weight_shape(w).size()));
    other.read_weight(w, values);
    CHECK(same_bits(values, fresh.learnable_weights_data()[same].read()));
  }
}

}  // namespace coldpress::test
