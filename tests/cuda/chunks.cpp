// Steps of small networks, whose blocks have samples of their own.
#include "cuda/static_networks.hpp"
#include "support/catch.hpp"

#include <coldpress/backend/reference.hpp>
#include <coldpress/cuda.hpp>
#include <coldpress/typed/describe.hpp>

#include "../../benchmarks/workloads.hpp"

using namespace coldpress;
using namespace coldpress::test;

namespace {

constexpr Sgd momentum{.learning_rate = 0.05f, .momentum = 0.9f};
constexpr SolverOptions held{.clip_gradients = 0.5f, .weight_decay = 0.01f, .accumulate = 2};

/// Trained on a GPU by blocks with samples of their own, and by the reference.
template <class Layers, auto in, Index batch, auto loss, auto optimizer = momentum,
          SolverOptions options = SolverOptions{}>
void check(std::string const& name, Index labels = 0) {
  INFO(name);
  using Gpu = Network<Layers, in, Batch<batch>, Cuda>;
  STATIC_REQUIRE(std::is_same_v<typename Solver<Gpu, loss, optimizer, options>::Step, ChunkedStepOf>);
  auto const gpu = [&] {
    return trained<Gpu, loss, optimizer, options>(name, batch, Cuda::on("cuda:emulated"), labels);
  };
  using Exact = Network<Layers, in, Batch<batch>, Reference<double>>;
  auto const wanted =
      trained<Exact, loss, optimizer, options>(name, batch, HostTransfer<Reference<double>>{}, labels).values;
  auto const made = gpu().values;
  REQUIRE(made.size() == wanted.size());
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    error += (made[i] - wanted[i]) * (made[i] - wanted[i]);
    norm += wanted[i] * wanted[i];
  }
  CHECK(error <= 1e-10 * norm);
  CHECK(error > 0);  // float against double
  for (auto const order : {grid::Order::backward, grid::Order::shuffled}) {
    grid::order() = order;
    CHECK(gpu().values == made);
  }
  grid::order() = grid::Order::forward;
}

/// The same at night alone, since each network takes the compiler long.
template <class Layers, auto in, Index batch, auto loss, auto optimizer = momentum,
          SolverOptions options = SolverOptions{}>
void check_at_night(std::string const& name, Index labels = 0) {
  if constexpr (COLDPRESS_NIGHTLY) check<Layers, in, batch, loss, optimizer, options>(name, labels);
}

/// Hands over what it averages, of a whole minibatch.
struct Watching {
  static constexpr std::string_view name = "watching";
  constexpr Shape output_shape(Shape const& in) const { return in; }
  constexpr auto parameters(Shape const&) const {
    std::array all{Parameter{.name = "mean", .suffix = "-0-mean", .shape = {1}, .filler = Constant{0}}};
    all[0].average = 0.5f;
    return all;
  }
  constexpr void forward(auto const&, auto const&) const {}
  constexpr void backward_parameters(auto const&, auto const&) const {}
  static constexpr Capabilities capabilities{.backward_reads_input = false, .backward_reads_output = false};
  bool operator==(Watching const&) const = default;
};

struct TwoLosses {
  constexpr auto operator()(auto x, auto wanted) const {
    Handle shared{Linear{7}};
    auto const inner = x | shared | TanH{};
    auto const first = inner | shared | Sigmoid{} | name("first"), second = inner | LayerNormalization{} | Linear{4};
    apply(MeanSquaredError{}, second, wanted) | name("loss");
    apply(SquareLoss{}, first, inner) | name("another");
    return outputs(first, second * 2.0f);
  }
};
inline constexpr auto two_losses = graph(TwoLosses{});

template <class Layers, auto in, class Batch, auto loss>
constexpr bool in_chunks = std::is_same_v<typename Solver<Network<Layers, in, Batch, Cuda>, loss>::Step, ChunkedStepOf>;

}  // namespace

TEST_CASE("small networks learn by blocks with samples of their own what the reference learns") {
  using Dense = Sequential<Linear{33}, ReLU{}, Linear{5}, LogSoftmax{}>;
  constexpr NegativeLogLikelihood five{5};
  check_at_night<Dense, Shape{21}, 64, five>("sixteen blocks", 5);
  check<Dense, Shape{21}, 37, five, Adam{.learning_rate = 0.01f}, held>("clipped, the last with fewer samples", 5);
  check_at_night<Dense, Shape{21}, 2, five>("two samples", 5);
  check_at_night<
      Sequential<Linear{.output_size = 8, .weight = {.lr_mult = 0.5f, .max_norm = {.norm = 0.4f, .every = 2}}},
                 Power{.power = 2, .scale = 0.5f, .shift = 1}, Linear{.output_size = 3, .bias = {.lr_mult = 0}}>,
      Shape{5}, 48, SquareLoss{}, RMSprop{.learning_rate = 0.01f}>("bounded");
  check<Sequential<Convolution{.num_output = 4, .filter_shape = 3, .padding = 1}, ReLU{}, LRN{},
                   Pooling{.filter_shape = 2, .stride = 2},
                   Convolution{.num_output = 6, .filter_shape = {3, 2}, .stride = {1, 2}, .groups = 2},
                   GlobalAveragePooling{}, Linear{3}>,
        Shape{2, 8, 6}, 33, MeanSquaredError{}>("images");
  check_at_night<Sequential<Rnn{.hidden_size = 5,
                                .num_layers = 2,
                                .rnn_type = RnnType::gru,
                                .direction_mode = DirectionMode::bi_directional},
                            LayerNormalization{}, SoftmaxOver{.axis = 0}, Linear{2}>,
                 Shape{4, 3}, 19, SquareLoss{}>("sequences");
}

TEST_CASE("losses of its own, shared weights and several outputs of a small network") {
  check<Graph<two_losses>, Inputs{Shape{7}, Shape{4}}, 40, OwnLosses{}>("two losses");
  using Gpu = Network<Graph<two_losses>, Inputs{Shape{7}, Shape{4}}, Batch<40>, Cuda>;
  using Cpu = Network<Graph<two_losses>, Inputs{Shape{7}, Shape{4}}, Batch<40>>;
  Gpu gpu{3, Cuda::on("cuda:emulated")};
  Cpu cpu{3};
  Solver<Gpu, OwnLosses{}> there{gpu};
  Solver<Cpu, OwnLosses{}> here{cpu};
  for (std::uint64_t step = 0; step < 3; ++step) {
    auto const x = minibatch<Gpu::inputs, float>(40, step, 0);
    CHECK(static_cast<float>(there.train_minibatch(spans_of(x))) ==
          Approx(here.train_minibatch(spans_of(x))).epsilon(1e-5));
    CHECK(there.loss_value<"loss">() == Approx(here.loss_value<"loss">()).epsilon(1e-5));
    CHECK(there.loss_value<"another">() == Approx(here.loss_value<"another">()).epsilon(1e-5));
    CHECK(there.statistic<"loss">() == Approx(here.statistic<"loss">()).epsilon(1e-5));
    auto const made = there.output<"first">(), wanted = here.output<"first">();
    for (Index i = 0; i < 40 * 7; ++i) CHECK(made[i] == Approx(wanted[i]).epsilon(1e-4));
  }
}

TEST_CASE("frozen weights of a small network stay, and the others learn") {
  using Net = Network<Sequential<Linear{4}, TanH{}, Linear{2}>, Shape{3}, Batch<20>, Cuda>;
  Net net{3, Cuda::on("cuda:emulated")};
  Solver<Net, MeanSquaredError{}> solver{net};
  auto const weight = [&](int i) {
    std::vector<float> values(static_cast<std::size_t>(Net::weight_shape(i).size()));
    net.read_weight(i, values);
    return values;
  };
  testing::Random random{4};
  auto const x = random.values<float>(20 * 3), y = random.values<float>(20 * 2);
  auto const first = weight(0), last = weight(2);
  solver.freeze("linear1");
  solver.train_minibatch(x, y);
  CHECK(weight(0) == first);
  CHECK(weight(2) != last);
  auto const post_ops = weight(2);
  solver.freeze_all();
  float const loss = solver.train_minibatch(x, y);
  CHECK(solver.train_minibatch(x, y) == loss);
  CHECK(weight(2) == post_ops);
}

TEST_CASE("blocks with samples of their own multiply in less precision where that is asked for") {
  using Dense = Sequential<Linear{33}, TanH{}, Linear{5}>;
  auto const made = [&]<class Backend>(HostTransfer<Backend> const& at) {
    using Net = Network<Dense, Shape{21}, Batch<64>, Backend>;
    if constexpr (!std::is_same_v<Backend, Reference<double>>)
      STATIC_REQUIRE(std::is_same_v<typename Solver<Net, MeanSquaredError{}>::Step, ChunkedStepOf>);
    return trained<Net, MeanSquaredError{}>("", 64, at).values;
  };
  auto const exact = made(HostTransfer<Reference<double>>{});
  auto const distance = [&](std::vector<double> const& values) {
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < exact.size(); ++i)
      error += (values[i] - exact[i]) * (values[i] - exact[i]), norm += exact[i] * exact[i];
    return std::sqrt(error / norm);
  };
  double const fp32 = distance(made(Cuda::on("cuda:emulated"))), tf32 = distance(made(CudaTf32::on("cuda:emulated"))),
               bfloat16 = distance(made(CudaBfloat16::on("cuda:emulated")));
  CHECK(fp32 <= 1e-5);
  CHECK((tf32 > fp32 && tf32 <= 2e-3));
  CHECK((bfloat16 > tf32 && bfloat16 <= 1e-2));
}

TEST_CASE("a network that needs other samples, their positions, or more memory is computed by all blocks together") {
  constexpr MeanSquaredError loss{};
  STATIC_REQUIRE(in_chunks<Sequential<Linear{4}, TanH{}>, Shape{3}, Batch<32>, loss>);
  STATIC_REQUIRE(!in_chunks<Sequential<Linear{4}, TanH{}>, Shape{3}, Batch<1>, loss>);
  STATIC_REQUIRE(!in_chunks<Sequential<Linear{4}, TanH{}>, Shape{3}, DynamicBatch, loss>);
  STATIC_REQUIRE(!in_chunks<Sequential<Linear{4}, BatchNormalization{}>, Shape{3}, Batch<32>, loss>);
  STATIC_REQUIRE(!in_chunks<Sequential<Linear{4}, Watching{}>, Shape{3}, Batch<32>, loss>);
  STATIC_REQUIRE(!in_chunks<Sequential<Linear{4}, Dropout{}>, Shape{3}, Batch<32>, loss>);
  STATIC_REQUIRE(!in_chunks<Sequential<Linear{4}, RandomMask{}>, Shape{3}, Batch<32>, loss>);
  STATIC_REQUIRE(!in_chunks<Sequential<Rnn{.hidden_size = 2, .num_layers = 2, .dropout_probability = 0.1f}>,
                            Shape{3, 1}, Batch<32>, loss>);
  STATIC_REQUIRE(!in_chunks<Sequential<Linear{4}, TanH{}>, Shape{3}, Batch<32>, Wasserstein{}>);
  STATIC_REQUIRE(!in_chunks<Sequential<Linear{200}, TanH{}, Linear{200}>, Shape{3}, Batch<32>, loss>);
  STATIC_REQUIRE(!in_chunks<Sequential<Linear{4}, TanH{}>, Shape{3}, Batch<100000>, loss>);
  STATIC_REQUIRE(!in_chunks<Graph<judged>, Inputs{Shape{10}, Shape{1}}, Batch<32>, OwnLosses{}>);
}

TEST_CASE("blocks with samples of their own meet once a step") {
  using Net = Network<bench::T4::Net, bench::T4::shape, Batch<bench::T4::batch>, Cuda>;
  Net net{7, Cuda::on("cuda:emulated")};
  Solver<Net, bench::T4::loss, bench::optimizer> solver{net};
  auto const estimate = launch_estimate_of(solver, bench::T4::batch);
  CHECK(estimate.barriers == 1);
  // Weights, values, and what products and sums take: 5704, 16 samples of 216, 4608 + 256.
  CHECK(estimate.shared == 5704 + 16 * 216 + 4608 + 256);
  CHECK(describe(solver).starts_with(
      "a step is one kernel: one cluster of 16 blocks with 1 barrier; 16 have samples of their own, in 55 KiB of "
      "shared memory\n"));
#if COLDPRESS_NIGHTLY
  Network<bench::T5::Net, bench::T5::shape, Batch<bench::T5::batch>, Cuda> recurrent{7, Cuda::on("cuda:emulated")};
  Solver<decltype(recurrent), bench::T5::loss, bench::optimizer> of_recurrent{recurrent};
  CHECK(describe(of_recurrent).find(" with 1 barrier") != std::string::npos);
  CHECK(describe(of_recurrent).find("; 14 have samples of their own, in 85 KiB") != std::string::npos);
#endif
  Network<Sequential<Linear{130}>, Shape{128}, Batch<2>, Cuda> few{1, Cuda::on("cuda:emulated")};
  Solver<decltype(few), MeanSquaredError{}> of_few{few};
  CHECK(describe(of_few).find("; 2 have samples of their own, in ") != std::string::npos);
  auto const& counts = cuda::counts();
  Index const barriers = counts.barriers, blocks = counts.blocks, kernels = counts.kernels;
  solver.train_minibatch(bench::inputs<bench::T4>(), bench::targets<bench::T4>(6));
  CHECK(counts.kernels == kernels + 1);
  CHECK(counts.barriers == barriers + 1);
  CHECK(counts.blocks == blocks + 16);
}
