// One const network, many threads, each with a workspace of its own. Run under the thread sanitizer too.
#include <coldpress/coldpress.hpp>

#include "support/catch.hpp"
#include "support/layer_laws.hpp"

#include <thread>

using namespace coldpress;

namespace {

template <class Net>
void check_threads() {
  constexpr auto in = static_cast<std::size_t>(Net::input_shape.size()),
                 out = static_cast<std::size_t>(Net::output_shape.size());
  Net const net = test::random_network<Net>(1);
  auto const x = test::Random{1}.values<float>(16 * Net::input_shape.size());
  typename Net::Workspace first;
  auto const wanted = test::copy_of<float>(net.forward(x, first));
  typename Net::TrainingWorkspace training;
  auto const trained = test::copy_of<float>(net.forward_training(x, training));

  std::array<int, 8> wrong{};
  std::vector<std::thread> threads;
  for (int& mistakes : wrong) {
    threads.emplace_back([&] {
      typename Net::Workspace mine;
      typename Net::TrainingWorkspace own;
      for (int turn = 0; turn < 200; ++turn) {
        auto const batch = static_cast<std::size_t>(2 + turn % 15);
        auto const y = net.forward(std::span{x.data(), batch * in}, mine);
        mistakes += !test::same_bits(y, std::span{wanted.data(), batch * out});
        if (turn % 20 == 0) mistakes += !test::same_bits(net.forward_training(x, own), trained);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int const mistakes : wrong) CHECK(mistakes == 0);
}

}  // namespace

TEST_CASE("a const network infers in eight threads at once, with the bits of one") {
  check_threads<
      Network<Sequential<Linear{33}, TanH{}, Dropout{.probability = 0.5f}, Linear{10}, Softmax{}>, Shape{20}>>();
}

TEST_CASE("so does one of convolutions, poolings and recurrent layers") {
  check_threads<
      Network<Sequential<Convolution{.num_output = 6, .filter_shape = 3, .padding = 1}, ReLU{},
                         Pooling{.filter_shape = 2, .stride = 2}, Reshape{{6, 12}}, Rnn{.hidden_size = 7}, Linear{5}>,
              Shape{2, 6, 8}>>();
}
