// Assigns blobs to the weights of a config by their names, checks their shapes, and says what is missing or left over.
#include <coldpress/convert/weights.hpp>

#include <coldpress/core/finite.hpp>
#include <coldpress/persist/network.hpp>

#include "refusal.hpp"
#include "weights.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace coldpress::convert {
namespace {

using persist::printable;

/// Extents of 1 change no order.
std::vector<Index> without_ones(std::vector<Index> shape) {
  std::erase(shape, 1);
  return shape;
}

std::string described(Blob const& blob) { return "'" + printable(blob.origin) + "' " + persist::text(blob.shape); }

using Weight = dynamic::Executable::Weight;

/// The blobs of each weight by the name that it has in a layer: several names if layers share it, and several blobs if
/// they are parts.
using Assigned = std::vector<std::vector<std::pair<std::string, std::vector<Blob const*>>>>;

void add(Assigned::value_type& uses, std::string const& name, Blob const* blob) {
  auto use = std::ranges::find(uses, name, &Assigned::value_type::value_type::first);
  if (use == uses.end()) use = uses.insert(uses.end(), {name, {}});
  use->second.push_back(blob);
}

Assigned assign(dynamic::LayerConfig const& config, std::vector<Weight> const& weights, std::vector<Blob> const& blobs,
                bool allow_missing, Conversion& conversion) {
  std::set<std::string> layers;
  persist::for_each_layer(config, [&](dynamic::LayerConfig const& layer) { layers.insert(layer.name); });
  std::map<std::string, std::size_t> by_name;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    by_name.emplace(weights[i].name, i);
    for (std::string const& alias : weights[i].aliases) by_name.emplace(alias, i);
    layers.insert(weights[i].layers.begin(), weights[i].layers.end());
  }
  Problems problems{20};
  Assigned assigned(weights.size());
  std::vector<bool> named(weights.size());  // weights for which the file has something, even if it does not fit
  std::set<std::pair<std::string, Index>> seen;
  for (Blob const& blob : blobs) {
    auto const found = by_name.find(blob.layer + blob.suffix);
    if (blob.implied && found == by_name.end()) continue;
    if (!layers.contains(blob.layer)) {
      conversion.unused.push_back(printable(blob.origin) + " " + persist::text(blob.shape));
      continue;
    }
    if (found == by_name.end()) {
      problems.add(described(blob) + " has no place in layer '" + printable(blob.layer) + "' of the config");
      continue;
    }
    auto const& [name, weight] = *found;
    auto const expected = blob.part ? blob.part->shape : persist::extents_of(weights[weight].shape);
    named[weight] = true;
    if (!seen.emplace(name, blob.part ? blob.part->first : 0).second) {
      problems.add(described(blob) + " is a second blob for weight '" + printable(name) + "'");
    } else if (!blob.read) {
      problems.add("nothing in the file is for " + described(blob) + ", a part of weight '" + printable(name) + "'");
    } else if (without_ones(blob.shape) != without_ones(expected)) {
      problems.add(described(blob) + " does not fit " + (blob.part ? "its part of " : "") + "weight '" +
                   printable(name) + "', which has shape " + persist::text(expected));
    } else {
      add(assigned[weight], name, &blob);
    }
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (named[i]) continue;
    if (!allow_missing && !weights[i].name.ends_with("-bias")) {
      problems.add("nothing in the file is for weight '" + printable(weights[i].name) + "' " +
                   persist::text(persist::extents_of(weights[i].shape)));
    }
    conversion.initialised.push_back(weights[i].name);
  }
  if (problems.count() > 0) {
    throw MismatchError{problems.text() + listed("; no layer is called as these in the file: ", conversion.unused)};
  }
  return assigned;
}

/// The values that the blobs have of a weight of that size.
std::vector<float> values_of(std::vector<Blob const*> const& blobs, Index size) {
  std::vector<float> values(static_cast<std::size_t>(size));
  for (Blob const* const blob : blobs) {
    std::span<float> part = values;
    if (blob->part) {
      Index count = 1;
      for (Index const extent : blob->part->shape) count *= extent;
      part = part.subspan(static_cast<std::size_t>(blob->part->first), static_cast<std::size_t>(count));
    }
    blob->read(part);
    if (Index const bad = first_not_finite<float>(part); bad >= 0) {
      throw DataError{"'" + printable(blob->origin) + "': value " + std::to_string(bad) +
                      " is infinite, NaN or beyond the range of a float"};
    }
  }
  return values;
}

}  // namespace

Conversion fill(dynamic::LayerConfig config, std::vector<Blob> const& blobs, Options const& options) {
  Conversion conversion;
  auto const weights = dynamic::weights_of(config, options.input);
  auto const assigned = assign(config, weights, blobs, options.allow_missing, conversion);
  std::optional<dynamic::Layer> initial;  // has the values of weights for which there are no blobs
  if (!conversion.initialised.empty())
    initial.emplace(dynamic::Layer::from_config(dynamic::Backend{"cpu"}, config, options.input, options.seed));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    std::vector<float> first;
    for (auto const& [name, parts] : assigned[i]) {
      auto values = values_of(parts, weights[i].shape.size());
      for (Blob const* const blob : parts) conversion.filled.emplace_back(name, printable(blob->origin));
      if (first.empty()) {
        first = std::move(values);
      } else if (values != first) {
        throw MismatchError{"'" + printable(parts.front()->origin) + "' is shared with '" +
                            printable(assigned[i].front().second.front()->origin) + "', but has other values"};
      }
    }
    if (assigned[i].empty()) {
      first.resize(static_cast<std::size_t>(weights[i].shape.size()));
      initial->executable().read(dynamic::Executable::data, static_cast<int>(i), first);
    }
    conversion.model.weights.push_back(persist::tensor_of(weights[i], std::move(first)));
  }
  conversion.model.name = config.name;
  conversion.model.config = std::move(config);
  if (options.input) dynamic::declare_input(conversion.model.config, *options.input);
  return conversion;
}

}  // namespace coldpress::convert
