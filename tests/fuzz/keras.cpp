// The reader of models of Keras, from their config: what HDF5 reads is trusted, and all variables are halves here.
#include "convert/keras_model.hpp"

#include "fuzz.hpp"

#include <algorithm>
#include <cmath>

namespace {

using namespace coldpress;

class Halves final : public convert::keras::Contents {
 public:
  Halves(std::span<std::byte const> config, char const* version)
      : config_(reinterpret_cast<char const*>(config.data()), config.size()), version_(version) {}

  std::string const& config() const override { return config_; }
  std::string version() const override { return version_; }
  convert::keras::Array read(convert::keras::Place const&, std::size_t, std::string_view,
                             std::vector<Index> const& shape) override {
    return {shape, std::vector<float>(static_cast<std::size_t>(count("", shape)), 0.5f)};
  }
  Index count(std::string const&, std::vector<Index> const& shape) override {
    Index values = 1;
    for (Index const extent : shape) {
      fuzz::demand(extent > 0, "a variable has an extent below 1");
      if (extent > left_ / values) throw FormatError{"has more values than the file may unpack to"};
      values *= extent;
    }
    left_ -= values;
    return values;
  }

 private:
  std::string config_, version_;
  Index left_ = 1 << 16;
};

}  // namespace

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  for (bool const second : {false, true}) {
    try {
      Halves contents{bytes, second ? "2.15.0" : "3.15.1"};
      auto const model = convert::keras::read_model(contents, {.channels_last = second});
      for (auto const& tensor : model.weights) {
        demand_count(tensor.shape, tensor.values.size());
        demand(std::ranges::all_of(tensor.values, [](float value) { return std::isfinite(value); }),
               "a weight is not finite");
      }
    } catch (Error const& error) {
      demand(!error.sentence().empty(), "an error says nothing");
    }
  }
}
