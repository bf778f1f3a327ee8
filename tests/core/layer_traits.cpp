// What the library reads of a layer: declarations, and answers where there is none.
#include "support/catch.hpp"

#include <coldpress/graph/node.hpp>
#include <coldpress/layers.hpp>

using namespace coldpress;

namespace {

/// Declares nothing, and has fields whose names were once those of declarations.
struct Plain {
  static constexpr std::string_view name = "plain";
  bool streams = true, by_step = true, in_place = true;
  Index apart = 3;
  constexpr Shape output_shape(Shape in) const { return in; }
  void forward(auto const&, auto const&) const {}
  bool operator==(Plain const&) const = default;
};
/// The same with a way back, and with random numbers.
struct Drawn : Plain {
  static constexpr Capabilities capabilities{.backward_reads_output = false, .in_place = true};
  std::uint64_t seed = 1;
  void backward_input(auto const&, auto const&) const {}
  bool operator==(Drawn const&) const = default;
};

constexpr Shape one_step{1, 7}, steps{5, 7}, image{2, 8, 8};
template <class L>
constexpr InputCapabilities capable(L const& layer, Shape const& in) {
  return LayerTraits<L>::with_input(layer, Shapes{&in, 1});
}

}  // namespace

static_assert(!LayerTraits<Plain>::propagates && !LayerTraits<Plain>::in_place && !LayerTraits<Plain>::fuses);
static_assert(!LayerTraits<Plain>::backward_reads_input && !LayerTraits<Plain>::backward_reads_output);
static_assert(capable(Plain{}, one_step).streaming == StreamSupport::always &&
              capable(Plain{}, steps).streaming == StreamSupport::never && !capable(Plain{}, steps).mixes_samples);

static_assert(LayerTraits<Drawn>::propagates && LayerTraits<Drawn>::in_place);
static_assert(LayerTraits<Drawn>::backward_reads_input && !LayerTraits<Drawn>::backward_reads_output);
static_assert(capable(Drawn{}, steps).mixes_samples);

static_assert(capable(ReLU{}, steps).streaming == StreamSupport::always && !capable(ReLU{}, steps).mixes_samples);
static_assert(capable(Dropout{}, steps).mixes_samples && LayerTraits<Dropout>::positioned);
static_assert(capable(Crop{.size = 3}, image).mixes_samples && capable(BatchNormalization{}, image).mixes_samples);
static_assert(capable(Rnn{}, steps).streaming == StreamSupport::always && LayerTraits<Rnn>::any_steps);
static_assert(LayerTraits<Softmax>::normalization == Normalization::softmax && !LayerTraits<Linear>::normalizes);
static_assert(capable(Pooling{.filter_shape = 2, .stride = 2}, image).disjoint_windows &&
              !capable(Pooling{.filter_shape = 3, .stride = 2}, image).disjoint_windows);

TEST_CASE("a node knows what its layer declares") {
  auto const pooling = node_of(Pooling{.filter_shape = 2, .stride = 2}, 0, image);
  CHECK((pooling.in_blocks && pooling.image_maxima && pooling.disjoint_windows && !pooling.fuses_maxima));
  auto const convolution = node_of(Convolution{.num_output = 3, .filter_shape = 3}, 0, image);
  CHECK((convolution.in_blocks && convolution.fuses_maxima && !convolution.image_maxima && !convolution.streams));
  auto const softmax = node_of(Softmax{}, 0, steps);
  CHECK((softmax.normalizes && softmax.in_place && softmax.reads_output && !softmax.reads_input));
  CHECK(node_of(LayerNormalization{}, 0, steps).streams);
  CHECK((node_of(RMSNormalization{}, 0, steps).streams && node_of(Glu{}, 0, {5, 8}).streams));
  CHECK((node_of(PReLU{}, 0, steps).streams && node_of(BatchNormalization{.axis = -1}, 0, steps).streams));
  CHECK_FALSE((node_of(PReLU{.num_parameters = steps[0]}, 0, steps).streams));
  CHECK_FALSE((node_of(BatchNormalization{}, 0, steps).streams || node_of(Glu{.axis = 0}, 0, {4, 7}).streams));
  CHECK_FALSE(node_of(LRN{}, 0, image).streams);
}
