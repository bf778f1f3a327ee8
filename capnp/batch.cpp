// Finds out whether shapes in a file begin with the batch, by trying each reading on the whole network.
#include "batch.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/core/layer_traits.hpp>
#include <coldpress/core/to_string.hpp>

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

/// The file's shape without its batch. A single extent is a batch of samples with one value.
Extents without_first(Extents const& extents) {
  return extents.size() == 1 ? Extents{1} : Extents{extents.begin() + 1, extents.end()};
}

enum class Rule {
  batch_first,   // unless the incoming samples fit only the whole shape
  inputs_whole,  // the shapes of inputs that get no samples have no batch
  batch_always,
  all_whole
};

Shape without_leading_ones(Shape shape) {
  while (shape.rank() > 1 && shape[0] == 1) {
    std::copy(shape.extents + 1, shape.extents + Shape::max_rank, shape.extents);
    shape.extents[Shape::max_rank - 1] = 0;
  }
  return shape;
}

/// The part of its first input's shape on which a layer depends. Two shapes with equally many values are often the same
/// to a layer.
template <class L>
Shape as_seen(L const& layer, Shape const& in) {
  if constexpr (std::is_same_v<L, Linear>) {
    if (layer.last_axis) return without_leading_ones(in);
  }
  if constexpr (requires { layer.axis; }) {
    if constexpr (std::is_same_v<L, PReLU>) {
      if (layer.num_parameters == 1) return {in.size()};
    }
    return layer.axis < 0 ? without_leading_ones(in) : in;
  } else if constexpr (std::is_same_v<L, LayerNormalization> || std::is_same_v<L, RMSNormalization> ||
                       std::is_same_v<L, Embedding>) {
    return without_leading_ones(in);
  } else {
    if constexpr (std::is_same_v<L, CTCLoss>) return in;
    constexpr bool any_shape = LayerTraits<L>::normalizes || std::is_same_v<L, Linear> ||
                               std::is_same_v<L, TiedLinear> || std::is_same_v<L, Where>;
    if constexpr (any_shape || PointwiseLayer<L> || ViewLayer<L> || JoinLayer<L> || !Layer<L>) return {in.size()};
    return in;
  }
}

/// One interpretation of all shapes. It follows samples through the network as far as their shapes are known.
class Reading {
 public:
  Reading(std::vector<FileShape> const& shapes, std::span<NamedTensor const> weights, Rule rule, bool of_juice)
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
  /// Whether the weights agree with the shapes of the samples that reach them.
  bool confirmed() const { return confirmed_; }
  /// A single extent that was taken for the batch, if any.
  std::optional<Extents> const& doubtful() const { return doubtful_; }

  /// How a shape of the file was interpreted, and where it is. The list has the file's order.
  struct Said {
    Shape sample;
    std::string layer, field;
  };
  std::vector<Said> const& said() const { return all_said_; }
  /// What each layer sees of its samples. Two readings for which these are equal are the same network.
  std::vector<Shape> const& seen() const { return seen_; }
  /// Makes the reading follow samples also from layers that define their own shape, through joins, and past inputs of
  /// unknown shape.
  void follow_all() { follows_all_ = true; }

 private:
  std::optional<Shape> through(SequentialConfig& container, LayerConfig const&, std::optional<Shape> in,
                               std::string const& place) {
    std::map<std::string, std::optional<Shape>> known;
    auto current = in;
    for (std::size_t i = 0; i < container.inputs.size(); ++i) {
      auto& input = container.inputs[i];
      with_context([&] { input.shape = taken(i == 0 ? in : std::nullopt, true, place, "inputs"); },
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

  std::optional<Shape> through(Custom&, LayerConfig const&, std::optional<Shape> in, std::string const&) {
    if (follows_all_) seen_.push_back(in.value_or(Shape{}));
    return {};
  }

  template <class L>
  std::optional<Shape> through(L& layer, LayerConfig const& config, std::optional<Shape> in, std::string const& place) {
    if constexpr (Source<L>) in.reset();  // whatever precedes it
    for_each_field(layer, [&](std::string_view name, auto& field) {
      if constexpr (std::is_same_v<decltype(field), Shape&>) {
        auto const before = std::is_same_v<L, Expand> ? std::nullopt : in;  // what has as many values
        with_context([&] { said_ = &(field = taken(before, false, place, std::string{name})); },
                     [&](Error& error) { error.in_field(camel_case(name)); });
      }
    });
    if (follows_all_) {
      seen_.push_back(in ? as_seen(layer, *in) : Shape{});
      if constexpr (std::is_same_v<L, Reshape>) {
        if (!in) return layer.shape;
      }
      if constexpr (JoinLayer<L>) return in;
      if constexpr (Source<L>) return layer.output_shape();
    }
    if constexpr (Layer<L> && FollowsOne<L>) {
      bool const joins = ManyInputs<L> && config.inputs.size() > 1;  // attention of given queries, keys and values
      if (!in || joins) return {};
      try {
        if constexpr (std::is_same_v<L, Rnn>) in = steps_of_juice(layer, config, *in);
        if constexpr (has_parameters<L>) compare(parameters_of(layer, *in)[0], config);
        return output_shape_of(layer, Shapes{&*in, 1});
      } catch (ShapeError const& error) {
        throw ConfigError{error.sentence()};
      }
    }
    return {};
  }

  /// Juice declares {features, steps, 1, ...} but computes on {steps, features}, so only a single step means the same
  /// to both. The number of weights tells how many features there are; if {n, 1} are n features, it becomes {n, 1, 1}.
  Shape steps_of_juice(Rnn const& rnn, LayerConfig const& config, Shape const& in) {
    NamedTensor const* const tensor = weight_of(config, "-0");
    if (!tensor || in.rank() != 2) return in;
    auto const fits = [&](Shape const& shape) {
      bool const skips = rnn.input_mode == InputMode::skip_input;
      if (skips && shape[shape.rank() == 2 ? 1 : 0] != rnn.hidden_size) return false;
      return parameters_of(rnn, shape)[0].shape.size() == static_cast<Index>(tensor->values.size());
    };
    Shape const one_step{in[0], in[1], 1};
    if (in[0] > 1 && in[1] == 1 && said_ && *said_ == in && fits(one_step)) return *said_ = one_step;
    if (of_juice_ && in[1] > 1 && !(in[0] == 1 && fits(in)))
      throw UnsupportedError{"Juice declares samples {features, steps} = " + coldpress::to_string(in) +
                             " and computes on {steps, features}: beyond one step these contradict each other. "
                             "coldpress's own files say {steps, features}"};
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
                        ", but configuration and inputs require " + to_string(parameter.shape)};
    confirmed_ = true;
  }

  Shape taken(std::optional<Shape> const& expected, bool input, std::string const& place, std::string const& field) {
    FileShape const& file = shapes_[next_++];
    Shape const sample = file.of_sample || rule_ == Rule::all_whole ? whole(file.extents, expected)
                                                                    : split(file.extents, expected, input);
    if (follows_all_) all_said_.push_back({sample, place, field});
    return sample;
  }

  static Shape whole(Extents const& sample, std::optional<Shape> const& expected) {
    if (expected && count(sample) != expected->size())
      throw ConfigError{"a sample of shape " + to_string(sample) + " has " + std::to_string(count(sample)) +
                        " values, but the incoming samples have " + std::to_string(expected->size())};
    return shape_of(sample);
  }

  Shape split(Extents const& file, std::optional<Shape> const& expected, bool input) {
    Extents const sample = without_first(file);
    bool const batch_fits = !batch_ || *batch_ == file[0];
    if (expected) {
      if (count(sample) == expected->size() && batch_fits) return take_batch(file);
      if (rule_ != Rule::batch_always && count(file) == expected->size()) return shape_of(file);
      if (count(sample) != expected->size())
        throw ConfigError{"shape " + to_string(file) + " has " + std::to_string(count(sample)) +
                          " values after its batch of " + std::to_string(file[0]) + ", but the incoming samples have " +
                          std::to_string(expected->size())};
    } else if (input && rule_ == Rule::inputs_whole) {
      return shape_of(file);
    } else if (file.size() == 1 && file[0] != 1) {
      doubtful_ = file;
    }
    if (!batch_fits)
      throw ConfigError{"shape " + to_string(file) + " has a batch of " + std::to_string(file[0]) +
                        ", but others have " + std::to_string(*batch_)};
    return take_batch(file);
  }

  Shape take_batch(Extents const& file) {
    batch_ = file[0];
    return shape_of(without_first(file));
  }

  std::vector<FileShape> const& shapes_;
  std::map<std::string, NamedTensor const*, std::less<>> weights_;
  Rule rule_;
  bool of_juice_;
  Shape* said_ = nullptr;  // the last shape that the configuration gives
  std::size_t next_ = 0;
  std::optional<Index> batch_;
  std::optional<Extents> doubtful_;
  bool confirmed_ = false;
  bool follows_all_ = false;
  std::vector<Said> all_said_;
  std::vector<Shape> seen_;
};

/// The spelling of extents in a text config, such as "[1, 28, 28]".
std::string as_list(std::string extents) {
  extents.front() = '[', extents.back() = ']';
  return extents;
}

}  // namespace

Index drop_batch(FileConfig& file, std::span<NamedTensor const> weights, bool of_juice) {
  auto config = file.config;
  Reading by_rule{file.shapes, weights, Rule::batch_first, of_juice};
  try {
    by_rule.follow(config, {}, "");
    if (by_rule.doubtful() && !by_rule.confirmed()) {
      Extents const& lone = *by_rule.doubtful();
      ConfigError error{"'shape' starts with the batch, and nothing tells whether " + to_string(lone) +
                        " is a batch or a sample: write sampleShape = " + as_list(to_string(lone)) +
                        ", or shape = [1, " + std::to_string(lone[0]) + "] with a batch of 1"};
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

void check_one_meaning(FileConfig const& file, Index batch) {
  auto shapes = file.shapes;
  bool may_differ = false;
  for (FileShape& shape : shapes) {
    if (!shape.of_sample && batch > 1 && shape.extents[0] == batch) shape = {without_first(shape.extents), true};
    may_differ = may_differ || !shape.of_sample;
  }
  if (!may_differ) return;

  auto const error_of = [&](Reading& reading) -> std::optional<ConfigError> {
    auto config = file.config;
    reading.follow_all();
    try {
      reading.follow(config, {}, "");
    } catch (ConfigError const& error) {
      return error;
    }
    return {};
  };
  Reading as_batch{file.shapes, {}, Rule::batch_first, false}, as_sample{shapes, {}, Rule::all_whole, false};
  if (error_of(as_sample)) return;
  auto const in_place = [](ConfigError error, std::string_view layer, std::string_view field) {
    if (!layer.empty()) error.in_layer(layer);
    if (!field.empty()) error.in_field(field);
    return error;
  };
  if (auto const error = error_of(as_batch))
    throw in_place(ConfigError{error->sentence() + "; as shapes of one sample, without a batch, all fit: then write " +
                               "sampleShape instead of shape"},
                   error->layer(), error->field());
  if (as_batch.doubtful() || as_batch.seen() == as_sample.seen()) return;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    auto const& [first, layer, field] = as_batch.said()[i];
    Shape const& second = as_sample.said()[i].sample;
    if (first == second) continue;
    Index const samples = file.shapes[i].extents[0];
    throw in_place(
        ConfigError{"shape " + as_list(to_string(file.shapes[i].extents)) + " can be a batch of " +
                    counted(samples, "sample") + " " + coldpress::to_string(first) + " or one sample " +
                    coldpress::to_string(second) +
                    ", and the networks differ; write sampleShape = " + as_list(coldpress::to_string(first)) +
                    " for the first or sampleShape = " + as_list(coldpress::to_string(second)) + " for the second"},
        layer, field);
  }
}

void check_written(FileConfig file, std::span<NamedTensor const> weights) {
  Reading{file.shapes, weights, Rule::batch_always, false}.follow(file.config, {}, "");
}

}  // namespace coldpress::persist
