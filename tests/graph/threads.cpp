// One const network, many threads, each with a workspace of its own. Run under the thread sanitizer too.
#include <coldpress/coldpress.hpp>

#include "support/catch.hpp"
#include "support/layer_laws.hpp"

#include <thread>

using namespace coldpress;

TEST_CASE("a const network infers in eight threads at once, with the bits of one") {
  using Net = Network<Sequential<Linear{33}, TanH{}, Dropout{.probability = 0.5f}, Linear{10}, Softmax{}>, Shape{20}>;
  Net const net = test::random_network<Net>(1);
  auto const x = test::Random{1}.values<float>(16 * 20);
  Net::Workspace first;
  auto const wanted = test::copy_of<float>(net.forward(x, first));
  Net::TrainingWorkspace training;
  auto const trained = test::copy_of<float>(net.forward_training(x, training));

  std::array<int, 8> wrong{};
  std::vector<std::thread> threads;
  for (int& mistakes : wrong) {
    threads.emplace_back([&] {
      Net::Workspace mine;
      Net::TrainingWorkspace own;
      for (int turn = 0; turn < 200; ++turn) {
        Index const batch = 2 + turn % 15;
        auto const y = net.forward(std::span{x.data(), static_cast<std::size_t>(batch * 20)}, mine);
        mistakes += !test::same_bits(y, std::span{wanted.data(), static_cast<std::size_t>(batch * 10)});
        if (turn % 20 == 0) mistakes += !test::same_bits(net.forward_training(x, own), trained);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int const mistakes : wrong) CHECK(mistakes == 0);
}
