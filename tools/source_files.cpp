#include "source_files.hpp"

#include <coldpress/convert/cpp_type.hpp>
#include <coldpress/data/atomic_file.hpp>
#include <coldpress/persist.hpp>

#include <filesystem>

namespace coldpress::command {
namespace {

std::string name_of(std::string const& path) { return std::filesystem::path{path}.filename().string(); }

/// The model with the shape of its samples.
persist::Model declared(persist::Model model, std::optional<Shape> const& input) {
  if (input) dynamic::declare_input(model.config, *input);
  return model;
}

}  // namespace

std::string weights_beside(std::string const& header) {
  return std::filesystem::path{header}.replace_extension(".juice").string();
}

void write_type(std::string const& path, persist::Model const& model, TypeOptions const& options) {
  std::string const header = with_context(
      [&] {
        return convert::cpp_type(model, {.name_space = options.name_space,
                                         .input = options.input,
                                         .origin = name_of(options.origin),
                                         .weights = name_of(options.weights)});
      },
      [&](Error& error) { error.in_file(options.origin); });
  AtomicFile text{path};
  text.write(std::as_bytes(std::span{header}));
  if (options.writes_weights) {
    persist::Model const complete = declared(model, options.input);
    static_cast<void>(persist::weights_in_order(complete));  // what a program will ask of the file
    AtomicFile weights{options.weights};
    weights.write(persist::serialize(complete));
    weights.commit();
  }
  text.commit();
}

persist::Model model_of_config(std::string const& path) {
  persist::Training training = persist::read_training(path);
  return {.config = std::move(training.network), .transforms = std::move(training.transforms)};
}

void write_config(std::string const& path, persist::Model const& model, std::optional<Shape> const& input) {
  persist::write_training(path, {.network = declared(model, input).config, .transforms = model.transforms});
}

}  // namespace coldpress::command
