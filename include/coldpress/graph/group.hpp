// Groups: the layers that are computed in one pass.
#pragma once

#include <coldpress/graph/node.hpp>

#include <limits>

namespace coldpress {

/// A value in the workspace. It starts at `offset` and takes `size`, in values per sample; the distance between its
/// rows is `pitch` values. It is alive from step `first` to step `last`.
struct Buffer {
  Index offset = -1, pitch = 0, size = 0;
  int first = -1, last = -1;
  int next = -1;   // while planning (detail::Arena): the next buffer by offset, or the one below on the floor
  int until = -1;  // while planning: the last step at which it and all below it on the floor are alive

  constexpr bool used() const { return size > 0; }
  bool operator==(Buffer const&) const = default;
};

/// A value that a group reads, and how the gradient gets back to it.
struct Edge {
  int from = -1;                 // the group that computes the value; -1 - k: input k of the network
  bool open = true;              // the layer can pass a gradient to this input
  bool passes_gradient = false;  // a gradient is passed
  bool adds = false;             // it is not the first to arrive, and is added to those before
  bool finishes = false;         // it is the last to arrive: now the derivative of the value's chain is applied
  bool shares = false;           // it is the group's own, in one buffer with it
  Buffer addend = {};            // holds it before it is added, or a loss's gradient that nothing needs

  /// Whether it is added where it is computed, or from a buffer of its own.
  constexpr bool adds_in_place() const { return adds && !addend.used(); }
  constexpr bool adds_apart() const { return adds && addend.used(); }
  bool operator==(Edge const&) const = default;
};
inline constexpr int max_edges = max_inputs + 1;

/// Layers computed in one pass: y = chain(join(pooling(head(x...)), side)). Without a head, the first value that the
/// group reads takes its place. A loss is the end of its group; a statistic is a group of its own.
struct Group {
  static constexpr int nowhere = std::numeric_limits<int>::min();  // the group of a node that is not planned

  int head = -1;             // node
  int pooling = -1;          // node: a max pooling of the head's output
  bool pooled_last = false;  // the pooling follows the chain, whose derivative is then taken at the maxima
  int join = -1;             // node
  int side = -1;             // the edge of the join's other operand
  int chain[max_chain_length] = {};
  int chain_length = 0;
  int loss = -1;       // node
  int statistic = -1;  // node
  int output = -1;     // the node whose value the group computes
  Edge edges[max_edges] = {};
  int edge_count = 0;
  bool chain_needs_input = false;
  bool positioned = false;      // an operation of its chain depends on the place of a value
  bool is_output = false;       // its value is an output of the network
  bool needed = false;          // an output or a loss depends on it
  bool needs_gradient = false;  // parameters here or before it need a gradient, and one arrives
  bool seeded = false;          // the user gives the gradient of its value
  bool seed_finishes = false;   // nothing else adds to the gradient that the user gives
  bool blocked = false;         // its value, and all buffers of the same shape, are kept in blocks of images
  Buffer value = {}, kept = {}, gradient = {}, memory = {};
  Index state = 0;  // the offset of its state, in values per sample
  // While planning:
  unsigned readers = 0;   // what reads its value (detail::Readers); later, the number of edges
  int last_arrival = -1;  // the source of the last gradient to arrive: group * max_edges + edge
  int layout = 0;         // another group whose value has the same layout
  int gradient_of = -1;   // the group that its gradient shares a buffer with
  int earliest = 0;       // the first step at which its gradient, or that of a group before it, is alive

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
  bool operator==(Group const&) const = default;
};

namespace detail {

/// What reads a value, directly or through views. A group can continue with the value if exactly one node reads it and
/// nothing else does, so the count of nodes stops at two. Statistics and the user read the value in memory.
struct Readers {
  static constexpr unsigned nodes = 3, statistic = 4, user = 8;
  static constexpr unsigned sum(unsigned a, unsigned b) {
    unsigned const both = (a & nodes) + (b & nodes);
    return (both < 2 ? both : 2) | ((a | b) & ~nodes);
  }
};

/// Assigns nodes to groups. A pointwise layer joins the group that computes its input, if nothing else reads that
/// input. A join joins the group of the operand that is computed last. A loss joins a softmax, whose value statistics
/// may still read. A pooling joins the convolution before it if batches are computed in blocks of images.
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
  /// Counts the readers of each value, in the place of its group. It goes backwards, because whatever reads a view
  /// comes after it, so that a view's readers are complete before they are added to its source's.
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
  /// The group that computes a node's input k, if that group can continue with this node because nothing else reads the
  /// value. `stays` says that the value reaches memory anyway, so that it may also be an output and be read by
  /// statistics.
  constexpr Group* goes_on(Node const& node, int k, bool stays) const {
    int const maker = at(group_of_, node.inputs[k]);
    if (maker < 0 || !node.open(k) || at(groups_, maker).loss >= 0) return nullptr;
    unsigned const readers = at(groups_, maker).readers;
    return (stays ? readers & Readers::nodes : readers) == 1 ? &at(groups_, maker) : nullptr;
  }
  constexpr bool normalizes(Group const& group) const { return group.head >= 0 && at(nodes_, group.head).normalizes; }
  /// Whether the head's output must be in memory unchanged: because it is a row to be normalised, or is read again in
  /// the backward pass.
  constexpr bool keeps_output(Group const& group) const {
    return normalizes(group) || (training_ && group.head >= 0 && at(nodes_, group.head).reads_output);
  }
  /// Whether a node is a pooling that can be one pass with the convolution whose planes it alone reads, not with
  /// another shape through a view. A chain may come between if no value is in two windows and the chain's derivative
  /// needs neither its input nor a position, because it is then taken at the maxima.
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
  /// Adds a node to a group and returns the group's number.
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
      group.positioned = group.positioned || node.positioned;
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
  /// Adds a join, to the group of the later operand if that has a head. The gradient of that operand must then be that
  /// of the sum.
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
