// Passes of configs as one kernel each, made while the program runs: on the emulated device by the compiler that built
// this test, and for GPUs by NVRTC, which needs none.
#include "cuda/devices.hpp"
#include "data/files.hpp"
#include "dynamic/random_case.hpp"

#include <coldpress/cuda/compiler.hpp>
#include <coldpress/cuda/device.hpp>
#include <coldpress/dynamic/describe.hpp>

#include <cstdlib>
#include <map>
#include <set>

#include <dlfcn.h>

namespace {

using namespace coldpress;
using namespace coldpress::test;

using cuda::Loops;

/// Compiles texts for the host. Each is compiled once in the whole program, and `made` has those that were asked for.
class Host {
 public:
  Host() {
    cuda::host_compiler() = [this](std::string const& source) {
      made.insert(source);
      return compile(source);
    };
  }
  ~Host() { cuda::host_compiler() = nullptr; }
  static bool can() { return std::getenv("COLDPRESS_CXX"); }
  std::set<std::string> made = {};

 private:
  static Loops compile(std::string const& source) {
    static TemporaryFolder const folder;
    static std::string const precompiled = precompile(folder);
    static std::map<std::string, Loops> all;
    auto const [at, fresh] = all.try_emplace(source, nullptr);
    if (!fresh) return at->second;
    std::string const number = std::to_string(all.size()), text = folder.put("pass" + number + ".cpp", source),
                      object = folder / ("pass" + number + ".so");
    INFO(source);
    REQUIRE(std::system((compiler() + precompiled + " -shared '" + text + "' -o '" + object + "'").c_str()) == 0);
    void* const library = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library);
    return at->second = reinterpret_cast<Loops>(dlsym(library, "pass"));
  }
  static std::string compiler() {
    return std::string{std::getenv("COLDPRESS_CXX")} + " -std=c++20 -O0 -ffp-contract=off -fPIC -fvisibility=hidden -w";
  }
  /// All texts include one header, which takes most of the time. Returns where g++ finds it precompiled; clang reads it
  /// anew.
  static std::string precompile(TemporaryFolder const& folder) {
    std::string const header = "coldpress/cuda/jit_program.hpp", include = " -I '" + source_folder() + "/include'";
    std::filesystem::create_directories(std::filesystem::path{folder / header}.parent_path());
    REQUIRE(std::system((compiler() + include + " -x c++-header '" + source_folder() + "/include/" + header + "' -o '" +
                         (folder / header) + ".gch'")
                            .c_str()) == 0);
    return " -I '" + (folder / "") + "'" + include;
  }
  static std::string source_folder() { return std::getenv("COLDPRESS_SOURCE_DIR"); }
};

Net network_of(LayerConfig const& config, bool fused, std::string const& device = "cuda:emulated") {
  return Net::from_config(Backend{device, {.fused = fused}}, config, {}, 11);
}

/// Where fused passes can be compiled.
std::vector<std::string> able() {
  auto all = devices();
  if (!Host::can()) {
    WARN("skipped: on the host: COLDPRESS_CXX names no compiler for fused passes");
    std::erase(all, "cuda:emulated");
  }
  return all;
}
/// All that a network computes in inference, three steps, and an evaluation.
std::map<std::string, Floats> all_of(LayerConfig const& config, SolverConfig const& options, bool fused,
                                     std::string const& device = "cuda:emulated") {
  Index const samples = 5;
  std::map<std::string, Floats> made;
  Trainer solver{network_of(config, fused, device), options};
  SharedTensor const x = noise({samples, solver.network().input_shapes()[0].size()}, 1);
  SharedTensor t = noise({samples, 1}, 2);
  for (float& label : t.read_write()) label = label > 0 ? 1.0f : 2.0f;
  made["before"] = values_of(solver.mut_network().forward(x));
  for (int step = 0; step < 3; ++step) {
    Floats const y = values_of(solver.train_minibatch(x, t));
    made["outputs"].insert(made["outputs"].end(), y.begin(), y.end());
    made["losses"].push_back(solver.loss());
  }
  made["after"] = values_of(solver.mut_network().forward(x));
  made["weights"] = weights_of(solver.network());
  return made;
}
void check(std::string const& device, LayerConfig const& config, SolverConfig const& options) {
  INFO(dynamic::describe(config));
  auto const fused = all_of(config, options, true, device), apart = all_of(config, options, false, device);
  REQUIRE(fused.size() == 5);
  for (auto const& [name, values] : apart) {
    INFO(name);
    CHECK(same_bits(fused.at(name), values));
  }
}
SolverConfig options_of(float clip = 0) {
  SolverConfig options{.base_lr = 0.05f,
                       .momentum = 0.5f,
                       .momentum_policy = policy::Linear{.gamma = 0.1f, .stepsize = 1, .max = 0.9f},
                       .weight_decay = 0.01f};
  options.objective = LayerConfig{"loss", NegativeLogLikelihood{4}};
  if (clip > 0) options.clip_gradients = clip, options.clip_values = clip / 10;
  return options;
}

LayerConfig dense() {
  return sequential({{"first", Linear{.output_size = 9, .weight = Gaussian{.deviation = 0.1f}}},
                     {"relu", ReLU{}},
                     {"drop \"quoted\"\n?", Dropout{.probability = 0.3f}},
                     {"last", Linear{4}},
                     {"scores", LogSoftmax{}}},
                    Shape{6});
}
LayerConfig images() {
  return sequential({{"conv", Convolution{.num_output = 4, .filter_shape = 3, .padding = 1}},
                     {"batch", BatchNormalization{}},
                     {"relu", LeakyReLU{}},
                     {"pool", Pooling{.filter_shape = {3, 2}, .stride = 2}},
                     {"lrn", LRN{}},
                     {"rows", Permute{.axes = {1, 0, 2}}},
                     {"last", Linear{4}},
                     {"scores", LogSoftmax{}}},
                    Shape{2, 7, 6});
}
LayerConfig sequences() {
  return sequential({{"lstm", Rnn{.hidden_size = 5, .output = RnnOutput::last_step}},
                     {"norm", LayerNormalization{}},
                     {"over", SoftmaxOver{.axis = 0}},
                     {"last", Linear{4}},
                     {"scores", LogSoftmax{}}},
                    Shape{4, 3});
}

}  // namespace

TEST_CASE("a fused pass makes the bits of a kernel a layer") {
  Host const host;
  SolverConfig adam = options_of();
  adam.solver = Adam{}, adam.momentum = 0, adam.momentum_policy = policy::Fixed{};
  for (std::string const& device : able()) {
    INFO(device);
    check(device, dense(), options_of());
    check(device, dense(), options_of(0.3f));  // gradients through memory
    check(device, images(), adam);
    check(device, sequences(), options_of());
    SolverConfig apart = options_of();  // layers that are the objective's
    apart.objective = sequential({{"scores", LogSoftmax{}}, {"loss", NegativeLogLikelihood{4}}}, {}, "objective");
    LayerConfig bare = dense();
    std::get<SequentialConfig>(bare.layer_type).layers.pop_back();
    check(device, bare, apart);
    LayerConfig stopped = dense();  // its first layer learns nothing
    std::get<SequentialConfig>(stopped.layer_type).layers[3].propagate_down = {false};
    std::get<SequentialConfig>(stopped.layer_type).layers[3].params = {{.lr_mult = 0.5f, .decay_mult = 0.0f}};
    check(device, stopped, options_of());
    LayerConfig twice = dense();  // a weight of two layers
    auto& layers = std::get<SequentialConfig>(twice.layer_type).layers;
    layers.insert(layers.begin() + 1, {{"again", TanH{}}, {"same", Linear{9}}});
    layers.insert(layers.begin(), {"before", Linear{9}});
    for (std::size_t i : {1u, 3u}) layers[i].params = {{.name = "shared"}};
    check(device, twice, options_of());
  }
  if (Host::can())
    CHECK(host.made.size() == 13);  // two or three a network; a forward pass is the same whatever the step
}

TEST_CASE("fused graphs: joins, shared weights, losses within, several inputs and outputs") {
  Host const host;
  auto const all = able();
  for (std::uint64_t number : {1u, 5u, 9u}) {
    if (all.empty()) return;
    if (!COLDPRESS_NIGHTLY && number != 5) continue;  // each takes the compiler seconds
    std::string const device = all.back();
    RandomConfig const random{number, 12, true};
    INFO("network " << number << '\n' << dynamic::describe(random.config()));
    Case one{random, network_of(random.config(), true, device), 3},
        other{random, network_of(random.config(), false, device), 3};
    CHECK(same(one.pass(), other.pass()));
    auto const evaluated = [](Case& of) {
      Floats made;
      for (SharedTensor const& y : of.net.evaluate(of.inputs))
        made.insert(made.end(), y.read().begin(), y.read().end());
      for (auto const& [name, value] : of.net.statistics()) made.push_back(static_cast<float>(value));
      return made;
    };
    CHECK(same_bits(evaluated(one), evaluated(other)));
    CHECK(same(trained(one, number == 5), trained(other, number == 5)));
  }
}

TEST_CASE("a fused pass is one kernel, compiled once, and nothing is waited for") {
  Host const host;
  auto const all = able();
  if (all.empty()) return;
  Trainer solver{network_of(dense(), true, all.back()), options_of()};
  auto const step = [&](Index batch) {
    SharedTensor const x = noise({batch, 6}, 3);
    Floats const t(static_cast<std::size_t>(batch), 1.0f);
    solver.train_minibatch(x.read(), t);
  };
  for (int i = 0; i < 3; ++i) step(7);
  auto const& counts = cuda::counts();
  Index const kernels = counts.kernels, waits = counts.waits, allocations = counts.allocations, graphs = counts.graphs;
  std::size_t const compiled = host.made.size();
  for (int i = 0; i < 10; ++i) step(7);
  CHECK(counts.kernels - kernels == 10);
  CHECK(counts.waits == waits);
  CHECK(counts.allocations == allocations);
  CHECK(counts.graphs == graphs);
  step(5);  // another size of a minibatch is the same kernel
  CHECK(host.made.size() == compiled);
}

TEST_CASE("NVRTC compiles fused passes where there is no GPU, and they are kept") {
  if (!Host::can()) return;  // without it nothing can compile the texts
  TemporaryFolder const folder;
  setenv("COLDPRESS_CACHE", (folder / "kept").c_str(), 1);
  Host const host;
  std::vector<LayerConfig> configs{dense()};
  if (COLDPRESS_NIGHTLY) configs.insert(configs.end(), {images(), sequences()});  // each takes NVRTC a minute
  for (LayerConfig const& config : configs) all_of(config, options_of(), true);
  for (std::string const& source : host.made) {
    std::vector<std::byte> code;
    try {
      code = cuda::compile(source, 90);
    } catch (UnsupportedError const& error) {
      WARN("skipped: " << error.what());
      return;
    }
    REQUIRE(code.size() > 1000);
    CHECK(static_cast<char>(code[1]) == 'E');  // an ELF file
    INFO(source);
    std::string const text(reinterpret_cast<char const*>(code.data()), code.size());
    CHECK(text.find(".text.pass") != std::string::npos);
  }
  auto const kept = [&] {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{folder / "kept"}, {}));
  };
  REQUIRE(kept() == host.made.size());

  std::string const& source = *std::ranges::min_element(host.made, {}, &std::string::size);
  auto const code = cuda::compile(source, 90);
  CHECK(cuda::compile(source, 1000).front() == std::byte{'/'});  // a GPU to come: PTX, as text
  CHECK(kept() == host.made.size() + 1);
  CHECK_THROWS_AS(cuda::compile(source, 30), UnsupportedError);
  std::filesystem::remove_all(folder / "kept");
  CHECK(cuda::compile(source, 90) == code);
  CHECK(kept() == 1);
  // What is kept is read again; what is damaged is made anew.
  auto const file = std::filesystem::directory_iterator { folder / "kept" } -> path();
  auto const time = std::filesystem::last_write_time(file);
  CHECK(cuda::compile(source, 90) == code);
  CHECK(std::filesystem::last_write_time(file) == time);
  std::filesystem::resize_file(file, 3000);
  CHECK(cuda::compile(source, 90) == code);
  CHECK(std::filesystem::file_size(file) == code.size() + 8);
  // A folder that cannot be made is no reason to fail; a text that means nothing is.
  setenv("COLDPRESS_CACHE", "/proc/none", 1);
  CHECK(cuda::compile(source, 90) == code);
  CHECK_THROWS_AS(cuda::compile("nonsense", 90), DeviceError);
  unsetenv("COLDPRESS_CACHE");
}

TEST_CASE("without a compiler a fused network says so, and CPUs have none") {
  REQUIRE(!cuda::host_compiler());
  Net net = network_of(dense(), true);
  CHECK_THROWS_AS(net.forward(noise({2, 6}, 1)), UnsupportedError);
  CHECK_THROWS_AS(Backend("cpu", {.fused = true}), UnsupportedError);
}
