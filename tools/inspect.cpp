// coldpress inspect: shows what is in a file.

#include "commands.hpp"
#include "options.hpp"
#include "print.hpp"
#include "solver_text.hpp"

#include <coldpress/convert/format.hpp>
#include <coldpress/core/counted.hpp>
#include <coldpress/dynamic/describe.hpp>
#include <coldpress/persist.hpp>

#include <algorithm>

namespace coldpress::command {
namespace {

using persist::Checkpoint;
using persist::Model;
using persist::OtherKindError;
using persist::Training;

struct Content {
  std::variant<Model, Checkpoint, Training> file;
  std::string_view format = {};  // if it is one of others, of which a network was read
};

/// Reads a file of any of the three kinds, or the network of another format. If all fail, throws the error of the kind
/// that the file comes closest to.
Content read_any(std::string const& path) {
  std::optional<FormatError> no_model;
  try {
    return {persist::read_model(path)};
  } catch (ChecksumError const&) {
    throw;
  } catch (FormatError const& error) {
    no_model = error;
  }
  if (std::string_view const format = convert::format_of_content(path); !format.empty())
    return {convert::read_network(path).model, format};
  std::optional<ChecksumError> damaged;
  try {
    return {persist::read_checkpoint(path)};
  } catch (ChecksumError const& error) {
    damaged = error;
  } catch (FormatError const&) {
  }
  try {
    return {persist::read_training(path)};
  } catch (OtherKindError const&) {
    throw *no_model;
  } catch (Error const&) {
    if (damaged) throw *damaged;
    throw;
  }
}

/// The plan, or the reason why there is none.
std::string plan(dynamic::LayerConfig const& config) {
  try {
    return section("plan", dynamic::describe(config) + dynamic::describe_on_gpu(config));
  } catch (Error const& error) {
    return section("no plan", std::string{error.what()} + "\n");
  }
}

/// What belongs to a network besides its layers; nothing where there is nothing.
std::string transforms(data::Transforms const& all) {
  return all.empty() ? std::string{} : section("transforms of samples", list(all));
}
std::string classes(std::vector<std::string> const& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) text += std::to_string(i) + ": " + names[i] + "\n";
  return text.empty() ? text : section("classes", text);
}

std::string metadata(std::vector<persist::Entry> const& entries) {
  constexpr std::size_t most = 200;  // bytes
  std::string text;
  for (auto const& [key, value] : entries) {
    std::size_t shown = std::min(value.size(), most);
    while (shown < value.size() && (static_cast<unsigned char>(value[shown]) & 0xc0) == 0x80)
      --shown;  // not inside a character of UTF-8
    text += key + ": " + value.substr(0, shown) + (shown < value.size() ? "...\n" : "\n");
  }
  return text.empty() ? text : section("metadata", text);
}

std::string text(Model const& model) {
  return section("config", tree(model.config)) + transforms(model.transforms) + classes(model.classes) +
         metadata(model.metadata) + section("weights", table(model.weights)) +
         section("parameters", std::to_string(count(model.weights)) + "\n") + plan(model.config);
}

/// What trainings and checkpoints have in common.
std::string run(auto const& file) {
  dynamic::SolverConfig const& solver = file.solver;
  std::string text = describe(solver) + "\n";
  if constexpr (requires { file.optimizer; }) {
    std::string_view const named =
        std::visit([](auto const& type) { return std::string_view{type.name}; }, solver.solver);
    if (!file.optimizer.empty() && file.optimizer != named)
      text = file.optimizer + "; only its network type knows its numbers\n";
  }
  text += "epochs " + std::to_string(file.epochs) + ", batch " + std::to_string(file.batch) + ", seed " +
          std::to_string(file.seed);
  text += file.data.empty() ? std::string{"\n"} : ", data " + file.data + "\n";
  std::string const monitoring = describe(file.monitoring);
  return section("loss", file.loss ? tree(*file.loss) : "none\n") + section("solver", text) +
         (monitoring.empty() ? "" : section("monitoring", monitoring));
}

std::string text(Training const& training) {
  return section("config", tree(training.network)) + transforms(training.transforms) + run(training) +
         plan(training.network);
}

std::string text(Checkpoint const& checkpoint) {
  std::string const progress = counted(checkpoint.iteration, "step") + ": " + counted(checkpoint.epoch, "epoch") +
                               " and " + counted(checkpoint.position, "sample") + "\n";
  return text(checkpoint.model) + run(checkpoint) + section("optimizer state", table(checkpoint.optimizer_state)) +
         section("done", progress);
}

dynamic::LayerConfig const& network(Model const& model) { return model.config; }
dynamic::LayerConfig const& network(Checkpoint const& checkpoint) { return checkpoint.model.config; }
dynamic::LayerConfig const& network(Training const& training) { return training.network; }

void inspect(std::string const& path, bool dot) {
  auto const [file, format] = read_any(path);
  if (dot) {
    auto const draw = [](auto const& content) { return dynamic::dot(network(content)); };
    return show(std::visit(draw, file));
  }
  std::string kind = "a training";
  if (std::holds_alternative<Checkpoint>(file)) kind = "a checkpoint, with a checksum";
  if (auto const* model = std::get_if<Model>(&file))
    kind = !format.empty()      ? "a network of the format " + std::string{format}
           : model->checksummed ? "a network, with a checksum"
                                : "a network, without a checksum";
  show(path + ": " + kind);
  show(std::visit([](auto const& content) { return text(content); }, file));
}

}  // namespace

void add_inspect(CLI::App& app) {
  auto const path = std::make_shared<std::string>();
  auto* const command = app.add_subcommand("inspect",
                                           "Shows what a file holds: a network (even if its layers cannot run here, "
                                           "and also one of ONNX, Keras, RTNeural or "
                                           "a .nam file), a training or a checkpoint");
  command->add_option("FILE", *path, "The file")->type_name("")->required();
  auto const dot = std::make_shared<bool>();
  command->add_flag("--dot", *dot, "Prints the network's plan as a graph for GraphViz, and nothing else");
  command->callback([path, dot] { inspect(*path, *dot); });
}

}  // namespace coldpress::command
