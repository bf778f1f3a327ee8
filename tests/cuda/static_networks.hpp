// Networks as types, each trained and asked, on any backend: what they make is compared.
#pragma once

#include <coldpress/coldpress.hpp>
#include <coldpress/testing/random.hpp>

#include <string>
#include <vector>

namespace coldpress::test {

/// What one network made, in order: outputs, losses, statistics, gradients, weights.
struct Story {
  std::string name;
  std::vector<double> values;
  template <class Values>
  void tell(Values const& more) {
    for (auto const& value : more) values.push_back(static_cast<double>(value));
  }
};

template <Inputs in, class T>
std::array<std::vector<T>, static_cast<std::size_t>(in.count)> minibatch(Index batch, std::uint64_t seed,
                                                                         Index labels) {
  std::array<std::vector<T>, static_cast<std::size_t>(in.count)> all;
  testing::Random random{seed};
  for (int k = 0; k < in.count; ++k) {
    auto& x = all[static_cast<std::size_t>(k)];
    // As floats first: the same numbers for all.
    for (float v : random.values<float>(batch * in[k].size())) x.push_back(static_cast<T>(v));
    if (k > 0 && labels > 0) {
      for (T& v : x) v = static_cast<T>(random.integer(0, labels - 1));
    }
  }
  return all;
}
template <class T, std::size_t n>
std::array<std::span<T const>, n> spans_of(std::array<std::vector<T>, n> const& x) {
  std::array<std::span<T const>, n> spans;
  for (std::size_t k = 0; k < n; ++k) spans[k] = x[k];
  return spans;
}

template <class Net>
inline constexpr int in_count = Net::inputs.count;

/// Trains for some steps, with a loss from outside on targets that are labels or values.
template <class Net, auto loss, auto optimizer = Sgd{.learning_rate = 0.05f, .momentum = 0.9f},
          SolverOptions options = SolverOptions{}>
Story trained(std::string name, Index batch, typename Net::Transfer const& transfer, Index labels = 0) {
  using T = typename Net::T;
  Story story{std::move(name), {}};
  Net net{5, transfer};
  Solver<Net, loss, optimizer, options> solver{net};
  for (std::uint64_t step = 0; step < 4; ++step) {
    auto const x = minibatch<Net::inputs, T>(batch, step, labels);
    if constexpr (Loss<std::remove_cvref_t<decltype(loss)>>) {
      testing::Random random{step + 100};
      std::vector<T> y;
      for (float v : random.values<float>(batch * solver.target_shape.size()))
        y.push_back(static_cast<T>(labels > 0 ? static_cast<float>(random.integer(0, labels - 1)) : v));
      if constexpr (in_count<Net> == 1 && requires { net.upload(y); }) {
        auto const there = net.upload(x[0]), wanted = net.upload(y);  // what stays on the device is the same to a step
        story.tell(std::array{
            static_cast<T>(step % 2 ? solver.train_minibatch(there, wanted) : solver.train_minibatch(spans_of(x), y))});
      } else {
        story.tell(std::array{static_cast<T>(solver.train_minibatch(spans_of(x), y))});
      }
    } else {
      story.tell(std::array{static_cast<T>(solver.train_minibatch(spans_of(x)))});
    }
    story.tell(solver.output());
  }
  for (int i = 0; i < Net::weight_count; ++i) {
    std::vector<T> weight(static_cast<std::size_t>(Net::weight_shape(i).size()));
    net.read_weight(i, weight);
    story.tell(weight);
    net.read(solver.state(0).data(), i, weight);
    story.tell(weight);
  }
  auto const x = minibatch<Net::inputs, T>(batch, 17, labels);
  story.tell(net.forward(spans_of(x)));
  return story;
}

/// Forward, and backward from gradients that the caller gives.
template <class Net>
Story passed_back(std::string name, Index batch, typename Net::Transfer const& transfer) {
  using T = typename Net::T;
  Story story{std::move(name), {}};
  Net const net{6, transfer};
  typename Net::TrainingWorkspace workspace{transfer};
  auto const x = minibatch<Net::inputs, T>(batch, 3, 0);
  auto const made = net.forward_training(spans_of(x), workspace, 2);
  story.tell(made);
  auto const dy = minibatch<Net::output_shape, T>(batch, 4, 0);
  story.tell(net.backward(spans_of(dy), workspace));
  for (int i = 0; i < Net::weight_count; ++i) {
    std::vector<T> gradient(static_cast<std::size_t>(Net::weight_shape(i).size()));
    net.read(workspace.gradients().data(), i, gradient);
    story.tell(gradient);
  }
  return story;
}

/// A sequence in parts, from state to state.
template <class Net>
Story streamed(std::string name, typename Net::Transfer const& transfer) {
  using T = typename Net::T;
  Story story{std::move(name), {}};
  Net net{7, transfer};
  for (std::uint64_t step = 0; step < 5; ++step) {
    if (step == 3) net.reset();
    story.tell(net.step(spans_of(minibatch<Net::inputs, T>(2, step, 0))));
  }
  return story;
}

struct Judged {
  constexpr auto operator()(auto x, auto labels) const {
    auto const trunk = x | Linear{12} | TanH{};
    auto const left = trunk | Linear{6} | ReLU{}, right = trunk | Linear{6} | Sigmoid{};
    auto const scores = concat(left * right, left + right) | Dropout{0.25f} | Linear{4} | LogSoftmax{} | name("scores");
    apply(Accuracy{}, scores, labels) | name("accuracy");
    apply(NegativeLogLikelihood{4}, scores, labels) | name("loss");
    return scores;
  }
};
inline constexpr auto judged = graph(Judged{});

template <class Backend>
std::vector<Story> stories(HostTransfer<Backend> const& at) {
  using Dense = Sequential<Linear{70}, ReLU{}, Dropout{.probability = 0.3f}, Linear{5}, LogSoftmax{}>;
  using Images = Sequential<Convolution{.num_output = 6, .filter_shape = 3, .padding = 1}, BatchNormalization{}, ReLU{},
                            Pooling{.filter_shape = 2, .stride = 2},
                            Convolution{.num_output = 8, .filter_shape = {3, 2}, .stride = {1, 2}, .groups = 2}, LRN{},
                            Pooling{.mode = PoolingMode::average, .filter_shape = 2}, Linear{3}>;
  using Long =
      Sequential<Rnn{.hidden_size = 9, .num_layers = 2, .dropout_probability = 0.2f}, LayerNormalization{}, ELU{},
                 Rnn{.hidden_size = 4,
                     .rnn_type = RnnType::gru,
                     .direction_mode = DirectionMode::bi_directional,
                     .output = RnnOutput::last_step},
                 Linear{2}>;
  using Stream = Sequential<Convolution{.num_output = 3, .filter_shape = 3, .dilation = 2}, TanH{},
                            Rnn{.hidden_size = 5, .output = RnnOutput::last_step}, Linear{1}>;
  using Small = Sequential<Convolution{.num_output = 3, .filter_shape = 3}, GELU{},
                           Pooling{.mode = PoolingMode::average, .filter_shape = 2, .stride = 2}, Linear{4}>;
  using Bound =
      Sequential<Linear{.output_size = 8, .weight = {.lr_mult = 0.5f, .max_norm = {.norm = 0.4f, .every = 2}}},
                 Power{.power = 2, .scale = 0.5f, .shift = 1}, Linear{.output_size = 3, .bias = {.lr_mult = 0}}>;
  using Shared = Sequential<Rnn{.hidden_size = 6, .output = RnnOutput::last_step}, Linear{12}, TanH{}, Linear{5},
                            LogSoftmax{}>;  // each block has some samples to itself (cuda/chunks.hpp)
  constexpr auto labels = NegativeLogLikelihood{5};
  std::vector<Story> all;
  all.push_back(trained<Network<Shared, Shape{4, 3}, Batch<21>, Backend>, labels>("in blocks", 21, at, 5));
  all.push_back(trained<Network<Dense, Shape{33}, Batch<12>, Backend>, labels>("dense", 12, at, 5));
  all.push_back(trained<Network<Dense, Shape{33}, DynamicBatch, Backend>, labels, Adam{.learning_rate = 0.01f},
                        SolverOptions{.clip_gradients = 0.5f,
                                      .clip_values = 0.05f,
                                      .weight_decay = 0.01f,
                                      .regularization_method = Regularization::l1,
                                      .accumulate = 2}>("clipped", 7, at, 5));
  all.push_back(trained<Network<Images, Shape{4, 9, 8}, Batch<3>, Backend>, MeanSquaredError{}>("images", 3, at));
  all.push_back(trained<Network<Long, Shape{6, 3}, Batch<4>, Backend>, Wasserstein{}>("sequences", 4, at));
  all.push_back(trained<Network<Bound, Shape{5}, DynamicBatch, Backend>, SquareLoss{}, RMSprop{.learning_rate = 0.01f}>(
      "bounded", 6, at));
  all.push_back(trained<Network<Graph<judged>, Inputs{Shape{10}, Shape{1}}, DynamicBatch, Backend>, OwnLosses{}>(
      "judged", 9, at, 4));
  all.push_back(passed_back<Network<Small, Shape{2, 7, 6}, DynamicBatch, Backend>>("passed back", 5, at));
  all.push_back(streamed<Network<Stream, Shape{4}, DynamicBatch, Backend>>("stream", at));
  {
    using Net = Network<Graph<judged>, Inputs{Shape{10}, Shape{1}}, DynamicBatch, Backend>;
    Story story{"evaluated", {}};
    Net net{8, at};
    for (std::uint64_t call = 0; call < 3; ++call)
      story.tell(net.evaluate(spans_of(minibatch<Net::inputs, typename Net::T>(11, call, 4))));
    story.tell(std::array{net.template statistic<"accuracy">(), net.template statistic<"loss">()});
    all.push_back(std::move(story));
  }
  return all;
}

}  // namespace coldpress::test
