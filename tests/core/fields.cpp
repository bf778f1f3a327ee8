#include <coldpress/core/for_each_field.hpp>
#include <coldpress/layers.hpp>
#include <coldpress/optim/optimizers.hpp>

#include "support/catch.hpp"

#include <boost/hana/concept/struct.hpp>

#include <string>
#include <vector>

using namespace coldpress;

namespace {
template <class Layer>
std::vector<std::string> fields_of(Layer const& layer) {
  std::vector<std::string> names;
  for_each_field(layer, [&](std::string_view name, auto const&) { names.emplace_back(name); });
  return names;
}
}  // namespace

struct ByHana {
  int first, second;
};
BOOST_HANA_ADAPT_STRUCT(ByHana, second, first);
struct ByUs {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t;
};
struct Tag {};
struct Tagged : Tag {
  float a = 1;
};
COLDPRESS_FIELDS(Tagged, a);
struct Base {
  int b = 2;
};
struct Derived : Base {
  float a = 1;
};
COLDPRESS_FIELDS(Derived, b, a);
struct Spaced {
  int a, bcd, e, last;
};
#define THE_FIRST_TWO a, bcd
// clang-format off
COLDPRESS_FIELDS(Spaced, THE_FIRST_TWO,e ,  last );
// clang-format on
COLDPRESS_FIELDS(ByUs, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t);

TEST_CASE("a struct of many fields, and one that Boost.Hana's own macro describes") {
  CHECK(fields_of(ByHana{}) == std::vector<std::string>{"second", "first"});
  CHECK(fields_of(Tagged{}) == std::vector<std::string>{"a"});
  CHECK(fields_of(Derived{}) == std::vector<std::string>{"b", "a"});
  CHECK(fields_of(Spaced{}) == std::vector<std::string>{"a", "bcd", "e", "last"});
  std::string all;
  for (std::string const& name : fields_of(ByUs{})) all += name;
  CHECK(all == "abcdefghijklmnopqrst");
  static_assert(boost::hana::Struct<Linear>::value);
}

namespace {
template <class Struct, class... Fields>
constexpr bool misses_the_last(boost::hana::tuple<Fields...> const&) {
  if constexpr (sizeof...(Fields) > 0) {
    return coldpress::detail::takes_fields<Struct>(std::index_sequence_for<Fields...>());
  } else {
    return true;
  }
}
template <class... Types>
constexpr bool all_miss_the_last(TypeList<Types...>) {
  return (misses_the_last<Types>(boost::hana::accessors<Types>()) && ...);
}
}  // namespace

TEST_CASE("whatever the last field of a layer or optimizer is, a list without it would not compile") {
  STATIC_REQUIRE(all_miss_the_last(BuiltinLayers{}));
  STATIC_REQUIRE(all_miss_the_last(BuiltinLosses{}));
  STATIC_REQUIRE(all_miss_the_last(BuiltinStatistics{}));
  STATIC_REQUIRE(all_miss_the_last(BuiltinOptimizers{}));
}

TEST_CASE("the fields of a layer are seen in order of declaration") {
  CHECK(fields_of(Linear{}) == std::vector<std::string>{"output_size", "weight", "bias", "has_bias", "last_axis"});
  CHECK(fields_of(Dropout{}) == std::vector<std::string>{"probability", "seed"});
  CHECK(fields_of(Reshape{{2}}) == std::vector<std::string>{"shape"});
  CHECK(fields_of(ReLU{}).empty());
  CHECK(fields_of(NegativeLogLikelihood{}) == std::vector<std::string>{"num_classes", "loss_weight"});
}

TEST_CASE("a field is written through its name") {
  Dropout dropout{};
  for_each_field(dropout, [](std::string_view name, auto& field) {
    if (name == "seed") field = 7;
  });
  CHECK(dropout == Dropout{.seed = 7});
}

TEST_CASE("names of layers and losses are different") {
  std::vector<std::string_view> names;
  auto const add = [&]<class... Types>(TypeList<Types...>) { (names.push_back(Types::name), ...); };
  add(BuiltinLayers{});
  add(BuiltinLosses{});
  add(BuiltinStatistics{});
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) CHECK(names[i] != names[j]);
  }
}
