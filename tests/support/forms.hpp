// The law of the two forms: compiled-in and linked kernels give a network the same bits.
#pragma once

// This holds for forward, backward and training.

#include "support/catch.hpp"
#include "support/random.hpp"

#include <coldpress/compiled_in.hpp>
#include <coldpress/linked.hpp>
#include <coldpress/testing.hpp>

#include <memory>

namespace coldpress::test {

/// Whether the linked kernels are for the same instructions as this file. Only then are bits equal.
inline bool same_level() {
#if defined __AVX512F__ && defined __AVX512VL__
  bool const same = &cpu::best_table() == &cpu::table_for("v4");
#elif defined __AVX2__ && defined __FMA__
  bool const same = &cpu::best_table() == &cpu::table_for("v3");
#elif defined __x86_64__
  bool const same = &cpu::best_table() == &cpu::table_for("v2");
#else
  bool const same = true;
#endif
  if (!same) WARN("skipped: the kernels that are linked are for other instructions than this file");
  return same;
}

/// Compares everything that two networks compute from the same minibatches.
template <class Compiled, class Linked, auto loss, auto optimizer, SolverOptions options>
void check_same() {
  if (!same_level()) return;
  auto const compiled = std::make_unique<Compiled>(3);
  auto const linked = std::make_unique<Linked>(3);
  REQUIRE(canonical(*compiled) == canonical(*linked));
  Random random{5};
  for (Index const batch : {1, 2, 3, 17}) {
    INFO("batch " << batch);
    auto const x = random.values<float>(batch * Linked::input_shape.size()),
               dy = random.values<float>(batch * Linked::output_shape.size());
    CHECK(same_bits(compiled->forward(x), linked->forward(x)));
    typename Compiled::TrainingWorkspace one;
    typename Linked::TrainingWorkspace two;
    CHECK(same_bits(compiled->forward_training(x, one, 7), linked->forward_training(x, two, 7)));
    CHECK(same_bits(compiled->backward(dy, one), linked->backward(dy, two)));
    CHECK(same_bits(canonical<Compiled>(one.gradients()), canonical<Linked>(two.gradients())));
  }
  Solver<Compiled, loss, optimizer, options> first{*compiled};
  Solver<Linked, loss, optimizer, options> second{*linked};
  for (Index const batch : {5, 1, 16, 16}) {
    auto const x = random.values<float>(batch * Linked::input_shape.size());
    auto const targets = targets_of<loss, float>(random, batch, Linked::output_shape);
    CHECK(first.train_minibatch(x, targets) == second.train_minibatch(x, targets));
    CHECK(same_bits(first.output(), second.output()));
  }
  CHECK(canonical(*compiled) == canonical(*linked));
}
template <class Net, Shape in, auto loss = MeanSquaredError{}, auto optimizer = Sgd{.learning_rate = 0.01f},
          SolverOptions options = SolverOptions{}>
void check_forms() {
  check_same<Network<Net, in, DynamicBatch, Cpu>, Network<Net, in, DynamicBatch, LinkedCpu>, loss, optimizer,
             options>();
}

}  // namespace coldpress::test
