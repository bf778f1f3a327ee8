// Custom layers where they meet configs and files: their fields, the registry, the adapter, checkpoints, and what
// is wrong with them.
#include <coldpress/dynamic/adapter.hpp>
#include <coldpress/dynamic/describe.hpp>
#include <coldpress/dynamic/register_layer.hpp>
#include <coldpress/persist.hpp>

#include "dynamic/tensors.hpp"
#include "persist/files.hpp"
#include "support/custom_layers.hpp"

#include <thread>

using namespace coldpress;
using namespace custom_layers;
using dynamic::Custom;
using dynamic::custom_of;
using dynamic::layer_from;
using dynamic::register_layer;
using test::error_of;
using test::sequential;

namespace other {

enum class Tone { low, high };
constexpr auto spellings(Tone) { return std::array<std::string_view, 2>{"low", "high"}; }

/// A field of every kind.
struct Everything {
  static constexpr std::string_view name = "everything";
  float small = 0.1f;
  double large = 0.1;
  bool flag = false;
  int whole = -3;
  Index count = 5;
  std::uint64_t bits = std::uint64_t{1} << 63;
  Tone tone = Tone::low;
  Shape shape = {2, 3};
  PerAxis stride = {1, 2};
  Axes order = {1, 0};
  Weight weight = {};
  constexpr Shape output_shape(Shape in) const { return in; }
  void forward(auto const&, auto const& pass) const { Reverse::reverse(pass.x, pass.y); }
  bool operator==(Everything const&) const = default;
};
/// The same name as another.
struct Snake : custom_layers::Snake {};
struct Relu : custom_layers::Snake {
  static constexpr std::string_view name = "relu";
};

}  // namespace other
BOOST_HANA_ADAPT_STRUCT(other::Everything, small, large, flag, whole, count, bits, tone, shape, stride, order, weight);
COLDPRESS_FIELDS(other::Snake, frequency);
COLDPRESS_FIELDS(other::Relu, frequency);

namespace {

using other::Everything;

dynamic::LayerConfig network(dynamic::LayerType layer) {
  return sequential({{"fc", Linear{4}}, {"strange", std::move(layer)}}, Shape{3});
}

/// Refused with this type of error, in layer "strange" and this field, with these words.
template <class E>
void refuses(Custom const& custom, std::string const& field, std::string const& words) {
  for (std::string const backend : {"cpu", "cpu:reference"}) {
    Error const error = error_of<E>([&] { dynamic::Layer::from_config(dynamic::Backend{backend}, network(custom)); });
    CHECK(error.layer() == "strange");
    CHECK(error.field() == field);
    CHECK(test::says(error, words));
  }
  CHECK(error_of<E>([&] { dynamic::describe(network(custom)); }).layer() == "strange");
}

constexpr Everything changed{.small = 0x1.fffffep-3f,
                             .large = 1e300,
                             .flag = true,
                             .whole = 7,
                             .count = Index{1} << 50,
                             .bits = ~std::uint64_t{0},
                             .tone = other::Tone::high,
                             .shape = {7},
                             .stride = {3, 1, 2},
                             .order = {2, 0, 1},
                             .weight = {.filler = Gaussian{0.1f, 0.3f},
                                        .lr_mult = 0.1f,
                                        .decay_mult = 0.7f,
                                        .regularizer = Regularizer::l1,
                                        .max_norm = {1.1f, 9}}};

}  // namespace

TEST_CASE("a custom layer's fields come back from data and from a file") {
  for (Everything const& layer : {Everything{}, changed}) {
    CHECK(layer_from<Everything>(custom_of(layer)) == layer);
    persist::Model const model{.name = "net", .config = {"net", layer}, .weights = {}};
    auto const again = persist::parse_model(persist::serialize(model), "test.juice");
    CHECK(layer_from<Everything>(std::get<Custom>(again.config.layer_type)) == layer);
  }
}

TEST_CASE("fields that a file leaves out keep their defaults, whatever the order") {
  CHECK(layer_from<Snake>({"snake", {}}) == Snake{});
  Everything const layer = layer_from<Everything>({"everything", {{"tone", std::string{"high"}}, {"flag", true}}});
  CHECK(layer == Everything{.flag = true, .tone = other::Tone::high});
}

TEST_CASE("whole numbers may be signed or not, if they fit") {
  CHECK(layer_from<Everything>({"everything", {{"count", std::uint64_t{9}}, {"bits", std::int64_t{9}}}}) ==
        Everything{.count = 9, .bits = 9});
}

TEST_CASE("a field that means nothing is refused with its name and the layer's") {
  register_layer<Everything>();
  auto const refused = [](std::string const& field, Custom::Value value, std::string const& words) {
    refuses<ConfigError>({"everything", {{field, std::move(value)}}}, field, words);
  };
  using Extents = std::vector<std::uint64_t>;
  refuses<ConfigError>({"everything", {{"small", 1.0}, {"count", std::int64_t{1}}, {"small", 2.0}}}, "small",
                       "a layer 'everything' is given this field twice");
  refused("loudness", 1.0, "no such field");
  refused("weight.loudness", 1.0, "no such field");
  refused("small", std::int64_t{1}, "must be a number");
  refused("small", 1e300, "finite");
  refused("small", std::numeric_limits<double>::quiet_NaN(), "finite");
  refused("large", std::numeric_limits<double>::infinity(), "finite");
  refused("flag", std::int64_t{1}, "must be a flag");
  refused("whole", 1.0, "whole number");
  refused("whole", std::int64_t{1} << 40, "out of range");
  refused("count", std::uint64_t{1} << 63, "out of range");
  refused("bits", std::int64_t{-1}, "out of range");
  refused("tone", std::string{"shrill"}, "'shrill' is not one of low, high");
  refused("tone", true, "must be a text");
  refused("shape", 2.0, "list of extents");
  refused("shape", Extents{2, 0}, "at least 1");
  refused("shape", Extents(9, 1), "more than 8");
  refused("shape", Extents{std::uint64_t{1} << 63}, "2^40");
  refused("stride", Extents{}, "no number");
  refused("stride", Extents{1, 1, 1, 1}, "more than 3");
  refused("order", Extents{8}, "no axis 8");
  refused("weight", std::string{"random"}, "not one of own, constant");
  refused("weight.regularizer", std::string{"l3"}, "not one of own, l2, l1");
  refused("weight.max_norm", false, "must be a number");
}

TEST_CASE("what a registered layer finds wrong itself names the layer") {
  register_layer<Mixing>();
  register_layer<Gains>();
  Error const error = error_of<ShapeError>(
      [] { dynamic::Layer::from_config(dynamic::Backend{}, network(custom_of(Mixing{.units = 0}))); });
  CHECK(error.layer() == "strange");
  CHECK(test::says(error, "units must be at least 1"));
  refuses<ConfigError>({"gains", {{"gain.lr_mult", -1.0}}}, "lr_mult", "at least 0");
  register_layer<Gate>();
  CHECK(error_of<ShapeError>([] { dynamic::describe(network(custom_of(Gate{}))); }).layer() == "strange");
}

TEST_CASE("a name is registered once, by one type, and is no built-in's") {
  register_layer<Snake>();
  register_layer<Snake>();
  CHECK(test::says(error_of<ConfigError>([] { register_layer<other::Snake>(); }), "another registered type"));
  CHECK(test::says(error_of<ConfigError>([] { register_layer<other::Relu>(); }), "built-in"));
  dynamic::Layer::from_config(dynamic::Backend{}, network(custom_of(Snake{2})));  // still the first
}

TEST_CASE("types are registered and found by many threads at once") {
  std::vector<std::thread> threads;
  for (int n = 0; n < 8; ++n) {
    threads.emplace_back([] {
      for (int turn = 0; turn < 50; ++turn) {
        register_layer<Shrink>();
        register_layer<Reverse>();
        if (!dynamic::find_type("shrink")) std::abort();
        dynamic::describe(network(custom_of(Reverse{})));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(dynamic::find_type("reverse"));
}

TEST_CASE("a program without the layer reads and writes its file, and refuses to run it") {
  using Net = Network<Sequential<Linear{4}, Jitter{.probability = 0.25f}>, Shape{3}>;  // Jitter is not registered here
  TemporaryFolder folder;
  persist::write_model(folder / "net.juice",
                       {.name = "net",
                        .config = dynamic::to_config(Net{1}),
                        .weights = {persist::tensor("linear1-0", {4, 3}), persist::tensor("linear1-0-bias", {1, 4})}});
  auto const model = persist::read_model(folder / "net.juice");
  CHECK(model.config == dynamic::to_config(Net{1}));
  Error const error =
      error_of<UnsupportedError>([&] { dynamic::Layer::load(dynamic::Backend{}, folder / "net.juice"); });
  CHECK(error.layer() == "jitter1");
  CHECK(test::says(error, "knows no layer 'jitter'"));
}

TEST_CASE("configs of custom layers are compared by what they compute") {
  register_layer<Snake>();
  register_layer<Gains>();
  auto const differ = [](Custom const& a, Custom const& b) { return !dynamic::same_network(network(a), network(b)); };
  CHECK_FALSE(differ({"snake", {}}, custom_of(Snake{})));
  CHECK(differ({"snake", {}}, custom_of(Snake{0.5f})));
  CHECK_FALSE(differ(custom_of(Gains{}), custom_of(Gains{.gain = {.lr_mult = 2}})));
}

TEST_CASE("a static network with a custom layer works behind the dynamic API, registered or not") {
  using Net = Network<Sequential<Linear{4}, Jitter{}, Linear{2}>, Shape{3}>;
  Net net{5};
  auto layer = dynamic::Layer::adapt(net);
  auto const x = test::Random{1}.values<float>(6 * 3);
  CHECK(test::same_bits(layer.predict(x), net.forward(x)));
}

TEST_CASE("a network whose only weights are a custom layer's is no objective, though it ends in a loss") {
  register_layer<Gains>();
  auto const config = [] {
    dynamic::SequentialConfig layers{.layers = {}, .inputs = {{"x", {3}}, {"t", {3}}}};
    layers.add_layer(test::wired({"gains", Gains{}}, {"x"}, {"y"}))
        .add_layer(test::wired({"loss", MeanSquaredError{}}, {"y", "t"}, {}));
    return dynamic::LayerConfig{"network", layers};
  };
  auto const layer = dynamic::Layer::from_config(dynamic::Backend{}, config());
  CHECK(layer.learnable_weights_names() == std::vector<std::string>{"gains-0"});
  dynamic::SolverConfig solver{.network = network(TanH{}), .objective = config()};
  CHECK(error_of<UnsupportedError>([&] { dynamic::Solver::from_config(dynamic::Backend{}, solver); }).layer() ==
        "gains");
}

TEST_CASE("training with custom layers goes on from its checkpoint bit for bit") {
  register_layer<Snake>();
  register_layer<Gains>();
  using Net = Network<Sequential<Linear{9}, Snake{0.5f}, Gains{.gain = {.lr_mult = 0.5f}}, Linear{3}>, Shape{5}>;
  static constexpr SolverOptions options{.weight_decay = 0.01f, .accumulate = 2};
  constexpr Adam optimizer{};
  Net net{1};
  Solver<Net, MeanSquaredError{}, optimizer, options> all{net};
  auto const cpu = dynamic::Backend::like_static();
  auto half = dynamic::Solver::from_config(cpu, dynamic::to_solver_config(all), {}, 1);
  auto const run = [](auto& solver, int from, int to) {
    for (int step = from; step < to; ++step) {
      test::Random random{static_cast<std::uint64_t>(step)};
      auto const x = random.values<float>(4 * 5), t = random.values<float>(4 * 3);
      solver.train_minibatch(std::span<float const>{x}, std::span<float const>{t});
    }
  };
  run(all, 0, 8);
  run(half, 0, 5);
  TemporaryFolder folder;
  persist::write_checkpoint(folder / "run", persist::checkpoint_of(half));
  auto rest = persist::solver_of(cpu, persist::read_checkpoint(folder / "run"));
  run(rest, 5, 8);
  CHECK(persist::checkpoint_of(rest).model.weights == persist::checkpoint_of(all).model.weights);
  CHECK(persist::checkpoint_of(rest).optimizer_state == persist::checkpoint_of(all).optimizer_state);
}
