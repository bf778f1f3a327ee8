// Makes what each rank computes of a step known to all ranks.
#pragma once

#include <coldpress/core/memory.hpp>
#include <coldpress/run/communicator.hpp>

namespace coldpress {

/// The memory through which results travel, in the order of the ranks. Each rank has some parts of a minibatch, and
/// results of each part and of each sample.
class SharedResults {
 public:
  void reserve(Index parts, Index batch, Index bytes_of_part, Index bytes_of_sample) {
    bytes_of_part_ = bytes_of_part, bytes_of_sample_ = bytes_of_sample;
    bytes_.reserve(parts * bytes_of_part + batch * bytes_of_sample);
  }
  /// first(rank) has the first part and sample of a rank; for_each(rank, f) calls f(values, count) for all that it has
  /// computed, and where that belongs on the others.
  template <class First, class ForEach>
  void share(Communicator& communicator, First first, ForEach for_each) {
    auto const begin = [&](int rank) {
      auto const [part, sample] = first(rank);
      return static_cast<std::size_t>(part * bytes_of_part_ + sample * bytes_of_sample_);
    };
    auto const copy = [&](int rank, bool back) {
      unsigned char* place = bytes_.data() + begin(rank);
      for_each(rank, [&](auto* values, Index count) {
        auto const bytes = static_cast<std::size_t>(count) * sizeof(*values);
        if (bytes > 0) back ? __builtin_memcpy(values, place, bytes) : __builtin_memcpy(place, values, bytes);
        place += bytes;
      });
    };
    copy(communicator.rank(), false);
    communicator.share(bytes_.data(), begin);
    for (int rank = 0; rank < communicator.size(); ++rank) {
      if (rank != communicator.rank()) copy(rank, true);
    }
  }

 private:
  Index bytes_of_part_ = 0, bytes_of_sample_ = 0;
  HeapMemory<unsigned char> bytes_;
};

}  // namespace coldpress
