// Writes a network as a C++ header or a text config, beside files that it does not overwrite unasked.
#include "source_files.hpp"

#include "options.hpp"

#include <coldpress/convert/cpp_type.hpp>
#include <coldpress/data/atomic_file.hpp>
#include <coldpress/persist.hpp>

#include <filesystem>

namespace coldpress::command {
namespace {

std::string name_of(std::string const& path) { return std::filesystem::path{path}.filename().string(); }

/// Refuses to replace a file that the user did not name, unless it holds the same already, as when a build runs the
/// command again: the network may have been trained since.
void check_unnamed(std::string const& path, std::vector<std::byte> const& bytes) {
  if (!std::filesystem::exists(path)) return;
  bool const same = std::filesystem::is_regular_file(path) && std::filesystem::file_size(path) == bytes.size() &&
                    read_file(path, bytes.size()) == bytes;
  if (!same)
    throw CLI::ValidationError("OUTPUT", "has its weights in " + persist::printable(path) +
                                             ", where there are others; move that file, or choose another OUTPUT");
}

}  // namespace

std::string weights_beside(std::string const& header) {
  return std::filesystem::path{header}.replace_extension(".juice").string();
}

void write_type(std::string const& path, persist::Model const& model, TypeOptions const& options) {
  std::string const header = with_context(
      [&] {
        return convert::cpp_type(
            model,
            {.name_space = options.name_space, .origin = name_of(options.origin), .weights = name_of(options.weights)});
      },
      [&](Error& error) { error.in_file(options.origin); });
  AtomicFile text{path};
  text.write(std::as_bytes(std::span{header}));
  if (options.writes_weights) {
    static_cast<void>(persist::weights_in_order(model));  // what a program will ask of the file
    auto const bytes = persist::serialize(model);
    check_unnamed(options.weights, bytes);
    AtomicFile weights{options.weights};
    weights.write(bytes);
    weights.commit();
  }
  text.commit();
}

persist::Model model_of_config(std::string const& path) {
  persist::Training training = persist::read_training(path);
  return {.config = std::move(training.network), .transforms = std::move(training.transforms)};
}

void write_config(std::string const& path, persist::Model const& model) {
  persist::write_training(path, {.network = model.config, .transforms = model.transforms});
}

}  // namespace coldpress::command
