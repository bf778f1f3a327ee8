// Groups: the layers that are computed in one pass.
#pragma once

#include <coldpress/graph/node.hpp>

#include <limits>

namespace coldpress {

/// A value in the workspace: `offset` floats a sample from its start, rows `pitch` apart. Live from step `first` to
/// step `last`.
struct Buffer {
  Index offset = -1, pitch = 0, size = 0;
  int first = -1, last = -1;
  int next = -1;   // while planning: the next buffer by offset, on the floor the one below (detail::Arena),
  int until = -1;  //   and how long it and all below are alive

  constexpr bool used() const { return size > 0; }
};

/// What a group reads, and how the gradient gets back there.
struct Edge {
  int from = -1;                 // group whose value it is; -1 - k: input k of the network
  bool open = true;              // a gradient may get through
  bool passes_gradient = false;  // there it is
  bool adds = false;             //   not the first that arrives,
  bool finishes = false;         //   the last one: the slope of the chain that made the value is applied
  Buffer addend = {};            // where it is before it is added; of a loss, where nobody wants it
};
inline constexpr int max_edges = max_inputs + 1;

/// Layers computed in one pass: y = chain(join(pooling(head(x...)), side)); without a head, of the first value that is
/// read. A loss ends the pass it is in; a statistic is a pass of its own.
struct Group {
  static constexpr int nowhere = std::numeric_limits<int>::min();  // the group of a node that is not planned

  int head = -1;             // node
  int pooling = -1;          // node: the maxima of what the head makes,
  bool pooled_last = false;  // or of what the chain makes of it: its slope there is that of the maximum
  int join = -1;             // node
  int side = -1;             // edge of the join's other operand
  int chain[max_chain_length] = {};
  int chain_length = 0;
  int loss = -1;       // node
  int statistic = -1;  // node
  int output = -1;     // node whose value this is
  Edge edges[max_edges] = {};
  int edge_count = 0;
  bool chain_needs_input = false;
  bool is_output = false;       // of the network
  bool needed = false;          // an output or a loss depends on it
  bool needs_gradient = false;  // parameters here or before, and something after that passes a gradient back
  bool seeded = false;          // the user gives the gradient of this value,
  bool seed_finishes = false;   // and nothing else adds to it
  bool blocked = false;         // its value and all that has the shape of it are kept in blocks of images
  Buffer value = {}, kept = {}, gradient = {}, memory = {};
  Index state = 0;  // where its state starts, in values a sample
  // While planning:
  unsigned readers = 0;   // what reads its value (detail::Readers), later the number of edges
  int last_arrival = -1;  // where the last gradient of it came from: group * max_edges + edge
  int layout = 0;         // another group whose value has the layout of this one's
  int earliest = 0;       // the first step at which a gradient is there, its own or that of a group before it

  constexpr bool passes_gradient() const {
    for (int k = 0; k < edge_count; ++k) {
      if (edges[k].passes_gradient) return true;
    }
    return false;
  }
  constexpr int add(int from, bool open) {
    edges[edge_count] = {.from = from, .open = open};
    return edge_count++;
  }
};

namespace detail {

/// What reads a value, through all its views. A group can go on with it where that is one node and nothing else; more
/// than two need not be told apart. Statistics and the user read it in memory.
struct Readers {
  static constexpr unsigned nodes = 3, statistic = 4, user = 8;
  static constexpr unsigned sum(unsigned a, unsigned b) {
    unsigned const both = (a & nodes) + (b & nodes);
    return (both < 2 ? both : 2) | ((a | b) & ~nodes);
  }
};

/// Groups nodes: a pointwise layer joins the group that makes its input, if nothing else reads that; a join the group
/// of the operand that is made last; a loss joins a softmax, whose value statistics may still read. A pooling joins the
/// convolution before it where batches are computed in blocks of images.
class Grouping {
  template <class Span>
  static constexpr auto& at(Span span, int i) {
    return span[static_cast<std::size_t>(i)];
  }

 public:
  constexpr Grouping(View<Node const> nodes, View<int const> outputs, bool training, bool losses, bool in_blocks,
                     View<Group> groups, View<int> group_of)
      : nodes_(nodes),
        outputs_(outputs),
        training_(training),
        losses_(losses),
        in_blocks_(in_blocks),
        groups_(groups),
        group_of_(group_of) {}

  constexpr int run() {
    int inputs = 0;
    count_readers();
    for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
      Node const& node = at(nodes_, i);
      int& group = at(group_of_, i);
      switch (node.kind) {
        case Node::Kind::input:
          group = -1 - inputs++;
          break;
        case Node::Kind::view:
          group = at(group_of_, node.inputs[0]);
          break;
        case Node::Kind::loss:
        case Node::Kind::statistic:
          group = losses_ ? add(i, node) : Group::nowhere;
          break;
        default:
          group = add(i, node);
      }
    }
    return count_;
  }

 private:
  /// Where the group of each value will be. What reads a view comes after it, so that it is known when the view's own
  /// source is told.
  constexpr void count_readers() {
    for (int& readers : group_of_) readers = 0;
    auto const add = [&](int node, unsigned readers) {
      at(group_of_, node) = static_cast<int>(Readers::sum(static_cast<unsigned>(at(group_of_, node)), readers));
    };
    for (int output : outputs_) add(output, Readers::user);
    for (int i = static_cast<int>(nodes_.size()); i-- > 0;) {
      Node const& node = at(nodes_, i);
      bool const at_end = node.kind == Node::Kind::loss || node.kind == Node::Kind::statistic;
      if (at_end && !losses_) continue;
      unsigned const own = node.kind == Node::Kind::view        ? static_cast<unsigned>(at(group_of_, i))
                           : node.kind == Node::Kind::statistic ? Readers::statistic
                                                                : 1u;
      for (int k = 0; k < max_inputs && node.inputs[k] >= 0; ++k) add(node.inputs[k], own);
    }
  }
  /// The group that makes a node's input k, if it can go on: nothing else reads the value. `stays`: it reaches memory
  /// all the same, so that it may be an output, and statistics may read it.
  constexpr Group* goes_on(Node const& node, int k, bool stays) const {
    int const maker = at(group_of_, node.inputs[k]);
    if (maker < 0 || !node.open(k) || at(groups_, maker).loss >= 0) return nullptr;
    unsigned const readers = at(groups_, maker).readers;
    return (stays ? readers & Readers::nodes : readers) == 1 ? &at(groups_, maker) : nullptr;
  }
  constexpr bool normalizes(Group const& group) const { return group.head >= 0 && at(nodes_, group.head).normalizes; }
  /// Whether what the head makes must be in memory as it is: a row to be normalised, or read again backward.
  constexpr bool keeps_output(Group const& group) const {
    return normalizes(group) || (training_ && group.head >= 0 && at(nodes_, group.head).reads_output);
  }
  /// Whether a node is a pooling of what a convolution makes for it alone: of its planes, not of others in a view. Or
  /// of what a chain that gets along without it makes, where a value is in one window: then the slope is that of a
  /// maximum.
  constexpr bool pools(Node const& node) const {
    Group const* const maker = in_blocks_ && node.image_maxima ? goes_on(node, 0, false) : nullptr;
    if (!maker || maker->head < 0 || maker->join >= 0 || maker->pooling >= 0) return false;
    Node const& head = at(nodes_, maker->head);
    bool const chained = maker->chain_length == 0 || (node.disjoint_windows && !maker->chain_needs_input &&
                                                      !at(nodes_, maker->chain[0]).positioned);
    return head.fuses_maxima && head.memory == 0 && head.shape == at(nodes_, node.inputs[0]).shape && chained;
  }
  constexpr int fresh(Node const& node) {
    Group& group = at(groups_, count_);
    for (int k = 0; k < max_inputs && node.inputs[k] >= 0; ++k) group.add(at(group_of_, node.inputs[k]), node.open(k));
    return count_++;
  }
  /// Puts a node into a group and returns its number.
  constexpr int add(int self, Node const& node) {
    int g = Group::nowhere;
    if (node.kind == Node::Kind::pointwise) {
      Group const* const maker = goes_on(node, 0, false);
      bool const joins =
          maker && maker->chain_length < max_chain_length && !keeps_output(*maker) && !maker->pooled_last;
      g = joins ? at(group_of_, node.inputs[0]) : fresh(node);
      Group& group = at(groups_, g);
      group.chain_needs_input = group.chain_length > 0 || node.reads_input;
      group.chain[group.chain_length++] = self;
    } else if (node.kind == Node::Kind::join) {
      g = add_join(node);
      at(groups_, g).join = self;
    } else if (node.kind == Node::Kind::loss) {
      Group const* const maker = goes_on(node, 0, true);
      int const made = at(group_of_, node.inputs[0]), targets = at(group_of_, node.inputs[1]);
      bool const joins = maker && normalizes(*maker) && maker->chain_length == 0 && maker->join < 0 && targets < made;
      g = joins ? made : fresh(node);
      Group& group = at(groups_, g);
      if (joins) group.add(targets, node.open(1));
      group.loss = self;
      return g;
    } else if (node.kind == Node::Kind::statistic) {
      g = fresh(node);
      at(groups_, g).statistic = self;
      return g;
    } else if (pools(node)) {
      g = at(group_of_, node.inputs[0]);
      at(groups_, g).pooling = self;
      at(groups_, g).pooled_last = at(groups_, g).chain_length > 0;
    } else {
      g = fresh(node);
      at(groups_, g).head = self;
    }
    at(groups_, g).output = self;
    at(groups_, g).readers = static_cast<unsigned>(at(group_of_, self));
    return g;
  }
  /// With the head that makes the later operand, where the gradient of that is the gradient of the sum.
  constexpr int add_join(Node const& node) {
    int const first = at(group_of_, node.inputs[0]), second = at(group_of_, node.inputs[1]);
    int const main = first > second ? 0 : 1, other = main == 0 ? second : first;
    Group* const maker = main == 0 || node.commutes ? goes_on(node, main, false) : nullptr;
    bool const joins = maker && first != second && maker->head >= 0 && maker->join < 0 && maker->chain_length == 0 &&
                       !keeps_output(*maker) && (!training_ || node.passes_on);
    int const g = joins ? (main == 0 ? first : second) : fresh(node);
    Group& group = at(groups_, g);
    group.side = joins ? group.add(other, node.open(1 - main)) : 1;
    return g;
  }

  View<Node const> nodes_;
  View<int const> outputs_;
  bool training_, losses_, in_blocks_;
  View<Group> groups_;
  View<int> group_of_;
  int count_ = 0;
};

}  // namespace detail
}  // namespace coldpress
