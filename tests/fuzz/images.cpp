// The readers of pictures: PNG and JPEG, of any size, as they are and resized.
#include <coldpress/data/images.hpp>

#include "folder.hpp"

#include <cmath>

void coldpress::fuzz::run(std::span<std::byte const> bytes) {
  put("images/class/picture.png", bytes);
  std::string const picture = folder() + "/images/class/picture.png";
  for (Index const size : {0, 5}) {
    try {
      auto const source = data::open_images({folder() + "/images", size, size, size == 0 ? 3 : 1});
      if (source->sample_shape().size() > 1 << 22) return;  // which takes long
      auto const dataset = data::load(*source);
      for (float const value : dataset.samples) demand(value >= 0 && value <= 1.0001f, "a pixel is not in [0, 1]");
    } catch (FormatError const& error) {
      demand(error.file() == picture, "an error does not name its file");
    }
  }
}
