// Losses give PyTorch's values and gradients, those with respect to targets too: tests/golden/losses.py made them.
#include <coldpress/typed/operations.hpp>

#include "support/golden_layers.hpp"

#include <algorithm>
#include <numeric>

using namespace coldpress;
using namespace coldpress::test;

namespace {

/// A network that is a loss and nothing else.
template <Loss auto loss>
struct Alone {
  constexpr auto operator()(auto y, auto t) const {
    apply(loss, y, t);
    return y;
  }
};

/// `free`: gradients are those of masses, which are told up to one number for each sample.
template <Loss auto loss, Shape in, class Backend>
void check_with(GoldenCase const& golden, bool free) {
  static constexpr auto function = graph(Alone<loss>{});
  using Net = Network<Graph<function>, Inputs{in, loss.target_shape(in)}, DynamicBatch, Backend>;
  using T = typename Net::T;
  using Program = typename ProgramOf<typename Net::Graph, Backend,
                                     PlanOptions{.training = true, .losses = true, .input_gradient = true}>::type;
  Net net;
  typename Net::template BasicWorkspace<Program> workspace;
  auto const y = copy_of<T>(golden.at("x")), t = copy_of<T>(golden.at("target"));
  std::array inputs{std::span<T const>{y}, std::span<T const>{t}};
  auto const run = net.template start<Program>(inputs, workspace, 1);
  double const margin = sizeof(T) == 8 ? free ? 1e-8 : 1e-12 : 2e-5;
  forward(run);
  double const mean = static_cast<double>(loss_and_gradient(run, [](auto, T) {}));
  CHECK(mean == Approx(golden.at("y")[0]).epsilon(margin).margin(margin));
  auto const check = [&](int input, char const* word) {
    INFO(word);
    Buffer const& buffer = Program::plan().input_gradients[input];
    REQUIRE(buffer.used() == golden.contains(word));
    if (!buffer.used()) return;
    std::vector<double> wanted = golden.at(word);
    std::vector<double> found(run.at(buffer), run.at(buffer) + wanted.size());
    for (std::vector<double>* all : {&wanted, &found}) {
      for (auto sample = all->begin(); free && sample != all->end(); sample += in.size()) {
        double const middle = std::accumulate(sample, sample + in.size(), 0.0) / static_cast<double>(in.size());
        std::for_each(sample, sample + in.size(), [&](double& value) { value -= middle; });
      }
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(found[i] == Approx(wanted[i]).epsilon(margin).margin(margin));
  };
  check(0, "dx");
  check(1, "dt");
}

template <Loss auto loss, Shape in>
void check(std::string const& name, bool free = false) {
  INFO(name);
  GoldenCase const golden = golden_cases("losses.txt").at(name);
  check_with<loss, in, DefaultBackend>(golden, free);
  if constexpr (golden_reference) check_with<loss, in, Reference<double>>(golden, free);
}

}  // namespace

TEST_CASE("SquareLoss, BinaryCrossEntropy, Hinge and GaussianKL are PyTorch's") {
  check<SquareLoss{}, Shape{5}>("square_loss");
  check<BinaryCrossEntropy{}, Shape{7}>("binary_cross_entropy");
  check<Hinge{}, Shape{6}>("hinge");
  check<GaussianKL{}, Shape{5}>("gaussian_kl");
}
TEST_CASE("Huber is PyTorch's, and its SmoothL1Loss, and KLDivergence is, too") {
  check<Huber{.delta = 0.75f}, Shape{7}>("huber");
  check<Huber{.delta = 0.5f, .loss_weight = 2, .loss_average = Average::values}, Shape{8}>("smooth_l1");
  check<KLDivergence{}, Shape{6}>("kl_divergence");
}
// PyTorch's clamp_min passes half of the gradient on at its bound; Mocha's loss, whose formula this is, none.
TEST_CASE("Hinge has no gradient at its kink and beyond, and all of it before") {
  auto const slopes = [](float y, float t) {
    Hinge const hinge{.loss_weight = 2};
    return std::pair{hinge.gradient(y, t), hinge.target_gradient(y, t)};
  };
  CHECK(slopes(1, 1) == std::pair{0.0f, 0.0f});
  CHECK(slopes(-1, -1) == std::pair{0.0f, 0.0f});
  CHECK(slopes(2, 0.5f) == std::pair{0.0f, 0.0f});
  CHECK(slopes(1.5f, 1) == std::pair{0.0f, 0.0f});
  CHECK(slopes(0.5f, 1) == std::pair{-2.0f, -1.0f});
  CHECK(slopes(0.5f, -1) == std::pair{2.0f, -1.0f});
  CHECK(Hinge{}.value(1.0f, 1.0f) == 0);
}

TEST_CASE("SoftmaxLoss and MultinomialLogistic are PyTorch's") {
  check<SoftmaxLoss{}, Shape{6}>("softmax_loss");
  check<SoftmaxLoss{.class_weights = {0.5f, 2, 1, 0.25f}, .normalize = ClassNormalization::none}, Shape{4, 2, 3}>(
      "softmax_loss_image");
  check<SoftmaxLoss{.class_weights = {0.5f, 2, 1, 0.25f}, .axis = -1}, Shape{2, 4}>("softmax_loss_scaled");
  check<SoftmaxLoss{.label_smoothing = 0.25f}, Shape{6}>("softmax_loss_smoothed");
  check<SoftmaxLoss{
            .class_weights = {0.5f, 2, 1, 0.25f}, .normalize = ClassNormalization::none, .label_smoothing = 0.125f},
        Shape{4, 2, 3}>("softmax_loss_smoothed_image");
  check<MultinomialLogistic{}, Shape{6}>("multinomial_logistic");
  check<MultinomialLogistic{.class_weights = {0.5f, 2, 1, 0.25f}, .normalize = ClassNormalization::global},
        Shape{4, 3}>("multinomial_logistic_scaled");
}
TEST_CASE("SoftmaxLoss and MultinomialLogistic leave out what PyTorch ignores, sample by sample") {
  check<SoftmaxLoss{}, Shape{4, 5}>("softmax_loss_ignoring");
  check<MultinomialLogistic{}, Shape{4, 5}>("multinomial_logistic_ignoring");
}
TEST_CASE("FocalLoss, CosineSimilarityLoss and TripletMargin are what PyTorch computes") {
  check<FocalLoss{}, Shape{6}>("focal_loss");
  check<FocalLoss{.gamma = 0.5f, .class_weights = {0.5f, 2, 1, 0.25f}, .normalize = ClassNormalization::none},
        Shape{4, 3}>("focal_loss_weighted");
  check<CosineSimilarityLoss{}, Shape{6}>("cosine_similarity_loss");
  check<CosineSimilarityLoss{.axis = -1}, Shape{3, 4}>("cosine_similarity_loss_last");
  check<TripletMargin{.margin = 0.5f}, Shape{8}>("triplet_margin");
}
TEST_CASE("CTCLoss is the sum over all paths, and PyTorch's") {
  check<CTCLoss{.labels = 3}, Shape{6, 4}>("ctc_loss");
  check<CTCLoss{.labels = 3, .blank = 3}, Shape{6, 4}>("ctc_loss_last_blank");
}
TEST_CASE("SoftlabelSoftmax is PyTorch's") {
  check<SoftlabelSoftmax{}, Shape{6}>("softlabel_softmax");
  check<SoftlabelSoftmax{}, Shape{4, 3}>("softlabel_softmax_positions");
}
TEST_CASE("Wasserstein is what PyTorch computes with logarithms") {
  check<Wasserstein{.iterations = 1000}, Shape{6}>("wasserstein", true);
  check<Wasserstein{.lambda = 5, .iterations = 1000, .power = 2}, Shape{6}>("wasserstein_squares", true);
}
TEST_CASE("ErrorToSignalRatio is what PyTorch computes, with and without a filter before it") {
  check<ErrorToSignalRatio{}, Shape{7}>("error_to_signal_ratio");
  check<ErrorToSignalRatio{.pre_emphasis = 0.875f}, Shape{7}>("error_to_signal_ratio_filtered");
}
TEST_CASE("StftLoss is what PyTorch computes at three resolutions, and at one with other factors") {
  check<StftLoss{.fft_size = {16, 32, 8}, .hop_size = {3, 8, 2}, .window_size = {10, 32, 5}}, Shape{40}>("stft_loss");
  check<StftLoss{.fft_size = 16,
                 .hop_size = 5,
                 .window_size = 16,
                 .spectral_convergence = 0.5f,
                 .log_magnitude = 0.25f,
                 .magnitude = 2},
        Shape{30, 1}>("stft_loss_weighted");
}
