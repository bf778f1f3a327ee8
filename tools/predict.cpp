// coldpress predict: computes a network's outputs for samples, batch by batch.

#include "commands.hpp"
#include "options.hpp"
#include "print.hpp"
#include "writable.hpp"

#include <coldpress/data/npy.hpp>
#include <coldpress/data/output.hpp>
#include <coldpress/data/prefetcher.hpp>
#include <coldpress/persist.hpp>

#include <cstdio>

namespace coldpress::command {
namespace {

struct Options {
  std::string model, input, output;
  Index batch = 64;
  Computing computing;
  data::ReadOptions reading;
  bool cuda_filters = false;
};

std::unique_ptr<data::Source> open_input(std::string const& input, data::ReadOptions reading) {
  return data::is_spec(input) ? data::open_source(input, reading) : data::open_npy(input, {}, reading);
}

void predict(Options const& options) {
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
  persist::Model const model = persist::read_model(options.model, {options.cuda_filters});
  auto const source = open_input(options.input, options.reading);
  Shape const sample = source->sample_shape();
  dynamic::Layer network = with_context([&] { return persist::layer_of(backend, model, sample); },
                                        [&](Error& error) { error.in_file(options.model); });
  network.set_mode(dynamic::Mode::inference);

  Shape const shape = network.output_shape();
  auto const output = data::open_output(options.output, shape);
  data::Prefetcher batches{data::Batches{data::in_order(*source), options.batch}, 1};
  for (auto const& batch : batches.epoch()) output->append(network.forward(batch.samples));
  output->finish();
  show_skipped(*source);
  std::printf("%td samples of %s to %s in %s\n", source->size(), to_string(sample).c_str(), to_string(shape).c_str(),
              options.output.c_str());
}

}  // namespace

void add_predict(CLI::App& app) {
  auto const options = std::make_shared<Options>();
  auto* const command = app.add_subcommand("predict", "Runs a network on samples");
  command->add_option("--model", options->model, "File of the network")->type_name(file)->required();
  command->add_flag("--cuda-filters", options->cuda_filters, cuda_filters_help);
  command
      ->add_option("--input", options->input,
                   "Samples as a .npy array, {N, ...}, or any data, without its targets: " + data_help())
      ->type_name("FILE or SPEC")
      ->required();
  command
      ->add_option("--output", options->output,
                   "Outputs as float32, {N, ...}; the ending says how: .npy, .npz, .csv, .h5 or .hdf5")
      ->type_name(file)
      ->required();
  command->add_option("--batch", options->batch, "Samples computed at once")
      ->type_name(number)
      ->check(at_least_1())
      ->capture_default_str();
  add_reading(*command, options->reading);
  add_computing(*command, options->computing, true);
  command->callback([options] { predict(*options); });
}

}  // namespace coldpress::command
