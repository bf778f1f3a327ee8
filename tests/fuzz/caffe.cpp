// The readers of Caffe's networks and mean files.
#include <coldpress/convert/caffe.hpp>

#include "fuzz.hpp"

namespace {

/// A network whose weights the files of the corpus have: every kind of layer whose blobs are read.
coldpress::dynamic::LayerConfig network() {
  using namespace coldpress;
  dynamic::SequentialConfig layers;
  layers.add_input("data", Shape{1, 2, 3})
      .add_layer({"conv", Convolution{.num_output = 2, .filter_shape = {1, 2}}})
      .add_layer({"bn", BatchNormalization{}})
      .add_layer({"ip", Linear{.output_size = 2}});
  return {"net", layers};
}

}  // namespace

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  MemoryFile const file{bytes};
  auto const read = [&](auto const& reader) {
    try {
      reader();
    } catch (Error const& error) {
      demand(error.file() == file.path(), "an error does not name its file");
      demand(!error.sentence().empty(), "an error says nothing");
    }
  };
  read([&] {
    auto const mean = convert::read_caffe_mean(file.path());
    demand_count(mean.extents, mean.values.size());
  });
  read([&] {
    auto const whole = convert::read_caffe(file.path(), network());
    demand(whole.initialised.empty() || whole.initialised.front().ends_with("-bias"), "a weight is missing");
  });
  read([&] {
    auto const conversion = convert::read_caffe(file.path(), network(), {.allow_missing = true});
    demand(conversion.model.weights.size() == 8, "a network lacks weights");
    for (auto const& tensor : conversion.model.weights) demand_count(tensor.shape, tensor.values.size());
  });
}
