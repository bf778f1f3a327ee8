// The kernels that network types compile for their convolutions: for every size that occurs, and for few others.
#include <coldpress/backend/cpu.hpp>
#include <coldpress/coldpress.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"

using namespace coldpress;
using namespace coldpress::test;
using cpu::Sizes;

namespace {

bool has(Sizes const& sizes, Index size) {
  bool found = sizes.unknown() || size == 0;
  for (int i = 0; i < sizes.count && !found; ++i) found = sizes.list[i] == size;
  return found;
}

/// The geometries of a few random convolutions of images, or of sequences.
std::vector<ConvolutionGeometry> some(Random& random, bool images) {
  std::vector<ConvolutionGeometry> all;
  for (Index n = random.integer(1, 4); n > 0; --n) {
    bool const depthwise = random.integer(1, 6) == 1;  // mostly with filters of 3 x 3
    Index const groups = depthwise || random.integer(1, 4) == 1 ? random.integer(2, 9) : 1,
                filter = depthwise && random.integer(1, 3) > 1 ? 3 : random.integer(1, 7);
    Convolution const layer{.num_output = groups * random.integer(1, depthwise                   ? 4
                                                                     : random.integer(1, 5) == 1 ? 300
                                                                                                 : 40),
                            .filter_shape = filter,
                            .stride = random.integer(1, 3),
                            .dilation = random.integer(1, 2),
                            .groups = groups};
    Index const channels = groups * (depthwise ? 1 : random.integer(1, random.integer(1, 5) == 1 ? 90 : 12));
    Index const extent = 2 * filter + random.integer(0, random.integer(1, 5) == 1 ? 200 : 30);
    all.push_back(
        layer.geometry(images ? Shape{channels, extent, 2 * filter + random.integer(0, 30)} : Shape{extent, channels}));
  }
  return all;
}

struct SmallFilters {
  static constexpr std::array<ConvolutionGeometry, 1> all{
      Convolution{.num_output = 16, .filter_shape = 3, .padding = 1}.geometry({16, 28, 28})};
};

/// Calls check(kernels, g, random) for each convolution of 500 random networks, with the network's kernels.
template <class Kernels, class Check>
void check_random(std::uint64_t seed, bool images, Check check) {
  Random random{seed};
  for (int n = 0; n < 500; ++n) {
    auto const all = some(random, images);
    Kernels kernels = Kernels::none();
    for (ConvolutionGeometry const& g : all) kernels.add(g);
    for (ConvolutionGeometry const& g : all) check(kernels, g, random);
  }
}

/// It computes with other sizes than the layer that it is derived from.
struct Wide : Convolution {
  constexpr Shape output_shape(Shape const& in) const {
    return Convolution{.num_output = 3 * num_output}.output_shape(in);
  }
};
constexpr auto image = ConvolutionKind::image;
static_assert(has_sizes<Convolution, PassKind::backward, image> && !has_sizes<Convolution, PassKind::stream, image>);
static_assert(!has_sizes<Convolution, PassKind::forward, ConvolutionKind::volume>);
static_assert(has_sizes<Linear, PassKind::forward, true> && !has_sizes<Linear, PassKind::forward, false>);
static_assert(!has_sizes<Wide, PassKind::forward, image> && !has_sizes<ReLU, PassKind::forward, image>);

/// Two convolutions of images that are alike, another, and one of sequences.
using Mixed = StaticGraph<Sequential<Convolution{.num_output = 4, .filter_shape = 3, .padding = 1},
                                     Convolution{.num_output = 4, .filter_shape = 3, .padding = 1},
                                     Convolution{.num_output = 4, .filter_shape = 3, .padding = 1},
                                     Reshape{Shape{8, 10}}, Convolution{.num_output = 2, .filter_shape = 2}>,
                          Inputs{{Shape{2, 4, 5}}, 1}>;
constexpr int convolutions = Mixed::recorded.kind[Mixed::inputs];
template <ConvolutionKind kind>
constexpr auto sizes_in_mixed = decltype(Mixed::sized_variant<PassKind::forward, convolutions, kind>())::sizes;
static_assert(sizes_in_mixed<ConvolutionKind::image>.size() == 2 &&
              sizes_in_mixed<ConvolutionKind::sequence>.size() == 1);

}  // namespace

TEMPLATE_TEST_CASE_SIG("a split instantiates the sizes of parts that the totals have", "", ((int most), most), 4, 5, 6,
                       8) {
  for (Index first = 1; first < 60; ++first) {
    Sizes sizes{};
    unsigned parts = 0;
    for (Index const total : {first, first + 7}) {
      sizes.add(total);
      cpu::split<most>(total, [&](Index, auto size) { parts |= 1u << (size - 1); });
    }
    CHECK(sizes.sizes_of_parts(most) == parts);
  }
  CHECK(Sizes::any().sizes_of_parts(most) == (1u << most) - 1);
}
TEST_CASE("more sizes than fit are any size") {
  Sizes sizes{};
  for (Index n = 1; n <= Sizes::most; ++n) sizes.add(n), sizes.add(n), sizes.add(0);
  CHECK_FALSE(sizes.unknown());
  CHECK(cpu::vectors(cpu::OneOf<Sizes{{1, 40}, 2}>{40}) == cpu::vectors(40));
  sizes.add(Sizes::most + 1);
  CHECK(sizes.unknown());
}

TEST_CASE("the kernels of images are compiled for all sizes that their convolutions have") {
  check_random<cpu::ImageKernels>(
      5, true, [](cpu::ImageKernels const& kernels, ConvolutionGeometry const& g, Random& random) {
        cpu::Panel const panel{g}, back{g, true};
        bool const depthwise = cpu::DepthwisePlanes::suit(g), without_planes = cpu::DepthwisePlanes::skips_planes(g);
        CHECK((kernels.depthwise || !depthwise || without_planes));
        CHECK((kernels.depthwise_3x3 || !without_planes));
        CHECK((kernels.pointwise || !g.sees_one()));
        CHECK(has(kernels.outputs, g.group_outputs()));
        CHECK(has(kernels.channels, g.group_channels()));
        for (Index batch : {Index{1}, random.integer(2, 40)}) {
          cpu::for_each_part(g, panel, batch, [&](cpu::Part const& part) {
            CHECK(has(kernels.positions, part.size()));
            CHECK((kernels.packs_filters || !panel.packs_filters(part.size())));
          });
          cpu::for_each_part(g, back, batch,
                             [&](cpu::Part const& part) { CHECK(has(kernels.gradient_positions, part.size())); });
        }
        for (Index o = 0; panel.filters > 0 && o < g.group_outputs(); o += panel.filters)
          CHECK(has(kernels.outputs, std::min(panel.filters, g.group_outputs() - o)));
        for (Index c = 0; c < g.group_channels(); c += back.channels)
          CHECK(has(kernels.lines, std::min(back.channels, g.group_channels() - c) * g.taps()));
        cpu::split_taps<cpu::ImageKernels{}>(g.width.filter, [&](Index, auto taps) {
          CHECK((taps == 5 ? kernels.fives : taps == 3 ? kernels.threes : kernels.ones));
        });
      });
}

TEST_CASE("the kernels of sequences are compiled for all sizes that their convolutions have") {
  check_random<cpu::SequenceKernels>(
      6, false, [](cpu::SequenceKernels const& kernels, ConvolutionGeometry const& g, Random& random) {
        CHECK(has(kernels.outputs, g.group_outputs()));
        CHECK(has(kernels.channels, g.group_channels()));
        CHECK(has(kernels.terms, g.group_channels()));
        CHECK(has(kernels.terms, g.terms()));
        Index const batch = random.integer(1, 40);
        cpu::for_each_steps(g.height.out, cpu::Panel{g}.rows, batch,
                            [&](cpu::Steps const& steps) { CHECK(has(kernels.steps, steps.rows)); });
        cpu::for_each_steps(g.height.in, cpu::Panel::steps_at_once(g.height.in), batch,
                            [&](cpu::Steps const& steps) { CHECK(has(kernels.gradient_steps, steps.rows)); });
      });
}

TEST_CASE("a network of small filters compiles few kernels") {
  constexpr auto kernels = cpu::image_kernels<SmallFilters>;
  CHECK_FALSE(kernels.depthwise);
  CHECK_FALSE(kernels.depthwise_3x3);
  CHECK_FALSE(kernels.pointwise);
  CHECK_FALSE(kernels.packs_filters);
  CHECK_FALSE(kernels.fives);
  CHECK(kernels.threes);
  CHECK_FALSE(kernels.ones);
  CHECK(kernels.outputs.sizes_of_parts(6) == 0b110000);  // 16 = 6 + 5 + 5
  CHECK(cpu::image_kernels<ConvolutionGeometry>.outputs.unknown());
}
