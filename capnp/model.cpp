// Writes a network's file, with metadata, classes and transforms, and reads it back.
#include <coldpress/persist/model.hpp>

#include <coldpress/core/counted.hpp>
#include <coldpress/data/atomic_file.hpp>

#include "content.hpp"
#include "message.hpp"
#include "transforms.hpp"

#include <set>

namespace coldpress::persist {
namespace {

void check_number_of_metadata(std::size_t count) {
  if (count > max_metadata)
    throw FormatError{"has " + counted(count, "entry") + ", at most " + std::to_string(max_metadata) + " are allowed"};
}

void check_metadata(std::vector<Entry> const& metadata) {
  std::set<std::string_view> keys;
  for (std::size_t i = 0; i < metadata.size(); ++i) {
    std::string const& key = metadata[i].key;
    in_field("metadata[" + std::to_string(i) + "].key", [&] {
      check_text(key);
      if (key.empty()) throw FormatError{"is empty"};
      if (!keys.insert(key).second) throw FormatError{"'" + printable(key) + "' is there twice"};
    });
    in_field("metadata[" + std::to_string(i) + "].value", [&] { check_text(metadata[i].value); });
  }
}

}  // namespace

Model read_model(schema::Layer::Reader file, bool of_juice) {
  Model model{.name = text_of(file.getName())};
  with_context([&] { check_text(model.name); }, [](Error& error) { error.in_field("name"); });
  if (!file.hasConfig()) throw FormatError{"has no configuration of a network"};
  model.weights = read_tensors(file.getWeightsData(), "weightsData");
  auto config = read_config(file.getConfig());
  model.batch = drop_batch(config, model.weights, of_juice);
  model.config = std::move(config.config);
  model.transforms = read_transforms(file.getTransforms());
  data::check_fitted(model.transforms);
  in_field("classes", [&] {
    for (auto const name : file.getClasses()) check_text(model.classes.emplace_back(text_of(name)));
  });
  in_field("metadata", [&] { check_number_of_metadata(file.getMetadata().size()); });
  for (auto const entry : file.getMetadata())
    model.metadata.push_back({text_of(entry.getKey()), text_of(entry.getValue())});
  check_metadata(model.metadata);
  return model;
}

void write_model(schema::Layer::Builder file, Model const& model) {
  with_context([&] { check_text(model.name); }, [](Error& error) { error.in_field("name"); });
  file.setName(text_for(model.name));
  write_config(file.initConfig(), model.config, model.batch);
  check_written(read_config(file.asReader().getConfig()), model.weights);
  write_tensors(file.initWeightsData(list_size(model.weights.size())), model.weights, "weightsData");
  data::check_fitted(model.transforms);
  if (!model.transforms.empty())
    write_transforms(file.initTransforms(list_size(model.transforms.size())), model.transforms);
  in_field("metadata", [&] { check_number_of_metadata(model.metadata.size()); });
  check_metadata(model.metadata);
  if (!model.metadata.empty()) {
    auto metadata = file.initMetadata(list_size(model.metadata.size()));
    for (unsigned i = 0; i < metadata.size(); ++i) {
      metadata[i].setKey(text_for(model.metadata[i].key));
      metadata[i].setValue(text_for(model.metadata[i].value));
    }
  }
  if (model.classes.empty()) return;
  in_field("classes", [&] {
    auto classes = file.initClasses(list_size(model.classes.size()));
    for (unsigned i = 0; i < classes.size(); ++i) {
      check_text(model.classes[i]);
      classes.set(i, text_for(model.classes[i]));
    }
  });
}

Model parse_model(std::span<std::byte const> bytes, std::string const& file) {
  return with_file(file, [&] {
    return translated([&] {
      Message message{bytes};
      if (message.starts_with_struct()) throw OtherKindError{"is a checkpoint or a training, not a model"};
      auto const root = message.root<schema::Layer>();
      bool const checksummed = verify_checksum<schema::Layer>(root);
      Model model = read_model(root, !checksummed && may_be_juice(root));
      model.checksummed = checksummed;
      return model;
    });
  });
}

Model read_model(std::string const& path, LoadOptions options) {
  Model model = with_file(path, [&] { return parse_model(read_file(path, max_file), path); });
  if (options.cuda_filters) rotate_filters(model);
  return model;
}

std::vector<std::byte> serialize(Model const& model) {
  return translated([&] {
    capnp::MallocMessageBuilder message{words_for(model.weights)};
    auto root = message.initRoot<schema::Layer>();
    write_model(root, model);
    set_checksum<schema::Layer>(root);
    return to_bytes(message);
  });
}

void write_model(std::string const& path, Model const& model) {
  with_file(path, [&] { write_atomically(path, serialize(model)); });
}

}  // namespace coldpress::persist
