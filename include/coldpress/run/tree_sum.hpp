// The sum of arrays in the order of a binary tree, on one process or on several.
#pragma once

#include <coldpress/core/memory.hpp>
#include <coldpress/run/communicator.hpp>

namespace coldpress {

/// Adds arrays of values in pairs, pairs of pairs and so on: 1 to 0, 3 to 2, ..., then 2 to 0, 6 to 4, ... On several
/// ranks, each has a share of the arrays. It first adds what the tree adds within that share, which leaves the sums of
/// a few subtrees. Then each rank is sent its share of the values of all subtrees, adds them in the order of the tree,
/// and sends the result to all. So all ranks send and add equally much, and no bit depends on how many there are.
template <class T>
class TreeSum {
 public:
  /// Makes room for `count` arrays of `size` values each. The communicator is borrowed; null: all arrays are here.
  /// Nothing else allocates.
  void reserve(Communicator* communicator, Index count, Index size) {
    communicator_ = communicator;
    int const rank = communicator ? communicator->rank() : 0, ranks = communicator ? communicator->size() : 1;
    if (count == count_ && size == size_ && rank == rank_ && ranks == ranks_) return;
    rank_ = rank, ranks_ = ranks, count_ = count, size_ = 0;  // size_ follows when there was enough memory
    own_ = share_of(count, rank, ranks);
    arrays_.reserve(freestanding::max(own_.count(), 1) * size);  // a rank without arrays has the total there
    if (ranks > 1) {
      Index others = 0;
      for (int r = 0; r < ranks; ++r) others += r == rank ? 0 : for_each_subtree(r, [](Index) {});
      received_.reserve(others * share_of_values(size, rank).count());
      terms_.reserve(count);
    }
    size_ = size;
    if (ranks > 1) place_terms();
  }
  /// The arrays of this rank, and the values of one of them.
  Range own() const { return own_; }
  T* of(Index array) { return arrays_.data() + (array - own_.begin) * size_; }

  /// Stores the sum of all arrays in `to`, or adds it to what is there: the same on all ranks. The arrays have other
  /// values afterwards. Throws what the communicator throws; what is in `to` is then lost unless it was to be added to.
  void add_to(T* to, bool adds) {
    for (Index begin = 0; begin < size_; begin += at_once) {
      Index const values = freestanding::min(at_once, size_ - begin);
      for (Index apart = 1; apart < count_; apart *= 2) {
        Index const both = 2 * apart;
        for (Index a = (own_.begin + both - 1) / both * both;
             a + apart < count_ && freestanding::min(a + both, count_) <= own_.end; a += both)
          add(of(a) + begin, of(a + apart) + begin, values);
      }
      if (ranks_ == 1) put(to + begin, of(0) + begin, values, adds);
    }
    if (ranks_ == 1) return;
    T* const total = adds ? arrays_.data() : to;
    add_among_ranks(total);
    if (adds) add(to, total, size_);
  }

 private:
  static constexpr Index line = 16;       // values
  static constexpr Index at_once = 4096;  // values, which the cache keeps until the tree is done with them
  static void add(T* __restrict to, T const* __restrict from, Index size) {
    for (Index i = 0; i < size; ++i) to[i] += from[i];
  }
  static void put(T* to, T const* from, Index size, bool adds) {
    if (adds) return add(to, from, size);
    if (to != from) freestanding::copy_n(from, size, to);
  }

  /// The values that a rank adds, in whole cache lines.
  Range share_of_values(Index size, int rank) const {
    auto const [begin, end] = share_of((size + line - 1) / line, rank, ranks_);
    return {freestanding::min(begin * line, size), freestanding::min(end * line, size)};
  }
  Range values_of(int rank) const { return share_of_values(size_, rank); }
  static std::size_t bytes(Range values) { return static_cast<std::size_t>(values.count()) * sizeof(T); }
  /// The array behind the greatest subtree that begins with `array` and is in a share that ends at `end`.
  Index behind_subtree(Index array, Index end) const {
    Index width = 1;
    while (width < count_ && array % (2 * width) == 0 && freestanding::min(array + 2 * width, count_) <= end)
      width *= 2;
    return freestanding::min(array + width, count_);
  }
  /// f(first array) for each subtree of a rank's share. Returns how many there are.
  template <class F>
  Index for_each_subtree(int rank, F f) const {
    auto const [begin, end] = share_of(count_, rank, ranks_);
    Index number = 0;
    for (Index array = begin; array < end; array = behind_subtree(array, end), ++number) f(array);
    return number;
  }
  /// Decides where this rank's share of the values of each subtree is.
  void place_terms() {
    Range const mine = values_of(rank_);
    T* free = received_.data();
    freestanding::fill_n(terms_.data(), count_, nullptr);
    for (int r = 0; r < ranks_; ++r) {
      for_each_subtree(r, [&](Index array) {
        terms_.data()[array] = r == rank_ ? of(array) + mine.begin : free;
        if (r != rank_) free += mine.count();
      });
    }
  }
  void add_among_ranks(T* total) {
    Range const mine = values_of(rank_);
    T* const* const terms = terms_.data();
    communicator_->for_each_other([&](int other) {
      Range const theirs = values_of(other), share = share_of(count_, other, ranks_);
      for (Index a = own_.begin, b = share.begin; a < own_.end || b < share.end;) {
        bool const sends = a < own_.end, receives = b < share.end;
        communicator_->exchange(sends ? of(a) + theirs.begin : nullptr, sends ? bytes(theirs) : 0,
                                receives ? terms[b] : nullptr, receives ? bytes(mine) : 0, other);
        if (sends) a = behind_subtree(a, own_.end);
        if (receives) b = behind_subtree(b, share.end);
      }
    });
    for (Index begin = 0; begin < mine.count(); begin += at_once) {
      Index const values = freestanding::min(at_once, mine.count() - begin);
      for (Index apart = 1; apart < count_; apart *= 2) {
        for (Index a = 0; a + apart < count_; a += 2 * apart)
          if (terms[a] && terms[a + apart]) add(terms[a] + begin, terms[a + apart] + begin, values);
      }
      put(total + mine.begin + begin, terms[0] + begin, values, false);
    }
    communicator_->for_each_other([&](int other) {
      Range const theirs = values_of(other);
      communicator_->exchange(total + mine.begin, bytes(mine), total + theirs.begin, bytes(theirs), other);
    });
  }

  Communicator* communicator_ = nullptr;
  int rank_ = 0, ranks_ = 0;
  Index count_ = 0, size_ = 0;
  Range own_;
  HeapMemory<T> arrays_, received_;  // the latter from other ranks
  HeapMemory<T*> terms_;             // by the first array of a subtree; null for other arrays
};

}  // namespace coldpress
