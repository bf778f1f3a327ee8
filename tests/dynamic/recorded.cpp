// A pass of inference is taken down once and played again; evaluate, which is not, says what it must give.
#include "tensors.hpp"

using namespace coldpress;
using namespace coldpress::test;
using dynamic::Values;

namespace {

/// join(tanh(Linear(a)), b), so that a kernel reads one input and its epilogue the other; then what reads both layouts.
Net two_inputs() {
  SequentialConfig config{.layers = {wired({"first", Linear{6}}, {"a"}, {"x"}),
                                     wired({"sum", Add{}}, {"x", "b"}, {"y"}),
                                     wired({"view", Reshape{{3, 2}}}, {"y"}, {"z"}),
                                     wired({"rnn", Rnn{.hidden_size = 5, .num_layers = 2}}, {"z"}, {"w"}),
                                     wired({"last", Linear{6}}, {"w"}, {"out"}),
                                     {"softmax", Softmax{}}},
                          .inputs = {}};
  config.add_input("a", Shape{6}), config.add_input("b", Shape{6});
  return Net::from_config(Backend{"cpu"}, {"network", config}, {}, 3);
}

}  // namespace

TEST_CASE("inference gives the same wherever its inputs are, and whatever came between") {
  Net net = two_inputs();
  auto& network = net.executable();
  Index constexpr most = 3;
  Floats const a = Random{1}.values<float>(6 * most), b = Random{2}.values<float>(6 * most);
  auto const check = [&](Values first, Values second) {
    Values const inputs[] = {first, second};
    Floats const wanted = copy_of<float>(network.evaluate(inputs)[0]);
    for (int turn = 0; turn < 2; ++turn) CHECK(copy_of<float>(network.forward(inputs, Mode::inference)[0]) == wanted);
    CHECK(copy_of<float>(network.outputs()[0]) == wanted);
    return network.outputs()[0];
  };
  Values const all_a{a}, all_b{b};
  check(all_a.first(6), all_b.first(6));
  check(all_b.first(6), all_a.first(6));
  check(all_a.first(6), all_a.first(6));  // as one buffer, which later are two
  check(all_a.subspan(6, 6), all_b.first(6));
  Floats const own = copy_of<float>(check(all_a.first(6), all_b.first(6)));
  check(all_a, all_b);
  check(all_a.last(6), all_b.last(6));
  Values const inputs[] = {all_a.first(6), all_b.first(6)};
  network.forward(inputs, Mode::training);
  CHECK(copy_of<float>(check(all_a.first(6), all_b.first(6))) == own);
  net.learnable_weights_data()[0].write_only()[0] = 3;
  net.send_weights();
  CHECK(copy_of<float>(check(all_a.first(6), all_b.first(6))) != own);
  error_of<ShapeError>([&] { network.forward(std::span<Values const>{inputs, 1}, Mode::inference); });
}

TEST_CASE("a network may be given its own output") {
  Net net = Net::from_config(Backend{"cpu"}, sequential({{"a", Linear{4}}, {"t", TanH{}}, {"b", Linear{4}}}, Shape{4}),
                             {}, 3);
  net.set_mode(Mode::inference);
  Floats const x = Random{1}.values<float>(8), other{x.begin() + 4, x.end()};
  Floats const start{x.begin(), x.begin() + 4};
  Floats const once = copy_of<float>(net.forward(Values{start})), twice = copy_of<float>(net.forward(Values{once}));
  Net fresh = Net::from_config(Backend{"cpu"},
                               sequential({{"a", Linear{4}}, {"t", TanH{}}, {"b", Linear{4}}}, Shape{4}), {}, 3);
  fresh.set_mode(Mode::inference);
  Values const y = fresh.forward(Values{start});
  CHECK(copy_of<float>(fresh.forward(y)) == twice);
  CHECK(copy_of<float>(fresh.forward(Values{other})) == copy_of<float>(net.forward(Values{other})));
}
