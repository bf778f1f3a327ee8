// Ranks with a GPU each, between which NCCL moves the bytes.
#pragma once

#include <coldpress/distributed/peer_error.hpp>
#include <coldpress/run/communicator.hpp>

#include <memory>

namespace coldpress::distributed {

/// The ranks of another communicator, such as Mpi, by which they find each other. Each has a GPU of its own. What is
/// sent and received lies in the host's memory, and passes through buffers on the GPU, which grow with the largest
/// message. The calls wait until the bytes have arrived. NCCL and CUDA's runtime are loaded when the first one is made.
///
/// Each call throws PeerError if NCCL reports an error, or the other rank does not answer within the limit; then every
/// later call does. Throws ConfigError for a rank that does not exist.
class Nccl final : public Communicator {
 public:
  using Seconds = std::chrono::duration<double>;
  /// All ranks must call this; `ranks` is not used afterwards. Throws UnsupportedError if coldpress was built without
  /// NCCL's header, if its library or CUDA's runtime cannot be loaded, or if there is no such GPU; on all ranks if on
  /// one. Throws ConfigError unless the limit is positive, and DeviceError with what NCCL says, such as that two ranks
  /// have the same GPU; if it says so to one rank alone, the others may wait without a limit.
  explicit Nccl(Communicator& ranks, int device = 0, Seconds limit = usual_limit);
  Nccl(Nccl const&) = delete;
  ~Nccl() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void send(void const* bytes, std::size_t count, int to) override;
  void receive(void* bytes, std::size_t count, int from) override;
  void exchange(void const* sent, std::size_t sent_count, void* received, std::size_t received_count,
                int with) override;
  void give_up() noexcept override;

 private:
  struct Library;  // what needs NCCL's header
  std::unique_ptr<Library> library_;
  int rank_ = 0, size_ = 1;
};

}  // namespace coldpress::distributed
