// Prints the order of the samples in each epoch of a training, one line per epoch: coldpress-order SAMPLES EPOCHS SEED

#include <coldpress/data/sample_stream.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int argc, char** argv) {
  auto const number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  if (argc != 4 || number(1) < 1 || number(1) > 10'000'000) {
    std::fputs("usage: coldpress-order SAMPLES EPOCHS SEED, with 1 to 10,000,000 samples\n", stderr);
    return 2;
  }
  std::vector<coldpress::Index> order(number(1));
  for (std::uint64_t epoch = 0; epoch < number(2); ++epoch) {
    coldpress::data::shuffle(order, number(3), epoch);
    for (auto const sample : order) std::printf("%td ", sample);
    std::puts("");
  }
  return 0;
}
