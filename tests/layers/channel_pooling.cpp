#include "support/layer_laws.hpp"

#include <limits>

using namespace coldpress;

TEST_CASE("ChannelPooling keeps the laws of layers: maxima") {
  test::check_laws_at<ChannelPooling{.filter_size = 3, .stride = 2, .padding = {1, 2}}, Shape{7, 2, 3}>();
}
TEST_CASE("ChannelPooling keeps the laws of layers: means") {
  test::check_laws_at<ChannelPooling{
                          .mode = PoolingMode::average, .filter_size = 4, .stride = 3, .padding = {0, 3}, .axis = -1},
                      Shape{3, 8}>();
}

// The number of windows is rounded up, and the last one begins on the input or before it.
static_assert(ChannelPooling{.filter_size = 3, .stride = 2}.output_shape({8, 5, 5}) == Shape{4, 5, 5});
static_assert(ChannelPooling{.filter_size = 3, .stride = 2, .axis = 1}.output_shape({8, 5, 5}) == Shape{8, 2, 5});
static_assert(ChannelPooling{.filter_size = 2, .stride = 3, .padding = 1}.output_shape({5}) == Shape{2});

TEMPLATE_TEST_CASE("a mean is over the whole window, and the first of equal maxima gets the gradient", "",
                   DefaultBackend, Reference<float>) {
  auto const check = [&]<class Net>(Net const& net, std::vector<float> const& x, std::vector<float> const& dy,
                                    std::vector<float> const& y, std::vector<float> const& dx) {
    typename Net::TrainingWorkspace workspace;
    CHECK(test::copy_of<float>(net.forward_training(x, workspace)) == y);
    CHECK(test::copy_of<float>(net.backward(dy, workspace)) == dx);
  };
  static constexpr ChannelPooling mean{.mode = PoolingMode::average, .filter_size = 2, .stride = 2};
  check(Network<Sequential<mean>, Shape{3}, DynamicBatch, TestType>{}, {4, 8, 12}, {2, 2}, {6, 6}, {1, 1, 1});
  static constexpr ChannelPooling most{.filter_size = 3};
  check(Network<Sequential<most>, Shape{5}, DynamicBatch, TestType>{}, {1, 5, 5, 2, 5}, {1, 2, 4}, {5, 5, 5},
        {0, 3, 4, 0, 0});
}

TEST_CASE("a NaN is the largest value under a window of channels") {
  Network<Sequential<ChannelPooling{.filter_size = 2}>, Shape{4}> net;
  auto const y = net.forward(std::vector<float>{1, std::numeric_limits<float>::quiet_NaN(), 3, 2});
  CHECK(std::isnan(y.values[0]));
  CHECK(std::isnan(y.values[1]));
  CHECK(y.values[2] == 3);
}

TEST_CASE("a window of channels that means nothing is refused with a sentence") {
  auto const sentence = [](ChannelPooling const& p) -> std::string {
    try {
      p.output_shape({4, 2});
    } catch (ShapeError const& error) {
      return error.sentence();
    }
    return "none";
  };
  CHECK(sentence({.filter_size = 2}) == "none");
  CHECK(sentence({.filter_size = 5}).find("larger than the padded input") != std::string::npos);
  CHECK(sentence({.filter_size = 0}).find("filter") != std::string::npos);
  CHECK(sentence({.filter_size = 2, .stride = 0}).find("stride") != std::string::npos);
  CHECK(sentence({.filter_size = 2, .padding = {0, 2}}).find("less than filter_size") != std::string::npos);
  CHECK(sentence({.filter_size = 4, .padding = {0, 1, 2}}).find("no third") != std::string::npos);
  CHECK(sentence({.filter_size = 2, .axis = 2}).find("no axis") != std::string::npos);
  CHECK(sentence({.filter_size = 2, .axis = -3}).find("no axis") != std::string::npos);
}
