// Which calls of a stream's block are recorded as one.
#include "support/catch.hpp"

#include <coldpress/kernels/linked_cpu.hpp>

#include <vector>

using namespace coldpress;

namespace {

using PostOpsOf = SignalPostOps<ErasedChain, float>;

/// The calls of a layer: a filter of x, a product of `in` that is added to it, and a sum of both with `head`.
struct Calls {
  static constexpr Index most = 64;
  StepClock clock{16, 0};
  std::vector<float> ring = std::vector<float>(4 * 512), values = std::vector<float>(5 * 4 * most), weights = values;
  std::vector<std::byte> memory = std::vector<std::byte>(8192);
  LinkedCpu backend;
  cpu::Tape tape;
  AddOp add;
  MultiplyOp multiply;

  Calls() {
    backend.link<false>();
    backend.link_streams();
    tape.start(memory);
    backend.tape = &tape;
  }
  Signal<float> x() { return {ring.data() + most, 4, &clock, 512, 255}; }
  Signal<float> value(Index n, Index features = 4) { return {values.data() + n * 4 * most, features, &clock, most}; }
  Signal<float> filtered = value(0), z = value(1), head = value(2), in = value(3, 1), other = value(4);

  template <class L>
  PostOpsOf joined(Signal<float> const& with, auto const& op) {
    PostOpsOf post_ops{};
    post_ops.join = {backend.erased_join<L>(), with.data, with.pitch, PTRDIFF_MAX};
    post_ops.join.op.op = &op;
    return post_ops;
  }
  void filter(bool read_once) {
    PostOpsOf post_ops{};
    post_ops.read_once = read_once;
    convolve(x(), 3, filtered, post_ops);
  }
  void convolve(Signal<float> const& from, Index taps, Signal<float> const& to, PostOpsOf const& post_ops) {
    auto const g = Convolution{.num_output = 4, .filter_shape = taps}.geometry(Shape{from.features});
    backend.convolve(g, from, weights.data(), nullptr, to, post_ops, most);
  }
  /// Whether what `call` does is recorded as a part of the calls before.
  bool joins(auto call) {
    auto const before = tape.size();
    call();
    return tape.size() == before;
  }
};

}  // namespace

TEST_CASE("a product that is added to a convolution is a part of it") {
  Calls layer;
  CHECK_FALSE(layer.joins([&] { layer.filter(true); }));
  CHECK(layer.joins([&] { layer.convolve(layer.in, 1, layer.z, layer.joined<Add>(layer.filtered, layer.add)); }));
  CHECK_FALSE(layer.joins([&] { layer.convolve(layer.in, 1, layer.z, layer.joined<Add>(layer.z, layer.add)); }));
}
TEST_CASE("... but not if others read the convolution, or in another form") {
  auto const joins = [](bool read_once, auto product) {
    Calls layer;
    layer.filter(read_once);
    return layer.joins([&] { product(layer); });
  };
  auto const to = [](Signal<float> Calls::*from, Signal<float> Calls::*y) {
    return [=](Calls& l) { l.convolve(l.*from, 1, l.*y, l.joined<Add>(l.filtered, l.add)); };
  };
  CHECK(joins(true, to(&Calls::in, &Calls::z)));
  CHECK_FALSE(joins(false, to(&Calls::in, &Calls::z)));
  CHECK_FALSE(joins(true, to(&Calls::head, &Calls::z)));  // four features
  CHECK_FALSE(joins(true, to(&Calls::in, &Calls::in)));   // over what it reads
  CHECK_FALSE(joins(true, [](Calls& l) { l.convolve(l.in, 1, l.z, l.joined<Add>(l.head, l.add)); }));
  CHECK_FALSE(joins(true, [](Calls& l) { l.convolve(l.in, 1, l.z, l.joined<Multiply>(l.filtered, l.multiply)); }));
}
TEST_CASE("a sum with a convolution's value is a part of it, also beyond one more convolution") {
  for (bool const at_once : {true, false}) {
    Calls layer;
    auto const next = [&] { layer.convolve(layer.filtered, 1, layer.other, PostOpsOf{}); };
    auto const sum = [&] { layer.backend.map(layer.head, layer.head, layer.joined<Add>(layer.filtered, layer.add)); };
    layer.filter(false);
    if (at_once) CHECK(layer.joins(sum));
    CHECK_FALSE(layer.joins(next));
    if (!at_once) CHECK(layer.joins(sum));
    CHECK_FALSE(layer.joins(sum));  // a second one
  }
}
TEST_CASE("... unless that reads what the sum replaces, or the sum reads it") {
  auto const joins = [](Signal<float> Calls::*to, Signal<float> Calls::*with) {
    Calls layer;
    layer.filter(false);
    layer.convolve(layer.filtered, 1, layer.other, PostOpsOf{});
    return layer.joins(
        [&] { layer.backend.map(layer.*with, layer.*to, layer.joined<Add>(layer.filtered, layer.add)); });
  };
  CHECK(joins(&Calls::head, &Calls::z));
  CHECK_FALSE(joins(&Calls::filtered, &Calls::head));
  CHECK_FALSE(joins(&Calls::other, &Calls::head));
  CHECK(joins(&Calls::head, &Calls::other));           // of the second convolution
  CHECK_FALSE(joins(&Calls::head, &Calls::filtered));  // twice itself
}
