// The format images: is known because the component is linked.
#include <coldpress/data/source.hpp>

#include <cstdio>
#include <cstring>

int main() {
  try {
    coldpress::data::open_source("images:missing");
  } catch (coldpress::FileError const& error) {
    std::puts(error.what());
    return std::strncmp(error.what(), "missing: cannot read the folder", 31) != 0;
  }
  return 1;
}
