// WaveNets that can be slimmed: with fewer channels, their weights are the first of each row and column.
#include "nam_parse.hpp"

#include <algorithm>
#include <cmath>

namespace coldpress::convert::nam {
namespace {

void check_slimmable(Node const& at, LayerArray const& array) {
  if (array.head_taps != 1) at.refuse<UnsupportedError>("a head of several taps cannot be slimmed");
  if (array.groups_input != 1 || array.groups_mixin != 1 || array.layer1x1.groups != 1 || array.head1x1.groups != 1 ||
      std::ranges::any_of(array.films, [](Film const& film) { return film.active && film.groups != 1; }))
    at.refuse<UnsupportedError>("convolutions with groups cannot be slimmed");
  for (Layer const& layer : array.layers) {
    if (!layer.activation.slopes.empty() || (layer.gating != Gating::none && !layer.secondary.slopes.empty()))
      at.refuse<UnsupportedError>("activations with a slope for each channel cannot be slimmed");
  }
}

}  // namespace

std::vector<Index> parse_allowed(Node const& array, Index channels) {
  auto const slimmable = array.find_value("slimmable");
  if (!slimmable || !slimmable->is_object()) return {};
  auto const method = slimmable->find_value("method");
  if (!method || (method->is_text() && method->text().empty())) return {};
  if (method->text() != "slice_channels_uniform")
    method->refuse<UnsupportedError>("got " + described(method->json()) +
                                     ", and only \"slice_channels_uniform\" is known");
  std::vector<Index> allowed;
  auto const kwargs = slimmable->find_value("kwargs");
  if (auto const given = kwargs ? kwargs->find_value("allowed_channels") : std::nullopt) {
    for (std::size_t i = 0; i < given->size(); ++i) {
      allowed.push_back((*given)[i].integer(1, channels));
      if (i > 0 && allowed[i] <= allowed[i - 1])
        (*given)[i].expected("more than the " + std::to_string(allowed[i - 1]) + " before it");
    }
    if (allowed.empty() || allowed.back() != channels)
      given->refuse("its last entry must be " + std::to_string(channels) + ", the number of channels");
  } else {
    for (Index c = 1; c <= channels; ++c) allowed.push_back(c);
  }
  return allowed;
}

void slim(WaveNet& network, Node const& arrays, std::vector<std::vector<Index>> const& allowed, double size,
          std::vector<double>& sizes) {
  for (auto const& counts : allowed) {
    for (std::size_t i = 1; i < counts.size(); ++i)
      sizes.push_back(static_cast<double>(i) / static_cast<double>(counts.size()));
  }
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::vector<Index> channels;
  for (std::size_t a = 0; a < allowed.size(); ++a) {
    auto const count = allowed[a].size();
    auto const place = static_cast<std::size_t>(std::floor(size * static_cast<double>(count)));
    channels.push_back(count == 0 ? network.arrays[a].channels : allowed[a][std::min(place, count - 1)]);
  }
  auto const same = [](Index count, LayerArray const& array) { return count == array.channels; };
  if (std::ranges::equal(channels, network.arrays, same)) return;
  network.whole = network.arrays;
  for (std::size_t a = 0; a < channels.size(); ++a) {
    LayerArray& array = network.arrays[a];
    check_slimmable(arrays[a], array);
    array.bottleneck =
        array.layer1x1.active ? std::max<Index>(1, array.bottleneck * channels[a] / array.channels) : channels[a];
    array.channels = channels[a];
    if (a > 0) array.inputs = channels[a - 1];
    if (a + 1 < channels.size()) array.head_outputs = channels[a + 1];
    if (a > 0 && array.skips() != network.arrays[a - 1].head_outputs) {
      arrays[a].refuse<UnsupportedError>("slimmed to " + std::to_string(channels[a]) +
                                         " channels, its layers give the head " + std::to_string(array.skips()) +
                                         ", and the array before it " +
                                         std::to_string(network.arrays[a - 1].head_outputs));
    }
  }
}

}  // namespace coldpress::convert::nam
