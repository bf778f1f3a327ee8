// Started by mpirun with "hang" or "throw": rank 1 does so. The others say which rank it was, and no process is left.
#include <coldpress/distributed/mpi.hpp>

#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <thread>

int main(int argc, char** argv) {
  using namespace coldpress::distributed;
  bool const hangs = argc > 1 && std::string_view{argv[1]} == "hang";
  try {
    Mpi mpi{std::chrono::milliseconds{hangs ? 500 : 60000}};
    mpi.barrier();
    if (mpi.rank() == 1) {
      if (!hangs) throw std::runtime_error{"rank 1 has failed by itself"};
      std::this_thread::sleep_for(std::chrono::hours{1});
    }
    int number = 0;
    mpi.receive(&number, sizeof number, 1);
  } catch (PeerError const& error) {
    std::printf("PeerError of rank %d: %s\n", error.rank, error.what());
    return 3;
  } catch (std::exception const& error) {
    std::printf("%s\n", error.what());
    return 4;
  }
}
