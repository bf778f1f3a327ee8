// The passes of the networks of static_networks.hpp, by real threads.
#include "races.hpp"

#include "cuda/static_networks.hpp"

#include <coldpress/cuda.hpp>

TEST_CASE("passes of static networks have no race") {
  using namespace coldpress;
  test::check_races([] {
    std::vector<std::vector<double>> all;
    for (test::Story const& story : test::stories(Cuda::on("cuda:emulated"))) all.push_back(story.values);
    return all;
  });
}
