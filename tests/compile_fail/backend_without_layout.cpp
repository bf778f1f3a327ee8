// error: storage_size
// lines gcc: 16
#include <coldpress/coldpress.hpp>

using namespace coldpress;

struct Lacking : Cpu {
  static Index storage_size() { return 0; }  // of no parameter in particular
};
static_assert(concepts::Backend<Lacking>);

int main() {}
