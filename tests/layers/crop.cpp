#include "support/layer_laws.hpp"

#include <map>
#include <set>

using namespace coldpress;

TEST_CASE("Crop keeps the laws of layers") {
  test::check_laws_at<Crop{.size = {2, 3}, .random_crop = true, .random_mirror = true}, Shape{2, 4, 5}>();
}

namespace {

constexpr Index height = 6, width = 7;
/// Where a crop of an image whose values are their own places begins, and whether it is mirrored.
struct Place {
  Index top, left;
  bool mirrored;
  auto operator<=>(Place const&) const = default;
};
Place place_of(std::span<float const> y, Index columns) {
  Index const first = static_cast<Index>(y[0]), second = static_cast<Index>(y[1]);
  bool const mirrored = second < first;
  return {first / width, first % width - (mirrored ? columns - 1 : 0), mirrored};
}
std::vector<float> images(Index batch) {
  std::vector<float> x;
  for (Index n = 0; n < batch; ++n) {
    for (Index i = 0; i < height * width; ++i) x.push_back(static_cast<float>(i));
  }
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("each sample is cropped at a place of its own, and all places come up", "", DefaultBackend,
                   Reference<float>) {
  using Net = Network<Sequential<Crop{.size = {4, 5}, .random_crop = true, .random_mirror = true}>,
                      Shape{height, width}, DynamicBatch, TestType>;
  Net const net;
  typename Net::TrainingWorkspace workspace;
  auto const x = images(400);
  std::map<Place, int> seen;
  auto const first = test::copy_of<float>(net.forward_training(x, workspace, 1));
  for (Index n = 0; n < 400; ++n) {
    std::span<float const> const y = std::span{first}.subspan(static_cast<std::size_t>(n * 20), 20);
    Place const place = place_of(y, 5);
    ++seen[place];
    for (Index i = 0; i < 20; ++i) {
      Index const column = place.mirrored ? 4 - i % 5 : i % 5;
      REQUIRE(y[static_cast<std::size_t>(i)] == static_cast<float>((place.top + i / 5) * width + place.left + column));
    }
  }
  CHECK(seen.size() == 18);  // three by three places, mirrored and not; each about 22 times
  for (auto const& [place, count] : seen) CHECK((count >= 6 && count <= 45));
  CHECK(test::same_bits(first, net.forward_training(x, workspace, 1)));
  CHECK_FALSE(test::same_bits(first, net.forward_training(x, workspace, 2)));
}

TEST_CASE("inference takes the middle, and training too where nothing is random") {
  auto const x = images(2);
  Network<Sequential<Crop{.size = {2, 4}, .random_crop = true, .random_mirror = true}>, Shape{height, width}> random;
  Network<Sequential<Crop{.size = {2, 4}}>, Shape{height, width}> plain;
  decltype(plain)::TrainingWorkspace workspace;
  std::vector<float> const middle{15, 16, 17, 18, 22, 23, 24, 25, 15, 16, 17, 18, 22, 23, 24, 25};
  CHECK(test::copy_of<float>(random.forward(x)) == middle);
  CHECK(test::copy_of<float>(plain.forward_training(x, workspace)) == middle);
}

TEST_CASE("a mirrored sample stays in the middle where only the mirror is random") {
  Network<Sequential<Crop{.size = {6, 7}, .random_mirror = true}>, Shape{height, width}> const net;
  decltype(net)::TrainingWorkspace workspace;
  auto const y = net.forward_training(images(40), workspace);
  std::set<Place> seen;
  for (Index n = 0; n < 40; ++n) seen.insert(place_of(y.sample(n), width));
  CHECK(seen == std::set<Place>{{0, 0, false}, {0, 0, true}});
}

TEST_CASE("a crop that does not fit is refused with a sentence") {
  CHECK_THROWS_AS((Crop{.size = 3}.output_shape({2, 2, 5})), ShapeError);
  CHECK_THROWS_AS((Crop{.size = {2, 6}}.output_shape({2, 2, 5})), ShapeError);
  CHECK_THROWS_AS((Crop{}.output_shape({2, 2, 5})), ShapeError);
  CHECK_THROWS_AS((Crop{.size = 1}.output_shape({5})), ShapeError);
  CHECK_THROWS_AS((Crop{.size = {1, 1, 2}}.output_shape({4, 4, 4})), ShapeError);
}
