// Saves models with weights that look random: models FOLDER; or prints what configs compute with kernels for x86-64-v2,
// which the types that are exported must compute: models --outputs MODEL.
#include <coldpress/coldpress.hpp>
#include <coldpress/persist.hpp>

#include "signal.hpp"

#include <cstdio>
#include <string>

using namespace coldpress;

namespace {

using Images =
    Sequential<Convolution{.num_output = 5, .filter_shape = 3, .padding = 1}, BatchNormalization{}, ReLU{},
               Pooling{.filter_shape = 2}, Dropout{}, Named<"scores", Linear{.output_size = 4}>{}, Softmax{}>;
constexpr auto branches = graph([](auto x, auto y) {
  auto const a = x | Linear{6} | LeakyReLU{.slope = 0.2f} | name("left");
  auto const b = y | shared("both", Linear{6}) | shared("both", Linear{6}) | ELU{};
  auto const sum = a + b;
  return outputs(sum | Slice{.axis = 0, .begin = 1, .end = 4} | TanH{},
                 sum | GELU{.approximate = true} | name("second"));
});
using Streamed = Sequential<Convolution{.num_output = 4, .filter_shape = 2, .dilation = 2}, SiLU{},
                            Rnn{.hidden_size = 5, .rnn_type = RnnType::gru, .output = RnnOutput::last_step}, Linear{1}>;

template <class Type, Inputs in>
void save_as(std::string const& path) {
  auto const net = std::make_unique<Network<Type, in>>(5);
  save(*net, path);
}

void print_outputs(std::string const& path) {
  dynamic::Backend const backend{"cpu:v2"};
  auto net = dynamic::Layer::load(backend, path);
  net.set_mode(dynamic::Mode::inference);
  if (path.ends_with("stream.juice")) {
    for (int t = 0; t < embedded::stream_steps; ++t) embedded::print(net.step(embedded::part(t, 3)));
  } else if (path.ends_with("branches.juice")) {
    dynamic::SharedTensor const x{{1, 7}}, y{{1, 6}};
    dynamic::write_batch_sample(x, embedded::part(0, 7), 0), dynamic::write_batch_sample(y, embedded::part(1, 6), 0);
    for (auto const& output : net.forward({x, y})) embedded::print(output.read());
  } else {
    embedded::print(net.predict(embedded::part(0, 2 * 8 * 8)));
  }
}

}  // namespace

int main(int arguments, char** argument) {
  if (arguments == 3) {
    print_outputs(argument[2]);
    return 0;
  }
  std::string const folder = argument[1];
  save_as<Images, Shape{2, 8, 8}>(folder + "/images.juice");
  save_as<Graph<branches>, Inputs{Shape{7}, Shape{6}}>(folder + "/branches.juice");
  save_as<Streamed, Shape{3}>(folder + "/stream.juice");
  return 0;
}
