// Started by mpirun: the processes train to the bits of one. MPI begins once in a process, so there is one test.
#include "distributed/cases.hpp"

using namespace coldpress;
using namespace coldpress::test;

TEST_CASE("processes train to the bits of one") {
  REQUIRE(distributed::launched_ranks() > 1);
  distributed::Mpi mpi;
  REQUIRE(mpi.size() == distributed::launched_ranks());
  for (Case const& c : cases()) {
    INFO(c.name << " on rank " << mpi.rank());
    std::string const alone = trained_alone(c);
    CHECK(trained_on(c, mpi) == alone);
    CHECK(trained_on(c, mpi, true) == alone);
  }
  CHECK(typed_trained(&mpi) == typed_trained(nullptr));
  CHECK(typed_trained<true, true>(&mpi) == typed_trained<true>(nullptr));

  // More than MPI sends without waiting for the receiver.
  std::vector<std::uint64_t> numbers(1 << 20), wanted(numbers.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = i * 0x9e3779b97f4a7c15;
  if (mpi.rank() == 0) numbers = wanted;
  mpi.broadcast(numbers.data(), numbers.size() * sizeof numbers[0]);
  CHECK(numbers == wanted);
  // The same in the background, while the ranks do something else.
  int const size = mpi.size();
  auto const with = (size + 1 - mpi.rank()) % size;  // the partner, or this rank, which then does nothing
  std::vector<std::uint64_t> received(wanted.size());
  auto const bytes = wanted.size() * sizeof wanted[0];
  if (with != mpi.rank()) mpi.begin_exchange(0, wanted.data(), bytes, received.data(), bytes, with);
  mpi.barrier();
  mpi.wait_for(0, 0);
  CHECK(mpi.under_way(0) == 0);
  CHECK((with == mpi.rank() || received == wanted));
  if (with != mpi.rank()) CHECK(mpi.travel_time().hidden + mpi.travel_time().waited > 0);
  mpi.barrier();
}
