#include "tensors.hpp"

namespace {

using namespace coldpress;
using namespace coldpress::test;

/// Counts the ways, and holds two values.
struct Place : SharedTensor::Home {
  Floats kept{1, 2};
  mutable int pulls = 0;
  int pushes = 0;
  void pull(std::span<float> values) const override { ++pulls, std::copy(kept.begin(), kept.end(), values.begin()); }
  void push(std::span<float const> values) override { ++pushes, kept.assign(values.begin(), values.end()); }
};

}  // namespace

TEST_CASE("a tensor starts with zeros, and copies share it") {
  SharedTensor const a{{2, 3}};
  CHECK(a.size() == 6);
  CHECK(values_of(a) == Floats(6, 0.0f));
  SharedTensor const b = a;
  b.write_only()[4] = 7;
  CHECK(a.read()[4] == 7);
  CHECK(SharedTensor{{}}.size() == 1);
}

TEST_CASE("another shape keeps the values, and must hold as many") {
  SharedTensor const a = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  a.reshape({3, 2});
  CHECK(a.shape() == std::vector<Index>{3, 2});
  CHECK(values_of(a) == Floats{1, 2, 3, 4, 5, 6});
  error_of<ShapeError>([&] { a.reshape({4, 2}); });
  error_of<ShapeError>([&] { a.reshape({-3, -2}); });
  CHECK(a.shape() == std::vector<Index>{3, 2});
}

TEST_CASE("another size is zeros again, unless the tensor is a network's") {
  SharedTensor const a = tensor({2, 3}, {1, 2, 3, 4, 5, 6}), b = a;
  a.resize({4});
  CHECK(b.shape() == std::vector<Index>{4});
  CHECK(values_of(b) == Floats(4, 0.0f));
  error_of<ShapeError>([&] { a.resize({0}); });
  CHECK(a.shape() == std::vector<Index>{4});
  Net const net = Net::from_config({}, small_network());
  SharedTensor const& weight = net.learnable_weights_data()[0];
  Floats const before = values_of(weight);
  error_of<ShapeError>([&] { weight.resize({2}); });
  CHECK(same_bits(values_of(weight), before));
}

TEST_CASE("samples are written one by one, and wrong ones change nothing") {
  SharedTensor const batch = tensor({3, 1, 2}, {1, 2, 3, 4, 5, 6});
  dynamic::write_batch_sample(batch, Floats{7, 8}, 1);
  CHECK(values_of(batch) == Floats{1, 2, 7, 8, 5, 6});
  for (Index i : {-1, 3}) error_of<ShapeError>([&] { dynamic::write_batch_sample(batch, Floats{9, 9}, i); });
  error_of<ShapeError>([&] { dynamic::write_batch_sample(batch, Floats{9}, 0); });
  CHECK(values_of(batch) == Floats{1, 2, 7, 8, 5, 6});
}

TEST_CASE("shapes without values, and more than 2^40 of them, are errors before there is memory") {
  for (std::vector<Index> const& shape : std::vector<std::vector<Index>>{
           {0}, {3, 0}, {-1}, {2, -5}, {Index{1} << 41}, {Index{1} << 30, Index{1} << 30}, {Index{1} << 62, 4}}) {
    error_of<ShapeError>([&] { SharedTensor{shape}; });
  }
}

TEST_CASE("values travel once, and only when they are asked for") {
  Place place;
  SharedTensor const a{{2}}, b = a;
  a.move_in(&place);
  CHECK(place.pulls == 0);
  CHECK(values_of(a) == Floats{1, 2});
  CHECK(values_of(b) == Floats{1, 2});
  CHECK(place.pulls == 1);
  place.kept = {3, 4};
  a.home_changed();
  CHECK(b.read_write()[1] == 4);
  CHECK(place.pulls == 2);
  b.write_only()[0] = 9;
  CHECK(place.pushes == 0);
  a.send_home();
  a.send_home();
  CHECK(place.pushes == 1);
  CHECK(place.kept == Floats{9, 4});
}

TEST_CASE("what the home has made since is not overwritten by what was written before") {
  Place place;
  SharedTensor const a{{2}};
  a.move_in(&place);
  a.write_only()[0] = 5;
  place.kept = {6, 7};
  a.home_changed();
  a.send_home();
  CHECK(place.kept == Floats{6, 7});
  CHECK(values_of(a) == Floats{6, 7});
}

TEST_CASE("who holds a tensor keeps its values when the home goes") {
  SharedTensor survivor{{2}};
  {
    Place place;
    SharedTensor const a{{2}};
    a.move_in(&place);
    survivor = a;
    place.kept = {8, 9};
    a.home_changed();
    a.move_out();
  }
  CHECK(values_of(survivor) == Floats{8, 9});
  survivor.write_only()[0] = 1;
  CHECK(values_of(survivor) == Floats{1, 9});
}

TEST_CASE("a tensor made anew leaves those alone who hold the old one") {
  SharedTensor a = tensor({2}, {1, 2});
  std::array<Index, 2> const larger{2, 2};
  SharedTensor const held = a;
  a.remake(larger);
  CHECK_FALSE(a.is(held));
  CHECK(values_of(held) == Floats{1, 2});
  CHECK(a.shape() == std::vector<Index>{2, 2});
  SharedTensor const* const self = &a;
  a.remake(std::array<Index, 1>{3});
  CHECK(self->size() == 3);
}
