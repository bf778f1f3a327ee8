// Both formats are linked, or say which library they lack.
#include <coldpress/convert/caffe.hpp>
#include <coldpress/convert/mocha.hpp>

#include <cstdio>

template <class Read>
bool is_refused(Read read) {
  try {
    static_cast<void>(read("missing"));
  } catch (coldpress::FileError const& error) {
    std::puts(error.what());
    return true;
  } catch (coldpress::UnsupportedError const& error) {
    std::puts(error.what());
    return true;
  }
  return false;
}

int main() {
  using namespace coldpress::convert;
  return is_refused(read_caffe_mean) && is_refused(read_mocha_mean) ? 0 : 1;
}
