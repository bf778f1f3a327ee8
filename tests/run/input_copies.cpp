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

TEST_CASE("copies of inputs stay while they are inputs again") {
  Floats const result{1, 2, 3, 4};
  auto const is_result = [&](float const* value) { return is_among(value, result.data(), 4); };
  InputCopies<HeapMemory<float>> copies;
  Floats const other{5, 6};
  std::array<Values, 2> inputs{Values{other}, Values{result}.first(2)};
  copies.replace(inputs, is_result);
  CHECK(inputs[0].data() == other.data());
  CHECK(Floats(inputs[1].begin(), inputs[1].end()) == Floats{1, 2});
  std::array<Values, 2> later{Values{result}.last(2), inputs[1]};  // a network of views gave the second back
  copies.replace(later, is_result);
  CHECK(Floats(later[0].begin(), later[0].end()) == Floats{3, 4});
  CHECK(Floats(later[1].begin(), later[1].end()) == Floats{1, 2});
  std::array<Values, 2> moved{inputs[1], Values{result}.first(2)};
  copies.replace(moved, is_result);
  CHECK(Floats(moved[0].begin(), moved[0].end()) == Floats{1, 2});
}
