#include "batch.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace coldpress::persist {
namespace {

using dynamic::Custom;
using dynamic::LayerConfig;
using dynamic::SequentialConfig;

Index count(Extents const& extents) {
  Index n = 1;
  for (auto const extent : extents) n *= extent;
  return n;
}

Shape shape_of(Extents const& extents) {
  if (extents.size() > Shape::max_rank)
    throw ConfigError{"shape " + to_string(extents) + " has more than " + std::to_string(Shape::max_rank) + " extents"};
  Shape shape{};
  std::copy(extents.begin(), extents.end(), shape.extents);
  return shape;
}

/// What the file's shape is without its batch: a lone extent is a batch of samples of one value.
Extents without_first(Extents const& extents) {
  return extents.size() == 1 ? Extents{1} : Extents{extents.begin() + 1, extents.end()};
}

enum class Rule {
  batch_first,   // unless the samples that come fit the whole shape only
  inputs_whole,  // inputs that no samples come to have no batch
  batch_always
};

/// One reading of all shapes: follows samples through the network as far as their shapes are known.
class Reading {
 public:
  Reading(std::vector<Extents> const& shapes, std::span<NamedTensor const> weights, Rule rule, bool of_juice)
      : shapes_(shapes), rule_(rule), of_juice_(of_juice) {
    for (auto const& tensor : weights) weights_.emplace(tensor.name, &tensor);
  }

  std::optional<Shape> follow(LayerConfig& config, std::optional<Shape> in, std::string const& place) {
    return with_context(
        [&] { return std::visit([&](auto& layer) { return through(layer, config, in, place); }, config.layer_type); },
        [&](Error& error) {
          if (!place.empty()) error.in_layer(place);
        });
  }

  std::optional<Index> batch() const { return batch_; }
  /// Whether weights agree with the shapes that lead to them.
  bool confirmed() const { return confirmed_; }
  /// A lone extent was taken for the batch.
  std::optional<Extents> const& doubtful() const { return doubtful_; }

 private:
  std::optional<Shape> through(SequentialConfig& container, LayerConfig const&, std::optional<Shape> in,
                               std::string const& place) {
    std::map<std::string, std::optional<Shape>> known;
    auto current = in;
    for (std::size_t i = 0; i < container.inputs.size(); ++i) {
      auto& input = container.inputs[i];
      with_context([&] { input.shape = split(i == 0 ? in : std::nullopt, true); },
                   [&](Error& error) { error.in_field("inputs"); });
      said_ = &input.shape;
      known[input.name] = input.shape;
      if (i == 0) current = input.shape;
    }
    for (std::size_t i = 0; i < container.layers.size(); ++i) {
      auto& layer = container.layers[i];
      if (!layer.inputs.empty()) {
        auto const named = known.find(layer.inputs[0]);
        current = named == known.end() ? std::nullopt : named->second;
      }
      current = follow(layer, current, place_of(place, i, layer.name));
      if (!layer.outputs.empty()) known[layer.outputs[0]] = current;
    }
    return current;
  }

  std::optional<Shape> through(Custom&, LayerConfig const&, std::optional<Shape>, std::string const&) { return {}; }

  template <class L>
  std::optional<Shape> through(L& layer, LayerConfig const& config, std::optional<Shape> in, std::string const&) {
    if constexpr (Source<L>) in.reset();  // whatever comes before it
    for_each_field(layer, [&](std::string_view name, auto& field) {
      if constexpr (std::is_same_v<decltype(field), Shape&>)
        with_context([&] { said_ = &(field = split(in, false)); },
                     [&](Error& error) { error.in_field(camel_case(name)); });
    });
    if constexpr (Layer<L> && OneInput<L>) {
      if (!in) return {};
      try {
        if constexpr (std::is_same_v<L, Rnn>) in = steps_of_juice(layer, config, *in);
        if constexpr (has_parameters<L>) compare(layer.parameters(*in)[0], config);
        return layer.output_shape(*in);
      } catch (ShapeError const& error) {
        throw ConfigError{error.sentence()};
      }
    }
    return {};
  }

  /// Juice declares {features, steps, 1, ...} and computes on {steps, features}, so only one step means the same to
  /// both. The number of weights tells how many features there are; where {n, 1} are n of them, it becomes {n, 1, 1}.
  Shape steps_of_juice(Rnn const& rnn, LayerConfig const& config, Shape const& in) {
    NamedTensor const* const tensor = weight_of(config, "-0");
    if (!tensor || in.rank() != 2) return in;
    auto const fits = [&](Shape const& shape) {
      bool const skips = rnn.input_mode == InputMode::skip_input;
      if (skips && shape[shape.rank() == 2 ? 1 : 0] != rnn.hidden_size) return false;
      return rnn.parameters(shape)[0].shape.size() == static_cast<Index>(tensor->values.size());
    };
    Shape const one_step{in[0], in[1], 1};
    if (in[0] > 1 && in[1] == 1 && said_ && *said_ == in && fits(one_step)) return *said_ = one_step;
    if (of_juice_ && in[1] > 1 && !(in[0] == 1 && fits(in)))
      throw UnsupportedError{"Juice declares samples {features, steps} = " + coldpress::to_string(in) +
                             " and computes on {steps, features}: beyond one step that means nothing. Files of "
                             "coldpress say {steps, features}"};
    return in;
  }

  NamedTensor const* weight_of(LayerConfig const& config, std::string_view suffix) const {
    auto found = weights_.find(config.name + std::string{suffix});
    if (found == weights_.end() && !config.params.empty()) found = weights_.find(config.params[0].name);
    return found == weights_.end() ? nullptr : found->second;
  }

  void compare(Parameter const& parameter, LayerConfig const& config) {
    NamedTensor const* const found = weight_of(config, parameter.suffix);
    if (!found) return;
    NamedTensor const& tensor = *found;
    if (static_cast<Index>(tensor.values.size()) != parameter.shape.size())
      throw ConfigError{"weight '" + tensor.name + "' has shape " + to_string(tensor.shape) +
                        ", configuration and inputs ask for " + to_string(parameter.shape)};
    confirmed_ = true;
  }

  Shape split(std::optional<Shape> const& expected, bool input) {
    Extents const& file = shapes_[next_++];
    Extents const sample = without_first(file);
    bool const batch_fits = !batch_ || *batch_ == file[0];
    if (expected) {
      if (count(sample) == expected->size() && batch_fits) return take_batch(file);
      if (rule_ != Rule::batch_always && count(file) == expected->size()) return shape_of(file);
      if (count(sample) != expected->size())
        throw ConfigError{"shape " + to_string(file) + " has " + std::to_string(count(sample)) +
                          " values after its batch of " + std::to_string(file[0]) + ", the samples that come have " +
                          std::to_string(expected->size())};
    } else if (input && rule_ == Rule::inputs_whole) {
      return shape_of(file);
    } else if (file.size() == 1 && file[0] != 1) {
      doubtful_ = file;
    }
    if (!batch_fits)
      throw ConfigError{"shape " + to_string(file) + " has a batch of " + std::to_string(file[0]) + ", others have " +
                        std::to_string(*batch_)};
    return take_batch(file);
  }

  Shape take_batch(Extents const& file) {
    batch_ = file[0];
    return shape_of(without_first(file));
  }

  std::vector<Extents> const& shapes_;
  std::map<std::string, NamedTensor const*, std::less<>> weights_;
  Rule rule_;
  bool of_juice_;
  Shape* said_ = nullptr;  // the last shape that the configuration says
  std::size_t next_ = 0;
  std::optional<Index> batch_;
  std::optional<Extents> doubtful_;
  bool confirmed_ = false;
};

}  // namespace

Index drop_batch(FileConfig& file, std::span<NamedTensor const> weights, bool of_juice) {
  auto config = file.config;
  Reading by_rule{file.shapes, weights, Rule::batch_first, of_juice};
  try {
    by_rule.follow(config, {}, "");
    if (by_rule.doubtful() && !by_rule.confirmed()) {
      Extents const& lone = *by_rule.doubtful();
      ConfigError error{"a shape in a file starts with the batch, and nothing tells whether " + to_string(lone) +
                        " is a batch or a sample; with a batch of 1 it would be {1, " + std::to_string(lone[0]) + "}"};
      error.in_field("shape");
      throw error;
    }
  } catch (ConfigError const&) {
    config = file.config;
    Reading whole{file.shapes, weights, Rule::inputs_whole, of_juice};
    bool fits = false;
    try {
      whole.follow(config, {}, "");
      fits = whole.confirmed();
    } catch (ConfigError const&) {
    }
    if (!fits) throw;
    file.config = std::move(config);
    return whole.batch().value_or(1);
  }
  file.config = std::move(config);
  return by_rule.batch().value_or(1);
}

void check_written(FileConfig file, std::span<NamedTensor const> weights) {
  Reading{file.shapes, weights, Rule::batch_always, false}.follow(file.config, {}, "");
}

}  // namespace coldpress::persist
