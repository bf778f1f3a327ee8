// coldpress predict: computes a network's outputs for samples in a file.

#include "commands.hpp"
#include "options.hpp"
#include "print.hpp"
#include "writable.hpp"

#include <coldpress/data/batches.hpp>
#include <coldpress/data/npy.hpp>
#include <coldpress/data/transform.hpp>
#include <coldpress/persist.hpp>

#include <cmath>
#include <cstdio>
#include <limits>
#include <ranges>

namespace coldpress::command {
namespace {

struct Options {
  std::string model, input, output;
  Index batch = 64, top = 0;
  Computing computing;
  data::ReadOptions reading;
  bool cuda_filters = false;
};

/// One line: the largest outputs of a sample with their classes, the largest first.
std::string best(std::span<float const> outputs, Index count, std::vector<std::string> const& names) {
  std::vector<std::size_t> order(std::min(outputs.size(), static_cast<std::size_t>(count)));
  auto const rank = [&](std::size_t i) {  // what is not a number comes last
    return std::pair{std::isnan(outputs[i]) ? std::numeric_limits<float>::infinity() : -outputs[i], i};
  };
  std::ranges::partial_sort_copy(std::views::iota(std::size_t{0}, outputs.size()), order, {}, rank, rank);
  std::string line;
  for (std::size_t const i : order)
    line +=
        (line.empty() ? "" : ", ") + (i < names.size() ? names[i] : std::to_string(i)) + " " + to_string(outputs[i]);
  return line;
}

/// The shape of one sample of an array whose first extent is the number of samples.
Shape sample_shape(std::vector<Index> const& extents) {
  if (extents.empty() || extents.size() > Shape::max_rank + 1) {
    throw FormatError{"has " + std::to_string(extents.size()) + " extents, expected 1 to 9, samples first"};
  }
  if (std::ranges::count(extents, 0) > 0) throw FormatError{"contains no values"};
  Shape shape{};
  if (extents.size() == 1) shape.extents[0] = 1;
  std::copy(extents.begin() + 1, extents.end(), shape.extents);
  return shape;
}

void predict(Options const& options) {
  Files files;
  files.reads("--model", options.model);
  files.reads("--input", options.input);
  files.writes("--output", options.output);
  files.check_writable();
  dynamic::Backend const backend = options.computing.open();
  persist::Model const model = persist::read_model(options.model, {options.cuda_filters});
  data::NpyArray input = data::read_npy(options.input, options.reading);
  Shape const given =
      with_context([&] { return sample_shape(input.extents); }, [&](Error& error) { error.in_file(options.input); });
  auto const raw = data::own({given, {{1}}, std::move(input.values), std::vector<float>(input.extents[0])});
  auto const source = with_context([&] { return data::transformed(*raw, model.transforms); },
                                   [&](Error& error) { error.in_file(options.input); });
  Shape const& sample = source->sample_shape();
  dynamic::Layer network = with_context([&] { return persist::layer_of(backend, model, sample); },
                                        [&](Error& error) { error.in_file(options.model); });
  network.set_mode(dynamic::Mode::inference);

  Shape const shape = network.output_shape();
  std::vector<Index> extents{input.extents[0]};
  extents.insert(extents.end(), shape.extents, shape.extents + shape.rank());
  std::vector<float> output;
  output.reserve(static_cast<std::size_t>(extents[0] * shape.size()));
  data::Batches batches{data::in_order(*source), options.batch};
  for (auto const& batch : batches.epoch()) {
    auto const y = network.forward(batch.samples);
    output.insert(output.end(), y.begin(), y.end());
  }
  data::write_npy(options.output, extents, output);
  std::printf("%td samples of %s to %s in %s\n", extents[0], to_string(given).c_str(), to_string(shape).c_str(),
              options.output.c_str());
  auto const size = static_cast<std::size_t>(shape.size());
  for (Index i = 0; options.top > 0 && i < extents[0]; ++i)
    show(std::to_string(i) + ": " +
         best(std::span{output}.subspan(static_cast<std::size_t>(i) * size, size), options.top, model.classes));
}

}  // namespace

void add_predict(CLI::App& app) {
  auto const options = std::make_shared<Options>();
  auto* const command = app.add_subcommand("predict", "Runs a network on samples in a NumPy file");
  command->add_option("--model", options->model, "File of the network")->type_name(file)->required();
  command->add_flag("--cuda-filters", options->cuda_filters, cuda_filters_help);
  command->add_option("--input", options->input, "Samples as a .npy array, {N, ...}")->type_name(file)->required();
  command->add_option("--output", options->output, "Outputs as a .npy array of float32, {N, ...}")
      ->type_name(file)
      ->required();
  command->add_option("--top-k", options->top, "Also prints the K largest outputs of each sample with their classes")
      ->type_name("K")
      ->check(at_least_1());
  command->add_option("--batch", options->batch, "Samples computed at once")
      ->type_name(number)
      ->check(at_least_1())
      ->capture_default_str();
  add_reading(*command, options->reading);
  add_computing(*command, options->computing, true);
  command->callback([options] { predict(*options); });
}

}  // namespace coldpress::command
