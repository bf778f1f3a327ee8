// The options for such a network, and how it is loaded so that it takes one step at a time.
#include "streamed.hpp"

#include <coldpress/convert/format.hpp>
#include <coldpress/convert/nam.hpp>
#include <coldpress/persist.hpp>

namespace coldpress::command {

Streamed open_streamed(StreamedModel const& options, dynamic::Backend const& backend) {
  bool const nam = options.model.ends_with(".nam");
  auto read = nam ? convert::read_nam(options.model, {.size = options.size})
                  : convert::NamModel{.model = convert::read_network(options.model).model};
  return with_context(
      [&] {
        auto network = persist::layer_of(backend, read.model);
        Shape const in = network.input_shape();
        if (in.rank() == 2 && in[0] > 1) network = persist::layer_of(backend, read.model, Shape{in[1]});
        return Streamed{std::move(network), convert::nam_metadata_of(read.model).sample_rate, read.model.transforms};
      },
      [&](Error& error) { error.in_file(options.model); });
}

void add_streamed(CLI::App& command, StreamedModel& options) {
  command.add_option("--model", options.model, "File of the network: .nam, or of coldpress, Juice, RTNeural or others")
      ->type_name(file)
      ->required();
  command.add_option("--size", options.size, "Which network of a .nam file with several, from 0 to 1; 1: the greatest")
      ->type_name(number)
      ->check(CLI::Range(0.0, 1.0).description(""))
      ->capture_default_str();
  command.add_option("--block", options.block, "Steps computed at once, which do not change the output")
      ->type_name(number)
      ->check(CLI::Range(Index{1}, Index{1} << 20).description(""))
      ->capture_default_str();
}

}  // namespace coldpress::command
