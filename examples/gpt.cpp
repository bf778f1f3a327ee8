// A small GPT that learns to write like a text of yours, one byte after another. While it learns, it prints what it
// would write: each byte is drawn from its scores and given to it as the next step, which costs no more for a long text
// than for a short one, since its attention keeps keys and values.
//
//   gpt TEXT [--config FILE] [--steps N] [--every N] [--length N] [--prompt WORDS] [--temperature X] [--save FILE]
//       [--seed N]
//
// TEXT is any file; one megabyte and 2,000 steps make words and half-sentences. The network is a C++ type, or with
// --config the one of a training config such as examples/configs/gpt.capnp.txt. Fails if it does not learn.
// ctest: @SOURCE@/CHANGELOG.md --steps 12 --every 6 --length 40
// ctest config: @SOURCE@/CHANGELOG.md --steps 12 --every 6 --length 40 --config @SOURCE@/examples/configs/gpt.capnp.txt
#include <coldpress/coldpress.hpp>
#include <coldpress/data/text.hpp>
#include <coldpress/dynamic.hpp>
#include <coldpress/persist.hpp>
#include <coldpress/threads.hpp>
#include <coldpress/train.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace coldpress;

constexpr auto language_model = graph([](auto tokens) { return blocks::gpt(tokens, {}); });
constexpr Index context = 128, at_once = 8;  // bytes of a sample, and samples of a minibatch
using Learner = Network<Graph<language_model>, Shape{context}, Batch<at_once>>;
using Writer = Network<Graph<language_model>, Shape{1}, Batch<1>>;  // the same, one token per step

struct Options {
  std::string text, config, prompt = "\n", save = "gpt.juice";
  Index steps = 2000, every = 200, length = 300;
  double temperature = 0.8;
  std::uint64_t seed = 1;
};

/// A number drawn with probabilities proportional to exp(score / temperature).
std::size_t draw(std::span<float const> scores, double temperature, std::mt19937& random) {
  double const most = *std::max_element(scores.begin(), scores.end());
  std::vector<double> weights;
  for (float const score : scores) weights.push_back(std::exp((double{score} - most) / temperature));
  return std::discrete_distribution<std::size_t>{weights.begin(), weights.end()}(random);
}

/// Lets a network write on after the prompt. Returns how many microseconds a byte took.
template <class Network>
double write(Network& network, Options const& options) {
  std::mt19937 random{static_cast<std::mt19937::result_type>(options.seed)};
  std::string text = options.prompt;
  network.reset();
  auto const start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < options.prompt.size() + static_cast<std::size_t>(options.length); ++i) {
    auto const token = static_cast<float>(static_cast<unsigned char>(text[i]));
    std::span<float const> const scores = network.step(std::span{&token, 1});
    if (i + 1 == text.size()) text += static_cast<char>(draw(scores, options.temperature, random));
  }
  std::chrono::duration<double, std::micro> const time = std::chrono::steady_clock::now() - start;
  std::printf("%s\n", text.c_str());
  return time.count() / static_cast<double>(text.size());
}

/// Trains, and lets what it has learned so far write. `write_from` is given the file with the network.
template <class Solver, class Save, class Write>
bool learn(Solver& solver, Options const& options, Save const& save_to, Write const& write_from) {
  auto const text = data::open_text(options.text, {.steps = context, .stride = context / 2});
  train::Trainer trainer{solver,
                         *text,
                         {.epochs = options.steps * at_once / text->size() + 1,
                          .steps = static_cast<std::uint64_t>(options.steps),
                          .batch = at_once,
                          .seed = options.seed}};
  double total = 0, first = 0, last = 0;
  int reports = 0;
  trainer.every(train::steps(1), [&](train::Trainer& now) { total += double{now.loss()}; });
  trainer.every(train::steps(options.every), [&](train::Trainer& now) {
    last = total / static_cast<double>(options.every), total = 0;
    if (reports++ == 0) first = last;
    std::printf("\n-- step %llu: %.3f bits per byte\n", static_cast<unsigned long long>(now.iteration()),
                last / std::log(2.0));
    save_to(options.save);
    std::printf("-- %.0f microseconds per byte\n", write_from(options.save));
  });
  trainer.run();
  return reports < 2 || last < first;
}

bool run(Options const& options) {
  ThreadPool threads{static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))};
  if (options.config.empty()) {
    // With a fixed minibatch, all memory of a network and its solver is in the objects: more than a stack has.
    auto const net = std::make_unique<Learner>(options.seed);
    net->run_on(&threads);
    using Teacher = Solver<Learner, SoftmaxLoss{.axis = -1}, AdamW{.learning_rate = 1e-3f}>;
    auto const solver = std::make_unique<Teacher>(*net);
    return learn(
        *solver, options, [&](std::string const& file) { save(*net, file); },
        [&](std::string const& file) {
          auto const writer = std::make_unique<Writer>(load<Writer>(file));
          return write(*writer, options);
        });
  }
  dynamic::Backend const cpu{"cpu", {.threads = threads.workers()}};
  persist::Training config = persist::read_training(options.config);
  config.seed = options.seed;
  auto solver = persist::solver_of(cpu, config, Shape{context});
  return learn(
      solver, options, [&](std::string const& file) { solver.network().save(file); },
      [&](std::string const& file) {
        auto writer = dynamic::Layer::load({}, file, {.input = Shape{1}});
        return write(writer, options);
      });
}

int main(int argc, char** argv) {
  Options options;
  try {
    if (argc < 2 || argc % 2 != 0) throw std::invalid_argument{"TEXT"};
    auto const at_least_one = [](std::string const& value) {
      int const number = std::stoi(value);
      return number >= 1 ? number : throw std::invalid_argument{value};
    };
    options.text = argv[1];
    for (int i = 2; i < argc; i += 2) {
      std::string const name = argv[i], value = argv[i + 1];
      if (name == "--config")
        options.config = value;
      else if (name == "--steps")
        options.steps = at_least_one(value);
      else if (name == "--every")
        options.every = at_least_one(value);
      else if (name == "--length")
        options.length = at_least_one(value);
      else if (name == "--prompt" && !value.empty())
        options.prompt = value;
      else if (name == "--temperature" && std::stod(value) > 0)
        options.temperature = std::stod(value);
      else if (name == "--save")
        options.save = value;
      else if (name == "--seed")
        options.seed = std::stoull(value);
      else
        throw std::invalid_argument{name};
    }
  } catch (std::exception const&) {
    std::fprintf(stderr,
                 "usage: gpt TEXT [--config FILE] [--steps N] [--every N] [--length N] [--prompt WORDS]\n"
                 "           [--temperature X] [--save FILE] [--seed N]\n");
    return 2;
  }
  try {
    return run(options) ? 0 : 1;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "gpt: %s\n", error.what());
    return 1;
  }
}
