#include <coldpress/persist.hpp>

#include "persist/files.hpp"

#include <algorithm>
#include <cmath>

namespace coldpress::persist {
namespace {

using dynamic::Custom;
using dynamic::SequentialConfig;

constexpr char const* mlp = R"(# Two layers.
(network = (
  name = "mlp",
  layerType = (sequential = (
    inputs = [(name = "image", shape = [1, 28, 28])],
    layers = [
      (name = "fc1", layerType = (linear = (outputSize = 128, weight = (gaussian = (deviation = 0.01)))), params = [(name = "w")]),
      (name = "relu", layerType = (relu = void)),
      (name = "drop", layerType = (dropout = (probability = 0.5, seed = 3))),
      (name = "fc2", layerType = (linear = (outputSize = 10))),
      (name = "scores", layerType = (logSoftmax = void))]))),
loss = (name = "loss", layerType = (negativeLogLikelihood = (numClasses = 10))),
solver = (name = "sgd", minibatchSize = 32, baseLr = 0.02, momentum = 0.9, clipGradients = 5),
data = "mnist:digits", epochs = 10, batch = 32, seed = 42)
)";

Training expected_mlp() {
  SequentialConfig net;
  net.add_input("image", {28, 28});
  net.add_layer({"fc1", Linear{.output_size = 128, .weight = Gaussian{0, 0.01f}}});
  net.layers[0].params = {{.name = "w"}};
  net.add_layer({"relu", ReLU{}}).add_layer({"drop", Dropout{.probability = 0.5f, .seed = 3}});
  net.add_layer({"fc2", Linear{.output_size = 10}}).add_layer({"scores", LogSoftmax{}});
  return {.network = container("mlp", net),
          .loss = dynamic::LayerConfig{"loss", NegativeLogLikelihood{10}},
          .solver = {.name = "sgd", .minibatch_size = 32, .base_lr = 0.02f, .momentum = 0.9f, .clip_gradients = 5.0f},
          .data = "mnist:digits",
          .epochs = 10,
          .batch = 32,
          .seed = 42};
}

Training read(std::string const& text) {
  TemporaryFolder folder;
  return read_training(folder.put("train.txt", text));
}

/// The text with a part of it changed.
std::string with(std::string const& from, std::string const& to, std::string text = mlp) {
  auto const at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("a training is read from text") { CHECK(read(mlp) == expected_mlp()); }

TEST_CASE("what a text leaves out is at its default") {
  Training const training = read("(network = (layerType = (linear = (outputSize = 3))))");
  CHECK(training == Training{.network = {"", Linear{.output_size = 3}}});
  CHECK(training.solver == dynamic::SolverConfig{});
}

TEST_CASE("a training is read from a message, packed or plain") {
  for (char const* action : {"encode", "encode --packed", "encode --segment-size=8"})
    CHECK(read(capnp(action, "capnp/coldpress.capnp", mlp, "Training")) == expected_mlp());
}

TEST_CASE("a training comes back from the text that is written of it") {
  TemporaryFolder folder;
  auto const check = [&](Training const& training) {
    write_training(folder / "train.txt", training);
    INFO(content(folder / "train.txt"));
    CHECK(read_training(folder / "train.txt") == training);
    for (char const* empty : {"name = \"\"", "data = \"\""}) CHECK(!contains(content(folder / "train.txt"), empty));
    CHECK(read(capnp("encode", "capnp/coldpress.capnp", content(folder / "train.txt"), "Training")) == training);
  };
  check({});
  check(expected_mlp());
  for (char const* part : {"baseLr = 0.02,", "momentum = 0.9,", "(deviation = 0.01)"})  // the fewest digits
    CHECK(contains(content(folder / "train.txt"), part));

  Training odd = expected_mlp();
  odd.solver = {.base_lr = 0.10000002384f, .momentum = std::nextafter(1.0f, 0.0f), .clip_gradients = 1e-42f};
  odd.data = "csv:\"größe\"\\'";
  odd.seed = ~std::uint64_t{0};
  odd.loss.reset();
  odd.network.inputs = {"a"};
  auto& net = std::get<SequentialConfig>(odd.network.layer_type);
  net.inputs[0].shape = {2, 3, 4};
  net.layers[0].layer_type = Custom{
      "snake",
      {{"a", 1.0 / 3}, {"b", std::int64_t{-1} << 62}, {"c", std::vector<std::uint64_t>{1, 2}}, {"d", std::string{}}}};
  net.layers[1].layer_type = Pooling{.mode = PoolingMode::average,
                                     .filter_shape = {2, 3},
                                     .stride = 2,
                                     .padding = {0, 1},
                                     .rounding = Rounding::ceil,
                                     .count_padding = true};
  net.layers[2].params = {{.name = "p", .filler = Constant{0}},
                          {.lr_mult = 1.0f, .decay_mult = 0.0f, .share_mode = dynamic::DimCheckMode::permissive}};
  net.layers[3].layer_type =
      Linear{.output_size = 10, .weight = {.filler = Xavier{}, .decay_mult = 3}, .bias = {.lr_mult = 0}};
  net.layers[2].propagate_down = {true};
  check(odd);
}

TEST_CASE("every optimizer and policy comes back from the text that is written of it") {
  TemporaryFolder folder;
  auto const check = [&](auto change) {
    Training training = expected_mlp();
    training.solver.momentum = 0;
    change(training.solver);
    write_training(folder / "train.txt", training);
    INFO(content(folder / "train.txt"));
    CHECK(read_training(folder / "train.txt") == training);
  };
  for_each_type(BuiltinOptimizers{}, [&]<class Optimizer>() {
    check([](auto& solver) { solver.solver = Optimizer{}; });
    check([](auto& solver) {
      Optimizer odd;
      for_each_field(odd, [](std::string_view name, float& value) {
        if (name != "learning_rate" && name != "momentum") value /= 3;
      });
      solver.solver = odd;
    });
  });
  std::vector<Policy> const policies = {lr::Fixed{},
                                        lr::Step{},
                                        lr::Step{.gamma = 0.3f, .stepsize = 7},
                                        lr::Multistep{.gamma = 0.3f, .steps = {1, 5, Index{1} << 40}},
                                        lr::Multistep{.steps = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
                                        lr::Exp{.gamma = 0.9f},
                                        lr::Inv{.gamma = 1e-4f, .power = 0.75f},
                                        lr::Poly{.power = 0.5f, .max_iter = 1000},
                                        lr::Sigmoid{.gamma = -0.1f, .stepsize = 50},
                                        lr::Step{.gamma = 1.5f, .stepsize = 7, .max = 0.75f},
                                        lr::Linear{.gamma = 0.3f, .stepsize = 7, .max = 0.75f},
                                        lr::Warmup{.max_iter = 500, .start = 0.3f},
                                        lr::Cosine{.max_iter = Index{1} << 40, .end = 0.01f},
                                        lr::CosineRestarts{.period = 10, .multiplier = 2, .end = 0.3f},
                                        lr::OneCycle{.max_iter = 1000},
                                        lr::OneCycle{.max_iter = 1000, .rise = 0.45f, .start = 0.1f, .end = 1e-3f},
                                        lr::Staged{{7, lr::Fixed{}, 0.3f}},
                                        lr::Staged{{500, lr::Warmup{.max_iter = 500}},
                                                   {100, lr::Multistep{.gamma = 0.3f, .steps = {1, 5}}, 0.7f},
                                                   {100, lr::Fixed{}, 1e-3f},
                                                   {0, lr::Multistep{.gamma = 0.3f, .steps = {9}}}}};
  for (Policy const& policy : policies) {
    check([&](auto& solver) { solver.lr_policy = policy; });
    check([&](auto& solver) { solver.momentum = 0.25f, solver.momentum_policy = policy; });
  }
  check([](auto& solver) {
    solver.weight_decay = 5e-4f;
    solver.regularization_method = Regularization::l1;
    solver.accumulate = 4;
    solver.clip_values = 0.3f;
    solver.microbatch = 8;
    solver.sync_batch_normalization = solver.bfloat16_gradients = solver.shard_optimizer = true;
  });
}

TEST_CASE("fields that a file leaves out of an optimizer or policy are as in its struct") {
  auto const solver = [](std::string const& text) {
    return read("(network = (name = \"a\", layerType = (linear = (outputSize = 2))), solver = (" + text + "))").solver;
  };
  for_each_type(BuiltinOptimizers{}, [&]<class Optimizer>() {
    bool has_fields = false;  // of its own in the file
    for_each_field(Optimizer{}, [&](std::string_view name, float) {
      has_fields = has_fields || (name != "learning_rate" && name != "momentum");
    });
    std::string const kind = camel_case(Optimizer::name) + (has_fields ? " = ()" : " = void");
    INFO(kind);
    CHECK(solver("solver = (" + kind + ")").solver == dynamic::AnyOptimizer{Optimizer{}});
  });
  auto const policy = [&](std::string const& text) { return solver("lrPolicy = (" + text + ")").lr_policy; };
  CHECK(policy("fixed = void") == lr::Fixed{});
  CHECK(policy("step = ()") == lr::Step{});
  CHECK(policy("multistep = (steps = [4])") == lr::Multistep{.steps = {4}});
  CHECK(policy("exp = ()") == lr::Exp{});
  CHECK(policy("inv = ()") == lr::Inv{});
  CHECK(policy("poly = (maxIter = 9)") == lr::Poly{.max_iter = 9});
  CHECK(policy("sigmoid = ()") == lr::Sigmoid{});
  CHECK(policy("linear = ()") == lr::Linear{});
  CHECK(policy("warmup = (maxIter = 9)") == lr::Warmup{.max_iter = 9});
  CHECK(policy("cosine = (maxIter = 9)") == lr::Cosine{.max_iter = 9});
  CHECK(policy("cosineRestarts = (period = 9)") == lr::CosineRestarts{.period = 9});
  CHECK(policy("oneCycle = (maxIter = 9)") == lr::OneCycle{.max_iter = 9});
  CHECK(policy("staged = [()]") == lr::Fixed{});
  CHECK(solver("momentumPolicy = (linear = (max = 0.5))").momentum_policy == policy::Linear{.max = 0.5f});
  CHECK_FALSE(solver("").clip_values);
}

TEST_CASE("a list of policies is read with the lists in it") {
  auto const policy = [&](std::string const& text) {
    return read("(network = (name = \"a\", layerType = (linear = (outputSize = 2))), solver = (lrPolicy = (" + text +
                ")))")
        .solver.lr_policy;
  };
  std::string const inner = "(staged = [(iterations = 3, policy = (warmup = (maxIter = 3))), (policy = (exp = ()))])";
  Policy const same = lr::Staged{{3, lr::Warmup{.max_iter = 3}}, {0, lr::Exp{}}};
  CHECK(policy(inner.substr(1, inner.size() - 2)) == same);
  CHECK(policy("staged = [(iterations = 5, policy = " + inner + ", factor = 0.5), (iterations = 7)]") ==
        lr::Staged{{5, same, 0.5f}, {7, lr::Fixed{}}});
}

TEST_CASE("a checkpoint and a training of before lists of policies are read as they were") {
  // What lrPolicy was when this was written: no step had a max, and nothing came after accumulate.
  TemporaryFolder folder;
  std::string own = content(source_file("capnp/coldpress.capnp"));
  auto const without = [&](std::string const& from, std::string const& to) {
    auto const at = own.find(from);
    REQUIRE(at != std::string::npos);
    own.erase(at, own.find(to, at) - at);
  };
  without("  # Absent: fixed. For sgd and nesterov.", "}\n");
  without("      # 0: no bound.", "    }\n");
  without("    linear :group", "  }\n}\n");
  without("# A policy in a list", "enum ");
  folder.put("juice.capnp", content(source_file("capnp/juice.capnp")));
  std::string const schema = folder.put("coldpress.capnp", own);
  std::string const network = "network = (name = \"a\", layerType = (linear = (outputSize = 2)))";
  auto const old = [&](std::string const& solver) {
    std::string const text = "(" + network + ", solver = (" + solver + "))";
    return read_training(folder.put("run", capnp("encode", schema, text, "Training"))).solver;
  };
  CHECK(old("momentum = 0.5, lrPolicy = (step = (gamma = 0.5, stepsize = 7))") ==
        dynamic::SolverConfig{.lr_policy = lr::Step{.gamma = 0.5f, .stepsize = 7}, .momentum = 0.5f});
  CHECK(old("lrPolicy = (multistep = (steps = [3, 9]))").lr_policy == lr::Multistep{.steps = {3, 9}});
  CHECK(old("lrPolicy = (sigmoid = (gamma = -1))").lr_policy == lr::Sigmoid{.gamma = -1});
  CHECK(old("accumulate = 2") == dynamic::SolverConfig{.accumulate = 2});
}

TEST_CASE("optimizer, policy, decay and factors are read as people write them") {
  Training expected = expected_mlp();
  expected.solver.solver = Adam{.beta2 = 0.99f};
  expected.solver.base_lr = 0.001f;
  expected.solver.momentum = 0;
  expected.solver.lr_policy = lr::Multistep{.gamma = 0.1f, .steps = {100, 200}};
  expected.solver.weight_decay = 5e-4f;
  expected.solver.accumulate = 8;
  auto& fc2 = std::get<SequentialConfig>(expected.network.layer_type).layers[3];
  fc2.layer_type = Linear{.output_size = 10,
                          .weight = {.filler = Orthogonal{}, .max_norm = {4.5f}},
                          .bias = {.lr_mult = 2, .decay_mult = 0}};
  fc2.params = {{.lr_mult = 0.5f, .regularizer = Regularizer::l1, .max_norm = MaxNorm{3, 2}}};
  std::string text = with("baseLr = 0.02, momentum = 0.9",
                          "adam = (beta2 = 0.99), baseLr = 0.001, lrPolicy = (multistep = (steps = [100, 200])), "
                          "weightDecay = 5e-4, accumulate = 8");
  text = with("adam = (beta2 = 0.99)", "solver = (adam = (beta2 = 0.99))", text);
  text = with(
      "(linear = (outputSize = 10)))",
      "(linear = (outputSize = 10, weight = (orthogonal = 1), weightMaxNorm = 4.5, biasLrMult = 2, biasDecayMult = "
      "0)), params = [(lrMult = 0.5, regularizer = l1, maxNorm = 3, maxNormEvery = 2)])",
      text);
  CHECK(read(text) == expected);
  CHECK(read(capnp("encode", "capnp/coldpress.capnp", text, "Training")) == expected);
}

TEST_CASE("every field of a training, wrong in turn, is refused with its place") {
  struct Wrong {
    char const *from, *to, *what;
  };
  for (auto const& [from, to, what] : {
           Wrong{"1, 28, 28", "0, 28, 28", "inputs: must be at least 1"},
           Wrong{"1, 28, 28", "784",
                 "nothing tells whether {784} is a batch or a sample: write sampleShape = [784], or shape = [1, 784]"},
           Wrong{"1, 28, 28", "", "1 to 9 extents, has 0"},
           Wrong{"1, 28, 28", "1,1,1,1,1,1,1,1,1,1", "1 to 9 extents, has 10"},
           Wrong{"1, 28, 28", "1, 1099511627777", "at most 2^40"},
           Wrong{"1, 28, 28", "1, 1048576, 1048577", "more than 2^40 values"},
           Wrong{"name = \"image\"", "name = \"\"", "inputs: has no name"},
           Wrong{"outputSize = 128", "outputSize = 0",
                 "layer 'layers[0] fc1': outputSize: must be at least 1 and at most 2^40, is 0"},
           Wrong{"outputSize = 128, ", "", "layer 'layers[0] fc1': outputSize: must be at least 1"},
           Wrong{"outputSize = 128", "outputSize = 1099511627777", "at most 2^40"},
           Wrong{"0.01", "nan", "layer 'layers[0] fc1': weight: must be a finite number"},
           Wrong{"0.01", "-1", "weight: a deviation must not be negative"},
           Wrong{"gaussian = (deviation = 0.01)", "constant = inf", "weight: must be a finite number"},
           Wrong{"\"fc2\"", "\"fc1\"", "layer 'layers[3] fc1': name: the name 'fc1' is given twice"},
           Wrong{"\"fc2\"", "\"\"", "layer 'layers[3]': name: has no name"},
           Wrong{"\"fc2\"", "\"\\xff\"", "is not UTF-8"},
           Wrong{"\"fc2\"", "\"a\\x00b\"", "has a control character at byte 1"},
           Wrong{"probability = 0.5", "probability = 1",
                 "layer 'layers[2] drop': probability: must be at least 0 and below 1"},
           Wrong{"probability = 0.5", "probability = -0.5", "probability: must be at least 0"},
           Wrong{"probability = 0.5", "probability = nan", "probability: must be a finite number"},
           Wrong{"probability = 0.5", "probability = 1e99", "probability: must be a finite number"},
           Wrong{"numClasses = 10", "numClasses = 0", "numClasses: must be at least 1"},
           Wrong{"relu = void", "custom = ()", "custom.name: a custom layer needs the name of its type"},
           Wrong{"relu = void", "custom = (name = \"relu\")", "must not be called 'relu'"},
           Wrong{"relu = void", "custom = (name = \"a\", fields = [(name = \"b\", number = nan)])",
                 "custom.b: must be a finite number"},
           Wrong{"relu = void", "custom = (name = \"a\", fields = [(name = \"b\"), (name = \"b\")])",
                 "custom.fields: the name 'b' is given twice"},
           Wrong{"relu = void", "reshape = (shape = [1, 5])",
                 "layer 'layers[1] relu': shape: shape {1, 5} has 5 values"},
           Wrong{"baseLr = 0.02", "baseLr = -1", "solver.baseLr: must be at least 0"},
           Wrong{"baseLr = 0.02", "baseLr = nan", "solver.baseLr: must be a finite number"},
           Wrong{"momentum = 0.9", "solver = (adam = (beta1 = 1))",
                 "solver.solver.adam.beta1: must be at least 0 and below 1"},
           Wrong{"momentum = 0.9", "solver = (adamw = (epsilon = 0))", "solver.solver.adamw.epsilon: must be above 0"},
           Wrong{"momentum = 0.9", "momentum = 0.9, solver = (adagrad = ())", "solver.momentum: adagrad has none"},
           Wrong{"momentum = 0.9", "lrPolicy = (step = (stepsize = 0))",
                 "solver.lrPolicy.step.stepsize: must be at least 1"},
           Wrong{"momentum = 0.9", "lrPolicy = (poly = ())", "solver.lrPolicy.poly.maxIter: must be at least 1"},
           Wrong{"momentum = 0.9", "lrPolicy = (exp = (gamma = nan))",
                 "solver.lrPolicy.exp.gamma: must be a finite number"},
           Wrong{"momentum = 0.9", "lrPolicy = (multistep = ())", "solver.lrPolicy.multistep.steps: there are none"},
           Wrong{"momentum = 0.9", "lrPolicy = (multistep = (steps = [5, 4]))",
                 "solver.lrPolicy.multistep.steps: must be ascending"},
           Wrong{"momentum = 0.9", "lrPolicy = (multistep = (steps = [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]))",
                 "solver.lrPolicy.multistep.steps: at most 16 are possible"},
           Wrong{"momentum = 0.9", "lrPolicy = (warmup = ())", "solver.lrPolicy.warmup.maxIter: must be at least 1"},
           Wrong{"momentum = 0.9", "lrPolicy = (oneCycle = (maxIter = 9, rise = 1.5))",
                 "solver.lrPolicy.oneCycle.rise: must be at most 1, is 1.5"},
           Wrong{"momentum = 0.9", "lrPolicy = (cosineRestarts = (period = 9, multiplier = 0))",
                 "solver.lrPolicy.cosineRestarts.multiplier: must be at least 1"},
           Wrong{"momentum = 0.9", "lrPolicy = (staged = [])", "solver.lrPolicy.staged: there are none"},
           Wrong{"momentum = 0.9", "lrPolicy = (staged = [(), ()])",
                 "solver.lrPolicy.staged[0].iterations: must be at least 1"},
           Wrong{"momentum = 0.9", "lrPolicy = (staged = [(iterations = 1, factor = -1), ()])",
                 "solver.lrPolicy.staged[0].factor: must be at least 0, is -1"},
           Wrong{"momentum = 0.9",
                 "lrPolicy = (staged = [(iterations = 1), (policy = (staged = [(policy = (step = (stepsize = 0)))]))])",
                 "solver.lrPolicy.staged[1].policy.staged[0].policy.step.stepsize: must be at least 1"},
           Wrong{"momentum = 0.9",
                 "lrPolicy = (staged = [(iterations=1),(iterations=1),(iterations=1),(iterations=1),(iterations=1),"
                 "(iterations=1),(iterations=1),(iterations=1),(iterations=1)])",
                 "solver.lrPolicy.staged: at most 8 are possible"},
           Wrong{"momentum = 0.9", "momentum = 0.9, momentumPolicy = (linear = ())",
                 "solver.momentumPolicy: must keep the momentum below 1"},
           Wrong{"momentum = 0.9", "momentum = 0.9, momentumPolicy = (step = (gamma = -1))",
                 "solver.momentumPolicy.step.gamma: must be at least 0"},
           Wrong{"momentum = 0.9", "solver = (adam = ()), momentumPolicy = (exp = ())",
                 "solver.momentumPolicy: the optimizer has no momentum"},
           Wrong{"momentum = 0.9", "clipValues = -1", "solver.clipValues: must be above 0"},
           Wrong{"momentum = 0.9", "bfloat16Gradients = true",
                 "solver.bfloat16Gradients: is for the gradients of the parts of a minibatch: set microbatch"},
           Wrong{"momentum = 0.9", "weightDecay = -1", "solver.weightDecay: must be at least 0"},
           Wrong{"momentum = 0.9", "accumulate = 0", "solver.accumulate: must be at least 1"},
           Wrong{"(name = \"w\")", "(name = \"w\", lrMult = -1)", "layer 'layers[0] fc1': lrMult: must be at least 0"},
           Wrong{"(name = \"w\")", "(name = \"w\", decayMult = inf)", "decayMult: must be a finite number"},
           Wrong{"outputSize = 10", "outputSize = 10, biasLrMult = nan", "bias: must be a finite number"},
           Wrong{"momentum = 0.9", "momentum = 1", "solver.momentum: must be at least 0 and below 1"},
           Wrong{"clipGradients = 5", "clipGradients = -5", "solver.clipGradients: must be above 0"},
           Wrong{"clipGradients = 5", "clipGradients = nan", "solver.clipGradients: must be a finite number"},
           Wrong{"minibatchSize = 32", "minibatchSize = 18446744073709551615", "solver.minibatchSize: must be"},
           Wrong{"epochs = 10", "epochs = 0", "epochs: must be at least 1"},
           Wrong{"batch = 32", "batch = 0", "batch: must be at least 1"},
           Wrong{"\"mnist:digits\"", "\"mnist\\n\"", "data: has a control character"},
       }) {
    INFO(from << " -> " << to);
    try {
      read(with(from, to));
      FAIL_CHECK("was read");
    } catch (Error const& error) {
      INFO(error.what());
      CHECK(contains(error.what(), what));
      CHECK(contains(error.what(), "train.txt: "));
      CHECK((typeid(error) == typeid(ConfigError) || typeid(error) == typeid(FormatError)));
    }
  }
  CHECK(contains(message<ConfigError>([] { read("(epochs = 3)"); }), "network: is missing"));
}

TEST_CASE("text that is no training is refused with line and column") {
  struct Wrong {
    char const *from, *to;
    std::size_t where;  // in `to`
    char const* what;
  };
  for (auto const& [from, to, where, what] : {
           Wrong{"relu = void", "rleu = void", 0, "layerType has no field 'rleu'; did you mean 'relu'?"},
           Wrong{"relu = void", "relu = 3", 7, "'relu' has no fields: write relu = void"},
           Wrong{"relu = void", "relu = ()", 7, "'relu' has no fields: write relu = void"},
           Wrong{"relu = void", "relu = \"\"", 7, "'relu' has no fields: write relu = void"},
           Wrong{"relu = void", "relu = true", 7, "'relu' has no fields: write relu = void"},
           Wrong{"relu = void", "huber = void", 8, "'huber' has fields: write huber = (), with those that differ"},
           Wrong{"relu = void", "relu = ", 7, "'relu' has no value"},
           Wrong{"outputSize = 128", "outputSize = , bias = ()", 13, "'outputSize' has no value"},
           Wrong{"outputSize = 128", "outputSize = 128 bias = ()", 17, "a comma is missing before 'bias'"},
           Wrong{"outputSize = 128", "outputSize = 128 129", 17, "a comma is missing before this number"},
           Wrong{"relu = void", "dense = ()", 0, "layerType has no field 'dense'; `coldpress layers` lists them all"},
           Wrong{"relu = void", "relu = void, tanh = void", 13,
                 "'relu' is already chosen; 'tanh' would be a second one"},
           Wrong{"gaussian = (deviation = 0.01)", "glorot = void, xavier = void", 15, "'glorot' is already chosen"},
           Wrong{"outputSize = 128", "outputSize = -1", 14, "Integer value out of range."},
           Wrong{"outputSize = 128", "outputSize = 18446744073709551617", 13, "this integer has more than 64 bits"},
           Wrong{"outputSize = 128", "outputSize = 0x10000000000000000", 13, "this integer has more than 64 bits"},
           Wrong{"outputSize = 128", "outputSize = 02000000000000000000000", 13, "this integer has more than 64 bits"},
           Wrong{"outputSize = 128", "outputSize = nan", 13, "Type mismatch; expected UInt64."},
           Wrong{"outputSize = 128", "outputSize = 1e3", 13, "Type mismatch"},
           Wrong{"outputSize = 128", "outputSize = 128, outputSize = 128", 18, "'outputSize' is given twice"},
           Wrong{"outputSize = 128", "outputSize = .size", 13, "names from elsewhere"},
           Wrong{"\"mnist:digits\"", "embed \"/etc/passwd\"", 0, "other files cannot be used here"},
           Wrong{"\"mnist:digits\"", "import \"/etc/passwd\"", 0, "other files cannot be used here"},
           Wrong{"\"mnist:digits\"", "\"mnist:digits", 0, "this text is not terminated"},
           Wrong{"\"mnist:digits\"", "`mnist:digits", 0, "text must be in double quotes"},
           Wrong{"seed = 42)", "seed = 42]", 9, "this bracket was not opened"},
           Wrong{"seed = 42)", "seed = 42))", 10, "there is more after the end of the value"},
           Wrong{"relu = void", "\x01relu = void", 0, "a control character"},
           Wrong{"\"relu\"", "\"re\x7flu\"", 3, "a control character"},
           Wrong{"= (name = \"loss\"", "= 0(name = \"loss\"", 2, "'loss' has fields: write loss = ()"},
           Wrong{"relu = void", "relu", 0, "an = is missing after 'relu'"},
           Wrong{"(relu = void)", "void", 0, "'layerType' has fields: write layerType = (NAME = ...)"},
           Wrong{"(relu = void)", "relu", 0, "'layerType' has fields: write layerType = (NAME = ...)"},
           Wrong{"seed = 42)", "seed = 42 (3))", 10, "a comma is missing before this bracket"},
           Wrong{"relu = void", "relu = voyd", 7, "'voyd' is not a value"},
           Wrong{"(network", "network", 0, "the value must be in round brackets"},
           Wrong{"(name = \"relu\", layerType = (relu = void))", "(name = \"relu\")", 0,
                 "this layer has no layerType, which must be given, as in layerType = (linear = (outputSize = 16))"},
           Wrong{"(relu = void)", "()", 0, "layerType has no kind, which must be given"},
       }) {
    INFO(from << " -> " << to);
    std::string const spoilt = with(from, to);
    std::string const text = message<FormatError>([&] { read(spoilt); });
    std::string const before =
        std::string{mlp}.substr(0, std::string{mlp}.find(from)) + std::string{to}.substr(0, where);
    auto const line = 1 + std::count(before.begin(), before.end(), '\n');
    auto const column = before.size() - (before.rfind('\n') + 1) + 1;
    INFO(text);
    CHECK(
        contains(text, "train.txt: line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + what));
  }
  CHECK(contains(message<FormatError>([] { read(with("seed = 42)", "seed = 42")); }),
                 "line 2, column 1: this bracket is never closed"));
  CHECK(contains(message<FormatError>([] { read(with("= 128", "= 128 128")); }), "line 7, column"));
  CHECK(contains(message<FormatError>([] { read(""); }), "line 1, column 1: there is no value"));
  CHECK(contains(message<FormatError>([] { read("# nothing"); }), "there is no value"));
  CHECK(contains(message<FormatError>([] { read("[]"); }), "line 1, column 1: the value must be in round brackets"));
  CHECK(contains(message<FormatError>([] { read("(\x01)"); }), "line 1, column 2: a control character"));
  CHECK(contains(message<FormatError>([] { read("\x01 text"); }), "is not a Cap'n Proto message"));
}

TEST_CASE("brackets deep enough to end the stack are refused", "[hostile]") {
  for (std::size_t depth : {137u, 1000u, 1'000'000u}) {
    auto const refused = [](std::string const& text) {
      return contains(message<FormatError>([&] { read(text); }), "more than 136 nested brackets");
    };
    CHECK(refused(std::string(depth, '(')));
    CHECK(refused("(data = " + std::string(depth, '[') + std::string(depth, ']')));
    // Closing brackets that do not count, and quotes that do not quote.
    std::string text = "(data = ";
    for (std::size_t i = 0; i < depth; ++i) text += "(x = \")\", #)\n y = ";
    CHECK(refused(text));
    text = "(data = ";
    for (std::size_t i = 0; i < depth; ++i) text += "(\"\\\")\", x = ";
    CHECK(refused(text));
  }
  std::string nested = "(layerType = (relu = void), name = \"x\")";
  for (int i = 1; i < 33; ++i) nested = "(layerType = (sequential = (layers = [" + nested + "])), name = \"x\")";
  CHECK(contains(message<ConfigError>([&] { read("(network = " + nested + ")"); }), "more than 32 nested layers"));
}

TEST_CASE("the entries of a list in a configuration are counted before they are read", "[hostile]") {
  auto const list = [](std::string const& entry, std::size_t count) {
    std::string text = entry;
    for (std::size_t i = 1; i < count; ++i) text += ", " + entry;
    return "[" + text + "]";
  };
  auto const refused = [](std::string const& config) {
    return message<FormatError>([&] { read("(network = (name = \"n\", " + config + "))"); });
  };
  CHECK(contains(refused("inputs = " + list("\"x\"", 4097) + ", layerType = (relu = void)"),
                 "line 1, column 20513: more than 4096 entries in a list"));
  CHECK(contains(refused("layerType = (sequential = (inputs = " + list("(name = \"x\")", 65000) + "))"),
                 "more than 4096 entries in a list"));
  CHECK(contains(refused("layerType = (sequential = (layers = " + list("(layerType = (tanh = void))", 65537) + "))"),
                 "more than 65536 entries in a list"));
  CHECK_NOTHROW(read("(network = (name = \"n\", inputs = " + list("\"x\"", 4096) + ", layerType = (relu = void)))"));
}

TEST_CASE("a training cut at every byte or with a bit flipped is read or refused, nothing else", "[hostile]") {
  std::string const text = mlp;
  auto const survives = [](std::string const& spoilt) {
    try {
      read(spoilt);
    } catch (Error const& error) {
      CHECK(contains(error.what(), "train.txt"));
      bool const placed =
          typeid(error) != typeid(FormatError) || !error.field().empty() || contains(error.what(), "line ");
      INFO(error.what());
      if (!placed && spoilt.starts_with("# ")) FAIL_CHECK(spoilt);
    }
  };
  for (std::size_t size = 1; size < text.size(); ++size) survives(text.substr(0, size));
  flip_bits(text, [&](std::string const& spoilt, std::size_t) { survives(spoilt); });
  for (char const* action : {"encode", "encode --packed"}) {
    std::string const binary = capnp(action, "capnp/coldpress.capnp", text, "Training");
    for (std::size_t size = 0; size < binary.size(); ++size) CHECK_THROWS_AS(read(binary.substr(0, size)), FormatError);
    flip_bits(binary, [&](std::string const& spoilt, std::size_t) { survives(spoilt); });
  }
}

TEST_CASE("a mean squared error says in a file what it is the mean over: samples, unless it says values") {
  auto const loss_of = [](std::string const& type, std::string const& beside) {
    return read(
               "(network = (name = \"a\", layerType = (linear = (outputSize = 2))), loss = (name = \"loss\", layerType "
               "= (" +
               type + ")" + beside + "))")
        .loss->layer_type;
  };
  CHECK(loss_of("meanSquaredError = void", "") == dynamic::LayerType{MeanSquaredError{}});
  CHECK(loss_of("meanSquaredError = void", ", lossAverage = \"samples\"") == dynamic::LayerType{MeanSquaredError{}});
  CHECK(loss_of("meanSquaredError = void", ", lossWeight = 3, lossAverage = \"values\"") ==
        dynamic::LayerType{MeanSquaredError{.loss_weight = 3, .loss_average = Average::values}});
  CHECK_THROWS_WITH(loss_of("squareLoss = void", ", lossAverage = \"values\""),
                    Catch::Contains("lossAverage: only meanSquaredError and huber have one"));
  CHECK_THROWS_WITH(loss_of("meanSquaredError = void", ", lossAverage = \"batch\""),
                    Catch::Contains("lossAverage: 'batch' is not one of samples, values"));
}

TEST_CASE("the solver of a training has the file's network, made with its seed, and its loss") {
  Training training = read(R"((
network = (name = "net", layerType = (sequential = (layers = [
  (name = "hidden", layerType = (linear = (outputSize = 4))), (name = "bend", layerType = (tanh = void))]))),
loss = (name = "loss", layerType = (meanSquaredError = void)), solver = (solver = (adam = ()), baseLr = 0.1), seed = 7))");
  dynamic::Backend const cpu{"cpu"};
  auto solver = solver_of(cpu, training, Shape{3});
  dynamic::SolverConfig config = training.solver;
  config.network = training.network, config.objective = training.loss;
  auto expected = dynamic::Solver::from_config(cpu, config, Shape{3}, 7);
  std::vector<float> const x{1, 2, 3, -1, 0, 1}, t{0, 1, 0, 1, 1, 0, 1, 0};
  for (int step = 0; step < 3; ++step) solver.train_minibatch(x, t), expected.train_minibatch(x, t);
  CHECK(checkpoint_of(solver) == checkpoint_of(expected));
  training.loss.reset();
  CHECK(
      contains(message<ConfigError>([&] { solver_of(cpu, training, Shape{3}); }), "no objective, which is the field"));
}

}  // namespace
}  // namespace coldpress::persist
