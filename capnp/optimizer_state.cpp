#include <coldpress/persist/network.hpp>

#include <algorithm>

namespace coldpress::persist {

void check_optimizer(Checkpoint const& checkpoint, std::string_view optimizer, int states) {
  auto const has_state = [&](int state) {
    std::string const end = buffer_name(state, state + 1, "");
    return std::ranges::any_of(checkpoint.optimizer_state,
                               [&](auto const& tensor) { return tensor.name.ends_with(end); });
  };
  int kept = 0;
  while (has_state(kept)) ++kept;
  auto const [name, its_states] = std::visit(
      [](auto const& type) {
        return std::pair{std::string{type.name}, std::remove_cvref_t<decltype(type)>::states};
      },
      checkpoint.solver.solver);
  bool const told = checkpoint.solver != dynamic::SolverConfig{} && its_states == kept;
  std::string const its = told ? "the checkpoint's optimizer is " + name
                               : "the checkpoint's optimizer has " + std::to_string(kept) +
                                     (kept == 1 ? " state" : " states") + " for each weight";
  if (told && name != optimizer) throw MismatchError{its + ", the solver's is " + std::string{optimizer}};
  if (kept != states)
    throw MismatchError{its + ", the solver's " + std::string{optimizer} + " has " + std::to_string(states)};
}

}  // namespace coldpress::persist
