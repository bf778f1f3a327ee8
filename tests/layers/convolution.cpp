#include "support/layer_laws.hpp"
#include "support/passes.hpp"
#include "support/sentences.hpp"

using namespace coldpress;

TEST_CASE("Convolution of images keeps the laws of layers") {
  test::check_laws_at<Convolution{.num_output = 3, .filter_shape = {3, 2}, .stride = {1, 3}, .padding = {2, 1}},
                      Shape{2, 5, 7}>();
}
TEST_CASE("Convolution with other zeros before an axis than after it keeps the laws of layers") {
  test::check_values_at<Convolution{.num_output = 4,
                                    .filter_shape = {3, 2},
                                    .stride = {2, 1},
                                    .padding = {0, 3},
                                    .padding_after = {2, 0},
                                    .groups = 2},
                        Shape{4, 5, 4}>();
}
TEST_CASE("Convolution that keeps the extents keeps the laws of layers") {
  test::check_values_at<Convolution{.num_output = 3, .filter_shape = {2, 4}, .stride = {1, 3}, .same = true},
                        Shape{2, 4, 7}>();
}
TEST_CASE("Convolution of sequences with zeros on both sides keeps the laws of layers") {
  test::check_values_at<Convolution{.num_output = 3, .filter_shape = 4, .same = true, .dilation = 2}, Shape{5, 2}>();
  test::check_values_at<Convolution{.num_output = 3, .filter_shape = 2, .same = true}, Shape{3}>();
  test::check_values_at<Convolution{.num_output = 4,
                                    .filter_shape = 3,
                                    .stride = 2,
                                    .padding = 1,
                                    .padding_after = 3,
                                    .causal = false,
                                    .groups = 2},
                        Shape{70, 2}>();
}
TEST_CASE("Convolution of sequences keeps the laws of layers") {
  test::check_laws_at<Convolution{.num_output = 4, .filter_shape = 3, .dilation = 2}, Shape{6, 3}>();
}

// The vectors of Juice's own tests: ones everywhere, so that each output counts its products.
TEMPLATE_TEST_CASE("Convolution gives Juice's values", "", DefaultBackend, Reference<float>) {
  auto const check = []<Layer auto layer, Shape in>(float wanted) {
    Network<Sequential<layer>, in, DynamicBatch, TestType> net;
    net.write_weight(0, std::vector<float>(static_cast<std::size_t>(net.weight_shape(0).size()), 1));
    for (float const y : net.forward(std::vector<float>(static_cast<std::size_t>(2 * in.size()), 1)))
      CHECK(y == wanted);
  };
  check.template operator()<Convolution{.num_output = 6, .filter_shape = 3, .has_bias = false}, Shape{3, 9, 9}>(27);
  check.template operator()<Convolution{.num_output = 1, .filter_shape = 4, .has_bias = false}, Shape{1, 16, 16}>(16);
  check.template operator()<Convolution{.num_output = 10, .filter_shape = 2, .has_bias = false}, Shape{10, 16, 16}>(40);
}

TEMPLATE_TEST_CASE("Convolution is a cross-correlation with a bias", "", DefaultBackend, Reference<float>) {
  Network<Sequential<Convolution{.num_output = 1, .filter_shape = 2}>, Shape{1, 2, 3}, DynamicBatch, TestType> net;
  net.write_weight(0, std::vector<float>{1, 2, 3, 4});
  net.write_weight(1, std::vector<float>{0.5f});
  CHECK(test::copy_of<float>(net.forward(std::vector<float>{1, 10, 100, 1000, 10000, 100000})) ==
        std::vector<float>{43021.5f, 430210.5f});
}

TEMPLATE_TEST_CASE("a sequence streams, and reset forgets it", "", DefaultBackend, Reference<float>) {
  using Layers = Sequential<Convolution{.num_output = 5, .filter_shape = 3, .dilation = 2}, TanH{},
                            Convolution{.num_output = 2, .filter_shape = 2}>;
  Index constexpr steps = 9, features = 3;
  auto const whole = test::random_network<Network<Layers, Shape{steps, features}, DynamicBatch, TestType>>(1);
  auto stepping = test::random_network<Network<Layers, Shape{features}, DynamicBatch, TestType>>(1);
  auto in_threes = test::random_network<Network<Layers, Shape{3, features}, DynamicBatch, TestType>>(1);
  auto const x = test::Random{1}.values<float>(steps * features);
  typename decltype(whole)::Workspace workspace;
  auto const wanted = test::copy_of<double>(whole.forward(x, workspace));
  for (int turn = 0; turn < 2; ++turn) {
    std::vector<float> singly, by_three;
    for (std::size_t t = 0; t < steps; ++t) {
      auto const y = stepping.step(std::span{x.data() + t * features, features});
      singly.insert(singly.end(), y.begin(), y.end());
    }
    for (std::size_t t = 0; t < steps; t += 3) {
      auto const y = in_threes.step(std::span{x.data() + t * features, 3 * features});
      by_three.insert(by_three.end(), y.begin(), y.end());
    }
    CHECK(test::excess(singly, wanted, 10) <= 1);
    CHECK(test::excess(by_three, wanted, 10) <= 1);
    stepping.reset(), in_threes.reset();
  }
}

TEST_CASE("a stream gives the bits of the whole sequence, in parts of any length") {
  using Layers = Sequential<Convolution{.num_output = 20, .filter_shape = 19, .dilation = 2, .groups = 2}, ReLU{},
                            Convolution{.num_output = 35, .filter_shape = 9, .has_bias = false}, TanH{},
                            Convolution{.num_output = 3, .filter_shape = 1}>;
  Index constexpr steps = 120, features = 6, samples = 2;
  auto const whole = test::random_network<Network<Layers, Shape{steps, features}>>(1);
  auto single = test::random_network<Network<Layers, Shape{features}, Batch<1>>>(1);
  auto in_eights = test::random_network<Network<Layers, Shape{8, features}>>(1);
  auto const x = test::Random{1}.values<float>(samples * steps * features);
  decltype(whole)::Workspace workspace;
  auto const wanted = whole.forward(x, workspace);
  std::vector<float> singly, by_eight(wanted.size());
  for (Index t = 0; t < steps; ++t) {
    auto const y = single.step(std::span{x}.subspan(static_cast<std::size_t>(t * features), features));
    singly.insert(singly.end(), y.begin(), y.end());
  }
  CHECK(std::ranges::equal(singly, wanted.sample(0)));
  for (Index t = 0; t < steps; t += 8) {
    std::vector<float> part;
    for (Index i = 0; i < samples; ++i)
      part.insert(part.end(), &x[static_cast<std::size_t>((i * steps + t) * features)],
                  &x[static_cast<std::size_t>((i * steps + t + 8) * features)]);
    auto const y = in_eights.step(part);
    for (Index i = 0; i < samples; ++i)
      std::ranges::copy(y.sample(i), &by_eight[static_cast<std::size_t>((i * steps + t) * 3)]);
  }
  CHECK(std::ranges::equal(by_eight, wanted));
}

constexpr Convolution alexnet{.num_output = 64, .filter_shape = 11, .stride = 4, .padding = 2};
static_assert(alexnet.output_shape({3, 224, 224}) == Shape{64, 55, 55});  // Juice's
static_assert(alexnet.parameters({3, 224, 224})[0].shape == Shape{64, 3, 11, 11});
static_assert(alexnet.parameters({3, 224, 224})[1].shape == Shape{64});
static_assert(alexnet.parameters({3, 224, 224})[0].fan_in == 363 &&
              alexnet.parameters({3, 224, 224})[0].fan_out == 7744);
static_assert(alexnet.flops({3, 224, 224}) == Index{2} * 363 * 64 * 55 * 55);
static_assert(Convolution{.num_output = 4, .filter_shape = 3, .has_bias = false}.parameters({2, 5, 5}).size() == 1);
static_assert(Convolution{.num_output = 4, .filter_shape = 3, .dilation = 2}.output_shape({9, 2}) == Shape{9, 4});
static_assert(Convolution{.num_output = 4, .filter_shape = 3}.output_shape({2}) == Shape{4});
constexpr StreamSupport streaming(Convolution const& layer, Shape const& in) {
  return layer.capabilities_for(in).streaming;
}
static_assert(streaming({.num_output = 4, .filter_shape = 3, .dilation = 2}, {9, 2}) == StreamSupport::always);
static_assert(streaming({.num_output = 4, .filter_shape = 3, .stride = 2}, {9, 2}) == StreamSupport::never);
static_assert(streaming({.num_output = 4, .filter_shape = 3}, {1, 9, 9}) == StreamSupport::never);

static_assert(streaming({.num_output = 4, .filter_shape = 3, .causal = false}, {9, 2}) == StreamSupport::never);
static_assert(streaming({.num_output = 4, .filter_shape = 3, .same = true}, {9, 2}) == StreamSupport::never);

// The extents of TensorFlow's SAME and of PyTorch's `same`.
constexpr Convolution keeping{.num_output = 4, .filter_shape = {3, 4}, .stride = {1, 2}, .same = true};
static_assert(keeping.output_shape({2, 5, 5}) == Shape{4, 5, 3} && keeping.output_shape({2, 1, 6}) == Shape{4, 1, 3});
static_assert(keeping.geometry({2, 5, 6}).width.padding == 1 && keeping.geometry({2, 5, 5}).width.padding_after() == 2);
static_assert(Convolution{.num_output = 4, .filter_shape = 4, .same = true, .dilation = 3}.output_shape({7, 2}) ==
              Shape{7, 4});
static_assert(Convolution{.num_output = 4, .filter_shape = 4, .causal = false}.output_shape({7, 2}) == Shape{4, 4});
static_assert(PerAxis::none() != PerAxis{0});

static_assert(PerAxis{2} == PerAxis{2, 2} && PerAxis{2} == PerAxis{2, 2, 2} && !(PerAxis{2} == PerAxis{2, 1}));
static_assert(PerAxis{2, 1}[1] == 1 && PerAxis{0}[2] == 0);

TEST_CASE("a geometry that means nothing is refused with a sentence") {
  auto const sentence = [](Convolution const& c, Shape in) { return test::refusal_of(c, in); };
  Index constexpr huge = Index{1} << 62;
  Convolution const good{.num_output = 4, .filter_shape = 3};
  auto const with = [&](auto change) {
    Convolution c = good;
    change(c);
    return c;
  };
  CHECK(sentence(good, {2, 5, 5}) == "none");
  CHECK(sentence(good, {2, 2, 5}) == "window: the filter must not be larger than the padded input");
  CHECK(sentence(good, {1, 1, 2, 5, 5}).find("{channels, depth, height, width}") != std::string::npos);
  CHECK(sentence(good, {}).find("{channels, height, width}") != std::string::npos);
  for (Index const bad : {Index{0}, Index{-1}, huge}) {
    CHECK(sentence(with([&](auto& c) { c.num_output = bad; }), {2, 5, 5}).find("num_output") != std::string::npos);
    for (Shape const in : {Shape{2, 5, 5}, Shape{5, 2}}) {
      CHECK(sentence(with([&](auto& c) { c.filter_shape = bad; }), in).find("filter_shape") != std::string::npos);
      CHECK(sentence(with([&](auto& c) { c.stride = bad; }), in).find("stride") != std::string::npos);
      CHECK(sentence(with([&](auto& c) { c.dilation = bad; }), in).find("dilation") != std::string::npos);
      CHECK(sentence(with([&](auto& c) { c.groups = bad; }), in).find("groups") != std::string::npos);
    }
  }
  CHECK(sentence(with([&](auto& c) { c.padding = -1; }), {2, 5, 5}).find("padding") != std::string::npos);
  CHECK(sentence(with([&](auto& c) { c.padding = huge; }), {2, 5, 5}).find("padding") != std::string::npos);
  CHECK(sentence(with([&](auto& c) { c.padding_after = huge; }), {2, 5, 5}).find("padding") != std::string::npos);
  CHECK(sentence(with([&](auto& c) { c.same = true, c.padding = 1; }), {2, 5, 5}).find("same") != std::string::npos);
  CHECK(sentence(with([&](auto& c) { c.same = true, c.padding_after = 0; }), {5, 2}).find("same") != std::string::npos);
  CHECK(sentence(with([&](auto& c) { c.padding_after = 0; }), {5, 2}).find("causal") != std::string::npos);
  // A step that would become several, which a sample of one step has no room for.
  CHECK(sentence(with([&](auto& c) { c.causal = false, c.padding = 2; }), {2}).find("one step") != std::string::npos);
  CHECK(sentence(with([&](auto& c) { c.causal = false, c.padding_after = 3; }), {2}).find("one step") !=
        std::string::npos);
  CHECK(sentence(with([&](auto& c) { c.causal = false, c.padding = 1; }), {2}) == "none");
  CHECK(sentence(with([&](auto& c) { c.causal = false; }), {2, 2}).find("filter") != std::string::npos);
  CHECK(sentence(with([&](auto& c) { c.groups = 3; }), {2, 5, 5}).find("groups must divide") != std::string::npos);
  CHECK(sentence(with([&](auto& c) { c.padding = 1; }), {5, 2}).find("padding is for images") != std::string::npos);
  CHECK(sentence(with([&](auto& c) { c.stride = {1, 2}; }), {5, 2}).find("one axis") != std::string::npos);
  CHECK(sentence(with([&](auto& c) { c.stride = {1, 2, 3}; }), {2, 5, 5}).find("two axes") != std::string::npos);
  CHECK(sentence(with([&](auto& c) { c.padding = Index{1} << 30; }), {2, 5, 5}).find("2^") != std::string::npos);
}

namespace {

/// Residuals, and all kinds of borders of what is kept in blocks.
constexpr auto residual = graph([](auto x) {
  auto const a = x | Convolution{.num_output = 5, .filter_shape = 3, .padding = 1} | ReLU{};
  auto const b = a | Convolution{.num_output = 5, .filter_shape = 3, .padding = 1};
  auto const c = b + a | GELU{} | Pooling{.filter_shape = 3, .stride = 2, .padding = 1};
  auto const d = c | BatchNormalization{} | Convolution{.num_output = 4, .filter_shape = 2, .stride = 2} |
                 Pooling{.filter_shape = 2, .stride = 1, .padding = 1} | TanH{};
  auto const e = d | Dropout{.probability = 0.3f} | Convolution{.num_output = 3, .filter_shape = 1} | ReLU{} |
                 Pooling{.filter_shape = 2, .stride = 2, .padding = 1};
  return e | Pooling{.mode = PoolingMode::average, .filter_shape = 2} | Linear{2};
});

template <class Backend>
using Residual = Network<Graph<residual>, Shape{3, 11, 9}, DynamicBatch, Backend>;

}  // namespace

TEST_CASE("batches with blocks of images and some left over give the reference's numbers") {
  using Net = Residual<DefaultBackend>;
  int blocked = 0, pooled = 0;
  for (Group const& group : Net::Training::planned.groups) blocked += group.blocked, pooled += group.pooling >= 0;
  CHECK(pooled == 2);   // before a chain and after one; not behind a sum
  CHECK(blocked == 3);  // the two convolutions of the residual, and the last one
  for (Index const batch : {15, 16, 17, 35}) {
    INFO("batch " << batch);
    auto const fast = test::passed<Residual<DefaultBackend>>(batch),
               exact = test::passed<Residual<Reference<double>>>(batch);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      double largest = 0;
      for (double const v : exact[i]) largest = std::max(largest, std::abs(v));
      CHECK(test::excess(fast[i], exact[i], static_cast<double>(batch) * 400, largest) <= 1);
    }
  }
}
