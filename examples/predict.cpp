// Loads a network that this program knows nothing about from its file, and prints its output for one sample. A program
// that loads and predicts links no code for training, and is half as large without it
// (docs/guide.md, "What a program weighs").
//
//   predict FILE [VALUE ...]     values that are not given are zero
//
// ctest: @DATA@/juice/mackey-glass-rnn.juice
#include <coldpress/dynamic.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace coldpress;

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: predict FILE [VALUE ...]\n");
    return 2;
  }
  auto network = dynamic::Layer::load(dynamic::Backend{"cpu"}, argv[1]);
  std::vector<float> sample(static_cast<std::size_t>(network.input_shape().size()));
  for (std::size_t i = 0; i < sample.size() && i + 2 < static_cast<std::size_t>(argc); ++i)
    sample[i] = std::strtof(argv[i + 2], nullptr);
  for (float const value : network.predict(sample)) std::printf("%g\n", double{value});
} catch (Error const& error) {
  std::fprintf(stderr, "predict: %s\n", error.what());
  return 1;
}
