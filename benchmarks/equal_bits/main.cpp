// coldpress-equal-bits: prints a hash of what each of 34 networks computes, as a type and from a config. Run it before
// and after a change that is not to change any bit, on one machine, and compare with diff.
#include "network_hash.hpp"

int main() {
  using namespace coldpress::equal_bits;
  print_dense();
  print_images();
  print_sequences();
  print_graphs();
}
