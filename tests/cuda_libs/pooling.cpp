// Poolings that ask for cuDNN. On the emulated device loops compute what its descriptors say.
#include "cuda/parity.hpp"
#include "cuda/since.hpp"

namespace {

using namespace coldpress;
using namespace coldpress::test;

dynamic::BackendOptions const with_libraries{.libraries = true};

/// Of images or volumes between other layers' buffers, with an operation that is one kernel with it elsewhere.
struct RandomPooling {
  Pooling layer;
  Shape input;

  explicit RandomPooling(Random& random)
      : input(random.integer(0, 1) == 0 ? Shape{random.integer(1, 3), random.integer(4, 7), random.integer(4, 7)}
                                        : Shape{2, random.integer(3, 5), random.integer(4, 6), random.integer(4, 6)}) {
    auto const number = [&](Index low, Index high) { return random.integer(low, high); };
    bool const volume = input.rank() == 4;
    layer.mode = number(0, 2) == 0 ? PoolingMode::max : PoolingMode::average;
    layer.filter_shape =
        volume ? PerAxis{number(1, 3), number(1, 3), number(1, 3)} : PerAxis{number(1, 3), number(1, 3)};
    layer.stride = volume ? PerAxis{number(1, 3), number(1, 2), number(1, 3)} : PerAxis{number(1, 3), number(1, 3)};
    auto const padding = [&](int axis) { return number(0, layer.filter_shape[axis] - 1); };
    layer.padding = volume ? PerAxis{padding(0), padding(1), padding(2)} : PerAxis{padding(0), padding(1)};
    layer.rounding = number(0, 1) == 0 ? Rounding::floor : Rounding::ceil;
    layer.count_padding = number(0, 1) == 0;
  }
  LayerConfig config() const {
    return sequential({{"before", TanH{}}, {"pool", layer}, {"tanh", TanH{}}, {"after", Softmax{}}}, input);
  }
  /// Whether the outputs are as many as where the last windows are left out.
  bool rounds_down() const {
    Pooling floor = layer;
    floor.rounding = Rounding::floor;
    return floor.output_shape(input) == layer.output_shape(input);
  }
};

}  // namespace

TEST_CASE("poolings by cuDNN are within the bound of the reference") {
  Random random{5};
  int left_out = 0;
  for (int number = 0; number < 150; ++number) {
    RandomPooling const pooling{random};
    Index const in = pooling.input.size(), out = pooling.layer.output_shape(pooling.input).size();
    auto const made_by = [&](Backend const& backend) {
      Net net = Net::from_config(backend, pooling.config());
      Floats made = values_of(net.forward(noise({3, in}, 1)));
      Floats const dx = values_of(net.backward(noise({3, out}, 2)));
      made.insert(made.end(), dx.begin(), dx.end());
      net.set_mode(Mode::inference);
      for (Index batch : {2, 3}) {
        Floats const y = values_of(net.forward(noise({batch, in}, 3)));
        made.insert(made.end(), y.begin(), y.end());
      }
      return made;
    };
    Floats const reference = made_by(Backend{"cpu:reference"});
    for (Backend const& backend : backends(with_libraries)) {
      INFO("pooling " << number << " on " << backend.name() << '\n' << dynamic::describe(pooling.config()));
      Since const since;
      CHECK(excess_of(made_by(backend), reference, 30) <= 1);
      // Maxima in inference alone.
      CHECK(since().library_calls == (!pooling.rounds_down() ? 0 : pooling.layer.mode == PoolingMode::max ? 2 : 3));
    }
    left_out += !pooling.rounds_down();
  }
  CHECK(left_out > 10);
  CHECK(left_out < 100);
}

TEST_CASE("a NaN is the largest of all, and part of each mean, by cuDNN") {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  for (Backend const& backend : backends(with_libraries)) {
    for (PoolingMode mode : {PoolingMode::max, PoolingMode::average}) {
      Net net = Net::from_config(
          backend, sequential({{"pool", Pooling{.mode = mode, .filter_shape = 2, .stride = 2}}}, Shape{1, 2, 6}));
      net.set_mode(Mode::inference);
      Since const since;
      Floats const y = values_of(net.forward(tensor({1, 12}, {nan, 1, 2, 3, 4, 5, 6, 7, 8, nan, 0, 1})));
      CHECK(since().library_calls == 1);
      CHECK(std::isnan(y[0]));
      CHECK(std::isnan(y[1]));
      CHECK(y[2] == (mode == PoolingMode::max ? 5.0f : 2.5f));
    }
  }
}
