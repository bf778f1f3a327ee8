// Networks that take several arrays of each sample: which inputs these are, and that training gives each its values.
#include <coldpress/coldpress.hpp>
#include <coldpress/data/npy.hpp>
#include <coldpress/data/output.hpp>
#include <coldpress/train.hpp>

#include "data/files.hpp"

#include <array>
#include <numeric>

namespace coldpress::train {
namespace {

using data::Source;

/// Samples of an array {2} and an array {3}, and targets {1}, all different.
struct Pairs {
  static constexpr Index size = 37;
  std::vector<float> a, b, y;
  TemporaryFolder folder;
  std::string path = folder / "pairs.npz";
  Pairs() {
    for (Index i = 0; i < size; ++i) {
      auto const t = static_cast<float>(i);
      for (int k = 0; k < 2; ++k) a.push_back(std::sin(t + 0.3f * static_cast<float>(k)));
      for (int k = 0; k < 3; ++k) b.push_back(std::cos(0.7f * t - static_cast<float>(k)));
      y.push_back(a[a.size() - 2] * b.back());
    }
    auto const file = data::open_output(path, {2}, "a");
    file->append(a), file->next("b", {3}), file->append(b), file->next("y", {1}), file->append(y), file->finish();
  }
  std::unique_ptr<Source> open() const { return data::open_source("npz:" + path + "?x=a,b"); }

  /// step(a, b, y) for the minibatches of some epochs, each array gathered by itself.
  template <class Step>
  void train_by_hand(std::uint64_t seed, Index batch, int epochs, Step step) const {
    std::vector<Index> order(static_cast<std::size_t>(size));
    for (int epoch = 0; epoch < epochs; ++epoch) {
      data::shuffle(order, seed, static_cast<std::uint64_t>(epoch));
      for (Index first = 0; first < size; first += batch) {
        auto const rows = std::span{order}.subspan(static_cast<std::size_t>(first),
                                                   static_cast<std::size_t>(std::min(batch, size - first)));
        auto const gathered = [&](std::vector<float> const& from, Index width) {
          std::vector<float> values;
          for (Index const row : rows)
            values.insert(values.end(), from.begin() + row * width, from.begin() + (row + 1) * width);
          return values;
        };
        auto const of_a = gathered(a, 2), of_b = gathered(b, 3), of_y = gathered(y, 1);
        step(Values{of_a}, Values{of_b}, Values{of_y});
      }
    }
  }
};

constexpr auto joined =
    graph([](auto a, auto b) { return ((a | Linear{4} | TanH{}) + (b | Linear{4} | Sigmoid{})) | Linear{1}; });
using Joined = Network<Graph<joined>, Inputs{Shape{2}, Shape{3}}>;

constexpr auto judged = graph([](auto a, auto b, auto y) {
  auto const out = ((a | Linear{4} | TanH{}) + (b | Linear{4} | Sigmoid{})) | Linear{1};
  apply(MeanSquaredError{}, out, y) | name("loss");
  return out;
});
using Judged = Network<Graph<judged>, Inputs{Shape{2}, Shape{3}, Shape{1}}>;

template <class Net, auto loss>
void check_trains_by_hand() {
  Pairs const pairs;
  using Fit = coldpress::Solver<Net, loss, Sgd{.learning_rate = 0.1f, .momentum = 0.5f}>;
  auto const source = pairs.open();
  Net by_hand{7};
  Fit solver{by_hand};
  pairs.train_by_hand(5, 8, 3, [&](Values a, Values b, Values y) {
    if constexpr (Net::input_count == 2) {
      solver.train_minibatch(std::tuple{a, b}, y);
    } else {
      solver.train_minibatch(std::tuple{a, b, y});
    }
  });
  auto const weights = persist::model_of(by_hand).weights;

  Net net{7};
  Fit trained{net};
  Trainer of_type{trained, *source, {.epochs = 3, .batch = 8, .seed = 5}};
  of_type.run();
  CHECK(of_type.model().weights == weights);

  Net fresh{7};
  Fit const described{fresh};
  auto config =
      dynamic::Solver::from_config(dynamic::Backend::like_static(), dynamic::to_solver_config(described), {}, 7);
  Trainer of_config{config, *source, {.epochs = 3, .batch = 8, .seed = 5, .prefetch = 0}};
  of_config.run();
  CHECK(of_config.model().weights == weights);

  // The score is that of each sample with its own arrays, and gradients are those of a type and a config alike.
  double sum = 0;
  for (Index i = 0; i < Pairs::size; ++i) {
    auto const at = [i](std::vector<float> const& all, Index width) {
      return Values{all}.subspan(static_cast<std::size_t>(i * width), static_cast<std::size_t>(width));
    };
    float const out = by_hand.forward(at(pairs.a, 2), at(pairs.b, 3))[0], y = pairs.y[static_cast<std::size_t>(i)];
    sum += static_cast<double>((out - y) * (out - y));
  }
  for (Trainer* const trainer : {&of_type, &of_config})
    CHECK(*trainer->evaluate(*source).loss == Approx(sum / static_cast<double>(Pairs::size)).epsilon(1e-5));
  std::vector<std::vector<float>> of_net, of_dynamic;
  auto const all = load(*source);
  REQUIRE(of_type.solver().gradients(all.samples, all.targets, of_net));
  REQUIRE(of_config.solver().gradients(all.samples, all.targets, of_dynamic));
  CHECK(of_net == of_dynamic);
}

}  // namespace

TEST_CASE("a trainer gives a network of two inputs what a loop by hand does, for a type and for a config") {
  check_trains_by_hand<Joined, MeanSquaredError{}>();
  check_trains_by_hand<Judged, OwnLosses{}>();
}

TEST_CASE("the arrays of a sample stay together in parts of the data and in every order") {
  Pairs const pairs;
  auto const source = pairs.open();
  CHECK(source->sample_shape() == Shape{5});
  CHECK(source->description().sample_arrays == std::vector<Source::Array>{{"a", {2}}, {"b", {3}}});
  auto const parts = data::split(*source, 0.3, 3, false);
  Index seen = 0;
  for (auto const* const part : {parts.training.get(), parts.held_out.get()}) {
    CHECK(part->description().sample_arrays.size() == 2);
    data::Batches batches{data::shuffled(*part, 9), 4};
    for (auto const& batch : batches.epoch()) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(batch.size); ++i, ++seen) {
        auto const row = std::ranges::find(pairs.y, batch.targets[i]) - pairs.y.begin();
        REQUIRE(row < Pairs::size);
        CHECK(std::equal(batch.samples.begin() + static_cast<std::ptrdiff_t>(5 * i),
                         batch.samples.begin() + static_cast<std::ptrdiff_t>(5 * i + 2), pairs.a.begin() + 2 * row));
        CHECK(std::equal(batch.samples.begin() + static_cast<std::ptrdiff_t>(5 * i + 2),
                         batch.samples.begin() + static_cast<std::ptrdiff_t>(5 * i + 5), pairs.b.begin() + 3 * row));
      }
    }
  }
  CHECK(seen == Pairs::size);
}

TEST_CASE("inputs on which nothing but losses and statistics depends are the targets'") {
  auto const of = [](auto layers, InputsFor purpose) {
    dynamic::SequentialConfig net;
    net.add_input("a", {2}).add_input("b", {2}).add_input("c", {1});
    layers(net);
    std::string marks;
    for (NetworkInput const& input : network_inputs(dynamic::LayerConfig{"net", net}, purpose))
      marks += input.name + (input.of_targets ? "* " : " ");
    return marks;
  };
  auto const layer = [](std::string name, auto type, std::vector<std::string> inputs,
                        std::vector<std::string> outputs = {}) {
    dynamic::LayerConfig config{std::move(name), type};
    config.inputs = std::move(inputs), config.outputs = std::move(outputs);
    return config;
  };
  auto const add = [&](auto& net) { net.add_layer(layer("add", Add{}, {"a", "b"}, {"sum"})); };
  auto const dense = [&](auto& net) { net.add_layer(layer("fc", Linear{1}, {"sum"}, {"out"})); };
  CHECK(of(
            [&](auto& net) {
              add(net), dense(net), net.add_layer(layer("l", MeanSquaredError{}, {"out", "c"}));
            },
            InputsFor::loss_beside) == "a b c* ");
  // Whatever is done to it before, and also if it is not read.
  CHECK(of(
            [&](auto& net) {
              net.add_layer(layer("twice", Power{.scale = 2}, {"c"}, {"seen"})), add(net), dense(net);
              net.add_layer(layer("l", MeanSquaredError{}, {"out", "seen"}));
            },
            InputsFor::loss_beside) == "a b c* ");
  CHECK(of([&](auto& net) { add(net), dense(net); }, InputsFor::loss_beside) == "a b c* ");
  // An input that is compared and read is a sample's, unless the losses have no other targets.
  auto const both = [&](auto& net) {
    add(net), dense(net), net.add_layer(layer("l", MeanSquaredError{}, {"out", "c"}));
    net.add_layer(layer("again", Add{}, {"out", "c"}, {"twice"}));
  };
  CHECK(of(both, InputsFor::loss_beside) == "a b c ");
  CHECK(of(both, InputsFor::own_losses) == "a b c* ");
  auto const shifted = [&](auto& net) {
    net.add_layer(layer("later", Power{.shift = 1}, {"c"}, {"seen"}));
    add(net), dense(net), net.add_layer(layer("l", MeanSquaredError{}, {"out", "seen"}));
    net.add_layer(layer("again", Add{}, {"out", "c"}, {"twice"}));
  };
  CHECK(of(shifted, InputsFor::own_losses) == "a b c* ");
  auto const compares_samples = [&](auto& net) {
    add(net), net.add_layer(layer("l", MeanSquaredError{}, {"sum", "b"}));
    net.add_layer(layer("fc", Linear{1}, {"sum"}, {"out"})),
        net.add_layer(layer("again", Add{}, {"out", "c"}, {"twice"}));
  };
  CHECK(of(compares_samples, InputsFor::own_losses) == "a b c ");
  // What a loss compares is a sample's, even if no output depends on it.
  CHECK(of(
            [&](auto& net) {
              net.add_layer(layer("one", Linear{1}, {"b"}, {"guess"}));
              net.add_layer(layer("l", MeanSquaredError{}, {"guess", "c"}));
              net.add_layer(layer("fc", Linear{1}, {"a"}));
            },
            InputsFor::loss_beside) == "a b c* ");
  // Without losses, no input of an output is for targets.
  CHECK(of(
            [&](auto& net) {
              add(net), dense(net), net.add_layer(layer("again", Add{}, {"out", "c"}));
            },
            InputsFor::own_losses) == "a b c ");
}

TEST_CASE("arrays that a network does not take are refused with their names and shapes") {
  Pairs const pairs;
  Joined net{1};
  coldpress::Solver<Joined, MeanSquaredError{}, Sgd{}> solver{net};
  auto const inputs = std::vector<NetworkInput>{{"a", {2}}, {"b", {3}}};
  auto const said = [&](std::string const& names, std::vector<NetworkInput> const& taken) {
    auto const source = data::open_source("npz:" + pairs.path + "?x=" + names);
    return message<ShapeError>([&] { check_arrays(taken, *source); });
  };
  CHECK_NOTHROW(check_arrays(inputs, *pairs.open()));
  CHECK(said("b,a", inputs) ==
        "the array 'b' is number 1 of the samples, but the network's input of this name is number 2");
  CHECK(said("a,b,a", inputs) ==
        "the samples have 3 arrays, a {2}, b {3} and a {2}, but the network takes 2: a {2} and b {3}");
  CHECK(said("a,y", inputs) == "the array 'y' has shape {1} for each sample, but the network's input 'b' expects {3}");
  CHECK(said("a", inputs) ==
        "the network takes a {2} and b {3} of each sample, but the samples have shape {2}; npz:FILE gives a network "
        "several arrays, and a flat shape of 5 values the same one after another");
  // Values one after another are what arrays are.
  auto const flat = data::own(load(*pairs.open()));
  CHECK_NOTHROW(check_arrays(inputs, *flat));
  CHECK_NOTHROW(Trainer{solver, *flat, {.batch = 8}}.run());
  auto const swapped = data::open_source("npz:" + pairs.path + "?x=b,a");
  CHECK_THROWS_AS((Trainer{solver, *swapped}), ShapeError);
}

}  // namespace coldpress::train
