// In place of nccl.cpp where NCCL's header was not found: says so when ranks are to start.
#include <coldpress/distributed/nccl.hpp>

namespace coldpress::distributed {

struct Nccl::Library {};

Nccl::Nccl(Communicator&, int, Seconds) {
  throw UnsupportedError{
      "this coldpress was built without NCCL, whose header nccl.h comes with its library or in PyPI's "
      "nvidia-nccl-cu13"};
}
Nccl::~Nccl() = default;
void Nccl::send(void const*, std::size_t, int) {}
void Nccl::receive(void*, std::size_t, int) {}
void Nccl::exchange(void const*, std::size_t, void*, std::size_t, int) {}
void Nccl::give_up() noexcept {}

}  // namespace coldpress::distributed
