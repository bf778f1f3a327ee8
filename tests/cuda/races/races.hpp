// What tests of races ask.
#pragma once

#include "players.hpp"

#include "support/catch.hpp"

namespace coldpress::test {

/// made() is the same by one player, by players with blocks, and by members with the threads of a block; and
/// ThreadSanitizer has reported nothing. `played` takes the kernels.
template <class F>
void check_races(F const& made, std::set<cuda::Loops>& played) {
  int const before = reports();
  races() = Races{1, 1};
  auto const alone = made();
  played.insert(races().played.begin(), races().played.end());
  for (auto const& [players, members] : {std::pair{3, 1}, std::pair{1, 3}}) {
    INFO(players << " players of " << members);
    races() = Races{players, members};
    CHECK((made() == alone));
    CHECK(reports() == before);
  }
}
template <class F>
void check_races(F const& made) {
  std::set<cuda::Loops> played;
  check_races(made, played);
}

}  // namespace coldpress::test
