#include <coldpress/backend/layout.hpp>
#include <coldpress/graph/plan.hpp>
#include <coldpress/graph/static_program.hpp>
#include <coldpress/layers.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"

#include <vector>

using namespace coldpress;

namespace {

struct Planned {
  std::vector<Node> nodes;
  std::vector<Group> groups;
  std::vector<int> group_of;
  PlanSize size;
};
Planned plan(std::vector<Node> nodes, int output, PlanOptions options) {
  Planned p{nodes, std::vector<Group>(nodes.size()), std::vector<int>(nodes.size()), {}};
  if (!options.pitch) options.pitch = cpu::Layout::pitch;
  p.size = make_plan(p.nodes, output, options, p.groups, p.group_of);
  p.groups.resize(static_cast<std::size_t>(p.size.groups));
  return p;
}

/// A workspace where every cell knows whose value it holds: what is read must be what was written there.
class Tracer {
 public:
  Tracer(Planned const& planned, bool training)
      : p_(planned), owner_(static_cast<std::size_t>(planned.size.workspace), none) {
    for (int g = 0; g < p_.size.groups; ++g) {
      Group const& group = p_.groups[static_cast<std::size_t>(g)];
      if (group.loss >= 0 && training) continue;
      forward(g);
    }
    if (!training) {
      read(p_.size.output, value);
      return;
    }
    int const last = p_.size.groups - 1;
    if (Group const& group = p_.groups[static_cast<std::size_t>(last)]; group.loss >= 0) {
      read(group.input, value);
      if (group.head >= 0) write(last, value);
      write(group.input, gradient);
      if (group.head >= 0) read(last, value);
      slope(group.input);
    } else {
      write(p_.size.output, gradient);
      slope(p_.size.output);
    }
    for (int g = last; g >= 0; --g) backward(g);
    read(p_.size.output, value);
    if (p_.size.input_gradient.used()) check(p_.size.input_gradient, input_gradient);
  }
  bool intact() const { return intact_; }

 private:
  static constexpr int none = -1, value = 0, kept = 1, gradient = 2, input_gradient = -2;

  Buffer const& buffer(int g, int what) const {
    if (g < 0) return p_.size.input_gradient;
    Group const& group = p_.groups[static_cast<std::size_t>(g)];
    return what == value ? group.value : what == kept ? group.kept : group.gradient;
  }
  void write(int g, int what) {
    Buffer const& b = buffer(g, what);
    intact_ = intact_ && b.used() && b.offset >= 0 && b.offset + b.size <= p_.size.workspace;
    for (Index i = 0; intact_ && i < b.size; ++i)
      owner_[static_cast<std::size_t>(b.offset + i)] = g < 0 ? input_gradient : 3 * g + what;
  }
  void check(Buffer const& b, int tag) {
    intact_ = intact_ && b.used();
    for (Index i = 0; intact_ && i < b.size; ++i) intact_ = owner_[static_cast<std::size_t>(b.offset + i)] == tag;
  }
  void read(int g, int what) {
    if (g < 0 && what == value) return;  // the user's input
    check(buffer(g, what), g < 0 ? input_gradient : 3 * g + what);
  }
  void forward(int g) {
    Group const& group = p_.groups[static_cast<std::size_t>(g)];
    read(group.input, value);
    if (group.kept.used()) write(g, kept);
    write(g, value);
  }
  void slope(int g) {  // what the slope of the group's chain is made of
    if (g < 0) return;
    Group const& group = p_.groups[static_cast<std::size_t>(g)];
    if (group.chain_length == 0) return;
    read(g, value);
    if (!group.chain_needs_input) return;
    group.head < 0 ? read(group.input, value) : read(g, kept);
  }
  void backward(int g) {
    Group const& group = p_.groups[static_cast<std::size_t>(g)];
    if (group.loss >= 0 || !group.needs_gradient) return;
    int const from = group.input;
    bool const passes =
        from < 0 ? p_.size.input_gradient.used() : p_.groups[static_cast<std::size_t>(from)].needs_gradient;
    auto const operands = [&] {
      read(g, gradient);
      if (group.head < 0) return;
      if (p_.nodes[static_cast<std::size_t>(group.head)].reads_input) read(from, value);
      if (p_.nodes[static_cast<std::size_t>(group.head)].reads_output) read(g, value);
    };
    operands();
    if (passes) {
      slope(from);
      write(from, gradient);
      slope(from);
    }
    if (group.head >= 0) operands();  // the gradients of parameters come after that of the input
  }

  Planned const& p_;
  std::vector<int> owner_;
  bool intact_ = true;
};

/// A random chain of layers as nodes, ended by a loss or not.
std::vector<Node> random_chain(test::Random& random, bool loss) {
  std::vector<Node> nodes{Node{.shape = {random.integer(1, 300)}}};
  Index const length = random.integer(1, 25);
  for (int i = 0; i < length; ++i) {
    Shape const in = nodes.back().shape;
    switch (random.integer(0, 9)) {
      case 0:
      case 1:
      case 2:
        nodes.push_back(node_of(Linear{random.integer(1, 300)}, i, in));
        break;
      case 3:
        nodes.push_back(node_of(Softmax{}, i, in));
        break;
      case 4:
        nodes.push_back(node_of(Flatten{}, i, in));
        break;
      case 5:
        nodes.push_back(node_of(Dropout{}, i, in));
        break;
      default:
        nodes.push_back(node_of(TanH{}, i, in));
        nodes.back().reads_input = random.integer(0, 1) == 1;
        break;
    }
  }
  bool trainable = false;
  for (Node const& node : nodes) trainable = trainable || node.parameters;
  if (loss && trainable) {
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
static_assert(planned_program<OnlyViews>.plan.groups == 0 && planned_program<OnlyViews>.plan.output == -1);

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
    int const output = static_cast<int>(nodes.size()) - (nodes.back().kind == Node::Kind::loss ? 2 : 1);
    auto const p = plan(nodes, output, {.training = training, .input_gradient = input_gradient});
    bool trainable = input_gradient;
    for (Node const& node : nodes) trainable = trainable || node.parameters;
    if (p.size.output < 0 || (training && !trainable)) continue;
    INFO("chain " << number);
    REQUIRE(Tracer(p, training).intact());
    CHECK(p.size.workspace <= p.size.sum);
  }
}

TEST_CASE("every node that is no view is in exactly one group, in order") {
  test::Random random{2};
  for (int number = 0; number < 300; ++number) {
    auto const nodes = random_chain(random, number % 2 == 0);
    int const output = static_cast<int>(nodes.size()) - (nodes.back().kind == Node::Kind::loss ? 2 : 1);
    auto const p = plan(nodes, output, {.training = true, .input_gradient = true});
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
    auto const p = plan(nodes, static_cast<int>(nodes.size()) - 1, {.training = true, .input_gradient = true});
    for (Group const& group : p.groups) {
      for (Buffer const& b : {group.value, group.kept, group.gradient}) {
        if (b.used()) CHECK(b.offset % 16 == 0);
      }
    }
  }
}
