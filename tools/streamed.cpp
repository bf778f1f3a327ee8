// The options for such a network, and how it is loaded so that it takes one step at a time.
#include "streamed.hpp"

#include <coldpress/convert/format.hpp>
#include <coldpress/convert/nam.hpp>
#include <coldpress/core/counted.hpp>
#include <coldpress/persist.hpp>

namespace coldpress::command {

namespace {
constexpr char const* instead =
    "; `coldpress predict` computes its outputs, and `coldpress bench --batch N` says how fast it computes minibatches";
}

Streamed open_streamed(StreamedModel const& options, dynamic::Backend const& backend) {
  bool const nam = options.model.ends_with(".nam");
  auto read = nam ? convert::read_nam(options.model, {.size = options.size})
                  : convert::NamModel{.model = convert::read_network(options.model).model};
  return with_context(
      [&] {
        auto network = persist::layer_of(backend, read.model);
        std::size_t const inputs = network.input_shapes().size(), outputs = network.output_shapes().size();
        if (inputs > 1 || outputs > 1)
          throw UnsupportedError{"has " + counted(inputs, "input") + " and " + counted(outputs, "output") +
                                 ", and a signal is one" + instead};
        Shape const in = network.input_shape();
        if (in.rank() == 2 && in[0] > 1) network = persist::layer_of(backend, read.model, Shape{in[1]});
        return Streamed{std::move(network), convert::nam_metadata_of(read.model).sample_rate, read.model.transforms};
      },
      [&](Error& error) { error.in_file(options.model); });
}

dynamic::Stream stream_of(Streamed const& played, StreamedModel const& options) {
  try {
    return dynamic::Stream{played.network, options.block};
  } catch (ShapeError const& error) {
    ShapeError here{error.sentence() + instead};
    here.in_layer(error.layer()), here.in_field(error.field()), here.in_file(options.model);
    throw here;
  }
}

std::array<CLI::Option*, 2> add_streamed(CLI::App& command, StreamedModel& options) {
  command.add_option("--model", options.model, "File of the network: .nam, or of coldpress, Juice, RTNeural or others")
      ->type_name(file)
      ->required();
  auto* const size =
      command
          .add_option("--size", options.size, "Which network of a .nam file with several, from 0 to 1; 1: the greatest")
          ->type_name(number)
          ->check(between(0, 1))
          ->capture_default_str();
  auto* const block =
      command.add_option("--block", options.block, "Steps computed at once, which do not change the output")
          ->type_name(number)
          ->check(CLI::Range(Index{1}, Index{1} << 20).description(""))
          ->capture_default_str();
  return {size, block};
}

}  // namespace coldpress::command
