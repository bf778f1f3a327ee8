// Names the arrays of data after the inputs of a network that takes several of each sample.
#include "input_arrays.hpp"

#include <coldpress/core/to_string.hpp>

namespace coldpress::command {

namespace {
/// The inputs of samples, if there are several.
std::vector<train::NetworkInput> inputs_of_samples(dynamic::LayerConfig const& network, train::InputsFor purpose) {
  auto inputs = train::inputs_of(train::network_inputs(network, purpose), false);
  if (inputs.size() < 2) inputs.clear();
  return inputs;
}
}  // namespace

std::string data_for(std::string const& spec, dynamic::LayerConfig const& network, train::InputsFor purpose,
                     std::string const& file) {
  if (!spec.starts_with("npz:")) return spec;
  std::vector<std::string> names;
  with_context(
      [&] {
        for (auto const& input : inputs_of_samples(network, purpose)) names.push_back(input.name);
      },
      [&](Error& error) { error.in_file(file); });
  if (names.empty()) return spec;
  std::pair<std::string, std::string> const arrays[] = {{"x", data::list_for_option(names)}};
  return data::with_defaults(spec, arrays);
}

std::optional<Shape> input_for(dynamic::LayerConfig const& network, data::Source const& source,
                               train::InputsFor purpose) {
  if (inputs_of_samples(network, purpose).empty()) return source.sample_shape();
  return {};
}

std::string shape_text(data::Source const& source) {
  auto const& arrays = source.description().sample_arrays;
  if (arrays.empty()) return to_string(source.sample_shape());
  std::string text;
  for (std::size_t k = 0; k < arrays.size(); ++k)
    text += (k == 0 ? "" : k + 1 == arrays.size() ? " and " : ", ") + arrays[k].name + " " + to_string(arrays[k].shape);
  return text;
}

}  // namespace coldpress::command
