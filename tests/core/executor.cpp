// How work is cut into pieces.
#include <coldpress/core/executor.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <vector>

using namespace coldpress;

namespace {

/// The calling thread does the pieces, which cost at least as much as it says.
class Cutting : public Executor {
 public:
  explicit Cutting(Index piece_cost, int workers = 1) : piece_cost_(piece_cost), workers_(workers) {}
  int workers() const override { return workers_; }
  Index piece_cost() const override { return piece_cost_; }
  void run(Work const& work) override {
    for (int number = 0; number < work.pieces; ++number) work(number, 0);
  }

 private:
  Index piece_cost_;
  int workers_;
};

}  // namespace

TEST_CASE("work is cut into ranges that cover it once, whatever is left of the division") {
  std::vector<Index> counts(41);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = static_cast<Index>(i);
  counts.insert(counts.end(), {4095, 4096, 4097, 10000});
  for (Index const piece_cost : {1, 5, 12, 100}) {
    Cutting executor{piece_cost};
    Context const context{.executor = &executor};
    for (Index const cost : {0, 1, 2, 7, 1000}) {
      for (Index const count : counts) {
        INFO(count << " of cost " << cost << " in pieces of at least " << piece_cost);
        std::vector<int> times(static_cast<std::size_t>(count));
        std::vector<Index> sizes;
        context.each(count, cost, [&](Index first, Index last, int) {
          sizes.push_back(last - first);
          for (Index i = first; i < last; ++i) ++times[static_cast<std::size_t>(i)];
        });
        bool const each_once = std::ranges::all_of(times, [](int n) { return n == 1; });
        auto const [least, most] = std::ranges::minmax(sizes);
        CHECK(each_once);
        CHECK(most - least <= 1);
        CHECK(sizes.size() <= 4096);
        CHECK((sizes.size() == 1 || 2 * least * std::max<Index>(cost, 1) > piece_cost));
      }
    }
  }
}

TEST_CASE("shares cover the work once, and are no more than a few for each worker") {
  for (Index const piece_cost : {1, 100}) {
    Cutting executor{piece_cost, 3};
    Context const context{.executor = &executor};
    for (Index const count : {0, 1, 2, 5, 6, 7, 100, 5000}) {
      for (Index const cost : {0, 1, 30}) {
        INFO(count << " of cost " << cost << " in pieces of at least " << piece_cost);
        std::vector<int> times(static_cast<std::size_t>(count));
        std::vector<Index> sizes;
        context.each_share(2, count, cost, [&](Index first, Index last, int) {
          sizes.push_back(last - first);
          for (Index i = first; i < last; ++i) ++times[static_cast<std::size_t>(i)];
        });
        CHECK(std::ranges::all_of(times, [](int n) { return n == 1; }));
        CHECK(sizes.size() <= 6);
        if (cost > piece_cost || (cost > 0 && piece_cost == 1))
          CHECK(static_cast<Index>(sizes.size()) == std::clamp<Index>(count, 1, 6));
        if (cost > 0 && count * cost < piece_cost) CHECK(sizes.size() == 1);
      }
    }
  }
  int pieces = 0;
  Context{}.each_share(2, 1000, Index{1} << 20, [&](Index first, Index last, int worker) {
    ++pieces;
    CHECK((first == 0 && last == 1000 && worker == 0));
  });
  CHECK(pieces == 1);
}

TEST_CASE("without an executor work is one piece") {
  int pieces = 0;
  Context{}.each(Index{1000}, Index{1} << 20, [&](Index first, Index last, int worker) {
    ++pieces;
    CHECK((first == 0 && last == 1000 && worker == 0));
  });
  CHECK(pieces == 1);
}
