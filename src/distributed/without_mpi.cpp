// In place of mpi.cpp where MPI was not found: says so when ranks are to start.
#include <coldpress/distributed/mpi.hpp>

namespace coldpress::distributed {

struct Mpi::Library {};

Mpi::Mpi(Seconds) {
  throw UnsupportedError{
      "this coldpress was built without MPI (Debian and Ubuntu: libopenmpi-dev or libmpich-dev), so its processes "
      "cannot train together"};
}
Mpi::~Mpi() = default;
void Mpi::send(void const*, std::size_t, int) {}
void Mpi::receive(void*, std::size_t, int) {}
void Mpi::exchange(void const*, std::size_t, void*, std::size_t, int) {}
void Mpi::begin_exchange(int, void const*, std::size_t, void*, std::size_t, int) {}
std::size_t Mpi::under_way(int) { return 0; }
void Mpi::wait_for(int, std::size_t) {}
TravelTime Mpi::travel_time() const { return {}; }
void Mpi::give_up() noexcept {}

}  // namespace coldpress::distributed
