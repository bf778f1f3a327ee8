// What a .nam file says besides its network, as the metadata of a model. It needs no JSON.
#include <coldpress/convert/nam.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace coldpress::convert {
namespace {

constexpr std::string_view version_key = "nam_version", others_key = "nam_metadata", name_key = "name",
                           states_key = "initial_states";

struct Number {
  std::string_view key;
  std::optional<double> NamMetadata::*value;
};
constexpr Number kept_numbers[] = {{"sample_rate", &NamMetadata::sample_rate},
                                   {"loudness", &NamMetadata::loudness},
                                   {"gain", &NamMetadata::gain},
                                   {"input_level_dbu", &NamMetadata::input_level_dbu},
                                   {"output_level_dbu", &NamMetadata::output_level_dbu}};

/// The fewest digits from which the number can be read back.
std::string text_of(auto number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

/// Takes a number from the beginning of a text.
template <class T>
T take(std::string_view& text) {
  T number{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) {
    constexpr std::size_t shown = 40;
    throw FormatError{"'" + persist::printable(text.substr(0, shown)) + (text.size() > shown ? "..." : "") +
                      "' is not a finite number"};
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}
double number_in(std::string_view text) {
  std::string_view rest = text;
  auto const number = take<double>(rest);
  if (!rest.empty()) throw FormatError{"'" + persist::printable(rest.substr(0, 40)) + "' follows the number"};
  return number;
}
std::vector<float> numbers_in(std::string_view text) {
  std::vector<float> all;
  while (true) {
    all.push_back(take<float>(text));
    if (text.empty()) return all;
    if (!text.starts_with(' ')) throw FormatError{"'" + persist::printable(text.substr(0, 40)) + "' follows a number"};
    text.remove_prefix(1);
  }
}

}  // namespace

std::vector<persist::Entry> entries_of(NamMetadata const& metadata) {
  std::vector<persist::Entry> entries;
  auto const add = [&](std::string_view key, std::string value) {
    entries.push_back({std::string{key}, std::move(value)});
  };
  if (metadata.name) add(name_key, persist::printable(*metadata.name));
  for (auto const& [key, value] : kept_numbers) {
    if (metadata.*value) add(key, text_of(*(metadata.*value)));
  }
  std::string states;
  for (float const state : metadata.initial_states) states += (states.empty() ? "" : " ") + text_of(state);
  if (!states.empty()) add(states_key, states);
  if (!metadata.version.empty()) add(version_key, persist::printable(metadata.version));
  if (metadata.others == "{}") return entries;
  std::string others;  // in JSON, all control characters but this are escaped
  for (char const c : metadata.others) c == '\x7f' ? others += "\\u007f" : others += c;
  add(others_key, others);
  return entries;
}

NamMetadata nam_metadata_of(persist::Model const& model) {
  NamMetadata metadata;
  for (persist::Entry const& entry : model.metadata) {
    std::string const &key = entry.key, &value = entry.value;
    with_context(
        [&] {
          if (key == name_key) metadata.name = value;
          if (key == version_key) metadata.version = value;
          if (key == others_key) metadata.others = value;
          if (key == states_key) metadata.initial_states = numbers_in(value);
          if (auto const found = std::ranges::find(kept_numbers, key, &Number::key); found != std::end(kept_numbers))
            metadata.*(found->value) = number_in(value);
          if (key == "sample_rate" &&
              !(*metadata.sample_rate > 0 && *metadata.sample_rate <= NamMetadata::most_sample_rate))
            throw FormatError{"'" + persist::printable(value.substr(0, 40)) + "' is not a number of Hz above 0"};
        },
        [&](Error& error) { error.in_field("metadata '" + persist::printable(key) + "'"); });
  }
  return metadata;
}

void write_nam(std::string const& path, persist::Model const& model) { write_nam(path, model, nam_metadata_of(model)); }

}  // namespace coldpress::convert
