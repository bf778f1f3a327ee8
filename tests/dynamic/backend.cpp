// Every backend computes the same, within the bound: by name, and over many random networks.
#include "random_network.hpp"

#include <coldpress/backend/layout.hpp>
#include <coldpress/dynamic/describe.hpp>
#include <coldpress/graph/plan.hpp>

#include <cstdlib>
#include <optional>

namespace {

using namespace coldpress;
using namespace coldpress::test;

/// Has a value, or none, while it lasts.
class Variable {
 public:
  Variable(char const* name, char const* value) : name_(name) {
    if (char const* const before = std::getenv(name)) before_ = before;
    set(value);
  }
  Variable(Variable const&) = delete;
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }

 private:
  void set(char const* value) { value ? ::setenv(name_, value, 1) : ::unsetenv(name_); }

  char const* name_;
  std::optional<std::string> before_;
};

/// The levels that this CPU runs.
std::vector<std::string> levels() {
  std::vector<std::string> names;
  for (std::string const name : {"cpu:v2", "cpu:v3", "cpu:v4", "cpu:native"}) {
    try {
      names.push_back(Backend{name}.name());
    } catch (UnsupportedError const&) {
    }
  }
  return names;
}

/// No two values that are needed at the same time share memory, unless one is computed in the other's place; all are
/// inside.
void check_plan(RandomNetwork const& network, PlanOptions options) {
  std::vector<Node> nodes{Node{.shape = network.input}};
  for (LayerConfig const& layer : network.layers) {
    std::visit(
        [&](auto const& l) {
          if constexpr (Layer<std::remove_cvref_t<decltype(l)>>)
            nodes.push_back(node_of(l, static_cast<int>(nodes.size()) - 1, nodes.back().shape));
        },
        layer.layer_type);
  }
  REQUIRE(nodes.back().shape == network.output);
  options.pitch = cpu::Layout::pitch;
  std::vector<Group> groups(nodes.size());
  std::vector<int> group_of(nodes.size());
  PlanSummary const plan = make_plan(nodes, std::array{static_cast<int>(nodes.size()) - 1}, options, groups, group_of);
  std::vector<Buffer> buffers;
  for (int g = 0; g < plan.groups; ++g) {
    Group const& group = groups[static_cast<std::size_t>(g)];
    for (Buffer const& buffer : {group.value, group.kept, group.memory}) {
      if (buffer.used() && buffer.first >= 0) buffers.push_back(buffer);
    }
    if (group.gradient_of < 0) {
      if (group.gradient.used()) buffers.push_back(group.gradient);
    } else {  // it is in the buffer of a later group's gradient, which lives as long
      Buffer const& other = groups[static_cast<std::size_t>(group.gradient_of)].gradient;
      REQUIRE(group.gradient_of > g);
      REQUIRE(group.gradient.offset == other.offset);
      REQUIRE(group.gradient.size == other.size);
      REQUIRE(group.gradient.last <= other.last);
    }
  }
  if (plan.input_gradients[0].used()) buffers.push_back(plan.input_gradients[0]);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    Buffer const& a = buffers[i];
    REQUIRE(a.offset >= 0);
    REQUIRE(a.offset % 16 == 0);
    REQUIRE(a.offset + a.size <= plan.workspace);
    for (std::size_t j = 0; j < i; ++j) {
      Buffer const& b = buffers[j];
      bool const apart =
          a.last < b.first || b.last < a.first || a.offset + a.size <= b.offset || b.offset + b.size <= a.offset;
      REQUIRE(apart);
    }
  }
  REQUIRE(plan.workspace <= plan.sum);
}

}  // namespace

TEST_CASE("backends have names, and unknown ones say what there is") {
  CHECK(Backend{}.name() == "cpu");
  CHECK(Backend{"cpu:reference"}.name() == "cpu:reference");
  REQUIRE_FALSE(levels().empty());
  for (std::string const name : {"", "gpu", "CPU", "cpu:", "cpuv2", " cpu", "cudacpu"}) {
    Error const error = error_of<UnsupportedError>([&] { Backend{name}; });
    CHECK(says(error, "no backend '" + name + "'"));
    CHECK(says(error, "cpu:reference"));
  }
  for (std::string const name : {"cuda", "cuda:0", "cuda:emulated"})
    CHECK(says(error_of<UnsupportedError>([&] { Backend{name}; }), "coldpress::cuda"));
  for (std::string const name : {"cpu", "cpu:reference"}) {
    CHECK(says(error_of<UnsupportedError>([&] { Backend{name, {.precision = Precision::tf32}}; }), "fp32"));
    CHECK(says(error_of<UnsupportedError>([&] { Backend{name, {.libraries = true}}; }), "cuDNN"));
  }
  for (std::string const name : {"cpu:v9", "cpu:V2", "cpu:v", "cpu:reference2"}) {
    Error const error = error_of<UnsupportedError>([&] { Backend{name}; });
    CHECK(says(error, name.substr(4)));
    for (std::string const& level : levels()) CHECK(says(error, level.substr(4)));
  }
}

/// Made before main, when no file of the program has had its turn.
Backend const global{"cpu:reference"};

TEST_CASE("a backend may be a global object, and one that was moved from is still one") {
  CHECK(dynamic::Layer::from_config(global, {"linear", Linear{2}}, Shape{3}).predict(std::vector<float>(3)).size() ==
        2);
  Backend from{"cpu:v2"};
  Backend const to = std::move(from);
  CHECK(to.name() == "cpu:v2");
  CHECK(dynamic::Layer::from_config(from, {"linear", Linear{2}}, Shape{3}).predict(std::vector<float>(3)).size() == 2);
}

TEST_CASE("the best level is the default, and like_static exists") {
  Variable const none{"COLDPRESS_CPU_LEVEL", nullptr};
  LayerConfig const config = small_network();
  SharedTensor const x = noise({5, 4}, 1);
  Floats const y = values_of(Net::from_config(Backend{}, config).forward(x));
  CHECK(same_bits(y, values_of(Net::from_config(Backend{levels().back()}, config).forward(x))));
  CHECK(values_of(Net::from_config(Backend::like_static(), config).forward(x)).size() == 15);
}

TEST_CASE("COLDPRESS_CPU_LEVEL names the level of the default") {
  // A single output is summed in an order that depends on the width of registers.
  LayerConfig const config = sequential({{"out", Linear{1}}}, Shape{200});
  SharedTensor const x = noise({5, 200}, 1);
  for (std::string const& level : levels()) {
    Floats const y = values_of(Net::from_config(Backend{level}, config).forward(x));
    Variable const named{"COLDPRESS_CPU_LEVEL", level.substr(4).c_str()};
    CHECK(same_bits(y, values_of(Net::from_config(Backend{}, config).forward(x))));
    Floats const best = values_of(Net::from_config(Backend{levels().back()}, config).forward(x));
    if (level != levels().back()) CHECK_FALSE(same_bits(y, best));
  }
  Variable const unknown{"COLDPRESS_CPU_LEVEL", "v9"};
  Error const error = error_of<UnsupportedError>([] { Backend{"cpu"}; });
  CHECK(says(error, "COLDPRESS_CPU_LEVEL: there are no kernels 'v9' for this CPU, which can run " +
                        levels().back().substr(4)));
  CHECK(Backend{levels().back()}.name() == levels().back());
}

TEST_CASE("random networks are within the bound of the reference, and their plans are sound") {
  std::uint64_t const networks = 500;
  double worst = 0;
  Random random{2024};
  for (std::uint64_t seed = 0; seed < networks; ++seed) {
    RandomNetwork const network{random};
    Index const batch = random.integer(1, 9);
    Trace const exact{"cpu:reference", network, seed, batch}, fast{"cpu", network, seed, batch};
    double const by = distance(fast, exact, network, batch);
    INFO("network " << seed << ", batch " << batch << '\n' << dynamic::describe(network.config()));
    CHECK(by <= 1);
    worst = by <= worst ? worst : by;
    check_plan(network, {});
    check_plan(network, {.training = true});
    check_plan(network, {.training = true, .input_gradient = true});
    check_plan(network, {.training = true, .input_gradient = true, .keep_gradients = true});
  }
  UNSCOPED_INFO("the worst has " << worst << " of the bound");
  CHECK(worst > 0);
}

TEST_CASE("every level is within the bound of the reference") {
  Random random{7};
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    RandomNetwork const network{random};
    Trace const exact{"cpu:reference", network, seed, 6};
    for (std::string const& level : levels()) {
      INFO("network " << seed << " on " << level);
      CHECK(distance(Trace{level, network, seed, 6}, exact, network, 6) <= 1);
    }
  }
}
