// Where each buffer of a plan lies.
#pragma once

#include <coldpress/graph/group.hpp>

namespace coldpress::detail {

/// Places buffers first fit, in the order given: as low as nothing else alive at the same time is in the way.
class Arena {
 public:
  /// The buffers of a group; `addend` and on: those of its edges.
  enum Kind { value, kept, memory, gradient, addend, kinds = addend + max_edges };
  constexpr Arena(View<Group> groups, int end) : groups_(groups), end_(end) {}
  /// What is placed from here on starts no earlier: what ended before is in nobody's way.
  constexpr void all_start_at(int step) { start_ = step; }
  constexpr void place(int group, int kind) {
    int const id = group * kinds + kind;
    Buffer& buffer = at(id);
    if (!buffer.used()) return;
    Index offset = floor_;
    int *link = &first_, *spot = link;
    while (*link >= 0) {
      Buffer& placed = at(*link);
      ++steps_;
      bool const stays = placed.first <= start_ && placed.last == end_ && placed.offset <= floor_;
      if (stays && placed.offset + placed.size > floor_) {
        floor_ = placed.offset + placed.size;
        if (floor_ > offset) offset = floor_;
      }
      if (stays || placed.last < start_) {
        *link = placed.next;
        continue;
      }
      link = &placed.next;
      if (placed.last < buffer.first || buffer.last < placed.first) continue;
      if (placed.offset >= offset + buffer.size) break;
      if (placed.offset + placed.size > offset) offset = placed.offset + placed.size, spot = link;
    }
    buffer.offset = offset;
    if (offset + buffer.size > size_) size_ = offset + buffer.size;
    for (; *spot >= 0 && at(*spot).offset < offset; spot = &at(*spot).next) ++steps_;
    buffer.next = *spot;
    *spot = id;
  }
  constexpr Index size() const { return size_; }
  constexpr Index steps() const { return steps_; }

 private:
  constexpr Buffer& at(int id) {
    Group& group = groups_[id / kinds];
    switch (id % kinds) {
      case value:
        return group.value;
      case kept:
        return group.kept;
      case memory:
        return group.memory;
      case gradient:
        return group.gradient;
      default:
        return group.edges[id % kinds - addend].addend;
    }
  }
  View<Group> groups_;
  int end_, first_ = -1, start_ = 0;
  Index floor_ = 0;  // below, all is taken to the end
  Index size_ = 0, steps_ = 0;
};

}  // namespace coldpress::detail
