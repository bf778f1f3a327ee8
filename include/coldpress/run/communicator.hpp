// Processes that take a training step together, and what they send each other.
#pragma once

#include <coldpress/core/freestanding.hpp>

#include <cstddef>

namespace coldpress {

/// The numbers from `begin` up to `end`.
struct Range {
  std::ptrdiff_t begin = 0, end = 0;
  constexpr std::ptrdiff_t count() const { return end - begin; }
};
/// What one of `ranks` ranks has of `count` things in a row: as many as the others have, give or take one.
constexpr Range share_of(std::ptrdiff_t count, int rank, int ranks) {
  auto const begin = [&](std::ptrdiff_t r) { return (r * count + ranks - 1) / ranks; };
  return {begin(rank), begin(std::ptrdiff_t{rank} + 1)};
}
/// Which samples of a minibatch a rank computes, if it is cut into parts of so many samples: those of its share of the
/// parts, of which the last may have fewer.
constexpr Range samples_of_rank(std::ptrdiff_t batch, std::ptrdiff_t microbatch, int rank, int ranks) {
  auto const [begin, end] = share_of((batch + microbatch - 1) / microbatch, rank, ranks);
  return {freestanding::min(begin * microbatch, batch), freestanding::min(end * microbatch, batch)};
}

/// For how many seconds exchanges in the background have been under way: hidden behind what the rank computed, and
/// while it waited. The rank notices late when they end, so this is the least that was hidden.
struct TravelTime {
  double hidden = 0, waited = 0;
};

/// One of `size()` processes, the ranks, as it sees the others. coldpress::distributed has Mpi, Nccl, and those of
/// InProcess for threads. It moves bytes and adds nothing, so sums stay in the order of those who ask for them. All
/// ranks must ask for the same in the same order. Each function throws if another rank fails or does not answer.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;  // from 0
  virtual int size() const = 0;
  /// Sends bytes to another rank, which calls receive for equally many. Messages between two ranks arrive in order.
  /// The call may return before they arrive.
  virtual void send(void const* bytes, std::size_t count, int to) = 0;
  virtual void receive(void* bytes, std::size_t count, int from) = 0;
  /// Sends to a rank, which calls exchange with this one, and receives from it. Both may be under way at the same time.
  virtual void exchange(void const* sent, std::size_t sent_count, void* received, std::size_t received_count,
                        int with) {
    if (rank() < with) send(sent, sent_count, with);
    receive(received, received_count, with);
    if (rank() > with) send(sent, sent_count, with);
  }

  /// Exchanges in the background: they go on while the caller computes, and are numbered by channels. All ranks begin
  /// those of a channel in the same order, but one channel may be ahead of the others, and of the calls above. Where an
  /// exchange is over when it has begun, all ranks must begin those of all channels in the same order.
  static constexpr int channels = 2;
  /// Begins an exchange of at most 2^30 bytes each way. Until it is over, neither place may be used for anything else.
  /// Without a background, as here, it is over when this returns.
  virtual void begin_exchange([[maybe_unused]] int channel, void const* sent, std::size_t sent_count, void* received,
                              std::size_t received_count, int with) {
    exchange(sent, sent_count, received, received_count, with);
  }
  /// How many exchanges of a channel have begun since the first that is not over, with that one. It does not wait, but
  /// whoever calls it often lets them get on.
  virtual std::size_t under_way([[maybe_unused]] int channel) { return 0; }
  /// Waits until no more than `most` are under way.
  virtual void wait_for([[maybe_unused]] int channel, [[maybe_unused]] std::size_t most) {}
  virtual TravelTime travel_time() const { return {}; }
  /// This rank cannot go on with what it has begun. Nothing that is under way is written to its memory any more, every
  /// later call throws, and the other ranks hear of it.
  virtual void give_up() noexcept {}

  /// f(rank) for each other rank, so that two ranks call it for each other at the same time.
  template <class F>
  void for_each_other(F f) const {
    for (int round = 0; round < size(); ++round) {
      int const other = (round - rank() + size()) % size();
      if (other != rank()) f(other);
    }
  }
  /// Copies the bytes of rank 0 to all others, which pass them on in a binomial tree.
  void broadcast(void* bytes, std::size_t count) {
    int apart = 1;
    while (apart < size()) apart *= 2;
    for (apart /= 2; apart > 0; apart /= 2) {
      int const place = rank() % (2 * apart);
      if (place == apart) receive(bytes, count, rank() - apart);
      if (place == 0 && rank() + apart < size()) send(bytes, count, rank() + apart);
    }
  }
  /// Copies to rank 0, along the same tree, what each rank has of `bytes`: rank r has those from begin(r) up to
  /// begin(r + 1).
  template <class Begin>
  void gather(void* bytes, Begin begin) {
    auto* const all = static_cast<unsigned char*>(bytes);
    for (int apart = 1; apart < size(); apart *= 2) {
      int const place = rank() % (2 * apart), low = rank() - place, middle = low + apart;
      if (place % apart != 0 || middle >= size()) continue;
      std::size_t const from = begin(middle), to = begin(freestanding::min(middle + apart, size()));
      if (from == to) continue;
      place == 0 ? receive(all + from, to - from, middle) : send(all + from, to - from, low);
    }
  }
  /// The same, to all ranks: between pairs of ranks, pairs of pairs and so on, if their number is a power of two.
  template <class Begin>
  void share(void* bytes, Begin begin) {
    if ((size() & (size() - 1)) != 0) return gather(bytes, begin), broadcast(bytes, begin(size()));
    auto* const all = static_cast<unsigned char*>(bytes);
    for (int apart = 1; apart < size(); apart *= 2) {
      int const low = rank() / apart * apart, with = rank() ^ apart, other = with / apart * apart;
      std::size_t const from = begin(low), to = begin(low + apart);
      exchange(all + from, to - from, all + begin(other), begin(other + apart) - begin(other), with);
    }
  }
  /// Returns when all ranks have called it.
  void barrier() {
    unsigned char byte = 0;
    for (int apart = 1; apart < size(); apart *= 2) {
      int const place = rank() % (2 * apart);
      if (place == apart) send(&byte, 1, rank() - apart);
      if (place == 0 && rank() + apart < size()) receive(&byte, 1, rank() + apart);
    }
    broadcast(&byte, 1);
  }
};

}  // namespace coldpress
