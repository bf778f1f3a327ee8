// Results of a network that are given to it again, against copies of them.
#include "support/catch.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/run/input_copies.hpp>

#include <deque>
#include <memory>
#include <vector>

using namespace coldpress;
using namespace coldpress::test;

namespace {

using Floats = std::vector<float>;
using Values = std::span<float const>;

/// Its plans put other values into the memory of the outputs before the inputs have been read for the last time.
constexpr auto wide = graph([](auto a, auto b) {
  auto const x = a | Linear{8} | TanH{} | Linear{4} | TanH{};
  auto const y = (b | Linear{4}) + x;
  return outputs((y | Linear{4} | TanH{} | Linear{4}) + a | name("y"), y | TanH{} | Linear{4} | name("z"));
});
/// f(keep) computes the same if keep(view) gives the view itself and if it gives a copy.
template <class F>
void compare(F f) {
  std::deque<Floats> copies;
  Floats const copied = f([&](Values view) { return Values{copies.emplace_back(view.begin(), view.end())}; });
  Floats const own = f([](Values view) { return view; });
  REQUIRE(!own.empty());
  CHECK(same_bits(own, copied));
}
void add(Floats& all, Values view) { all.insert(all.end(), view.begin(), view.end()); }

template <class Net>
void compare_passes() {
  compare([](auto keep) {
    Floats made;
    Floats const a = Random{1}.values<float>(2 * 4), b = Random{2}.values<float>(2 * 4);
    Net net{3};
    for (int turn = 0; turn < 3; ++turn) {
      Values const y = keep(net.forward(a, b)), z = keep(net.template output<"z">());
      Values const again = turn == 0 ? net.forward(y, b) : turn == 1 ? net.forward(b, z) : net.forward(z, y);
      add(made, again), add(made, net.template output<"z">());
    }
    typename Net::State state;
    typename Net::Workspace workspace;
    Values x = a;
    for (int t = 0; t < 3; ++t) add(made, x = keep(net.step(std::tuple{x, Values{b}}, state, workspace)));

    typename Net::TrainingWorkspace training;
    net.forward_training(std::tuple{Values{a}, Values{b}}, training);
    Values y = keep(training.output(0)), z = keep(training.output(1));
    net.forward_training(std::tuple{z, y}, training);
    y = keep(training.output(0)), z = keep(training.output(1));
    Values const da = keep(net.backward(std::tuple{z, y}, training)), db = keep(training.input_gradient(1));
    add(made, da), add(made, db), add(made, training.gradients());
    net.forward_training(std::tuple{db, da}, training);
    z = keep(training.output(1));
    add(made, net.backward(std::tuple{z, Values{a}}, training));
    add(made, training.input_gradient(1)), add(made, training.gradients());
    return made;
  });
}
/// Workspaces that are copied or moved before backward still have the inputs that they copied.
template <class Net>
void compare_moved() {
  compare([](auto keep) {
    Floats made;
    Floats const x = Random{1}.values<float>(2 * 4), other = Random{2}.values<float>(2 * 4), dy(8, 1.0f);
    Net const net{3};
    auto workspace = std::make_unique<typename Net::TrainingWorkspace>();
    Values const y = keep(net.forward_training(x, *workspace));
    net.forward_training(y, *workspace, 2);
    auto copy = *workspace;
    Values const z = keep(net.forward_training(other, *workspace, 3));
    net.forward_training(z, *workspace, 4);
    add(made, net.backward(dy, copy)), add(made, copy.gradients());
    auto moved = std::move(*workspace);
    workspace.reset();
    add(made, net.backward(dy, moved)), add(made, moved.gradients());
    return made;
  });
}
template <class Net, SolverOptions options>
void compare_steps() {
  compare([](auto keep) {
    Floats made;
    Floats const x = Random{1}.values<float>(4 * 4), t = Random{2}.values<float>(4 * 4);
    Net net{3};
    coldpress::Solver<Net, MeanSquaredError{}, Sgd{}, options> solver{net};
    solver.train_minibatch(x, t);
    for (int times = 0; times < 2; ++times) {
      made.push_back(solver.train_minibatch(keep(solver.output()), t));
      made.push_back(solver.train_minibatch(x, keep(solver.output())));
    }
    add(made, net.parameters()), add(made, solver.output());
    return made;
  });
}

}  // namespace

TEST_CASE("results of a network are its inputs and gradients of its outputs") {
  compare_passes<Network<Graph<wide>, Inputs{Shape{4}, Shape{4}}>>();
  compare_passes<Network<Graph<wide>, Inputs{Shape{4}, Shape{4}}, Batch<2>>>();
}

TEST_CASE("a workspace that is copied or moved has the copies of its inputs") {
  using Layers = Sequential<Linear{8}, TanH{}, Linear{4}, TanH{}, Linear{4}>;
  compare_moved<Network<Layers, Shape{4}>>();
  compare_moved<Network<Layers, Shape{4}, Batch<2>>>();
}

TEST_CASE("outputs of a step are inputs and targets of the next one") {
  using Net = Network<Sequential<Linear{8}, TanH{}, Linear{4}, TanH{}, Linear{4}>, Shape{4}>;
  compare_steps<Net, SolverOptions{}>();
  compare_steps<Net, SolverOptions{.microbatch = 2}>();
}

namespace {
/// A delay line: the last output is a view of an input.
constexpr auto delay = graph([](auto x, auto last, auto before) {
  return outputs((x + last - before) | TanH{} | name("y"), last | Identity{} | name("d"));
});
template <class Net>
void compare_delays() {
  compare([](auto keep) {
    Floats made;
    Net net{3};
    Floats const x{0.5f, -0.25f}, zero(2);
    Values last{zero}, before{zero};
    for (int t = 0; t < 8; ++t) {
      add(made, net.forward(x, last, before));
      last = keep(net.template output<"y">()), before = keep(net.template output<"d">());
    }
    return made;
  });
}
}  // namespace
TEST_CASE("outputs that are views of inputs are inputs again, beside others") {
  compare_delays<Network<Graph<delay>, Inputs{Shape{2}, Shape{2}, Shape{2}}>>();
  compare_delays<Network<Graph<delay>, Inputs{Shape{2}, Shape{2}, Shape{2}}, Batch<1>>>();
}

TEST_CASE("many small outputs are one large input") {
  compare([](auto keep) {
    Network<Sequential<Linear{200}, ReLU{}, Linear{200}, ReLU{}, Linear{16}>, Shape{64}> net{3};
    Floats const x = Random{1}.values<float>(8 * 64);
    Values const y = net.forward(keep(net.forward(x)));
    return Floats(y.begin(), y.end());
  });
}

TEST_CASE("a forward pass that is refused leaves the inputs of the one before to backward") {
  using Net = Network<Sequential<Linear{4}, TanH{}, Linear{2}>, Shape{2}>;
  Floats const x{1, -2, 0.5f, 3}, dy{1, 2, 3, 4}, odd(7);
  auto const run = [&](bool refused) {
    Net const net{1};
    typename Net::TrainingWorkspace workspace;
    Values const y = net.forward_training(x, workspace);
    Values const z = net.forward_training(y, workspace, 2);
    if (refused) {
      CHECK_THROWS_AS(net.forward_training(z.first(3), workspace, 3), ShapeError);
      CHECK_THROWS_AS(net.forward_training(odd, workspace, 3), ShapeError);
    }
    Floats made;
    add(made, net.backward(dy, workspace)), add(made, workspace.gradients());
    return made;
  };
  CHECK(same_bits(run(true), run(false)));
}

TEST_CASE("a copy of a workspace does not take the inputs of others for its own") {
  using Net = Network<Sequential<Linear{8}, TanH{}, Linear{4}, TanH{}, Linear{4}>, Shape{4}, Batch<2>>;
  using Workspace = typename Net::TrainingWorkspace;
  Net const net{3};
  Floats const x = Random{1}.values<float>(2 * 4), other = Random{2}.values<float>(2 * 4), dy(8, 1.0f);
  alignas(Workspace) std::byte room[sizeof(Workspace)];
  auto* const first = new (room) Workspace;
  net.forward_training(Values{net.forward_training(x, *first)}, *first);
  Workspace copy = *first;
  first->~Workspace();
  Floats expected, found;
  Workspace fresh;
  net.forward_training(other, fresh), net.backward(dy, fresh), add(expected, fresh.gradients());
  for (std::size_t at = 0; at + sizeof(float) * other.size() <= sizeof room; at += 64) {
    auto* const input = new (room + at) float[8];
    std::copy(other.begin(), other.end(), input);
    net.forward_training(Values{input, 8}, copy), net.backward(dy, copy);
    found.clear(), add(found, copy.gradients());
    REQUIRE(same_bits(found, expected));
  }
}

TEST_CASE("copies of inputs that come back are copied elsewhere") {
  Floats const result{1, 2, 3, 4, 5};
  auto const is_result = [&](float const* value) { return is_among(value, result.data(), 5); };
  InputCopies<HeapMemory<float>> copies;
  Floats const other{5, 6};
  std::array<Values, 2> inputs{Values{other}, Values{result}.first(2)};
  CHECK(copies.replace(inputs, is_result));
  CHECK(inputs[0].data() == other.data());
  CHECK(Floats(inputs[1].begin(), inputs[1].end()) == Floats{1, 2});
  std::array<Values, 2> later{Values{result}.last(3), inputs[1]};  // a network of views gave the second back
  CHECK(copies.replace(later, is_result));
  CHECK(Floats(later[0].begin(), later[0].end()) == Floats{3, 4, 5});
  CHECK(Floats(later[1].begin(), later[1].end()) == Floats{1, 2});
  auto const before = later;
  CHECK(!copies.replace(later, is_result));
  CHECK(later[0].data() == before[0].data());
  std::array<Values, 3> swapped{later[1], later[0], Values{result}.first(1)};
  CHECK(copies.replace(swapped, is_result));
  CHECK(Floats(swapped[0].begin(), swapped[0].end()) == Floats{1, 2});
  CHECK(Floats(swapped[1].begin(), swapped[1].end()) == Floats{3, 4, 5});
}
