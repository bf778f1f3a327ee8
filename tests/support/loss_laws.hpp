// The laws that every loss must keep.
#pragma once

// A loss is given by a struct with make(shape of the output), because some losses depend on that shape.

#include "support/layer_laws.hpp"

#include "laws/tested_losses.hpp"

#include <coldpress/typed/operations.hpp>

namespace coldpress::test {

/// A network type in training by a loss, or by those inside it: OwnLosses{}.
template <class Net, auto loss>
class LossesOfType final : public TestedLosses {
 public:
  explicit LossesOfType(std::uint64_t seed) : network_{random_network<Net>(seed)} {
    input = Net::input_shape, output = Net::output_shape;
  }
  std::span<double> parameters() override { return network_.parameters(); }
  double loss_of(std::vector<double> const& x, [[maybe_unused]] std::vector<double> const& targets) override {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(loss)>, OwnLosses>) {
      return solver_.train_minibatch(x);
    } else {
      return solver_.train_minibatch(x, targets);
    }
  }
  std::vector<double> gradients() override { return copy_of<double>(solver_.gradients()); }

 private:
  Net network_;
  Solver<Net, loss, Sgd{.learning_rate = 0}, SolverOptions{.keep_gradients = true}> solver_{network_};
};

template <auto... layers>
void append(std::vector<BuiltinLayer>& all, Sequential<layers...> const&);
template <class L>
void append(std::vector<BuiltinLayer>& all, L const& layer) {
  all.push_back(builtin<BuiltinLayers>(layer));
}
template <auto... layers>
void append(std::vector<BuiltinLayer>& all, Sequential<layers...> const&) {
  (append(all, layers), ...);
}
/// A Sequential of built-in layers and a loss, for a config.
template <class Net, Shape in, Loss auto loss>
LossConfig loss_config() {
  LossConfig config{{}, in, loss.target_shape(Net{}.output_shape(in)), builtin<BuiltinLosses>(loss)};
  append(config.layers, Net{});
  return config;
}

template <Loss auto loss>
LossUnderTest loss_under_test() {
  auto const gradient = []<class T>(Shape const& out, T const* y, T const* target, T* dy) {
    if constexpr (SampleLoss<std::remove_cvref_t<decltype(loss)>>) {
      loss.sample(out, y, target, dy, static_cast<T*>(nullptr));
    } else if constexpr (loss.target == Target::label) {
      auto const label = static_cast<Index>(*target);
      dy[label] = loss.gradient(y[label], T{});
    } else {
      for (Index i = 0; i < out.size(); ++i) dy[i] = loss.gradient(y[i], target[i]);
    }
  };
  return {[](Random& random, Index batch, Shape const& out) { return targets_of<loss, float>(random, batch, out); },
          gradient, gradient};
}
/// Whether the laws of a loss are checked in configs, and whether in types, as layers are (support/layer_laws.hpp).
template <Loss auto loss>
constexpr bool loss_as_config = COLDPRESS_LAWS_OF_CONFIGS
                                    ? index_of<std::remove_cvref_t<decltype(loss)>>(BuiltinLosses::Plain{}) >= 0
                                    : false;
template <Loss auto loss>
constexpr bool loss_as_type = COLDPRESS_NIGHTLY || !loss_as_config<loss>;

/// The laws of tested_losses.hpp for a Sequential of built-in layers and a loss, as a config or as a type.
template <class Net, Shape in, Loss auto loss>
void loss_gradient_law(Index batch, std::uint64_t seed, Violations& violations) {
  auto const check = [&](TestedLosses& network) {
    Random random{seed};
    auto const x = random.values<double>(batch * in.size());
    loss_gradient_law(network, x, targets_of<loss, double>(random, batch, network.output), violations);
  };
  if constexpr (loss_as_config<loss>) check(*losses_of_config(loss_config<Net, in, loss>(), seed));
  if constexpr (loss_as_type<loss>) {
    LossesOfType<Exact<Net, in>, loss> network{seed};
    check(network);
  }
}
template <class Net, Shape in, Loss auto loss>
void loss_training_law(Index batch, std::uint64_t seed, Violations& violations) {
  if constexpr (loss_as_config<loss>)
    loss_training_law(loss_config<Net, in, loss>(), loss_under_test<loss>(), batch, seed, violations);
  if constexpr (loss_as_type<loss>) training_law<Net, in, loss>(batch, seed, violations);
}
template <class Net, Shape in, Loss auto loss>
void loss_fusion_law(Index batch, std::uint64_t seed, Violations& violations) {
  if constexpr (loss_as_config<loss>)
    loss_fusion_law(loss_config<Net, in, loss>(), loss_under_test<loss>(), batch, seed, violations);
  if constexpr (loss_as_type<loss>) {
    using Fast = Network<Net, in>;
    auto const fused = [&](std::vector<float> const& x, std::vector<float> const& targets) {
      auto network = random_network<Fast>(seed);
      Solver<Fast, loss, Sgd{}, SolverOptions{.keep_gradients = true}> solver{network};
      solver.train_minibatch(x, targets);
      return canonical<Fast>(solver.gradients());
    };
    loss_fusion_law(loss_under_test<loss>(), *tested_randomly<Fast>(seed), *tested_randomly<Exact<Net, in>>(seed),
                    fused, batch, seed, violations);
  }
}

/// A network that compares two values inside it.
template <Loss auto loss, Index values, Layer auto tail, Layer auto target_tail>
struct Hidden {
  constexpr auto operator()(auto x) const {
    auto const h = x | Linear{6} | TanH{};
    auto const y = h | Linear{values} | tail | name("y");
    apply(loss, y, h | Linear{values} | target_tail) | name("loss");
    return y;
  }
};
template <Loss auto loss, Index values, Layer auto tail, Layer auto target_tail>
HiddenLossConfig hidden_config() {
  return {builtin<BuiltinLosses>(loss), values, builtin<BuiltinLayers>(tail), builtin<BuiltinLayers>(target_tail)};
}
template <class Net>
std::vector<float> trained_on_own_losses(Index batch, std::uint64_t seed) {
  auto network = random_network<Net>(seed);
  Solver<Net, OwnLosses{}, Sgd{.learning_rate = own_losses_rate}> solver{network};
  Random random{seed};
  std::vector<float> result;
  for (int step = 0; step < own_losses_steps; ++step)
    result.push_back(solver.train_minibatch(random.values<float>(batch * Net::input_shape.size())));
  auto const parameters = canonical(network);
  result.insert(result.end(), parameters.begin(), parameters.end());
  return result;
}
template <Loss auto loss, Index values, Layer auto tail, Layer auto target_tail>
void hidden_training_law(Index batch, std::uint64_t seed, Violations& violations) {
  if constexpr (loss_as_config<loss>)
    own_losses_law(hidden_config<loss, values, tail, target_tail>(), batch, seed, violations);
  if constexpr (loss_as_type<loss>) {
    static constexpr auto function = graph(Hidden<loss, values, tail, target_tail>{});
    LossesOfType<Exact<Graph<function>, hidden_input>, OwnLosses{}> exact{seed};
    own_losses_law(trained_on_own_losses<Network<Graph<function>, hidden_input>>(batch, seed), exact, values, batch,
                   seed, violations);
  }
}
template <Loss auto loss, Index values, Layer auto tail, Layer auto target_tail>
void hidden_gradient_law(Index batch, std::uint64_t seed, Violations& violations) {
  if constexpr (loss_as_config<loss>) {
    auto const network = losses_of_config(hidden_config<loss, values, tail, target_tail>(), seed);
    own_losses_gradient_law(*network, batch, seed, violations);
  }
  if constexpr (loss_as_type<loss>) {
    static constexpr auto function = graph(Hidden<loss, values, tail, target_tail>{});
    LossesOfType<Exact<Graph<function>, hidden_input>, OwnLosses{}> network{seed};
    own_losses_gradient_law(network, batch, seed, violations);
  }
}
template <Loss auto loss, Index values, Layer auto tail, Layer auto target_tail>
void hidden_loss_law(Index batch, std::uint64_t seed, Violations& violations) {
  hidden_gradient_law<loss, values, tail, target_tail>(batch, seed, violations);
  hidden_training_law<loss, values, tail, target_tail>(batch, seed, violations);
}

/// Everything that the loss does wrong after one kind of last layer. The gradients are tested on as many widths and
/// batch sizes as there are numbers n, the other laws with four batch sizes.
template <class Maker, Layer auto tail, int... n>
void loss_laws_after(std::integer_sequence<int, n...>, Violations& violations) {
  (loss_gradient_law<Sequential<Linear{law_shape(n, 30).size()}, tail>, Shape{3},
                     Maker::make(Shape{law_shape(n, 30).size()})>(1 + n % 5, n, violations),
   ...);
  using Net = Sequential<Linear{35}, TanH{}, Linear{21}, tail>;
  for (Index const batch : {1, 2, 13, 32}) {
    auto const seed = static_cast<std::uint64_t>(batch);
    loss_training_law<Net, Shape{9}, Maker::make(Shape{21})>(batch, seed, violations);
    loss_fusion_law<Net, Shape{9}, Maker::make(Shape{21})>(batch, seed, violations);
  }
}

/// What the loss does wrong after each of the last layers, over as many widths in all as a
/// law has shapes, but one at least for each layer.
template <class Maker, Layer auto... tails>
Violations loss_violations() {
  Violations violations;
  (loss_laws_after<Maker, tails>(
       std::make_integer_sequence<int, (COLDPRESS_LAW_SHAPES + sizeof...(tails) - 1) / sizeof...(tails)>{}, violations),
   ...);
  return violations;
}

/// The laws after one last layer at a few widths, and for two compared values inside the network. This suffices for a
/// loss that is computed in the same way as others.
template <class Maker, Layer auto tail, Layer auto target_tail>
void check_own_loss_laws() {
  Violations violations;
  loss_laws_after<Maker, tail>(std::make_integer_sequence<int, 3>{}, violations);
  hidden_loss_law<Maker::make(Shape{5}), 5, tail, target_tail>(3, 1, violations);
  hidden_loss_law<Maker::make(Shape{19}), 19, tail, target_tail>(7, 2, violations);
  check_none(violations);
}

template <class Maker, Layer auto... tails>
void check_loss_laws() {
  for (std::string const& violation : loss_violations<Maker, tails...>()) FAIL_CHECK(violation);
  SUCCEED();
}

}  // namespace coldpress::test
