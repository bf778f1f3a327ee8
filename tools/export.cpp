// coldpress export: writes a network in a form for other programs.

#include "commands.hpp"
#include "options.hpp"
#include "writable.hpp"

#include <coldpress/convert/format.hpp>
#include <coldpress/data/atomic_file.hpp>
#include <coldpress/persist.hpp>
#include <coldpress/persist/cpp_header.hpp>

namespace coldpress::command {
namespace {

struct ExportOptions {
  std::string model, name_space = "network", output;
  bool cpp = false;
  std::vector<Index> input;
};

void export_model(ExportOptions const& options) {
  if (!options.cpp) throw CLI::RequiredError("--cpp");
  Files files;
  files.reads("MODEL", options.model);
  files.writes("--output", options.output);
  files.check_writable();
  std::optional<Shape> input;
  if (!options.input.empty()) {
    input.emplace();
    std::copy(options.input.begin(), options.input.end(), input->extents);
  }
  std::string const header = with_context(
      [&] {
        return persist::cpp_header(convert::read_network(options.model, {.input = input}).model, options.name_space,
                                   input);
      },
      [&](Error& error) { error.in_file(options.model); });
  write_atomically(options.output, std::as_bytes(std::span{header}));
  std::printf("%s: %zu bytes\n", options.output.c_str(), header.size());
}

}  // namespace

void add_export(CLI::App& app) {
  auto const options = std::make_shared<ExportOptions>();
  auto* const command = app.add_subcommand(
      "export", "Writes a network for programs that do not read files: as a C++ header with its type and its weights");
  command->add_option("MODEL", options->model, "The network")->type_name("")->required();
  command->add_flag("--cpp", options->cpp,
                    "Writes a C++ header that needs the headers of coldpress alone (docs/embedded.md)");
  command->add_option("--namespace", options->name_space, "The namespace of what the header declares")
      ->type_name(name)
      ->capture_default_str();
  command->add_option("--input", options->input, "Extents of one sample, if the network declares none")
      ->type_name(number)
      ->check(at_least_1())
      ->expected(1, Shape::max_rank);
  command->add_option("-o,--output", options->output, "The header to write")->type_name(file)->required();
  command->callback([options] { export_model(*options); });
}

}  // namespace coldpress::command
