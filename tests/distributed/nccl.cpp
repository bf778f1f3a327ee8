// Ranks with NCCL are refused with a typed error where they cannot run.
#include <coldpress/distributed/in_process.hpp>
#include <coldpress/distributed/nccl.hpp>

#include "support/catch.hpp"

#include <atomic>

using namespace coldpress;
using namespace coldpress::distributed;

namespace {

/// How many ranks throw an error of this type.
template <class E>
int refused(int ranks, int device, double limit = 5) {
  std::atomic<int> count = 0;
  InProcess{ranks}.run([&](Communicator& r) {
    try {
      Nccl const nccl{r, device, Nccl::Seconds{limit}};
    } catch (E const& error) {
      INFO(error.what());
      count += std::string_view{error.what()}.size() > 20;
    }
  });
  return count;
}

}  // namespace

TEST_CASE("without NCCL or a GPU, all ranks throw UnsupportedError") {
  for (int const ranks : {1, 2, 3}) {
    CHECK(refused<UnsupportedError>(ranks, -1) == ranks);
    CHECK(refused<UnsupportedError>(ranks, 1000) == ranks);
  }
}

TEST_CASE("if one rank has no GPU, the others learn which") {
  std::atomic<int> right = 0;
  InProcess{3}.run([&](Communicator& r) {
    try {
      Nccl const nccl{r, r.rank() == 1 ? 1000 : 0};
    } catch (UnsupportedError const& error) {
      std::string_view const text = error.what();
      bool const everywhere = text.find("without NCCL") != text.npos || text.find("there is none") != text.npos ||
                              text.find("cannot be loaded") != text.npos;
      right += everywhere || (text == "rank 1 has no NCCL or no GPU for it") != (r.rank() == 1);
    }
  });
  CHECK(right == 3);
}
