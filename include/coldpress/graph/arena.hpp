// Assigns each buffer of a plan its offset in the workspace.
#pragma once

#include <coldpress/graph/group.hpp>

namespace coldpress::detail {

/// Places buffers by first fit, in the order given: at the lowest offset that overlaps no buffer that is alive at the
/// same time. The placed buffers are a list sorted by offset. In training, a network keeps one value per layer, one
/// above the other, and searching all of them for each buffer would take quadratic time. Therefore the lower end of the
/// list, as far as it has no gap, is a separate stack, the floor.
class Arena {
 public:
  /// The buffers of a group. `addend` + k is that of edge k.
  enum Kind { value, kept, memory, gradient, addend, kinds = addend + max_edges };
  constexpr explicit Arena(View<Group> groups) : groups_(groups) {}
  /// Says that no buffer placed from here on starts before this step. Buffers that end earlier cannot be in the way.
  constexpr void all_start_at(int step) { start_ = step; }
  constexpr void place(int group, int kind) {
    int const id = group * kinds + kind;
    Buffer& buffer = at(id);
    if (!buffer.used()) return;
    while (top_ >= 0 && at(top_).until < buffer.first) lift();
    Index offset = floor_;
    int *link = &first_, *spot = link;
    while (*link >= 0) {
      Buffer& placed = at(*link);
      ++visited_;
      if (placed.last < start_) {
        *link = placed.next;
        continue;
      }
      bool const in_the_way = placed.first <= buffer.last && buffer.first <= placed.last;
      if (link == &first_ && in_the_way && placed.offset == floor_ && placed.first <= start_) {
        sink();
        offset = floor_;
        continue;
      }
      link = &placed.next;
      if (!in_the_way) continue;
      if (placed.offset >= offset + buffer.size) break;
      if (placed.offset + placed.size > offset) offset = placed.offset + placed.size, spot = link;
    }
    buffer.offset = offset;
    if (offset + buffer.size > size_) size_ = offset + buffer.size;
    for (; *spot >= 0 && at(*spot).offset < offset; spot = &at(*spot).next) ++visited_;
    buffer.next = *spot;
    *spot = id;
  }
  constexpr Index size() const { return size_; }
  constexpr Index visited() const { return visited_; }

 private:
  /// Moves the first buffer of the list, which lies on the floor and has begun, to the floor.
  constexpr void sink() {
    int const id = first_;
    Buffer& buffer = at(id);
    first_ = buffer.next;
    buffer.until = top_ >= 0 && at(top_).until < buffer.last ? at(top_).until : buffer.last;
    buffer.next = top_;
    top_ = id;
    floor_ += buffer.size;
  }
  /// Moves the top of the floor back to the list, unless its lifetime has ended.
  constexpr void lift() {
    int const id = top_;
    Buffer& buffer = at(id);
    floor_ = buffer.offset;
    top_ = buffer.next;
    ++visited_;
    if (buffer.last >= start_) buffer.next = first_, first_ = id;
  }
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
  int first_ = -1, start_ = 0;
  int top_ = -1;     // the top buffer of the floor
  Index floor_ = 0;  // all offsets below are taken until at(top_).until
  Index size_ = 0, visited_ = 0;
};

}  // namespace coldpress::detail
