// coldpress predict: computes a network's outputs for samples, batch by batch.

#include "commands.hpp"
#include "input_arrays.hpp"
#include "interruption.hpp"
#include "options.hpp"
#include "print.hpp"
#include "writable.hpp"

#include <coldpress/convert/format.hpp>
#include <coldpress/core/counted.hpp>
#include <coldpress/core/to_string.hpp>
#include <coldpress/data/batches.hpp>
#include <coldpress/data/images.hpp>
#include <coldpress/data/network_transforms.hpp>
#include <coldpress/data/npy.hpp>
#include <coldpress/data/output.hpp>
#include <coldpress/data/prefetcher.hpp>
#include <coldpress/persist.hpp>
#include <coldpress/train/score.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

namespace coldpress::command {
namespace {

struct PredictOptions {
  std::string model, input, output;
  Index batch = 64, top = 0;
  Computing computing;
  data::ReadOptions reading;
  bool cuda_filters = false;
};

/// Pictures are resized to what the network takes, if its file says that and the user says nothing else.
std::string resized(std::string const& spec, persist::Model const& model) {
  auto const* const container = std::get_if<dynamic::SequentialConfig>(&model.config.layer_type);
  bool const crops = std::ranges::any_of(
      model.transforms, [](data::Transform const& transform) { return std::holds_alternative<data::Crop>(transform); });
  if (!container || container->inputs.empty() || crops) return spec;
  Shape const& in = container->inputs[0].shape;
  if (in.rank() != 3 || (in[0] != 1 && in[0] != 3)) return spec;
  std::pair<std::string, std::string> const size[] = {
      {"width", std::to_string(in[2])}, {"height", std::to_string(in[1])}, {"channels", std::to_string(in[0])}};
  return data::with_defaults(spec, size);
}

std::unique_ptr<data::Source> open_input(std::string const& input, persist::Model const& model, std::string const& file,
                                         data::ReadOptions reading) {
  if (input.starts_with("images:")) return data::open_samples(resized(input, model), reading);
  if (data::is_spec(input))
    return data::open_samples(data_for(input, model.config, train::InputsFor::outputs, file), reading);
  if (data::is_picture_file(input)) return data::open_samples(resized("images:" + input + "?", model), reading);
  try {
    return data::open_npy(input, {}, reading);
  } catch (FormatError const& error) {
    std::string const spec = input.ends_with(".npy") ? "" : data::spec_for(input);
    if (spec.empty()) throw;
    FormatError here{error.sentence() + "; did you mean '" + spec + "'" +
                     (spec.starts_with("csv:") ? ", or '" + spec + "?targets=none' if it has no targets?" : "?")};
    here.in_file(input);
    throw here;
  }
}

/// The names of the outputs in a file: "output" if there is one, else those of the config. A slash would make a group.
std::vector<std::string> names_of_outputs(dynamic::Layer const& network) {
  std::size_t const count = network.output_shapes().size();
  std::vector<std::string> names = network.config().outputs;
  if (count == 1) names = {"output"};
  for (std::size_t k = names.size(); k < count; ++k) names.push_back("output" + std::to_string(k + 1));
  for (std::string& name : names) std::ranges::replace(name, '/', '_');
  return names;
}

/// One line: the largest outputs of a sample with their classes, the largest first.
std::string best(std::span<float const> outputs, Index count, std::vector<std::string> const& names) {
  std::vector<std::size_t> order(outputs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto const rank = [&](std::size_t i) {  // what is not a number comes last
    return std::pair{std::isnan(outputs[i]) ? std::numeric_limits<float>::infinity() : -outputs[i], i};
  };
  auto const shown = std::min(order.size(), static_cast<std::size_t>(count));
  std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(shown), {}, rank);
  order.resize(shown);
  std::string line;
  for (std::size_t const i : order)
    line +=
        (line.empty() ? "" : ", ") + (i < names.size() ? names[i] : std::to_string(i)) + " " + to_string(outputs[i]);
  return line;
}

void predict(PredictOptions const& options) {
  Files files;
  files.reads("--model", options.model);
  if (data::is_spec(options.input)) {
    files.reads_data("--input", options.input);
  } else {
    files.reads("--input", options.input);
  }
  files.writes("--output", options.output);
  data::check_output(options.output);
  files.check_writable();
  dynamic::Backend const backend = options.computing.open();
  persist::Model const model = convert::read_network(options.model, {options.cuda_filters}).model;
  auto const raw = open_input(options.input, model, options.model, options.reading);
  auto const source = with_context([&] { return data::transformed(*raw, data::of_samples(model.transforms)); },
                                   [&](Error& error) { error.in_file(options.input); });
  dynamic::Layer network = with_context(
      [&] { return persist::layer_of(backend, model, input_for(model.config, *source, train::InputsFor::outputs)); },
      [&](Error& error) { error.in_file(options.model); });
  auto const inputs = train::network_inputs(network, train::InputsFor::outputs);
  with_context([&] { train::check_arrays(train::inputs_of(inputs, false), *source); },
               [&](Error& error) { error.in_file(options.input); });
  train::InputArrays arrays{inputs};

  auto const shapes = network.output_shapes();
  auto const names = names_of_outputs(network);
  std::size_t const written = data::takes_several_arrays(options.output) ? shapes.size() : 1;
  if (written < shapes.size())
    show("note: of the outputs " + joined(names) + ", the first is written; .npz and .h5 have room for all");
  Interruption::listen();
  auto const output = data::open_output(options.output, shapes[0], names[0]);
  std::string shapes_written;
  Index row = 0;
  std::chrono::duration<double> time{};
  // Files have one array after another, so the network runs for each, which takes no memory for the others.
  for (std::size_t k = 0; k < written; ++k) {
    shapes_written += (k > 0 ? ", " : "") + to_string(shapes[k]);
    if (k > 0) output->next(names[k], shapes[k]);
    auto const size = static_cast<std::size_t>(shapes[k].size());
    data::Prefetcher batches{data::Batches{data::in_order(*source), options.batch}, 1};
    for (auto const& batch : batches.epoch()) {
      if (Interruption::asked()) throw Error{"interrupted; nothing was written to " + options.output};
      auto const start = std::chrono::steady_clock::now();
      auto const compute = [&] {
        auto const x = arrays.of(batch.samples, {});
        return network.executable().forward(x, dynamic::Mode::inference)[k];
      };
      dynamic::Values const y = with_context(compute, [&](Error& error) { error.in_file(options.model); });
      if (k == 0) time += std::chrono::steady_clock::now() - start;
      output->append(y);
      for (std::size_t i = 0; k == 0 && options.top > 0 && i < static_cast<std::size_t>(batch.size); ++i)
        show(raw->name_of(row++) + ": " + best(y.subspan(i * size, size), options.top, model.classes));
    }
  }
  output->finish();
  show_skipped(*raw);
  std::printf("%s of %s to %s in %s\n", counted(raw->size(), "sample").c_str(), shape_text(*raw).c_str(),
              shapes_written.c_str(), options.output.c_str());
  if (options.top > 0)
    std::printf("computed in %.3g s, %.0f samples/s\n", time.count(), static_cast<double>(raw->size()) / time.count());
}

}  // namespace

void add_predict(CLI::App& app) {
  auto const options = std::make_shared<PredictOptions>();
  auto* const command = app.add_subcommand("predict", "Runs a network on samples");
  command->add_option("--model", options->model, "File of the network")->type_name(file)->required();
  command->add_flag("--cuda-filters", options->cuda_filters, cuda_filters_help);
  command
      ->add_option("--input", options->input,
                   "Samples as a .npy array, {N, ...}, or a picture (.png, .jpg, .jpeg), or any data, whose targets "
                   "are not needed (csv:FILE?targets=none if there is no column of them): " +
                       data_help())
      ->type_name("FILE or SPEC")
      ->required();
  command
      ->add_option("--output", options->output,
                   "Outputs as float32, {N, ...}; the ending says how: .npy, .npz, .csv, .h5 or .hdf5")
      ->type_name(file)
      ->required();
  command
      ->add_option("--top-k", options->top,
                   "Also prints the K largest outputs of each sample with their classes, and the time")
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
