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
  auto const home = std::make_shared<Place>();
  Place& place = *home;
  SharedTensor const a{{2}}, b = a;
  a.move_in(home);
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
  auto const home = std::make_shared<Place>();
  Place& place = *home;
  SharedTensor const a{{2}};
  a.move_in(home);
  a.write_only()[0] = 5;
  place.kept = {6, 7};
  a.home_changed();
  a.send_home();
  CHECK(place.kept == Floats{6, 7});
  CHECK(values_of(a) == Floats{6, 7});
}

TEST_CASE("a tensor that is held keeps its values when its home is destroyed") {
  SharedTensor survivor{{2}};
  {
    auto const place = std::make_shared<Place>();
    SharedTensor const a{{2}};
    a.move_in(place);
    survivor = a;
    place->kept = {8, 9};
    a.home_changed();
    a.move_out();
  }
  CHECK(values_of(survivor) == Floats{8, 9});
  survivor.write_only()[0] = 1;
  CHECK(values_of(survivor) == Floats{1, 9});
}

TEST_CASE("reading a tensor whose home failed when it was destroyed says so, and the tensor may be written") {
  struct Broken final : SharedTensor::Home {
    void pull(std::span<float>) const override { throw DeviceError{"lost"}; }
    void push(std::span<float const>) override {}
  };
  SharedTensor const held{{2}};
  {
    SharedTensor const a = held;
    a.move_in(std::make_shared<Broken>());
    a.move_out();
  }
  for (int time = 0; time < 2; ++time) CHECK(says(error_of<DeviceError>([&] { held.read(); }), "lost"));
  held.write_only()[1] = 3;
  CHECK(held.read()[1] == 3);
}

TEST_CASE("a copy on a device is read once, and dropped when the tensor is written") {
  struct Copy final : SharedTensor::Home {
    Floats kept{1, 2};
    mutable int pulls = 0;
    bool wanted = true;
    void pull(std::span<float> values) const override { ++pulls, std::copy(kept.begin(), kept.end(), values.begin()); }
    void push(std::span<float const>) override { FAIL("nobody asked for it"); }
    std::string_view device() const override { return "device"; }
    std::span<float const> on_device() const override { return kept; }
    void want(bool is) override { wanted = is; }
  };
  auto const copy = std::make_shared<Copy>();
  SharedTensor const a = SharedTensor::without_values({2});
  a.move_in(copy);
  CHECK(a.copy() == copy.get());
  a.want_copy(true);
  CHECK_FALSE(copy->wanted);  // whoever holds it alone makes another
  a.want_copy(false);
  CHECK(copy->wanted);
  SharedTensor const b = a;
  a.want_copy(true);
  CHECK(copy->wanted);
  CHECK(values_of(a) == Floats{1, 2});
  CHECK(values_of(b) == Floats{1, 2});
  CHECK(copy->pulls == 1);
  CHECK_FALSE(copy->wanted);
  CHECK(a.copy() == copy.get());  // which is still right
  b.read_write()[0] = 5;
  CHECK(a.copy() == nullptr);
  CHECK(values_of(a) == Floats{5, 2});
  CHECK(copy.use_count() == 1);
  a.move_in(copy);
  a.resize({3});  // as that of any tensor that is nobody's
  CHECK(values_of(a) == Floats(3, 0.0f));
}

TEST_CASE("a tensor that is remade does not change those that hold the old one") {
  SharedTensor a = tensor({2}, {1, 2});
  std::array<Index, 2> const larger{2, 2};
  SharedTensor const held = a;
  a.remake(held.shape());
  CHECK_FALSE(a.is(held));
  a.write_only()[0] = 7;
  CHECK(values_of(held) == Floats{1, 2});
  a.remake(larger);
  CHECK(a.shape() == std::vector<Index>{2, 2});
  SharedTensor const* const self = &a;
  a.remake(std::array<Index, 1>{3});
  CHECK(self->size() == 3);
}
