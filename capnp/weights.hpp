// Finds the weights that a network needs in a file, by their names.
#pragma once

#include <coldpress/core/finite.hpp>
#include <coldpress/persist/network.hpp>

#include <map>
#include <span>
#include <string_view>

namespace coldpress::persist {

inline std::vector<Index> without_leading_ones(std::vector<Index> shape) {
  while (shape.size() > 1 && shape.front() == 1) shape.erase(shape.begin());
  return shape;
}
inline std::vector<Index> extents_of(Shape const& shape) { return {shape.extents, shape.extents + shape.rank()}; }

inline std::string text(std::vector<Index> const& shape) {
  std::string s = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) s += (i ? ", " : "") + std::to_string(shape[i]);
  return s + "]";
}

/// A weight as it is written.
inline NamedTensor tensor_of(dynamic::Executable::Weight const& weight, std::vector<float> values) {
  return {weight.name, dynamic::juice_extents(weight.shape), std::move(values)};
}

[[noreturn]] inline void refuse(dynamic::Executable::Weight const& weight, std::string sentence) {
  FormatError error{std::move(sentence)};
  error.in_field("weight '" + weight.name + "'");
  throw error;
}

/// Throws DataError for a value that is infinite or NaN. Files of other formats have none, because what reads them
/// refuses it.
inline void check_finite(dynamic::Executable::Weight const& weight, dynamic::Values values) {
  if (Index const bad = first_not_finite(values); bad >= 0)
    throw DataError{"weight '" + printable(weight.name) + "': value " + std::to_string(bad) + " is infinite or NaN"};
}

/// f(config) for all layers of a network, including those inside containers.
void for_each_layer(dynamic::LayerConfig const& config, auto const& f) {
  if (auto const* container = std::get_if<dynamic::SequentialConfig>(&config.layer_type)) {
    for (auto const& child : container->layers) for_each_layer(child, f);
  } else {
    f(config);
  }
}

/// Tensors, to be looked up by name.
template <class Tensor>
class ByName {
 public:
  explicit ByName(std::span<Tensor> tensors) {
    for (Tensor& tensor : tensors) by_name_.emplace(tensor.name, &tensor);
  }
  /// Null if there is none.
  Tensor* find(std::string_view name) const {
    auto const found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  /// The tensor of a layer's weight, under the name that the config gives the weight, or under the weight's own name.
  Tensor* find(dynamic::LayerConfig const& config, std::string const& suffix) const {
    Tensor* const given = config.params.empty() ? nullptr : find(config.params[0].name + suffix.substr(2));
    return given ? given : find(config.name + suffix);
  }
  void drop(Tensor const& tensor) { by_name_.erase(tensor.name); }
  Tensor const* first() const { return by_name_.empty() ? nullptr : by_name_.begin()->second; }

 private:
  std::map<std::string_view, Tensor*> by_name_;
};

/// Returns the tensor of each weight in turn, by name. Tensors that are left over at the end are an error.
class Tensors {
 public:
  explicit Tensors(std::vector<NamedTensor> const& tensors) : left_(std::span{tensors}) {}
  /// Drops biases that Juice saves for layers without a bias: for a convolution they have the output's shape, and for a
  /// recurrent layer they are not used.
  void drop_juice_biases(dynamic::LayerConfig const& network) {
    for_each_layer(network, [&](auto const& config) {
      auto const* const convolution = std::get_if<Convolution>(&config.layer_type);
      bool const recurrent = std::holds_alternative<Rnn>(config.layer_type);
      if (!recurrent && (!convolution || convolution->has_bias)) return;
      NamedTensor const* const bias = left_.find(config, "-0-bias");
      if (bias && (recurrent || bias->shape.size() == 4)) left_.drop(*bias);
    });
  }
  /// The values of a weight. Empty for a missing bias, which is zero: Leaf had no biases.
  dynamic::Values take(dynamic::Executable::Weight const& weight, std::string const& name,
                       std::string const& other_name) {
    NamedTensor const* tensor = left_.find(name);
    if (!tensor && !other_name.empty()) tensor = left_.find(other_name);
    if (!tensor) {
      if (name.ends_with("-bias")) return {};
      refuse(weight, "is missing");
    }
    if (without_leading_ones(tensor->shape) != without_leading_ones(extents_of(weight.shape)))
      refuse(weight, "has shape " + text(tensor->shape) + ", but the layer expects " + text(extents_of(weight.shape)));
    if (static_cast<Index>(tensor->values.size()) != weight.shape.size())
      refuse(weight, "has " + std::to_string(tensor->values.size()) + " values, but its shape " + text(tensor->shape) +
                         " requires " + std::to_string(weight.shape.size()));
    left_.drop(*tensor);
    return tensor->values;
  }
  bool has(std::string const& name) const { return left_.find(name) != nullptr; }
  void expect_empty() const {
    if (left_.first()) throw FormatError{"weight '" + left_.first()->name + "' belongs to no layer"};
  }

 private:
  ByName<NamedTensor const> left_;
};

/// The shape of a sample, if the config does not give it.
std::optional<Shape> input_of(Model const& model, std::optional<Shape> input);
inline std::vector<dynamic::Executable::Weight> wanted(Model const& model) {
  return dynamic::weights_of(model.config, input_of(model, {}));
}

/// The places in the model of each weight's values; empty for weights that are zero.
std::vector<dynamic::Values> in_order(Model const& model, std::vector<dynamic::Executable::Weight> const& weights);
/// The values themselves, with zeros for empty ones.
inline std::vector<std::vector<float>> copies(std::vector<dynamic::Values> const& all,
                                              std::vector<dynamic::Executable::Weight> const& weights) {
  std::vector<std::vector<float>> copied;
  for (std::size_t i = 0; i < all.size(); ++i) {
    copied.emplace_back(all[i].begin(), all[i].end());
    copied.back().resize(static_cast<std::size_t>(weights[i].shape.size()));
  }
  return copied;
}

}  // namespace coldpress::persist
