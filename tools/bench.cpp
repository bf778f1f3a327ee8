// coldpress bench: how fast a network streams a signal, or computes minibatches.

#include "commands.hpp"
#include "input_arrays.hpp"
#include "streamed.hpp"

#include <coldpress/convert/format.hpp>
#include <coldpress/core/counted.hpp>
#include <coldpress/core/random.hpp>
#include <coldpress/data/npy.hpp>
#include <coldpress/persist.hpp>
#include <coldpress/train/input_arrays.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace coldpress::command {
namespace {

struct BenchOptions : StreamedModel {
  std::string input;
  Index batch = 0;  // 0: a stream
  double seconds = 2;
  Computing computing;
};

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// The seconds that each call took, in ascending order. A time is the mean of so many calls in a row that reading the
/// clock does not matter, or of one if `singly`.
template <class Call>
std::vector<double> times_of(double seconds, bool singly, Call call) {
  constexpr std::size_t most_times = 1 << 20;
  std::vector<double> times;
  times.reserve(most_times);
  auto start = Clock::now();
  call();
  long const in_a_row = singly ? 1 : std::max(1L, static_cast<long>(40e-6 / std::max(since(start), 1e-8)));
  for (start = Clock::now(); (since(start) < seconds || times.size() < 10) && times.size() < most_times;) {
    auto const before = Clock::now();
    for (long i = 0; i < in_a_row; ++i) call();
    times.push_back(since(before) / static_cast<double>(in_a_row));
  }
  std::ranges::sort(times);
  return times;
}

/// Noise that swells: it is neither silence nor the same from block to block.
void fill_with_noise(std::span<float> x) {
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = (RandomStream{1}.uniform(i) - 0.5f) * (0.5f + 0.5f * std::sin(static_cast<float>(i) * 1e-3f));
}

/// The times of blocks of a stream that is never silent.
std::vector<double> stream_times(Streamed const& played, BenchOptions const& options) {
  dynamic::Stream through = stream_of(played, options);
  constexpr Index blocks = 256;
  std::vector<float> x(static_cast<std::size_t>(played.in() * options.block * blocks));
  fill_with_noise(x);
  std::vector<float> y(static_cast<std::size_t>(played.out() * options.block));
  std::size_t const size = x.size() / blocks;
  std::size_t n = 0;
  auto const play = [&] {
    through.process({x.data() + n * size, size}, y);
    n = (n + 1) % blocks;
  };
  // A network that forgets late, or never, is given no longer than it is measured.
  play();
  Clock::time_point const start = Clock::now();
  play();
  double const steps = options.seconds / std::max(since(start), 1e-9) * static_cast<double>(options.block);
  through.warm_up(static_cast<Index>(std::clamp(steps, 1.0, 0x1p20)));
  return times_of(options.seconds, true, play);
}

void bench_stream(BenchOptions const& options) {
  Streamed const played = open_streamed(options, options.computing.open());
  auto const times =
      with_context([&] { return stream_times(played, options); }, [&](Error& error) { error.in_file(options.model); });
  double const median = times[times.size() / 2], rate = played.sample_rate.value_or(48000);
  std::printf("blocks of %s: %.2f us each (median; %.2f us at least, %.2f us in 999 of 1,000 calls)\n",
              counted(options.block, "step").c_str(), median * 1e6, times[0] * 1e6,
              times[times.size() * 999 / 1000] * 1e6);
  std::printf("%.1f times as fast as real time at %.0f steps per second\n",
              static_cast<double>(options.block) / rate / median, rate);
}

/// A minibatch for each input: noise, or what the user gives for those that are not the targets of losses.
std::vector<dynamic::SharedTensor> inputs_for(dynamic::Layer const& network, BenchOptions const& options) {
  std::vector<dynamic::SharedTensor> tensors;
  for (Shape const& shape : network.input_shapes()) {
    auto const& tensor = tensors.emplace_back(std::vector{options.batch, shape.size()});
    fill_with_noise(tensor.write_only());
  }
  if (options.input.empty()) return tensors;
  auto const inputs = train::network_inputs(network, train::InputsFor::outputs);
  auto const of_samples = train::inputs_of(inputs, false);
  auto const given =
      data::is_spec(options.input)
          ? data::open_samples(data_for(options.input, network.config(), train::InputsFor::outputs, options.model))
          : data::open_npy(options.input);
  Index const size = train::joined_shape(of_samples).size(), found = given->sample_shape().size();
  if (given->size() != options.batch || found != size)
    throw DataError{"'" + options.input + "' has " + counted(given->size(), "sample") + " of " +
                    counted(found, "value") + ", expected " + std::to_string(options.batch) + " of " +
                    std::to_string(size)};
  if (of_samples.size() > 1)
    with_context([&] { train::check_arrays(of_samples, *given); }, [&](Error& error) { error.in_file(options.input); });
  data::Dataset const minibatch = data::load(*given);
  train::InputArrays arrays{inputs};
  auto const all = arrays.of(minibatch.samples, {});
  for (std::size_t k = 0; k < tensors.size(); ++k)
    if (!inputs[k].of_targets) std::ranges::copy(all[k], tensors[k].write_only().begin());
  return tensors;
}

void bench_minibatches(BenchOptions const& options) {
  dynamic::Backend const backend = options.computing.open();
  auto const model = convert::read_network(options.model).model;
  dynamic::Layer network = with_context([&] { return persist::layer_of(backend, model); },
                                        [&](Error& error) { error.in_file(options.model); });
  network.set_mode(dynamic::Mode::inference);
  auto const inputs = inputs_for(network, options);
  auto const times = times_of(options.seconds, false, [&] { network.forward(inputs)[0].read(); });
  double const median = times[times.size() / 2];
  std::printf("minibatches of %s: %.2f us each (median; %.2f us at least)\n", counted(options.batch, "sample").c_str(),
              median * 1e6, times[0] * 1e6);
  std::printf("%.1f samples per second\n", static_cast<double>(options.batch) / median);
  if (std::ranges::any_of(network.forward(inputs)[0].read(), [](float y) { return std::isnan(y); }))
    std::printf("the outputs are not numbers: give the network a minibatch that it can read with --input\n");
}

}  // namespace

void add_bench(CLI::App& app) {
  auto const options = std::make_shared<BenchOptions>();
  auto* const command = app.add_subcommand("bench", "Says how fast a network streams a signal or computes minibatches");
  auto const of_streams = add_streamed(*command, *options);
  auto* const batch =
      command->add_option("--batch", options->batch, "Computes minibatches of this many samples instead of a stream")
          ->type_name(number)
          ->check(at_least_1());
  for (CLI::Option* const option : of_streams)
    batch->excludes(option);  // by a name, it would not survive lack of memory
  command
      ->add_option("--input", options->input,
                   "The minibatch, {N, ...} in a .npy file, or any data with as many samples; noise if there is none")
      ->type_name("FILE or SPEC")
      ->needs(batch);
  command->add_option("--seconds", options->seconds, "How long to measure")
      ->type_name(number)
      ->check(between(0.01, 3600))
      ->capture_default_str();
  add_computing(*command, options->computing, true);
  command->footer(
      "A network that cannot compute one step after another, such as one of images, is measured with --batch.");
  command->callback([options] { options->batch > 0 ? bench_minibatches(*options) : bench_stream(*options); });
}

}  // namespace coldpress::command
