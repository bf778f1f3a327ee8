// Two values that are alive at one time have no byte in common: how long each lives follows from the nodes, whatever
// the plan says about it.
#include "support/catch.hpp"
#include "support/random_graph.hpp"

#include <cstdio>

using namespace coldpress;
using test::Planned;

namespace {

/// A buffer of a plan, and when it is in use, in halves of a step: what a group reads at one, what it writes over it
/// from the next.
struct Life {
  Buffer buffer;
  int first, last;
  int over = -1;                 // node: the value may be where this one, which it is made of, was,
  int value = -1;                // node: and whose value this is
  int gradient = -1;             // node: whose gradient this is,
  std::vector<int> passed = {};  // nodes: of which it is the gradient, too
};

class Lifetimes {
 public:
  explicit Lifetimes(Planned const& planned)
      : p_(planned), count_(planned.size.groups), used_(planned.nodes.size()), gradient_(planned.nodes.size()) {
    bool const losses = p_.options.losses, seeds = p_.options.training && !losses;
    auto const nodes = static_cast<int>(p_.nodes.size());
    std::vector<bool> trains(p_.nodes.size()), reached(p_.nodes.size());
    for (int output : p_.outputs) at(used_, output) = true, at(reached, output) = seeds;
    for (int n = 0; n < nodes; ++n) {
      Node const& node = p_.node(n);
      at(trains, n) =
          p_.options.training && (node.parameters || (node.kind == Node::Kind::input && p_.options.input_gradient));
      for (int k = 0; k < node.input_count(); ++k)
        at(trains, n) = at(trains, n) || (node.open(k) && at(trains, node.inputs[k]));
    }
    for (int n = nodes - 1; n >= 0; --n) {
      Node const& node = p_.node(n);
      bool const loss = node.kind == Node::Kind::loss && losses;
      if (node.kind == Node::Kind::loss && !loss) continue;
      at(used_, n) = at(used_, n) || loss;
      at(gradient_, n) = at(trains, n) && at(used_, n) && (loss || at(reached, n));
      for (int k = 0; at(used_, n) && k < node.input_count(); ++k) {
        at(used_, node.inputs[k]) = true;
        if (at(gradient_, n) && node.open(k) && at(trains, node.inputs[k])) at(reached, node.inputs[k]) = true;
      }
    }
    for (int g = 0; g < count_; ++g) add(g);
    for (int k = 0; k < max_network_inputs; ++k) {
      if (p_.size.input_gradients[k].used()) lives_.push_back({p_.size.input_gradients[k], 2 * count_, 2 * end()});
    }
  }

  std::vector<Life> const& all() const { return lives_; }
  /// Bytes that are alive at once, at most: no plan needs less.
  Index most() const {
    Index most = 0;
    for (Life const& now : lives_) {
      Index sum = 0;
      for (Life const& life : lives_) sum += life.first <= now.first && now.first <= life.last ? life.buffer.size : 0;
      most = std::max(most, sum);
    }
    return most;
  }

 private:
  static auto at(auto& list, int i) -> decltype(list[0]) { return list[static_cast<std::size_t>(i)]; }
  int end() const { return 2 * count_ + 1; }
  int forward(int g) const { return p_.options.losses && p_.group(g).loss >= 0 ? count_ : g; }
  int backward(int g) const { return p_.group(g).loss >= 0 ? count_ : 2 * count_ - g; }
  bool kind_is(int n, Node::Kind kind) const { return p_.node(n).kind == kind; }
  void add(int g) {
    auto const inside = test::members(p_, g);
    Group const& group = p_.group(g);
    if (!at(used_, inside[0])) return;
    for (Edge const& edge : group.edges) {
      if (edge.addend.used()) lives_.push_back({edge.addend, 2 * backward(g), 2 * backward(g)});
    }
    // The value of the last member that is no loss.
    int made = -1;
    for (int n : inside) made = kind_is(n, Node::Kind::loss) ? made : n;
    if (made < 0) return;
    Node const& head = p_.node(inside[0]);
    bool const gradient = at(gradient_, made), computes = head.kind == Node::Kind::compute;
    int const keep = p_.options.keep_gradients ? 2 * end() : 2 * backward(g);
    int last = 2 * forward(g), first_arrival = 2 * end(), last_arrival = 0;  // of gradients of it
    auto const arrives = [&](int when) {
      first_arrival = std::min(first_arrival, when), last_arrival = std::max(last_arrival, when);
    };
    for (int output : p_.outputs) {
      if (source_of(p_.nodes, output) != made) continue;
      last = 2 * end();
      if (!p_.options.losses) arrives(2 * count_);
    }
    for (int n = 0; n < static_cast<int>(p_.nodes.size()); ++n) {
      Node const& reader = p_.node(n);
      int const other = p_.maker(n);
      if (reader.kind == Node::Kind::view || !at(used_, n) || other < 0 || other == g) continue;
      bool const starts_chain = reader.kind == Node::Kind::pointwise && test::members(p_, other)[0] == n;
      bool const again = reader.reads_input || (starts_chain && test::members(p_, other).size() > 1);
      for (int k = 0; k < reader.input_count(); ++k) {
        if (source_of(p_.nodes, reader.inputs[k]) != made) continue;
        last = std::max(last, 2 * forward(other));
        if (!at(gradient_, n)) continue;
        if (reader.open(k) && gradient) arrives(2 * backward(other));
        if (again) last = std::max(last, p_.options.keep_gradients ? 2 * end() : 2 * backward(other));
      }
    }
    auto const chain =
        std::find_if(inside.begin(), inside.end(), [&](int n) { return kind_is(n, Node::Kind::pointwise); });
    auto const in_chain = inside.end() - chain;
    if (gradient && in_chain > 0) last = std::max(last, last_arrival);
    if (gradient && computes && head.reads_output) last = std::max(last, keep);
    lives_.push_back({group.value, 2 * forward(g), last, test::may_write_over(p_, inside), made});
    if (computes && head.memory > 0) lives_.push_back({group.memory, 2 * forward(g), gradient ? keep : 2 * forward(g)});
    if (gradient && group.loss < 0) {
      Life life{group.gradient, first_arrival, keep};
      life.gradient = made, life.passed = passed(inside);
      lives_.push_back(life);
    }
    // What a chain starts from, where its slope needs that and it is in registers else.
    bool const needs_start = in_chain > 1 || (in_chain == 1 && p_.node(*chain).reads_input);
    if (gradient && chain != inside.begin() && needs_start)
      lives_.push_back({group.kept, 2 * forward(g), last_arrival});
  }

  /// The values whose gradients are that of what a group makes before its chain: the operands of a sum, or what a chain
  /// alone reads.
  std::vector<int> passed(std::vector<int> const& inside) const {
    std::vector<int> all;
    for (int n : inside) {
      Node const& node = p_.node(n);
      bool const chain = n == inside[0] && node.kind == Node::Kind::pointwise;
      auto const add = [&](int operand) {
        if (node.open(operand)) all.push_back(source_of(p_.nodes, node.inputs[operand]));
      };
      if (chain || node.passes_on) add(0);
      if (node.passes_on && node.commutes) add(1);
    }
    return all;
  }

  Planned const& p_;
  int count_;
  std::vector<bool> used_, gradient_;
  std::vector<Life> lives_;
};

/// Whether one value is written exactly over another, with whose last element the last of it is made, or a gradient is
/// that of another value from now on.
bool replaces(Life const& now, Life const& before) {
  if (std::count(before.passed.begin(), before.passed.end(), now.gradient) == 1)
    return now.first == before.last && test::in_one_place(now.buffer, before.buffer);
  return now.over >= 0 && now.over == before.value && now.first == before.last &&
         test::in_one_place(now.buffer, before.buffer);
}

}  // namespace

TEST_CASE("values that are alive at one time have no byte in common") {
  test::Random random{11};
  Index values = 0, over = 0;
  double needed = 0, most = 0, sum = 0;
  for (int number = 0; number < 4000; ++number) {
    auto const p = test::random_plan(random, number, 40);
    Lifetimes const lifetimes{p};
    INFO("network " << number);
    Index without_reuse = 0;
    for (auto life = lifetimes.all().begin(); life != lifetimes.all().end(); ++life, ++values) {
      Buffer const& a = life->buffer;
      REQUIRE((a.offset >= 0 && a.size > 0 && a.offset + a.size <= p.size.workspace));
      without_reuse += a.size;
      for (auto other = lifetimes.all().begin(); other != life; ++other) {
        Buffer const& b = other->buffer;
        bool const at_once = life->first <= other->last && other->first <= life->last;
        bool const overlap = a.offset < b.offset + b.size && b.offset < a.offset + a.size;
        bool const handed_on = replaces(*life, *other) || replaces(*other, *life);
        over += at_once && overlap && handed_on;
        REQUIRE_FALSE((at_once && overlap && !handed_on));
      }
    }
    CHECK(p.size.sum == without_reuse);
    needed += static_cast<double>(lifetimes.most());
    most += static_cast<double>(p.size.workspace), sum += static_cast<double>(without_reuse);
  }
  CHECK(values > 40000);
  CHECK(over > 1000);
  std::printf(
      "4000 random networks, %ld values: all at once %.0f numbers a sample, planned %.0f (%.1f %%), and at least "
      "%.0f\n",
      static_cast<long>(values), sum, most, 100 * most / sum, needed);
  CHECK(most < 1.1 * needed);
}
