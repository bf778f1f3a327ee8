// A training that stops and goes on from its checkpoint's file has the same bits as one that does not, for every
// optimizer, static and dynamic, also between the minibatches of an update.
#include <coldpress/coldpress.hpp>
#include <coldpress/persist.hpp>

#include "persist/files.hpp"
#include "support/compare.hpp"
#include "support/random.hpp"

namespace coldpress::persist {
namespace {

using Layers = Sequential<Linear{9}, Dropout{.probability = 0.25f}, TanH{}, Linear{3}>;
using Net = Network<Layers, Shape{5}>;
constexpr SolverOptions options{.weight_decay = 0.01f, .accumulate = 3, .lr_policy = lr::Exp{.gamma = 0.5f}};

/// An optimizer that no config can name.
struct Decaying {
  static constexpr std::string_view name = "decaying";
  static constexpr int states = 1;
  static constexpr bool heavy = false;
  float learning_rate = 0.01f;

  template <class T>
  constexpr void update(T& weight, T gradient, T (&state)[states]) const {
    state[0] = state[0] * 0.5f + gradient;
    weight -= state[0] * learning_rate;
  }
  bool operator==(Decaying const&) const = default;
};

/// Steps [from, to), each with minibatches of its own.
void run(auto& solver, int from, int to) {
  for (int step = from; step < to; ++step) {
    test::Random random{static_cast<std::uint64_t>(step)};
    Index const batch = 1 + step % 4;
    auto const x = random.values<float>(batch * 5), t = random.values<float>(batch * 3);
    solver.train_minibatch(std::span<float const>{x}, std::span<float const>{t});
  }
}

/// All that training changes, as the checkpoint has it.
bool same(Checkpoint const& a, Checkpoint const& b) {
  auto const equal = [](std::vector<NamedTensor> const& as, std::vector<NamedTensor> const& bs) {
    bool result = as.size() == bs.size();
    for (std::size_t i = 0; result && i < as.size(); ++i)
      result = as[i].name == bs[i].name && test::same_bits(as[i].values, bs[i].values);
    return result;
  };
  return equal(a.model.weights, b.model.weights) && equal(a.optimizer_state, b.optimizer_state) &&
         a.iteration == b.iteration && a.waiting == b.waiting && a.random_state == b.random_state;
}

template <auto optimizer, SolverOptions options = options>
void check_resume(int stop) {
  using Fit = Solver<Net, MeanSquaredError{}, optimizer, options>;
  TemporaryFolder folder;
  INFO(optimizer.name << " stopped after " << stop);

  Net through{1}, first{1}, second{2};
  Fit all{through}, start{first}, resumed{second};
  run(all, 0, 12);
  run(start, 0, stop);
  write_checkpoint(folder / "run", checkpoint_of(start));
  Checkpoint const static_half = read_checkpoint(folder / "run");
  resume(resumed, static_half);
  run(resumed, stop, 12);
  CHECK(same(checkpoint_of(resumed), checkpoint_of(all)));

  auto const cpu = dynamic::Backend::like_static();
  dynamic::SolverConfig const config = dynamic::to_solver_config(all);
  auto whole = dynamic::Solver::from_config(cpu, config, {}, 1),
       half = dynamic::Solver::from_config(cpu, config, {}, 1);
  run(whole, 0, 12);
  run(half, 0, stop);
  write_checkpoint(folder / "run", checkpoint_of(half));
  Checkpoint const dynamic_half = read_checkpoint(folder / "run");
  CHECK(same(static_half, dynamic_half));
  CHECK((dynamic_half.waiting > 0) == (stop % options.accumulate > 0));
  CHECK(dynamic_half.solver.lr_policy == Fit::options.lr_policy);
  CHECK(dynamic_half.solver.momentum_policy == Fit::options.momentum_policy);
  auto rest = solver_of(cpu, dynamic_half);
  run(rest, stop, 12);
  CHECK(same(checkpoint_of(rest), checkpoint_of(whole)));
  CHECK(same(checkpoint_of(rest), checkpoint_of(all)));

  auto further = solver_of(cpu, static_half);  // a solver of a config that goes on where one of a type has ended
  CHECK(static_half.solver == dynamic_half.solver);
  CHECK(static_half.loss == dynamic_half.loss);
  run(further, stop, 12);
  CHECK(same(checkpoint_of(further), checkpoint_of(all)));
}

TEST_CASE("no checkpoint is taken of weights that are not finite") {
  Net network{1};
  Solver<Net, MeanSquaredError{}, Sgd{}> solver{network};
  auto const cpu = dynamic::Backend::like_static();
  auto dynamic = dynamic::Solver::from_config(cpu, dynamic::to_solver_config(solver), {}, 1);
  run(solver, 0, 1), run(dynamic, 0, 1);
  CHECK_NOTHROW(checkpoint_of(solver));
  CHECK_NOTHROW(checkpoint_of(std::as_const(dynamic)));
  std::vector<float> bias(9);
  bias[8] = std::numeric_limits<float>::infinity();
  network.write_weight(1, bias);
  std::ranges::copy(bias, dynamic.network().learnable_weights_data()[1].write_only().begin());
  CHECK_THROWS_AS(checkpoint_of(solver), DivergenceError);
  CHECK_THROWS_AS(checkpoint_of(std::as_const(dynamic)), DivergenceError);
}

TEST_CASE("a static network that was moved from is neither saved nor loaded into") {
  TemporaryFolder folder;
  Net network{1};
  Solver<Net, MeanSquaredError{}, Sgd{}> solver{network};
  save(network, folder / "net");
  std::string const before = content(folder / "net");
  Net const taken = std::move(network);
  CHECK_THROWS_AS(save(network, folder / "net"), ShapeError);
  CHECK_THROWS_AS(model_of(network), ShapeError);
  CHECK_THROWS_AS(load_into(network, folder / "net"), ShapeError);
  CHECK_THROWS_AS(checkpoint_of(solver), ShapeError);
  CHECK(content(folder / "net") == before);
}

}  // namespace

TEST_CASE("every optimizer goes on from its checkpoint bit for bit") {
  for_each_type(BuiltinOptimizers{}, []<class Optimizer>() {
    for (int const stop : {1, 5, 6}) check_resume<Optimizer{}>(stop);
  });
}

TEST_CASE("every policy, of the rate and of the momentum, goes on from its middle bit for bit") {
  constexpr Policy growing = policy::Linear{.gamma = 0.1f, .stepsize = 2, .max = 0.9f};
  constexpr Policy list = policy::Staged{{2, policy::Warmup{.max_iter = 2}},
                                         {4, growing, 0.5f},
                                         {1, policy::CosineRestarts{.period = 2, .multiplier = 2}}};
  for (int const stop : {1, 3, 5, 8}) {
    check_resume<Sgd{.momentum = 0.5f}, SolverOptions{.clip_values = 0.01f, .lr_policy = list}>(stop);
    check_resume<Nesterov{.momentum = 0.5f}, SolverOptions{.accumulate = 2, .momentum_policy = list}>(stop);
  }
  auto const cpu = dynamic::Backend::like_static();
  Net net{1};
  Solver<Net, MeanSquaredError{}> described{net};
  for (Policy const& policy : std::initializer_list<Policy>{
           policy::Fixed{}, policy::Step{.gamma = 1.25f, .stepsize = 2, .max = 0.9f},
           policy::Multistep{.gamma = 0.5f, .steps = {2, 4, 7}}, policy::Exp{.gamma = 0.75f},
           policy::Inv{.gamma = 0.5f, .power = 0.75f}, policy::Poly{.power = 2, .max_iter = 20},
           policy::Sigmoid{.gamma = -0.5f, .stepsize = 5}, growing, policy::Warmup{.max_iter = 7},
           policy::Cosine{.max_iter = 7}, policy::CosineRestarts{.period = 2, .multiplier = 2},
           policy::OneCycle{.max_iter = 12, .start = 1.5f}, list}) {
    INFO(spelling(policy.stages[0].kind));
    TemporaryFolder folder;
    dynamic::SolverConfig config = dynamic::to_solver_config(described);
    config.momentum = 0.5f, config.lr_policy = config.momentum_policy = policy;
    auto whole = dynamic::Solver::from_config(cpu, config, {}, 1);
    run(whole, 0, 12);
    for (int const stop : {1, 3, 5, 8}) {
      auto half = dynamic::Solver::from_config(cpu, config, {}, 1);
      run(half, 0, stop);
      write_checkpoint(folder / "run", checkpoint_of(std::as_const(half)));
      auto rest = solver_of(cpu, read_checkpoint(folder / "run"));
      run(rest, stop, 12);
      CHECK(same(checkpoint_of(std::as_const(rest)), checkpoint_of(std::as_const(whole))));
    }
  }
}

TEST_CASE("the position of Dropout is kept where the network also ran apart from its solver") {
  auto const cpu = dynamic::Backend::like_static();
  Net net{1};
  Solver<Net, MeanSquaredError{}> described{net};
  auto solver = dynamic::Solver::from_config(cpu, dynamic::to_solver_config(described), {}, 1);
  run(solver, 0, 3);
  std::vector<float> const x(5, 1.0f);
  solver.mut_network().forward(std::span<float const>{x});  // in training mode
  Checkpoint const checkpoint = checkpoint_of(std::as_const(solver));
  CHECK(checkpoint.iteration == 3);
  CHECK(checkpoint.random_state == std::vector<std::uint64_t>{1, 4});
  auto resumed = solver_of(cpu, checkpoint);
  run(solver, 3, 6), run(resumed, 3, 6);
  CHECK(same(checkpoint_of(std::as_const(solver)), checkpoint_of(std::as_const(resumed))));
  CHECK(message<MismatchError>([&] { resume(described, checkpoint); }) ==
        "the checkpoint is of a network that also ran without its solver; only a dynamic solver can resume it");
}

TEST_CASE("a checkpoint amid an update, or without its gradients, is refused where training cannot continue from it") {
  using Fit = Solver<Net, MeanSquaredError{}, Sgd{}, options>;
  Net net{1}, other{2};
  Fit solver{net};
  run(solver, 0, 1);
  Checkpoint checkpoint = checkpoint_of(solver);
  auto const before = test::copy_of<float>(other.parameters());
  Solver<Net, MeanSquaredError{}> plain{other};
  CHECK(message<MismatchError>([&] { resume(plain, checkpoint); }) ==
        "the checkpoint is between the minibatches of one update, but the solver updates after each minibatch");
  checkpoint.optimizer_state.pop_back();
  checkpoint.optimizer_state.pop_back();  // the bias of the last layer may be missing: it would be zero
  Fit fit{other};
  CHECK_THROWS_AS(resume(fit, checkpoint), FormatError);
  CHECK(test::same_bits(before, other.parameters()));
}

TEST_CASE("a checkpoint has the optimizer and the minibatches per update that the options of its moment have") {
  Net net{1};
  Solver<Net, MeanSquaredError{}> plain{net};
  auto const cpu = dynamic::Backend::like_static();
  auto const config = dynamic::to_solver_config(plain);
  auto const begin = [&] {
    auto solver = dynamic::Solver::from_config(cpu, config, {}, 1);
    run(solver, 0, 3);
    solver.options().optimizer = Adam{.learning_rate = 0.01f};
    solver.options().accumulate = 3;
    return solver;
  };
  auto whole = begin(), half = begin();
  run(whole, 3, 12);
  run(half, 3, 7);
  Checkpoint const checkpoint = checkpoint_of(half);
  CHECK(checkpoint.optimizer == Adam::name);
  CHECK(checkpoint.waiting > 0);
  auto rest = solver_of(cpu, checkpoint), same_options = begin();
  run(rest, 7, 12);
  CHECK(same(checkpoint_of(rest), checkpoint_of(whole)));
  resume(same_options, checkpoint);
  run(same_options, 7, 12);
  CHECK(same(checkpoint_of(same_options), checkpoint_of(whole)));
}

TEST_CASE("a checkpoint has the numbers of the optimizer and the policies that the options have") {
  Net net{1};
  Solver<Net, MeanSquaredError{}, Sgd{.learning_rate = 0.05f, .momentum = 0.5f}> plain{net};
  auto const cpu = dynamic::Backend::like_static();
  dynamic::SolverConfig config = dynamic::to_solver_config(plain);
  config.momentum_policy = lr::Exp{.gamma = 0.5f};
  auto solver = dynamic::Solver::from_config(cpu, config, {}, 1);
  run(solver, 0, 3);
  std::get<Sgd>(solver.options().optimizer).momentum = 0.25f;
  CHECK(solver_of(cpu, checkpoint_of(solver)).options().optimizer == solver.options().optimizer);
  CHECK(checkpoint_of(solver).solver.base_lr == config.base_lr);
  solver.options().optimizer = Adam{.learning_rate = 0.01f, .beta1 = 0.5f};
  solver.options().momentum_policy = Policy{};
  auto other = solver_of(cpu, checkpoint_of(solver));  // before Adam's first step, which begins without Sgd's velocity
  CHECK(other.options().optimizer == solver.options().optimizer);
  run(solver, 3, 6), run(other, 3, 6);
  CHECK(same(checkpoint_of(other), checkpoint_of(solver)));
  std::get<Adam>(solver.options().optimizer).beta1 = 0.25f;
  CHECK(solver_of(cpu, checkpoint_of(solver)).options().optimizer == solver.options().optimizer);
}

TEST_CASE("up to 2^40 samples may wait for their update") {
  using Fit = Solver<Net, MeanSquaredError{}, Sgd{}, options>;
  Net net{1}, other{2};
  Fit solver{net}, fit{other};
  run(solver, 0, 1);
  Checkpoint checkpoint = checkpoint_of(solver);
  checkpoint.waiting = (std::uint64_t{1} << 40) + 1;
  CHECK(contains(message<FormatError>([&] { resume(fit, checkpoint); }), "more samples wait for their update"));
  checkpoint.waiting = std::uint64_t{1} << 40;
  resume(fit, checkpoint);
  CHECK(fit.progress().waiting == Index{1} << 40);
}

TEST_CASE("a checkpoint without a random state has the seed of its run") {
  auto const cpu = dynamic::Backend::like_static();
  Net net{5};
  Solver<Net, MeanSquaredError{}> described{net};
  auto const solver = dynamic::Solver::from_config(cpu, dynamic::to_solver_config(described), {}, 5);
  Checkpoint fresh = checkpoint_of(solver);
  REQUIRE(fresh.random_state == std::vector<std::uint64_t>{5});
  auto stated = solver_of(cpu, fresh);
  auto const goes_on_alike = [&](std::uint64_t seed) {  // through a Dropout, whose masks come from the seed
    fresh.random_state.clear(), fresh.seed = seed;
    auto unstated = solver_of(cpu, fresh), same = solver_of(cpu, checkpoint_of(std::as_const(stated)));
    run(unstated, 0, 3), run(same, 0, 3);
    return test::same_bits(checkpoint_of(std::as_const(unstated)).model.weights[0].values,
                           checkpoint_of(std::as_const(same)).model.weights[0].values);
  };
  CHECK(goes_on_alike(5));
  CHECK_FALSE(goes_on_alike(6));
}

TEST_CASE("a checkpoint of another optimizer is refused by name") {
  auto const resumed = []<auto optimizer>(Checkpoint const& checkpoint) {
    Net net{2};
    Solver<Net, MeanSquaredError{}, optimizer> solver{net};
    return message<MismatchError>([&] { resume(solver, checkpoint); });
  };
  Net net{1};
  Solver<Net, MeanSquaredError{}, Sgd{}> sgd{net};
  run(sgd, 0, 1);
  Checkpoint checkpoint = checkpoint_of(sgd);
  CHECK(resumed.operator()<RMSprop{}>(checkpoint) == "the checkpoint's optimizer is sgd, but the solver's is rmsprop");
  checkpoint.optimizer.clear();  // as older versions wrote it
  CHECK(resumed.operator()<Adam{}>(checkpoint) ==
        "the checkpoint's optimizer has 1 state per weight, but the solver's adam has 2");
  checkpoint.solver = {.base_lr = 0.5f};  // now it says that it was Sgd
  CHECK(resumed.operator()<Adam{}>(checkpoint) == "the checkpoint's optimizer is sgd, but the solver's is adam");
  CHECK(resumed.operator()<Nesterov{}>(checkpoint) ==
        "the checkpoint's optimizer is sgd, but the solver's is nesterov");
  CHECK_NOTHROW(resume(sgd, checkpoint));
  checkpoint.solver.solver = Adam{};
  CHECK(message<MismatchError>([&] { solver_of(dynamic::Backend::like_static(), checkpoint); }) ==
        "the checkpoint's optimizer has 1 state per weight, but the solver's adam has 2");
}

TEST_CASE("a checkpoint of another loss is refused by name, unless it does not say its loss") {
  Net net{1}, other{1};
  Solver<Net, MeanSquaredError{}, Sgd{}> squared{net};
  Solver<Net, Huber{.delta = 2}, Sgd{}> robust{other};
  run(squared, 0, 1);
  Checkpoint checkpoint = checkpoint_of(squared);
  auto const cpu = dynamic::Backend::like_static();
  auto config = dynamic::to_solver_config(robust);
  auto dynamic = dynamic::Solver::from_config(cpu, config, {}, 1);
  for (auto const& refused : {message<MismatchError>([&] { resume(robust, checkpoint); }),
                              message<MismatchError>([&] { resume(dynamic, checkpoint); })})
    CHECK(refused == "the checkpoint's loss is meanSquaredError, but the solver's is huber");
  CHECK(robust.progress().minibatches == 0);
  CHECK(dynamic.iteration() == 0);

  // The numbers of a loss are the solver's own, as those of an optimizer are.
  Solver<Net, Huber{.delta = 3}, Sgd{}> wider{other};
  CHECK_NOTHROW(resume(wider, checkpoint_of(robust)));
  // A container that ends in the loss, as Juice has it, is a loss, too.
  dynamic::SequentialConfig container;
  container.add_input("output", {3}).add_input("target", {3}).add_layer({"loss", MeanSquaredError{}});
  config.objective = dynamic::LayerConfig{"objective", container};
  auto of_container = dynamic::Solver::from_config(cpu, config, {}, 1);
  CHECK_NOTHROW(resume(of_container, checkpoint));
  CHECK_NOTHROW(resume(squared, checkpoint_of(std::as_const(of_container))));

  checkpoint.loss.reset();  // as older versions wrote it of network types, and this one of losses that are not built in
  CHECK_NOTHROW(resume(robust, checkpoint));
  CHECK_NOTHROW(resume(dynamic, checkpoint));
}

TEST_CASE("an optimizer of a network type that no config can name is continued in its type alone") {
  Net net{1}, other{2};
  Solver<Net, MeanSquaredError{}, Decaying{}> solver{net}, fit{other};
  run(solver, 0, 3);
  Checkpoint const checkpoint = checkpoint_of(solver);
  resume(fit, checkpoint);
  run(solver, 3, 5), run(fit, 3, 5);
  CHECK(same(checkpoint_of(solver), checkpoint_of(fit)));

  Solver<Net, MeanSquaredError{}, Sgd{}> sgd{other};
  CHECK(message<MismatchError>([&] { resume(sgd, checkpoint); }) ==
        "the checkpoint's optimizer is custom decaying, but the solver's is sgd");
  CHECK(contains(message<MismatchError>([&] { solver_of(dynamic::Backend::like_static(), checkpoint); }),
                 "optimizer, custom decaying, belongs to a network type"));
  Checkpoint without = checkpoint_of(sgd);
  without.loss.reset();
  CHECK(contains(message<MismatchError>([&] { solver_of(dynamic::Backend::like_static(), without); }),
                 "the checkpoint has no loss"));
}

}  // namespace coldpress::persist
