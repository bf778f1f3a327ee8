// The format sound: is known because the component is linked.
#include <coldpress/data/source.hpp>

#include <cstdio>
#include <cstring>

int main() {
  try {
    coldpress::data::open_source("sound:missing.wav,too.wav");
  } catch (coldpress::FileError const& error) {
    std::puts(error.what());
    return std::strncmp(error.what(), "missing.wav: cannot open", 24) != 0;
  }
  return 1;
}
