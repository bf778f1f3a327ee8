// Looks for the tensors of each weight under every name that PyTorch's modules may give it, and writes them so.
#include "state_dict.hpp"

#include <coldpress/core/to_string.hpp>

#include "name_map.hpp"
#include "refusal.hpp"
#include "torch_layout.hpp"
#include "weights.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace coldpress::convert {
namespace {

using persist::printable;
using Weight = dynamic::Executable::Weight;

/// The layers of a config by name.
using Layers = std::map<std::string, dynamic::LayerType const*, std::less<>>;

Layers layers_of(dynamic::LayerConfig const& config) {
  Layers layers;
  persist::for_each_layer(config,
                          [&](dynamic::LayerConfig const& layer) { layers.emplace(layer.name, &layer.layer_type); });
  return layers;
}

/// One weight of one layer, and where its values are in PyTorch's modules.
struct Use {
  std::string layer, name;                // the weight's name, which begins with the layer's
  std::size_t weight = 0;                 // its number
  std::vector<torch::Place> places = {};  // none if PyTorch does not have it

  std::string suffix() const { return name.substr(layer.size()); }
};

std::vector<Use> uses_of(std::vector<Weight> const& weights, Layers const& layers) {
  std::vector<Use> uses;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    for (std::size_t use = 0; use < weights[i].layers.size(); ++use) {
      Use one{weights[i].layers[use], use == 0 ? weights[i].name : weights[i].aliases[use - 1], i};
      if (auto const layer = layers.find(one.layer); layer != layers.end())
        one.places = torch::places_of(*layer->second, one.suffix(), weights[i].shape);
      uses.push_back(std::move(one));
    }
  }
  return uses;
}

/// Whether a Linear makes the queries, keys and values of nn.MultiheadAttention, which has no module for it but
/// in_proj_weight and in_proj_bias: it is called X.in_proj, beside an attention called X or X.something.
bool projects_for_attention(std::string_view name, Layers const& layers) {
  constexpr std::string_view end = ".in_proj";
  if (!name.ends_with(end)) return false;
  std::string_view const module = name.substr(0, name.size() - end.size());
  return std::ranges::any_of(layers, [&](auto const& layer) {
    std::string_view const other = layer.first;
    return std::holds_alternative<ScaledDotProductAttention>(*layer.second) && other.starts_with(module) &&
           (other.size() == module.size() || other[module.size()] == '.');
  });
}

std::string name_of(Use const& use, torch::Place const& place, Layers const& layers) {
  return use.layer + (projects_for_attention(use.layer, layers) ? "_" : ".") + place.parameter;
}

struct Target {
  Use const* use;
  torch::Place const* place;  // null: a tensor with our own name and layout
};
using Targets = std::map<std::string, Target, std::less<>>;

/// Every name by which a file may call the weights.
Targets targets_of(std::vector<Use> const& uses) {
  Targets targets;
  for (Use const& use : uses) {
    for (torch::Place const& place : use.places)
      targets.emplace(use.layer + "." + place.parameter, Target{&use, &place});
  }
  for (Use const& use : uses) {
    targets.emplace(use.name, Target{&use, nullptr});
    for (torch::Place const& place : use.places) {
      targets.emplace(use.layer + "_" + place.parameter, Target{&use, &place});
      if (place.parameter == "weight") targets.emplace(use.layer, Target{&use, &place});
    }
  }
  return targets;
}

std::function<void(std::span<float>)> reader_of(Tensor const& tensor, torch::Place const& place) {
  if (!place.transposed) return tensor.read;
  return [read = tensor.read, rows = place.shape[0], columns = place.shape[1]](std::span<float> values) {
    read(values);
    std::ranges::copy(torch::transposed(values, columns, rows), values.begin());
  };
}

/// A blob for a tensor of a module.
Blob blob_of(Tensor const& tensor, Use const& use, torch::Place const& place) {
  Blob blob{.layer = use.layer,
            .suffix = place.suffix,
            .origin = tensor.name,
            .shape = tensor.shape,
            .read = reader_of(tensor, place)};
  if (place.transposed) {
    std::ranges::reverse(blob.shape);
    blob.origin += " (transposed)";
  }
  if (!place.whole) blob.part = Blob::Part{place.first, place.shape};
  return blob;
}

Blob constant(Use const& use, torch::Place const& place, std::string origin, float value) {
  Blob blob = blob_of({.name = origin + ": " + std::to_string(static_cast<int>(value)),
                       .shape = place.shape,
                       .read = [value](std::span<float> values) { std::ranges::fill(values, value); }},
                      use, place);
  blob.implied = true;
  return blob;
}

/// What a module without some of its tensors means: a normalisation that is not affine, a recurrent layer without
/// biases. What else is missing of a weight that is there in part is an error.
void complete(std::vector<Blob>& blobs, std::vector<Use> const& uses, std::set<torch::Place const*> const& found) {
  auto const has = [&](std::string const& layer, std::string_view parameter) {
    return std::ranges::any_of(uses, [&](Use const& use) {
      return use.layer == layer && std::ranges::any_of(use.places, [&](torch::Place const& place) {
               return place.parameter == parameter && found.contains(&place);
             });
    });
  };
  for (Use const& use : uses) {
    bool const some =
        std::ranges::any_of(use.places, [&](torch::Place const& place) { return found.contains(&place); });
    bool const normalised = has(use.layer, "running_mean");
    for (torch::Place const& place : use.places) {
      if (found.contains(&place)) continue;
      bool const bias = place.parameter.starts_with("bias");
      if (place.whole) {
        if (normalised && (bias || place.parameter == "weight") && !has(use.layer, bias ? "weight" : "bias"))
          blobs.push_back(constant(use, place, use.layer + " without a " + place.parameter, bias ? 0 : 1));
        continue;
      }
      if (!some) continue;
      std::string const end = place.parameter.substr(place.parameter.rfind("_l"));
      if (bias && !has(use.layer, "bias_ih" + end) && !has(use.layer, "bias_hh" + end)) {
        blobs.push_back(constant(use, place, use.layer + " without " + place.parameter, 0));
      } else {
        Blob missing =
            blob_of({.name = use.layer + "." + place.parameter, .shape = place.shape, .read = {}}, use, place);
        blobs.push_back(std::move(missing));
      }
    }
  }
}

/// Throws MismatchError if the tensor is one of a GRU, and the layer is a GRU that PyTorch does not have.
void refuse_reset_before(std::string_view tensor, Layers const& layers) {
  std::size_t const dot = tensor.rfind('.');
  if (dot == tensor.npos || !tensor.substr(dot + 1).starts_with("weight_ih_l")) return;
  auto const layer = layers.find(tensor.substr(0, dot));
  auto const* const rnn = layer != layers.end() ? std::get_if<Rnn>(layer->second) : nullptr;
  if (!rnn || !resets_before(rnn->rnn_type, rnn->reset_after)) return;
  MismatchError error{"is false, but PyTorch's GRUs apply the reset gate after the product with h"};
  error.in_layer(layer->first), error.in_field("resetAfter");
  throw error;
}

}  // namespace

Conversion fill_from_state_dict(dynamic::LayerConfig config, std::vector<Tensor> const& tensors,
                                Options const& options) {
  auto const weights = dynamic::weights_of(config, options.input);
  Layers const layers = layers_of(config);
  auto const uses = uses_of(weights, layers);
  Targets const targets = targets_of(uses);
  Renaming ours{options.names, Renaming::to_ours};
  std::vector<Blob> blobs;
  std::set<torch::Place const*> found;
  std::vector<bool> given(weights.size());
  std::vector<std::string> idle, unreadable;  // tensors that are for no weight
  for (Tensor const& tensor : tensors) {
    auto const name = ours(tensor.name);
    auto const target = name ? targets.find(*name) : targets.end();
    if (target != targets.end()) {
      auto const& [use, place] = target->second;
      if (tensor.unreadable) std::rethrow_exception(tensor.unreadable);
      given[use->weight] = true;
      if (place) {
        found.insert(place);
        blobs.push_back(blob_of(tensor, *use, *place));
      } else {
        for (torch::Place const& one : use->places) found.insert(&one);
        blobs.push_back({use->layer, use->suffix(), tensor.name, tensor.shape, tensor.read});
      }
      continue;
    }
    if (name) refuse_reset_before(*name, layers);
    if (tensor.unreadable) {
      unreadable.push_back(printable(tensor.name) + ", which cannot be read,");
      continue;
    }
    std::string const unknown = name.value_or("");
    auto const dot = std::min(unknown.rfind('.'), unknown.size());
    std::string const layer = unknown.substr(0, dot), parameter = unknown.substr(std::min(dot + 1, unknown.size()));
    auto const kind = layers.find(layer);
    if (kind != layers.end() && torch::is_ignored(*kind->second, parameter)) continue;
    if (name) idle.push_back("'" + printable(tensor.name) + "' " + persist::text(tensor.shape));
    blobs.push_back({layer, "." + parameter, tensor.name, tensor.shape, tensor.read});
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!given[i])
      missing.push_back("'" + printable(weights[i].name) + "' " + persist::text(persist::extents_of(weights[i].shape)));
  }
  ours.expect_all_applied(listed("; tensors that are for no weight: ", idle) +
                          listed("; weights without a tensor: ", missing));
  complete(blobs, uses, found);
  Conversion conversion = fill(std::move(config), blobs, options);
  conversion.unused.insert(conversion.unused.end(), unreadable.begin(), unreadable.end());
  return conversion;
}

std::vector<persist::NamedTensor> state_dict_of(persist::Model const& model, NameMap const& names) {
  auto const weights = persist::wanted(model);
  auto const values = persist::copies(persist::in_order(model, weights), weights);
  for (std::size_t i = 0; i < weights.size(); ++i) persist::check_finite(weights[i], values[i]);
  Layers const layers = layers_of(model.config);
  Renaming theirs{names, Renaming::to_theirs};
  std::map<std::string, persist::NamedTensor> tensors;
  std::string refused;
  auto const add = [&](std::string const& name, std::vector<Index> shape, std::span<float const> part) {
    if (!tensors.emplace(name, persist::NamedTensor{name, std::move(shape), {part.begin(), part.end()}}).second)
      throw MismatchError{"two weights would be called '" + printable(name) + "'"};
  };
  for (Use const& use : uses_of(weights, layers)) {
    std::span<float const> const all = values[use.weight];
    if (auto const given = theirs.exactly(use.name)) {
      add(*given, persist::extents_of(weights[use.weight].shape), all);
      continue;
    }
    for (torch::Place const& place : use.places) {
      auto const part = all.subspan(static_cast<std::size_t>(place.first), static_cast<std::size_t>(place.size()));
      std::string const name = *theirs(name_of(use, place, layers));
      if (place.transposed)
        add(name, {place.shape[1], place.shape[0]}, torch::transposed(part, place.shape[0], place.shape[1]));
      else
        add(name, place.shape, part);
    }
    if (use.places.empty())
      refused += (refused.empty() ? "'" : ", '") + printable(use.name) + "' " + to_string(weights[use.weight].shape);
  }
  if (!refused.empty()) throw UnsupportedError{"no module of PyTorch has the weights: " + refused};
  std::vector<persist::NamedTensor> sorted;
  for (auto& [name, tensor] : tensors) sorted.push_back(std::move(tensor));
  return sorted;
}

}  // namespace coldpress::convert
