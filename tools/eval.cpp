// coldpress eval: measures the loss and accuracy of a network on data.

#include "commands.hpp"
#include "input_arrays.hpp"
#include "options.hpp"
#include "print.hpp"

#include <coldpress/convert/format.hpp>
#include <coldpress/core/counted.hpp>
#include <coldpress/data/transform.hpp>
#include <coldpress/persist.hpp>
#include <coldpress/train/score.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace coldpress::command {
namespace {

using namespace train;

struct EvalOptions {
  std::string model, data, loss;
  Index batch = 64;
  Computing computing;
  data::ReadOptions reading;
  bool cuda_filters = false;
};

/// The loss that fits, unless the targets are several arrays: the number of all their values says nothing of a loss.
Objective found_loss(dynamic::Layer const& network, data::Source const& source) {
  auto const loss = loss_for(network, source.target_shape());
  std::size_t const arrays = source.description().target_arrays.size();
  if (arrays > 1 && !network.executable().has_losses()) {
    throw ShapeError{"the targets are " + std::to_string(arrays) +
                     " arrays, which are for the losses inside a network, and this one has none; name one array as in "
                     "?y=NAME, or the loss with --loss"};
  }
  return loss;
}

void eval(EvalOptions const& options) {
  InputsFor const purpose = inputs_for(!options.loss.empty());
  dynamic::Backend const backend = options.computing.open();
  persist::Model const model = convert::read_network(options.model, {options.cuda_filters}).model;
  auto const raw = data::open_source(data_for(options.data, model.config, purpose, options.model), options.reading);
  show_skipped(*raw);
  auto const source = with_context(
      [&] {
        data::check_classes(*raw, model.classes);
        return data::transformed(*raw, model.transforms);
      },
      [&](Error& error) { error.in_file(options.data); });
  dynamic::Layer network =
      with_context([&] { return persist::layer_of(backend, model, input_for(model.config, *source, purpose)); },
                   [&](Error& error) { error.in_file(options.model); });
  Objective const loss = options.loss.empty()
                             ? with_context([&] { return found_loss(network, *source); },
                                            [&](Error& error) { error.in_file(options.data); })
                             : loss_called(options.loss, network.output_shape(), source->target_shape());
  check_fits(network, loss, *source, options.data);

  bool const one_hot = std::ranges::any_of(
      model.transforms, [](auto const& transform) { return std::holds_alternative<data::OneHot>(transform); });

  auto const start = std::chrono::steady_clock::now();
  Score const score = [&] {
    try {
      return evaluate(network, loss, *source, options.batch, one_hot);
    } catch (DataError& error) {
      error.in_file(options.data);
      throw;
    }
  }();
  std::chrono::duration<double> const time = std::chrono::steady_clock::now() - start;
  bool const one = loss && !network.executable().has_losses();  // and not a sum of several
  if (score.loss) std::printf("%s %.6g\n", one ? dynamic::type_name(loss->layer_type).c_str() : "loss", *score.loss);
  if (score.accuracy) std::printf("accuracy %.4f\n", *score.accuracy);
  for (auto const& [name, value] : score.statistics) {
    char text[32];
    std::snprintf(text, sizeof text, " %.4f", value);
    show(name + text, stdout);
  }
  std::printf("%s, %.0f samples/s\n", counted(source->size(), "sample").c_str(),
              static_cast<double>(source->size()) / time.count());
}

template <class... Losses>
std::vector<std::string> names(TypeList<Losses...>) {
  return {std::string{Losses::name}...};
}

}  // namespace

void add_eval(CLI::App& app) {
  auto const options = std::make_shared<EvalOptions>();
  auto* const command = app.add_subcommand(
      "eval", "Measures a network on data: its loss, its accuracy if the targets are labels, and its speed");
  command->add_option("--model", options->model, "File of the network")->type_name(file)->required();
  command->add_flag("--cuda-filters", options->cuda_filters, cuda_filters_help);
  command->add_option("--data", options->data, data_help())->type_name(spec)->required();
  auto const losses = names(BuiltinLosses{});
  command
      ->add_option("--loss", options->loss,
                   "Loss to use instead of the one that fits the last layer and the targets: " + joined(losses))
      ->type_name(name)
      ->check(one_of(losses));
  command->add_option("--batch", options->batch, "Samples computed at once")
      ->type_name(number)
      ->check(at_least_1())
      ->capture_default_str();
  add_reading(*command, options->reading);
  add_computing(*command, options->computing, true);
  command->callback([options] { eval(*options); });
}

}  // namespace coldpress::command
