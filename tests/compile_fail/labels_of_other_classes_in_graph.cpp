// error: negative_log_likelihood: the network's output must have num_classes values
// error: 3
// only gcc: layer 3 (loss, negative_log_likelihood) gets {3} from scores and {1}
// only clang: layer(3, &"negative_log_likelihood"[0], &"loss"[0], {{3}}
#include <coldpress/coldpress.hpp>

using namespace coldpress;

constexpr auto net = graph([](auto x, auto label) {
  auto const scores = x | Linear{3} | LogSoftmax{} | name("scores");
  apply(NegativeLogLikelihood{.num_classes = 10}, scores, label) | name("loss");
  return scores;
});

int main() { Network<Graph<net>, Inputs{Shape{4}, Shape{1}}> network; }
