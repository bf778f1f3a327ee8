// Puts a .nam file's network and metadata into a model, and writes those of a model as such a file.
#include <coldpress/convert/nam.hpp>

#include <coldpress/core/finite.hpp>
#include <coldpress/core/to_string.hpp>
#include <coldpress/data/atomic_file.hpp>

#include "nam_parse.hpp"
#include "nam_write.hpp"
#include "weights.hpp"
#include "whole_network.hpp"

#include <cmath>
#include <span>

namespace coldpress::convert {
namespace {

using nam::Json, nam::Node;

struct Field {
  char const* key;
  std::optional<double> NamMetadata::*value;
};
constexpr std::array<Field, 4> numbers{{{"loudness", &NamMetadata::loudness},
                                        {"gain", &NamMetadata::gain},
                                        {"input_level_dbu", &NamMetadata::input_level_dbu},
                                        {"output_level_dbu", &NamMetadata::output_level_dbu}}};

/// Moves the metadata out of `parsed`, so that there is no copy of it.
NamMetadata take_metadata(nam::Parsed& parsed) {
  NamMetadata metadata{.version = parsed.version, .sample_rate = parsed.sample_rate};
  Json& others = parsed.metadata;
  Node const all{others, "metadata"};
  for (Field const& field : numbers) {
    auto const given = all.find(field.key);
    if (!given || given->is_null()) continue;
    metadata.*field.value = given->number();
    others.erase(field.key);
  }
  if (auto const given = all.find("name"); given && given->is_text()) {
    metadata.name = given->text();
    others.erase("name");
  }
  metadata.others = others.dump();
  auto const& states = parsed.network.states;
  if (std::ranges::any_of(states, [](float state) { return state != 0; })) metadata.initial_states = states;
  return metadata;
}

Shape input_of(nam::Network const& network, std::optional<Shape> const& given) {
  Index const channels = network.inputs();
  auto const* const wavenet = std::get_if<nam::WaveNet>(&network.kind);
  // The output of an LSTM has steps, so that all that is added to it must have them, too.
  bool const steps = wavenet && wavenet->condition && std::holds_alternative<nam::Lstm>(wavenet->condition->kind);
  if (!given) return steps ? Shape{1, channels} : Shape{channels};
  if (given->rank() < 1 || given->rank() > 2 || given->last() != channels || (steps && given->rank() == 1)) {
    throw ShapeError{"the input is " + to_string(*given) + ", but the network reads {steps, " +
                     std::to_string(channels) + "}"};
  }
  return *given;
}

nam::Weights weights_of(persist::Model const& model) {
  auto const wanted = persist::wanted(model);
  auto const values = persist::copies(persist::in_order(model, wanted), wanted);
  nam::Weights weights;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    persist::check_finite(wanted[i], values[i]);
    weights.emplace(wanted[i].name, values[i]);
    for (std::string const& alias : wanted[i].aliases) weights.emplace(alias, values[i]);
  }
  return weights;
}

nam::Beside beside(NamMetadata const& metadata) {
  Json json;
  with_context([&] { json = nam::parse_json(metadata.others); }, [](Error& error) { error.in_field("metadata"); });
  if (!json.is_object()) Node{json, "metadata"}.expected("an object");
  if (metadata.name) {
    Json const name = *metadata.name;
    try {
      static_cast<void>(name.dump());
    } catch (Json::exception const&) {
      throw DataError{"the name '" + persist::printable(*metadata.name) + "' is not UTF-8"};
    }
    json["name"] = name;
  }
  for (Field const& field : numbers) {
    auto const& value = metadata.*field.value;
    if (value && !std::isfinite(*value)) throw DataError{std::string{field.key} + " is infinite or NaN"};
    if (value) json[field.key] = *value;
  }
  if (metadata.sample_rate && !std::isfinite(*metadata.sample_rate)) throw DataError{"sample_rate is infinite or NaN"};
  return {metadata.sample_rate, std::move(json)};
}

}  // namespace

NamModel read_nam(std::string const& path, NamOptions const& options) {
  if (!(options.size >= 0 && options.size <= 1)) throw ConfigError{"the size of a model is from 0 to 1"};
  return with_file(path, [&] {
    Json const json = json::read_json(path);
    auto parsed = nam::parse_model(Node{json, ""}, options.size);
    NamModel result{.model = {}, .metadata = take_metadata(parsed), .sizes = parsed.sizes};
    auto const input = input_of(parsed.network, options.input);
    auto config = nam::to_config(parsed.network, input, parsed.network.weights);
    result.model = model_of(std::move(config), parsed.network.weights);
    result.model.name = result.metadata.name.value_or("network");
    result.model.metadata = entries_of(result.metadata);
    return result;
  });
}

void write_nam(std::string const& path, persist::Model const& model, NamMetadata const& metadata) {
  if (Index const bad = first_not_finite<float>(metadata.initial_states); bad >= 0)
    throw DataError{"initial state " + std::to_string(bad) + " is infinite or NaN"};
  auto const weights = weights_of(model);
  auto network = nam::to_network(model.config, weights);
  network.states = metadata.initial_states;
  std::string const text = nam::text_of(network, weights, beside(metadata));
  try {
    static_cast<void>(nam::parse_model(Node{nam::parse_json(text), ""}, 1));
  } catch (FormatError const& error) {
    throw UnsupportedError{std::string{"a .nam file cannot have it: "} + error.what()};
  }
  with_file(path, [&] { write_atomically(path, std::as_bytes(std::span{text})); });
}

}  // namespace coldpress::convert
