#include <coldpress/backend/layout.hpp>
#include <coldpress/graph/plan.hpp>
#include <coldpress/graph/static_program.hpp>
#include <coldpress/layers.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"

#include <algorithm>
#include <vector>

using namespace coldpress;

namespace {

struct Planned {
  std::vector<Node> nodes;
  std::vector<int> outputs;
  std::vector<Group> groups;
  std::vector<int> group_of;
  PlanSize size;
  bool training;
};
Planned plan(std::vector<Node> nodes, std::vector<int> outputs, PlanOptions options) {
  Planned p{nodes, outputs, std::vector<Group>(nodes.size()), std::vector<int>(nodes.size()), {}, options.training};
  if (!options.pitch) options.pitch = cpu::Layout::pitch;
  p.size = make_plan(p.nodes, p.outputs, options, p.groups, p.group_of);
  p.groups.resize(static_cast<std::size_t>(p.size.groups));
  return p;
}
/// The last node that is no loss.
int last_value(std::vector<Node> const& nodes) {
  return static_cast<int>(nodes.size()) - (nodes.back().kind == Node::Kind::loss ? 2 : 1);
}
std::vector<Buffer> buffers(Planned const& p) {
  std::vector<Buffer> all;
  for (Group const& group : p.groups) {
    for (Buffer const& b : {group.value, group.kept, group.memory, group.gradient, group.addend}) {
      if (b.used()) all.push_back(b);
    }
  }
  return all;
}

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
    bool loss = false;
    for (int g = 0; g < p_.size.groups; ++g) {
      if (group(g).loss >= 0 && p_.training) {
        loss = true;
      } else if (group(g).needed) {
        forward(g);
      }
    }
    if (p_.training) {
      for (int g = 0; g < p_.size.groups; ++g) {
        if (group(g).loss >= 0) compare(g);
      }
      for (int output : p_.outputs) {
        if (!loss) seed(p_.group_of[static_cast<std::size_t>(output)]);
      }
      for (int g = p_.size.groups - 1; g >= 0; --g) backward(g);
    }
    for (int output : p_.outputs) read(p_.group_of[static_cast<std::size_t>(output)], value);
    for (int k = 0; k < max_network_inputs; ++k) {
      if (p_.size.input_gradients[k].used()) read(-1 - k, gradient);
    }
  }
  bool intact() const { return intact_; }

 private:
  enum What { value, kept, memory, gradient, addend, kinds };
  static constexpr int none = -1000;

  Group const& group(int g) const { return p_.groups[static_cast<std::size_t>(g)]; }
  Node const& node(int n) const { return p_.nodes[static_cast<std::size_t>(n)]; }
  Buffer const& buffer(int g, What what) const {
    if (g < 0) return p_.size.input_gradients[-1 - g];
    Buffer const Group::*members[] = {&Group::value, &Group::kept, &Group::memory, &Group::gradient, &Group::addend};
    return group(g).*members[what];
  }
  static int tag(int g, What what) { return g < 0 ? g : kinds * g + what; }
  void demand(bool holds) { intact_ = intact_ && holds; }
  void write(int g, What what) {
    Buffer const& b = buffer(g, what);
    demand(b.used() && b.offset >= 0 && b.offset + b.size <= p_.size.workspace);
    for (Index i = 0; intact_ && i < b.size; ++i) owner_[static_cast<std::size_t>(b.offset + i)] = tag(g, what);
  }
  void read(int g, What what) {
    if (g < 0 && what == value) return;  // the user's input
    Buffer const& b = buffer(g, what);
    demand(b.used());
    for (Index i = 0; intact_ && i < b.size; ++i)
      demand(owner_[static_cast<std::size_t>(b.offset + i)] == tag(g, what));
  }
  void forward(int g) {
    read(group(g).input, value);
    for (What const what : {kept, memory}) {
      if (buffer(g, what).used()) write(g, what);
    }
    write(g, value);
  }
  void slope(int g) {  // what the slope of the group's chain is made of
    if (g < 0 || group(g).chain_length == 0) return;
    read(g, value);
    if (!group(g).chain_needs_input) return;
    group(g).head < 0 ? read(group(g).input, value) : read(g, kept);
  }
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
    if (g < 0 ? buffer(g, gradient).used() : group(g).needs_gradient) arrive(g, false, g < 0 || group(g).seed_finishes);
  }
  void compare(int g) {
    read(group(g).input, value);
    if (group(g).head >= 0) write(g, value);
    if (group(g).passes_gradient) arrive(group(g).input, group(g).adds, group(g).finishes);
    if (group(g).head >= 0) read(g, value);
  }
  void backward(int g) {
    Group const& self = group(g);
    if (self.loss >= 0 || !self.needs_gradient) return;
    demand(finished_[static_cast<std::size_t>(g)]);
    auto const operands = [&] {
      read(g, gradient);
      if (self.memory.used()) read(g, memory);
      if (self.head < 0) return;
      if (node(self.head).reads_input) read(self.input, value);
      if (node(self.head).reads_output) read(g, value);
    };
    operands();
    if (self.passes_gradient) {
      if (self.adds) write(g, addend), operands(), read(g, addend);
      arrive(self.input, self.adds, self.finishes);
    }
    if (self.head >= 0) operands();  // the gradients of parameters come after that of the input
  }

  Planned const& p_;
  std::vector<int> owner_, arrived_;
  std::vector<bool> finished_;
  bool intact_ = true;
};

Node random_node(test::Random& random, int from, Shape in) {
  switch (random.integer(0, 9)) {
    case 0:
    case 1:
    case 2: {
      Node node = node_of(Linear{random.integer(1, 300)}, from, in);
      if (random.integer(0, 3) == 0) node.memory = random.integer(1, 100);
      return node;
    }
    case 3:
      return node_of(Softmax{}, from, in);
    case 4:
      return node_of(Flatten{}, from, in);
    case 5:
      return node_of(Dropout{}, from, in);
    default: {
      Node node = node_of(TanH{}, from, in);
      node.reads_input = random.integer(0, 1) == 1;
      return node;
    }
  }
}
bool trainable(std::vector<Node> const& nodes) {
  return std::any_of(nodes.begin(), nodes.end(), [](Node const& node) { return node.parameters; });
}

/// A random chain of layers as nodes, ended by a loss or not.
std::vector<Node> random_chain(test::Random& random, bool loss) {
  std::vector<Node> nodes{Node{.shape = {random.integer(1, 300)}}};
  Index const length = random.integer(1, 25);
  for (int i = 0; i < length; ++i) nodes.push_back(random_node(random, i, nodes.back().shape));
  if (loss && trainable(nodes)) {
    nodes.push_back(node_of(MeanSquaredError{}, static_cast<int>(length), nodes.back().shape));
  }
  return nodes;
}

template <class Net, bool training = false, auto loss = NoLoss{}>
constexpr auto const& planned_program =
    StaticProgram<StaticGraph<Net, Shape{12}>, cpu::Layout, training, false, loss>::planned;

// Which layers are one pass.
using Classifier = Sequential<Linear{5}, ReLU{}, Linear{3}, LogSoftmax{}>;
static_assert(planned_program<Classifier>.plan.groups == 3);
static_assert(planned_program<Classifier>.groups[0].head == 1 &&
              planned_program<Classifier>.groups[0].chain_length == 1);
static_assert(planned_program<Classifier>.groups[1].head == 3 &&
              planned_program<Classifier>.groups[1].chain_length == 0);
constexpr auto& with_loss = planned_program<Classifier, true, NegativeLogLikelihood{3}>;
static_assert(with_loss.plan.groups == 3 && with_loss.groups[2].head == 4 && with_loss.groups[2].loss == 5);

using Views = Sequential<Reshape{{3, 4}}, Linear{6}, Reshape{{2, 3}}, TanH{}, Flatten{}, Sigmoid{}, Reshape{{3, 2}}>;
static_assert(planned_program<Views>.plan.groups == 1 && planned_program<Views>.groups[0].chain_length == 2);
static_assert(!planned_program<Views>.groups[0].kept.used() && planned_program<Views, true>.groups[0].kept.used());

using SlopeOfOutput = Sequential<Linear{6}, TanH{}>;
static_assert(!planned_program<SlopeOfOutput, true>.groups[0].kept.used(), "tanh's slope needs the output alone");

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

}  // namespace

TEST_CASE(
    "no value is overwritten while it is still read: inference, training with and without a loss, input gradients") {
  test::Random random{1};
  for (int number = 0; number < 2000; ++number) {
    bool const training = number % 4 > 0, loss = number % 4 == 2, input_gradient = number % 4 == 3;
    auto const nodes = random_chain(random, loss);
    auto const p = plan(nodes, {last_value(nodes)}, {.training = training, .input_gradient = input_gradient});
    INFO("chain " << number);
    REQUIRE(Tracer(p).intact());
    CHECK(p.size.workspace <= p.size.sum);
  }
}

TEST_CASE("nor where the network branches, has several inputs and outputs, and gradients stop") {
  test::Random random{7};
  int added = 0, unreached = 0;
  for (int number = 0; number < 4000; ++number) {
    std::vector<Node> nodes;
    int const inputs = static_cast<int>(random.integer(1, 3)), length = static_cast<int>(random.integer(1, 25));
    for (int k = 0; k < inputs; ++k) nodes.push_back({.shape = {random.integer(1, 300)}});
    for (int i = 0; i < length; ++i) {
      int const newest = inputs + i - 1;
      int const from = static_cast<int>(random.integer(std::max(0, newest - 4), newest));
      nodes.push_back(random_node(random, from, nodes[static_cast<std::size_t>(from)].shape));
      nodes.back().propagates = random.integer(0, 9) > 0;
    }
    std::vector<int> outputs{static_cast<int>(nodes.size()) - 1};
    bool const loss = number % 4 == 2;
    if (random.integer(0, 1) == 1 && length > 3) outputs.push_back(inputs + 1);
    auto const source = [&](int n) {
      while (nodes[static_cast<std::size_t>(n)].kind == Node::Kind::view)
        n = nodes[static_cast<std::size_t>(n)].inputs[0];
      return n;
    };
    if (outputs.size() == 2 && source(outputs[0]) == source(outputs[1])) outputs.pop_back();
    if (loss)
      nodes.push_back(node_of(MeanSquaredError{}, outputs[0], nodes[static_cast<std::size_t>(outputs[0])].shape));
    PlanOptions const options{
        .training = number % 4 > 0, .input_gradient = number % 4 == 3, .keep_gradients = number % 8 == 3};
    auto const p = plan(nodes, outputs, options);
    INFO("network " << number);
    REQUIRE(Tracer(p).intact());
    for (Group const& group : p.groups) added += group.adds, unreached += options.training && !group.needs_gradient;
  }
  CHECK(added > 200);
  CHECK(unreached > 1000);
}

TEST_CASE("every node that is no view is in exactly one group, in order") {
  test::Random random{2};
  for (int number = 0; number < 300; ++number) {
    auto const nodes = random_chain(random, number % 2 == 0);
    auto const p = plan(nodes, {last_value(nodes)}, {.training = true, .input_gradient = true});
    std::vector<int> found;
    for (Group const& group : p.groups) {
      for (int member = 0; member < group.size(); ++member) found.push_back(group.node(member));
      if (group.loss >= 0) found.push_back(group.loss);
      CHECK(group.chain_length <= max_chain_length);
    }
    std::vector<int> wanted;
    for (int i = 1; i < static_cast<int>(nodes.size()); ++i) {
      if (nodes[static_cast<std::size_t>(i)].kind != Node::Kind::view) wanted.push_back(i);
    }
    CHECK(found == wanted);
  }
}

TEST_CASE("buffers start at whole cache lines, whatever the pitch") {
  test::Random random{3};
  for (int number = 0; number < 300; ++number) {
    auto const nodes = random_chain(random, false);
    auto const p = plan(nodes, {last_value(nodes)}, {.training = true, .input_gradient = true});
    for (Buffer const& b : buffers(p)) CHECK(b.offset % 16 == 0);
  }
}
