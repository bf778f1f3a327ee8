// error: pool_gradient
// lines gcc: 16
#include <coldpress/coldpress.hpp>

using namespace coldpress;

struct Lacking : Cpu {
  void pool_gradient() const;  // that of Cpu is hidden
};
static_assert(concepts::Backend<Lacking>);

int main() {}
