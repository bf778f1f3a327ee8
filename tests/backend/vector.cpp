// Loads and stores of a part of a vector, and transposition, touch nothing else.
#include <coldpress/backend/tile.hpp>
#include <coldpress/core/rows.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"

#include <algorithm>
#include <vector>

using namespace coldpress;
using namespace coldpress::test;

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

TEST_CASE("a range of lanes is loaded, and nothing outside of it is read") {
  Random random{1};
  for (Index begin = -2; begin <= cpu::lanes + 2; ++begin) {
    for (Index end = begin; end <= cpu::lanes + 2; ++end) {
      Index const first = std::max<Index>(begin, 0), last = std::max(first, std::min<Index>(end, cpu::lanes));
      auto const values = random.values<float>(last);  // a sanitizer sees what is read behind them
      cpu::Vector const v = cpu::load_between(values.data(), begin, end);
      for (Index l = 0; l < cpu::lanes; ++l) CHECK(v[l] == (l >= first && l < last ? values[at(l)] : 0.f));
    }
  }
}

TEST_CASE("the first lanes are stored and loaded") {
  Random random{2};
  for (Index count = 0; count <= cpu::lanes; ++count) {
    auto const values = random.values<float>(cpu::lanes);
    std::vector<float> to(at(count));
    cpu::store_row(to.data(), cpu::load(values.data()), count);
    cpu::Vector const back = cpu::load_row(to.data(), count);
    for (Index l = 0; l < cpu::lanes; ++l) CHECK(back[l] == (l < count ? values[at(l)] : 0.f));
  }
}

TEST_CASE("matrices of all sizes are transposed") {
  Random random{3};
  for (Index rows = 1; rows <= 2 * cpu::lanes + 1; ++rows) {
    for (Index columns = 1; columns <= 2 * cpu::lanes + 1; ++columns) {
      Index const more = random.integer(0, 3);
      auto const from = random.values<float>((rows - 1) * (columns + more) + columns);
      std::vector<float> to(at((columns - 1) * (rows + more) + rows), 5.f);
      cpu::transpose<true>(rows, columns, from.data(), columns + more, to.data(), rows + more);
      Index const pitch = padded_size(columns), to_pitch = padded_size(rows);
      auto padded = random.values<float>(rows * pitch);
      std::vector<float> padded_to(at(columns * to_pitch), 5.f);
      for (Index i = 0; i < rows * pitch; ++i) {
        if (i % pitch < columns) padded[at(i)] = from[at(i / pitch * (columns + more) + i % pitch)];
      }
      cpu::transpose(rows, columns, padded.data(), pitch, padded_to.data(), to_pitch);
      Index wrong = 0;
      for (Index c = 0; c < columns; ++c) {
        for (Index r = 0; r < rows + more && at(c * (rows + more) + r) < to.size(); ++r)
          wrong += to[at(c * (rows + more) + r)] != (r < rows ? from[at(r * (columns + more) + c)] : 5.f);
        for (Index r = 0; r < (rows + cpu::lanes - 1) / cpu::lanes * cpu::lanes; ++r)
          wrong += padded_to[at(c * to_pitch + r)] != (r < rows ? from[at(r * (columns + more) + c)] : 0.f);
      }
      INFO(rows << " x " << columns);
      CHECK(wrong == 0);
    }
  }
}
