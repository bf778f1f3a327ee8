// What all readers of data are told.
#pragma once

#include <coldpress/core/shape.hpp>

namespace coldpress::data {

struct ReadOptions {
  /// A file that gzip has compressed may unpack to so many times its size, and 1 MiB beside that. Measured data unpacks
  /// to less than 20 times as many bytes; gzip itself reaches 1032, which lets a small file fill any memory.
  Index max_expansion = 100;
};

}  // namespace coldpress::data
