#include <coldpress/typed/operations.hpp>
#include <coldpress/typed/static_program.hpp>

#include "support/catch.hpp"
#include "support/random_graph.hpp"

using namespace coldpress;
using test::plan;
using test::Planned;

namespace {

/// Walks through a pass with a workspace where every cell knows whose value it holds: what is read must be what was
/// written there. And gradients must arrive in order: one that is stored, then those that are added, the slope with the
/// last.
class Tracer {
 public:
  explicit Tracer(Planned const& planned)
      : p_(planned),
        owner_(static_cast<std::size_t>(planned.size.workspace), none),
        arrived_(planned.groups.size()),
        finished_(planned.groups.size()) {
    for (int g = 0; g < p_.size.groups; ++g) {
      if (p_.group(g).needed && p_.group(g).loss < 0) forward(g);
    }
    for (int g = 0; g < p_.size.groups; ++g) {
      if (p_.group(g).loss >= 0) compare(g);
    }
    if (p_.options.training && !p_.options.losses) {
      for (int output : p_.outputs) seed(p_.maker(output));
    }
    if (p_.options.training) {
      for (int g = p_.size.groups - 1; g >= 0; --g) backward(g);
    }
    for (int g = 0; p_.options.keep_gradients && g < p_.size.groups; ++g) {
      if (p_.group(g).needs_gradient) operands(g);
    }
    for (int output : p_.outputs) read(p_.maker(output), value);
    for (int k = 0; k < max_network_inputs; ++k) {
      if (p_.size.input_gradients[k].used()) read(-1 - k, gradient);
    }
  }
  bool intact() const { return intact_; }

 private:
  enum What { value, kept, memory, gradient, addend, kinds = addend + max_edges };
  static constexpr int none = -1000;

  Buffer const& buffer(int g, int what) const {
    if (g < 0) return p_.size.input_gradients[-1 - g];
    Buffer const Group::*members[] = {&Group::value, &Group::kept, &Group::memory, &Group::gradient};
    return what < addend ? p_.group(g).*members[what] : p_.group(g).edges[what - addend].addend;
  }
  static int tag(int g, int what) { return g < 0 ? g : kinds * g + what; }
  void demand(bool holds) { intact_ = intact_ && holds; }
  void write(int g, int what) {
    Buffer const& b = buffer(g, what);
    demand(b.used() && b.offset >= 0 && b.offset + b.size <= p_.size.workspace);
    for (Index i = 0; intact_ && i < b.size; ++i) owner_[static_cast<std::size_t>(b.offset + i)] = tag(g, what);
  }
  void read(int g, int what) {
    if (g < 0 && what == value) return;  // the user's input
    Buffer const& b = buffer(g, what);
    demand(b.used());
    for (Index i = 0; intact_ && i < b.size; ++i)
      demand(owner_[static_cast<std::size_t>(b.offset + i)] == tag(g, what));
  }
  /// The group whose value a group writes over as it reads it; -1: none.
  int overwritten(int g) const {
    int const operand = test::may_write_over(p_, test::members(p_, g));
    int const from = operand < 0 ? -1 : p_.maker(operand);
    return from >= 0 && test::in_one_place(p_.group(from).value, p_.group(g).value) ? from : -1;
  }
  template <class F>
  void each_edge(int g, F f) {
    for (int k = 0; k < p_.group(g).edge_count; ++k) f(k, p_.group(g).edges[k]);
  }
  void forward(int g) {
    each_edge(g, [&](int, Edge const& edge) { read(edge.from, value); });
    for (What const what : {kept, memory}) {
      if (buffer(g, what).used()) write(g, what);
    }
    write(g, value);
    int const over = overwritten(g);  // all else is read to the end
    each_edge(g, [&](int, Edge const& edge) {
      if (over < 0 || edge.from != over) read(edge.from, value);
    });
  }
  void slope(int g) {  // what the slope of the group's chain is made of
    if (g < 0 || p_.group(g).chain_length == 0) return;
    read(g, value);
    if (!p_.group(g).chain_needs_input) return;
    bool const kept_apart = p_.group(g).head >= 0 || p_.group(g).join >= 0;
    kept_apart ? read(g, kept) : read(p_.group(g).edges[0].from, value);
  }
  /// One more gradient of what group g makes, stored or added.
  void arrive(int g, bool adds, bool finishes) {
    if (adds) read(g, gradient);
    if (finishes) slope(g);
    write(g, gradient);
    if (finishes) slope(g);
    if (g < 0) return;
    auto const i = static_cast<std::size_t>(g);
    demand(adds == (arrived_[i] > 0) && !finished_[i]);
    ++arrived_[i];
    finished_[i] = finishes;
  }
  void seed(int g) {
    if (g < 0 ? buffer(g, gradient).used() : p_.group(g).needs_gradient)
      arrive(g, false, g < 0 || p_.group(g).seed_finishes);
  }
  /// The gradient through an edge to where it is stored, first, or added in place.
  void store(int g, int k) {
    Edge const& edge = p_.group(g).edges[k];
    demand(!edge.adds_in_place() || can_add(g, k));
    if (edge.shares) return;  // it is there
    edge.adds_apart() ? write(g, addend + k) : arrive(edge.from, edge.adds, edge.finishes);
  }
  void add(int g, int k) {
    Edge const& edge = p_.group(g).edges[k];
    if (edge.adds_apart()) read(g, addend + k), arrive(edge.from, true, edge.finishes);
  }
  bool can_add(int g, int k) const {
    Group const& group = p_.group(g);
    return p_.options.adds_in_place && group.loss < 0 &&
           (group.head < 0 || k == group.side || p_.node(group.head).adds);
  }
  void compare(int g) {
    Group const& self = p_.group(g);
    auto const compared = [&] {
      if (self.head < 0) read(self.edges[0].from, value);
      if (self.head >= 0) read(g, value);
      read(self.edges[1].from, value);
    };
    read(self.edges[0].from, value);
    if (self.head >= 0) write(g, value);
    compared();
    each_edge(g, [&](int k, Edge const& edge) {
      if (edge.passes_gradient) store(g, k);
      if (!edge.passes_gradient && k == 0) write(g, addend);  // written all the same
    });
    compared();
    each_edge(g, [&](int k, Edge const& edge) {
      if (edge.passes_gradient) add(g, k);
    });
    if (self.head >= 0) read(g, value);
  }
  /// What the backward pass of a group reads.
  void operands(int g) {
    Group const& self = p_.group(g);
    read(g, gradient);
    if (self.memory.used()) read(g, memory);
    each_edge(g, [&](int k, Edge const& edge) {
      bool const joined = self.join >= 0 && (self.head < 0 || k == self.side);
      if (joined ? p_.node(self.join).reads_input : self.head >= 0 && p_.node(self.head).reads_input)
        read(edge.from, value);
    });
    if (self.head >= 0 && p_.node(self.head).reads_output) read(g, value);
  }
  void backward(int g) {
    Group const& self = p_.group(g);
    if (self.loss >= 0 || !self.needs_gradient) return;
    demand(finished_[static_cast<std::size_t>(g)]);
    operands(g);
    auto const pass = [&](int first, int last) {
      for (int k = first; k < last; ++k) {
        if (self.edges[k].passes_gradient) store(g, k), operands(g);  // those of parameters come after those of inputs
      }
      for (int k = first; k < last; ++k) {
        if (self.edges[k].passes_gradient) add(g, k), operands(g);
      }
    };
    int const of_head = self.head < 0 ? 0 : p_.node(self.head).input_count();
    pass(0, of_head);
    for (int k = of_head; k < self.edge_count; ++k) pass(k, k + 1);
    each_edge(g, [&](int k, Edge const& edge) {
      if (edge.shares) share(g, k);
    });
  }
  /// From now on the gradient of a group is that of the value that it reads through the edge.
  void share(int g, int k) {
    Edge const& edge = p_.group(g).edges[k];
    demand(edge.passes_gradient && edge.from >= 0 && is_sum(g, k) && !p_.options.keep_gradients);
    if (!intact_) return;
    Group const &self = p_.group(g), &from = p_.group(edge.from);
    demand(test::in_one_place(self.gradient, from.gradient) && self.gradient.pitch == from.gradient.pitch &&
           self.blocked == from.blocked && !(edge.finishes && from.chain_length > 0));
    read(g, gradient);
    arrive(edge.from, edge.adds, edge.finishes);
    demand(arrived_[static_cast<std::size_t>(edge.from)] == 1);
  }
  /// Whether the slope of what a group makes of the value, before its chain, is 1.
  bool is_sum(int g, int k) const {
    auto const inside = test::members(p_, g);
    auto const join =
        std::find_if(inside.begin(), inside.end(), [&](int n) { return p_.node(n).kind == Node::Kind::join; });
    if (join == inside.end()) return p_.node(inside[0]).kind == Node::Kind::pointwise;
    auto const reads = [&](int operand) {
      return p_.maker(p_.node(*join).inputs[operand]) == p_.group(g).edges[k].from;
    };
    return (p_.node(*join).passes_on && reads(0)) || (p_.node(*join).passes_on && p_.node(*join).commutes && reads(1));
  }

  Planned const& p_;
  std::vector<int> owner_, arrived_;
  std::vector<bool> finished_;
  bool intact_ = true;
};

template <class Net, bool training = false, auto loss = OwnLosses{}>
constexpr auto const& planned_program =
    StaticProgram<StaticGraph<Net, Shape{12}>, cpu::Layout,
                  PlanOptions{.training = training, .losses = Loss<decltype(loss)>}, loss>::planned;

// Which layers are one pass.
using Classifier = Sequential<Linear{5}, ReLU{}, Linear{3}, LogSoftmax{}>;
static_assert(planned_program<Classifier>.plan.groups == 3);
static_assert(planned_program<Classifier>.groups[0].head == 1 &&
              planned_program<Classifier>.groups[0].chain_length == 1);
static_assert(planned_program<Classifier>.groups[1].head == 3 &&
              planned_program<Classifier>.groups[1].chain_length == 0);
constexpr auto& with_loss = planned_program<Classifier, true, NegativeLogLikelihood{3}>;
static_assert(with_loss.plan.groups == 3 && with_loss.groups[2].head == 4 && with_loss.groups[2].loss == 6);

using Views = Sequential<Reshape{{3, 4}}, Linear{6}, Reshape{{2, 3}}, TanH{}, Flatten{}, Sigmoid{}, Reshape{{3, 2}}>;
static_assert(planned_program<Views>.plan.groups == 1 && planned_program<Views>.groups[0].chain_length == 2);
static_assert(!planned_program<Views>.groups[0].kept.used() && planned_program<Views, true>.groups[0].kept.used());

using DerivativeOfOutput = Sequential<Linear{6}, TanH{}>;
static_assert(!planned_program<DerivativeOfOutput, true>.groups[0].kept.used(),
              "tanh's derivative needs the output alone");

using AfterSoftmax = Sequential<Linear{6}, Softmax{}, ReLU{}>;
static_assert(planned_program<AfterSoftmax>.plan.groups == 3, "a row must be whole before it is normalised");
using LossOnView = Sequential<Linear{6}, Softmax{}, Reshape{{2, 3}}>;
static_assert(planned_program<LossOnView, true, MeanSquaredError{}>.plan.groups == 2);
static_assert(planned_program<Sequential<Linear{6}>, true, MeanSquaredError{}>.plan.groups == 2, "a loss of its own");

using NinePointwise = Sequential<Linear{6}, ReLU{}, ReLU{}, ReLU{}, ReLU{}, ReLU{}, ReLU{}, ReLU{}, ReLU{}, ReLU{}>;
static_assert(planned_program<NinePointwise>.plan.groups == 2 && planned_program<NinePointwise>.groups[1].head == -1);
static_assert(planned_program<Sequential<TanH{}, Sigmoid{}>>.plan.groups == 1 &&
              planned_program<Sequential<TanH{}>>.groups[0].head == -1);

using OnlyViews = Sequential<Reshape{{3, 4}}, Flatten{}>;
static_assert(planned_program<OnlyViews>.plan.groups == 0 && planned_program<OnlyViews>.group_of[2] == -1);

// A network streams only where all of its layers do, whichever comes last.
constexpr Rnn one_way{.hidden_size = 3}, both_ways{.hidden_size = 3, .direction_mode = DirectionMode::bi_directional};
static_assert(planned_program<Sequential<one_way, one_way>>.plan.streams);
static_assert(!planned_program<Sequential<both_ways, one_way>>.plan.streams);
static_assert(!planned_program<Sequential<one_way, both_ways>>.plan.streams);

// What nobody needs has no place.
static_assert(!planned_program<Sequential<TanH{}, Linear{3}>, true, MeanSquaredError{}>.groups[0].gradient.used());
static_assert(!planned_program<Classifier>.groups[0].gradient.used());
static_assert(planned_program<Sequential<TanH{}, Linear{3}>, true, MeanSquaredError{}>.groups[1].gradient.used());

// Memory is used again: inference of a deep network needs two rows, whatever its depth.
using L = Sequential<Linear{32}, ReLU{}, Linear{32}, ReLU{}, Linear{32}, ReLU{}, Linear{32}, ReLU{}>;
using Deep = Sequential<L{}, L{}, L{}>;
static_assert(planned_program<Deep>.plan.sum == 12 * 32 && planned_program<Deep>.plan.workspace == 2 * 32);
static_assert(planned_program<Deep, true>.plan.workspace < planned_program<Deep, true>.plan.sum);
static_assert(planned_program<Sequential<Linear{32}, Softmax{}>>.plan.workspace == 32, "softmax writes over its input");

// A residual sum and its ReLU go where the later operand is made; the earlier one lives until then, and no longer.
constexpr auto residual = graph([](auto x) {
  auto const shortcut = x | Linear{32};
  return ((shortcut | Linear{32} | ReLU{} | Linear{32}) + shortcut) | ReLU{};
});
constexpr auto& joined = planned_program<Graph<residual>>;
static_assert(joined.plan.groups == 3 && joined.groups[2].head == 4 && joined.groups[2].join == 5 &&
              joined.groups[2].chain_length == 1 && joined.groups[2].edges[joined.groups[2].side].from == 0);
static_assert(planned_program<Graph<residual>, true>.plan.groups == 3);
static_assert(joined.plan.workspace == 3 * 32);

// A product has a slope of its own, which needs both operands: in training it is a pass of its own.
constexpr auto gate = graph([](auto x) { return (x | Linear{32}) * (x | Linear{32}); });
static_assert(planned_program<Graph<gate>>.plan.groups == 2 && planned_program<Graph<gate>, true>.plan.groups == 3);
// So has a difference by its second operand, unless that is the earlier one.
constexpr auto later_first = graph([](auto x) {
  auto const a = x | Linear{32};
  return (a | Linear{32}) - a;
});
constexpr auto earlier_first = graph([](auto x) {
  auto const a = x | Linear{32};
  return a - (a | Linear{32});
});
static_assert(planned_program<Graph<later_first>, true>.plan.groups == 2);
static_assert(planned_program<Graph<earlier_first>, true>.plan.groups == 3);

/// A random chain of layers as nodes, and its loss.
Planned random_chain_plan(test::Random& random, PlanOptions options) {
  std::vector<Node> nodes{Node{.shape = {random.integer(1, 300)}}};
  for (Index i = 0, length = random.integer(1, 25); i < length; ++i) {
    std::vector<Node> const last{nodes.back()};
    Node node = test::detail::random_node(random, last);
    for (int k = 0; k < node.input_count(); ++k) node.inputs[k] = static_cast<int>(nodes.size()) - 1;
    nodes.push_back(node);
  }
  int const last = static_cast<int>(nodes.size()) - 1;
  if (options.losses) {
    nodes.push_back({.shape = Shape{nodes.back().shape}});
    nodes.push_back(test::detail::made(MeanSquaredError{}, nodes, {last, last + 1}));
  }
  return plan(nodes, {last}, options);
}

}  // namespace

TEST_CASE(
    "no value is overwritten while it is still read: inference, training with and without a loss, input gradients") {
  test::Random random{1};
  for (int number = 0; number < 2000; ++number) {
    PlanOptions const options{.training = number % 4 > 0, .losses = number % 4 == 2, .input_gradient = number % 4 == 3};
    auto const p = random_chain_plan(random, options);
    INFO("chain " << number);
    REQUIRE(Tracer(p).intact());
    CHECK(p.size.workspace <= p.size.sum);
  }
}

TEST_CASE("nor where values are read twice and joined, inputs, outputs and losses are several, and gradients stop") {
  test::Random random{7};
  int added = 0, in_place = 0, shared = 0, unreached = 0, joins = 0, losses = 0, many = 0, twice = 0;
  for (int number = 0; number < 4000; ++number) {
    auto const p = test::random_plan(random, number, 40);
    INFO("network " << number);
    REQUIRE(Tracer(p).intact());
    CHECK(p.size.workspace <= p.size.sum);
    for (Group const& group : p.groups) {
      unreached += p.options.training && !group.needs_gradient;
      joins += group.head >= 0 && group.join >= 0;
      losses += group.loss >= 0;
      many += group.edge_count == max_edges;
      twice += group.join >= 0 && group.edges[0].from == group.edges[group.side].from;
      for (int k = 0; k < group.edge_count; ++k)
        added += group.edges[k].adds_apart(), in_place += group.edges[k].adds_in_place(),
            shared += group.edges[k].shares;
    }
  }
  CHECK(added > 2000);
  CHECK(in_place > 2000);
  CHECK(shared > 1000);
  CHECK(unreached > 1000);
  CHECK(joins > 500);
  CHECK(losses > 2000);
  CHECK(many > 5);
  CHECK(twice > 100);
}

TEST_CASE("every node that is no view is in exactly one group, after what it reads") {
  test::Random random{2};
  for (int number = 0; number < 1000; ++number) {
    auto const p = test::random_plan(random, number, 40);
    INFO("network " << number);
    std::vector<int> found;
    for (int g = 0; g < p.size.groups; ++g) {
      Group const& group = p.group(g);
      for (int member : {group.head, group.join}) {
        if (member >= 0) found.push_back(member);
      }
      found.insert(found.end(), group.chain, group.chain + group.chain_length);
      if (group.loss >= 0) found.push_back(group.loss);
      CHECK(group.chain_length <= max_chain_length);
      for (int k = 0; k < group.edge_count; ++k) CHECK(group.edges[k].from < g);
    }
    std::sort(found.begin(), found.end());
    std::vector<int> wanted;
    for (int i = 0; i < static_cast<int>(p.nodes.size()); ++i) {
      auto const kind = p.node(i).kind;
      bool const computed = kind != Node::Kind::view && kind != Node::Kind::input;
      if (computed && (kind != Node::Kind::loss || p.options.losses)) wanted.push_back(i);
    }
    CHECK(found == wanted);
  }
}

TEST_CASE("buffers start at whole cache lines, whatever the pitch") {
  test::Random random{3};
  for (int number = 0; number < 300; ++number) {
    auto const p = test::random_plan(random, number, 40);
    for (Group const& group : p.groups) {
      for (Buffer const& b : {group.value, group.kept, group.memory, group.gradient})
        CHECK((!b.used() || b.offset % 16 == 0));
      for (Edge const& edge : group.edges) CHECK((!edge.addend.used() || edge.addend.offset % 16 == 0));
    }
  }
}

/// A chain of dense layers that each have their own memory. If `adds` is true, every third layer also adds the value
/// that came before the three.
Planned long_chain_plan(int count, bool adds, PlanOptions const& options) {
  std::vector<Node> nodes{Node{.shape = {32}}};
  int last = 0, shortcut = 0;
  auto const push = [&](Node const& node) {
    nodes.push_back(node);
    return static_cast<int>(nodes.size()) - 1;
  };
  for (int i = 1; i <= count; ++i) {
    Node node{.kind = Node::Kind::compute, .shape = {32 + i % 3 * 16}, .parameters = true, .reads_input = true};
    node.memory = 16 + i % 2 * 32;
    node.inputs[0] = last;
    last = push(node);
    if (!adds || i % 3 != 0) continue;
    shortcut = last = push(test::detail::made(Add{}, nodes, {last, shortcut}));
  }
  if (options.losses) {
    int const target = push({.shape = {32}});
    nodes.push_back(test::detail::made(MeanSquaredError{}, nodes, {last, target}));
  }
  return plan(std::move(nodes), {last}, options);
}

TEST_CASE("to place the values of many layers takes a few steps for each: inference, training, gradients by hand") {
  PlanOptions const all[] = {{},
                             {.training = true},
                             {.training = true, .losses = true},
                             {.training = true, .input_gradient = true, .keep_gradients = true}};
  for (int count : {9, 99, 999, 9999}) {
    for (bool adds : {false, true}) {
      for (PlanOptions const& options : all) {
        if (adds && options.keep_gradients) continue;  // gradients that add leave gaps for good: quadratic
        auto const p = long_chain_plan(count, adds, options);
        CHECK(p.size.groups >= count);
        CHECK(p.size.visited <= 12 * count);
      }
    }
  }
}
