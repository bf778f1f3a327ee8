// The sum of arrays in the order of a binary tree, on one process or on several.
#pragma once

#include <coldpress/core/bfloat16.hpp>
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
///
/// A sum that `rounds` has nothing but bfloat16 at the nodes of its tree, so that 2 bytes of each value travel: each
/// array is rounded, and so is each sum of two, also where nothing travels.
template <class T>
class TreeSum {
 public:
  /// Makes room for `count` arrays of `size` values each. The communicator is borrowed; null: all arrays are here.
  /// Nothing else allocates. A bucket has no more than so many values; 0: 8192 for each rank, so that no message is
  /// small, or more, so that there are not many.
  void reserve(Communicator* communicator, Index count, Index size, bool rounds = false, Index bucket = 0) {
    communicator_ = communicator;
    int const rank = communicator ? communicator->rank() : 0, ranks = communicator ? communicator->size() : 1;
    if (count == count_ && size == size_ && rank == rank_ && ranks == ranks_ && rounds == rounds_) return;
    rank_ = rank, ranks_ = ranks, rounds_ = rounds, count_ = count, size_ = 0;  // size_ follows when there was memory
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
      received_.reserve(others_ * buckets_ * room_ * width());
      if (rounds) rounded_.reserve(freestanding::max(own, 1) * size);
      terms_.reserve(count);
    }
    size_ = size;
  }
  /// The arrays of this rank, and the values of one of them.
  Range own() const { return own_; }
  T* of(Index array) { return arrays_.data() + (array - own_.begin) * size_; }

  /// Begins a sum, which store() stores in `to`, or adds to what is there: the same on all ranks, or, unless it is to
  /// be known to all, only this rank's share of the values. Unless it adds, `to` has no meaning before. ready() and
  /// wait() throw what the communicator throws.
  void begin(T* to, bool adds, bool for_all = true) {
    to_ = to, adds_ = adds, for_all_ = for_all || ranks_ == 1;
    total_ = rounds_ ? bytes_at(rounded_.data()) : bytes_at(adds ? arrays_.data() : to);
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
    as_it_travels([&]<class W>(W*) {
      if (ranks_ == 1) {
        add_own<W>({0, size_});
        put<W>(to_, of(0), size_, adds_);
      } else if (rounds_ || adds_) {
        auto const put_part = [&](Range values, Index = 0) {
          put<W>(to_ + values.begin, reinterpret_cast<W const*>(total_) + values.begin, values.count(), adds_);
        };
        for_all_ ? put_part({0, size_}) : for_each_share(put_part);
      }
    });
  }

  /// f(values, how many values come before them) for the values of each bucket that this rank adds up, on several
  /// ranks: its share, which depends on nothing but the size of the arrays and the ranks.
  template <class F>
  void for_each_share(F f) const {
    Index before = 0;
    for (Index number = 0; number < buckets_; ++number) {
      Range const mine = values_of(rank_, number);
      f(mine, before);
      before += mine.count();
    }
  }
  /// Room for an array, after store().
  T* room() { return arrays_.data(); }
  /// Makes the shares of `values` known to all: fill(values, how many come before them) puts this rank's there, while
  /// those before travel.
  template <class Fill>
  void exchange_shares(T* values, Fill fill) {
    Index number = 0;
    for_each_share([&](Range mine, Index before) {
      fill(mine, before);
      communicator_->for_each_other([&](int other) {
        Range const theirs = values_of(other, number);
        communicator_->begin_exchange(totals, values + mine.begin, full_bytes(mine), values + theirs.begin,
                                      full_bytes(theirs), other);
      });
      ++number;
    });
    communicator_->wait_for(totals, 0);
  }
  /// Copies the shares, of which share(values, how many come before them) says where this rank's are, to `to` on rank
  /// 0, or on all ranks; to others `to` is nothing.
  template <class Share>
  void gather_shares(T* to, bool for_all, Share share) {
    auto const copy_own = [&](Range mine, Index before) {
      if (share(mine, before) != to + mine.begin)
        freestanding::copy_n(share(mine, before), mine.count(), to + mine.begin);
    };
    if (for_all) return exchange_shares(to, copy_own);
    if (rank_ > 0) {
      return for_each_share([&](Range mine, Index before) {
        if (mine.count() > 0) communicator_->send(share(mine, before), full_bytes(mine), 0);
      });
    }
    for_each_share(copy_own);
    for (int other = 1; other < ranks_; ++other) {
      for (Index number = 0; number < buckets_; ++number) {
        Range const theirs = values_of(other, number);
        if (theirs.count() > 0) communicator_->receive(to + theirs.begin, full_bytes(theirs), other);
      }
    }
  }

 private:
  enum Channel { terms, totals };
  static constexpr Index line = 16;       // values
  static constexpr Index at_once = 4096;  // values, which the cache keeps until the tree is done with them
  template <class To, class From>
  __attribute__((always_inline)) static To as(From value) {
    if constexpr (std::is_same_v<To, From>) {
      return value;
    } else if constexpr (std::is_same_v<To, Bfloat16>) {
      return Bfloat16{static_cast<float>(value)};
    } else {
      return static_cast<To>(static_cast<float>(value));
    }
  }
  /// A value of the tree, if W is what travels.
  template <class W, class Value>
  __attribute__((always_inline)) static T node(Value value) {
    if constexpr (std::is_same_v<W, Bfloat16> && !std::is_same_v<Value, W>) {
      return static_cast<T>(Bfloat16::rounded(static_cast<float>(value)));
    } else {
      return as<T>(value);
    }
  }
  /// A sum of such values, as one itself.
  template <class W, class To>
  __attribute__((always_inline)) static To rounded(T sum) {
    if constexpr (std::is_same_v<W, To>) {
      return as<To>(sum);
    } else {
      return as<To>(node<W>(sum));
    }
  }
  template <class W, class Value>
  static void add(Value* __restrict to, Value const* __restrict from, Index size) {
    for (Index i = 0; i < size; ++i) to[i] = rounded<W, Value>(node<W>(to[i]) + node<W>(from[i]));
  }
  template <class W, class To, class From>
  static void put(To* to, From const* from, Index size, bool adds = false) {
    if constexpr (std::is_same_v<To, From>) {
      if (to == from && !adds && std::is_same_v<To, W>) return;
    }
    copy<W>(to, from, size, adds);
  }
  template <class W, class To, class From>
  static void copy(To* __restrict to, From const* __restrict from, Index size, bool adds) {
    if (adds) {
      for (Index i = 0; i < size; ++i) to[i] = as<To>(as<T>(to[i]) + node<W>(from[i]));
    } else {
      for (Index i = 0; i < size; ++i) to[i] = rounded<W, To>(as<T>(from[i]));
    }
  }
  static unsigned char* bytes_at(void* values) { return static_cast<unsigned char*>(values); }
  /// f(W*), where W is what travels.
  template <class F>
  void as_it_travels(F f) const {
    rounds_ ? f(static_cast<Bfloat16*>(nullptr)) : f(static_cast<T*>(nullptr));
  }
  Index width() const { return rounds_ ? Index{sizeof(Bfloat16)} : Index{sizeof(T)}; }  // of a value that travels

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
  std::size_t bytes(Range values) const { return static_cast<std::size_t>(values.count() * width()); }
  static std::size_t full_bytes(Range values) { return static_cast<std::size_t>(values.count()) * sizeof(T); }
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
  /// Adds what the tree adds within this rank's share of the arrays, and rounds the sums of its subtrees to travel.
  template <class W>
  void add_own(Range range) {
    for (Index begin = range.begin; begin < range.end; begin += at_once) {
      Index const values = freestanding::min(at_once, range.end - begin);
      for (Index apart = 1; apart < count_; apart *= 2) {
        Index const both = 2 * apart;
        for (Index a = (own_.begin + both - 1) / both * both;
             a + apart < count_ && freestanding::min(a + both, count_) <= own_.end; a += both)
          add<W>(of(a) + begin, of(a + apart) + begin, values);
      }
      if constexpr (!std::is_same_v<W, T>) {
        if (ranks_ == 1) continue;
        Index number = 0;
        for_each_subtree(rank_,
                         [&](Index a) { put<W>(rounded_.data() + number++ * size_ + begin, of(a) + begin, values); });
      }
    }
  }
  /// The values from `from` on of a subtree of this rank, with its number among them, as they travel.
  unsigned char* root(Index array, Index number, Index from) {
    return rounds_ ? bytes_at(rounded_.data() + number * size_ + from) : bytes_at(of(array) + from);
  }
  /// Finds out where this rank's share of a bucket is for each subtree.
  void place_terms(Index number) {
    Range const mine = values_of(rank_, number);
    unsigned char* free = received_.data() + others_ * room_ * width() * number;
    freestanding::fill_n(terms_.data(), count_, nullptr);
    Index own = 0;
    for (int r = 0; r < ranks_; ++r) {
      for_each_subtree(r, [&](Index array) {
        terms_.data()[array] = r == rank_ ? root(array, own++, mine.begin) : free;
        if (r != rank_) free += bytes(mine);
      });
    }
  }
  /// Adds what is here of a bucket, and exchanges it.
  void send_bucket(Index number) {
    as_it_travels([&]<class W>(W*) { add_own<W>(bucket(number)); });
    place_terms(number);
    Range const mine = values_of(rank_, number);
    communicator_->for_each_other([&](int other) {
      Range const theirs = values_of(other, number), share = share_of(count_, other, ranks_);
      for (Index a = own_.begin, b = share.begin, i = 0; a < own_.end || b < share.end; ++i) {
        bool const sends = a < own_.end, receives = b < share.end;
        communicator_->begin_exchange(terms, sends ? root(a, i, theirs.begin) : nullptr, sends ? bytes(theirs) : 0,
                                      receives ? terms_.data()[b] : nullptr, receives ? bytes(mine) : 0, other);
        if (sends) a = behind_subtree(a, own_.end);
        if (receives) b = behind_subtree(b, share.end);
      }
    });
  }
  /// Adds this rank's share of a bucket, whose terms have come, and sends it to all that are to know it.
  void share_bucket(Index number) {
    place_terms(number);
    Range const mine = values_of(rank_, number);
    as_it_travels([&]<class W>(W*) {
      auto const term = [&](Index array) { return reinterpret_cast<W*>(terms_.data()[array]); };
      for (Index begin = 0; begin < mine.count(); begin += at_once) {
        Index const values = freestanding::min(at_once, mine.count() - begin);
        for (Index apart = 1; apart < count_; apart *= 2) {
          for (Index a = 0; a + apart < count_; a += 2 * apart)
            if (term(a) && term(a + apart)) add<W>(term(a) + begin, term(a + apart) + begin, values);
        }
        put<W>(reinterpret_cast<W*>(total_) + mine.begin + begin, term(0) + begin, values);
      }
    });
    if (!for_all_) return;
    communicator_->for_each_other([&](int other) {
      Range const theirs = values_of(other, number);
      communicator_->begin_exchange(totals, total_ + mine.begin * width(), bytes(mine), total_ + theirs.begin * width(),
                                    bytes(theirs), other);
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
  T* to_ = nullptr;
  bool rounds_ = false, adds_ = false, for_all_ = true;
  unsigned char* total_ = nullptr;  // this and those below as they travel
  HeapMemory<T> arrays_;
  HeapMemory<Bfloat16> rounded_;        // the sums of this rank's subtrees
  HeapMemory<unsigned char> received_;  // from other ranks
  HeapMemory<unsigned char*> terms_;    // of one bucket, by the first array of a subtree; null for other arrays
};

}  // namespace coldpress
