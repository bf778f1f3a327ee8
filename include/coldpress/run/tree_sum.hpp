// The sum of arrays in the order of a binary tree, on one process or on several.
#pragma once

#include <coldpress/core/memory.hpp>
#include <coldpress/run/communicator.hpp>

namespace coldpress {

/// Adds arrays of values in pairs, pairs of pairs and so on: 1 to 0, 3 to 2, ..., then 2 to 0, 6 to 4, ... On several
/// ranks, each has a share of the arrays. It first adds what the tree adds within that share, which leaves the sums of
/// a few subtrees. Then each rank is sent its share of the values of all subtrees, adds them in the order of the tree,
/// and sends the result to all. So all ranks send and add equally much, and no bit depends on how many there are.
///
/// The values travel in buckets, from the last to the first, in the background: those that have their last values may
/// be under way while others are still computed.
template <class T>
class TreeSum {
 public:
  /// Makes room for `count` arrays of `size` values each. The communicator is borrowed; null: all arrays are here.
  /// Nothing else allocates. A bucket has no more than so many values; 0: 8192 for each rank, so that no message is
  /// small, or more, so that there are not many.
  void reserve(Communicator* communicator, Index count, Index size, Index bucket = 0) {
    communicator_ = communicator;
    int const rank = communicator ? communicator->rank() : 0, ranks = communicator ? communicator->size() : 1;
    if (count == count_ && size == size_ && rank == rank_ && ranks == ranks_) return;
    rank_ = rank, ranks_ = ranks, count_ = count, size_ = 0;  // size_ follows when there was enough memory
    own_ = share_of(count, rank, ranks);
    arrays_.reserve(freestanding::max(own_.count(), 1) * size);  // a rank without arrays has the total there
    buckets_ = 0;
    if (ranks > 1 && size > 0) {
      if (bucket == 0) bucket = freestanding::max(Index{ranks} << 13, (size + 63) / 64);
      buckets_ = (size + bucket - 1) / bucket;
      lines_ = (size + buckets_ * line - 1) / (buckets_ * line);
      buckets_ = (size + lines_ * line - 1) / (lines_ * line);
      Index const own = for_each_subtree(rank, [](Index) {});
      others_ = exchanges_ = 0;
      for (int r = 0; r < ranks; ++r) {
        if (r == rank) continue;
        Index const theirs = for_each_subtree(r, [](Index) {});
        others_ += theirs, exchanges_ += freestanding::max(own, theirs);
      }
      room_ = (lines_ + ranks - 1) / ranks * line;
      received_.reserve(others_ * buckets_ * room_);
      terms_.reserve(count);
    }
    size_ = size;
  }
  /// The arrays of this rank, and the values of one of them.
  Range own() const { return own_; }
  T* of(Index array) { return arrays_.data() + (array - own_.begin) * size_; }

  /// Begins a sum, which store() stores in `to`, or adds to what is there: the same on all ranks. Unless it adds, `to`
  /// has no meaning before. ready() and wait() throw what the communicator throws.
  void begin(T* to, bool adds) {
    to_ = to, adds_ = adds, total_ = adds ? arrays_.data() : to;
    sent_ = shared_ = 0;
  }
  /// The arrays of this rank have their last values from `from` on. It sends what can be sent, and does not wait.
  void ready(Index from) {
    if (ranks_ == 1) return;
    for (; sent_ < buckets_ && bucket(sent_).begin >= from; share_come()) send_bucket(sent_++);
    share_come();
    if (shared_ > 0) communicator_->under_way(totals);
  }
  /// Waits for what comes from other ranks. Afterwards, the arrays of this rank have other values.
  void wait() {
    if (ranks_ == 1) return;
    for (ready(0); shared_ < buckets_; share_bucket(shared_++)) communicator_->wait_for(terms, begun_after(shared_));
    communicator_->wait_for(totals, 0);
  }
  void store() {
    if (ranks_ == 1) {
      add_own({0, size_});
      put(to_, of(0), size_, adds_);
    } else if (adds_) {
      add(to_, total_, size_);
    }
  }

 private:
  enum Channel { terms, totals };
  static constexpr Index line = 16;       // values
  static constexpr Index at_once = 4096;  // values, which the cache keeps until the tree is done with them
  static void add(T* __restrict to, T const* __restrict from, Index size) {
    for (Index i = 0; i < size; ++i) to[i] += from[i];
  }
  static void put(T* to, T const* from, Index size, bool adds) {
    if (adds) return add(to, from, size);
    if (to != from) freestanding::copy_n(from, size, to);
  }

  /// The values of a bucket, in the order in which they travel. All but the first have equally many.
  Range bucket(Index number) const {
    Index const begin = (buckets_ - 1 - number) * lines_ * line;
    return {begin, freestanding::min(begin + lines_ * line, size_)};
  }
  /// Which of them a rank adds, in whole cache lines.
  Range values_of(int rank, Index number) const {
    auto const [first, last] = bucket(number);
    auto const share = share_of((last - first + line - 1) / line, rank, ranks_);
    return {freestanding::min(first + share.begin * line, last), freestanding::min(first + share.end * line, last)};
  }
  static std::size_t bytes(Range values) { return static_cast<std::size_t>(values.count()) * sizeof(T); }
  /// How many exchanges of terms have begun after those of a bucket.
  std::size_t begun_after(Index number) const { return static_cast<std::size_t>((sent_ - 1 - number) * exchanges_); }
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
  /// Adds what the tree adds within this rank's share of the arrays.
  void add_own(Range range) {
    for (Index begin = range.begin; begin < range.end; begin += at_once) {
      Index const values = freestanding::min(at_once, range.end - begin);
      for (Index apart = 1; apart < count_; apart *= 2) {
        Index const both = 2 * apart;
        for (Index a = (own_.begin + both - 1) / both * both;
             a + apart < count_ && freestanding::min(a + both, count_) <= own_.end; a += both)
          add(of(a) + begin, of(a + apart) + begin, values);
      }
    }
  }
  /// Finds out where this rank's share of a bucket is for each subtree.
  void place_terms(Index number) {
    Range const mine = values_of(rank_, number);
    T* free = received_.data() + others_ * room_ * number;
    freestanding::fill_n(terms_.data(), count_, nullptr);
    for (int r = 0; r < ranks_; ++r) {
      for_each_subtree(r, [&](Index array) {
        terms_.data()[array] = r == rank_ ? of(array) + mine.begin : free;
        if (r != rank_) free += mine.count();
      });
    }
  }
  /// Adds what is here of a bucket, and exchanges it.
  void send_bucket(Index number) {
    add_own(bucket(number));
    place_terms(number);
    Range const mine = values_of(rank_, number);
    communicator_->for_each_other([&](int other) {
      Range const theirs = values_of(other, number), share = share_of(count_, other, ranks_);
      for (Index a = own_.begin, b = share.begin; a < own_.end || b < share.end;) {
        bool const sends = a < own_.end, receives = b < share.end;
        communicator_->begin_exchange(terms, sends ? of(a) + theirs.begin : nullptr, sends ? bytes(theirs) : 0,
                                      receives ? terms_.data()[b] : nullptr, receives ? bytes(mine) : 0, other);
        if (sends) a = behind_subtree(a, own_.end);
        if (receives) b = behind_subtree(b, share.end);
      }
    });
  }
  /// Adds this rank's share of a bucket, whose terms have come, and sends it to all.
  void share_bucket(Index number) {
    place_terms(number);
    Range const mine = values_of(rank_, number);
    T* const* const all = terms_.data();
    for (Index begin = 0; begin < mine.count(); begin += at_once) {
      Index const values = freestanding::min(at_once, mine.count() - begin);
      for (Index apart = 1; apart < count_; apart *= 2) {
        for (Index a = 0; a + apart < count_; a += 2 * apart)
          if (all[a] && all[a + apart]) add(all[a] + begin, all[a + apart] + begin, values);
      }
      put(total_ + mine.begin + begin, all[0] + begin, values, false);
    }
    communicator_->for_each_other([&](int other) {
      Range const theirs = values_of(other, number);
      communicator_->begin_exchange(totals, total_ + mine.begin, bytes(mine), total_ + theirs.begin, bytes(theirs),
                                    other);
    });
  }
  /// Does so with the buckets whose terms have come.
  void share_come() {
    while (shared_ < sent_ && communicator_->under_way(terms) <= begun_after(shared_)) share_bucket(shared_++);
  }

  Communicator* communicator_ = nullptr;
  int rank_ = 0, ranks_ = 0;
  Index count_ = 0, size_ = 0;
  Index buckets_ = 0, lines_ = 0, room_ = 0;  // lines of a bucket, and the most values of it that a rank adds
  Index others_ = 0, exchanges_ = 0;          // subtrees of other ranks, and exchanges of a bucket's terms
  Index sent_ = 0, shared_ = 0;               // buckets whose terms, and whose totals, are under way or over
  Range own_;
  T *to_ = nullptr, *total_ = nullptr;
  bool adds_ = false;
  HeapMemory<T> arrays_, received_;  // the latter from other ranks
  HeapMemory<T*> terms_;             // of one bucket, by the first array of a subtree; null for other arrays
};

}  // namespace coldpress
