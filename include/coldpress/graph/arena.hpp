// Where each buffer of a plan lies.
#pragma once

#include <coldpress/graph/group.hpp>

namespace coldpress::detail {

/// Places buffers first fit, in the order given: as low as nothing else alive at the same time is in the way.
class Arena {
 public:
  /// The buffers of a group; `addend` and on: those of its edges.
  enum Kind { value, kept, memory, gradient, addend, kinds = addend + max_edges };
  constexpr explicit Arena(View<Group> groups) : groups_(groups) {}
  constexpr void place(int group, int kind) {
    int const id = group * kinds + kind;
    Buffer& buffer = at(id);
    if (!buffer.used()) return;
    Index offset = 0;
    for (int other = first_; other >= 0; other = at(other).next) {
      Buffer const& placed = at(other);
      if (placed.last < buffer.first || buffer.last < placed.first) continue;
      if (placed.offset >= offset + buffer.size) break;
      if (placed.offset + placed.size > offset) offset = placed.offset + placed.size;
    }
    buffer.offset = offset;
    if (offset + buffer.size > size_) size_ = offset + buffer.size;
    int* link = &first_;
    while (*link >= 0 && at(*link).offset < offset) link = &at(*link).next;
    buffer.next = *link;
    *link = id;
  }
  constexpr Index size() const { return size_; }

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
  int first_ = -1;
  Index size_ = 0;
};

}  // namespace coldpress::detail
