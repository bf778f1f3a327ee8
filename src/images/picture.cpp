// Tells PNG from JPEG, checks the size of a picture, and scales it to the size of samples.
#include "picture.hpp"

#include <algorithm>
#include <cmath>

namespace coldpress::data {
namespace {

void decode(std::span<std::byte const> bytes, DecodedPicture& picture, bool pixels) {
  auto const begins = [&](std::initializer_list<int> with) {
    return bytes.size() >= with.size() && std::equal(with.begin(), with.end(), bytes.begin(),
                                                     [](int a, std::byte b) { return a == std::to_integer<int>(b); });
  };
  if (begins({0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'})) return decode_png(bytes, picture, pixels);
  if (begins({0xff, 0xd8})) return decode_jpeg(bytes, picture, pixels);
  throw FormatError{bytes.empty() ? "is empty, expected a PNG or JPEG file" : "is neither a PNG nor a JPEG file"};
}

}  // namespace

DecodedPicture measure(std::span<std::byte const> bytes) {
  DecodedPicture picture;
  decode(bytes, picture, false);
  return picture;
}

void decode(std::span<std::byte const> bytes, DecodedPicture& picture) { decode(bytes, picture, true); }

void check_size(DecodedPicture const& picture) {
  if (picture.width < 1 || picture.height < 1 || picture.width > most_pixels / picture.height)
    throw FormatError{"has " + std::to_string(picture.width) + " x " + std::to_string(picture.height) +
                      " pixels, expected 1 to 2^26"};
}

// A triangle as wide as two pixels of the larger of both lines, so that every pixel counts when a picture shrinks.
void Sampler::Weights::set(Index from, Index to) {
  first.clear(), count.clear(), begin.clear(), values.clear();
  double const scale = static_cast<double>(from) / static_cast<double>(to), reach = std::max(scale, 1.0);
  for (Index i = 0; i < to; ++i) {
    double const center = (static_cast<double>(i) + 0.5) * scale;
    auto const start = std::max<Index>(0, static_cast<Index>(std::floor(center - reach + 0.5)));
    auto const end = std::min(from, static_cast<Index>(std::floor(center + reach + 0.5)));
    std::size_t const at = values.size();
    double sum = 0;
    for (Index j = start; j < end; ++j) {
      double const weight = std::max(0.0, 1 - std::abs(static_cast<double>(j) + 0.5 - center) / reach);
      values.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (std::size_t k = at; k < values.size(); ++k) values[k] /= static_cast<float>(sum);
    first.push_back(start);
    count.push_back(end - start);
    begin.push_back(at);
  }
}

void Sampler::sample(DecodedPicture const& picture, float* values) {
  Index const width = picture.width;
  auto const take = [&](Index channel, std::uint8_t const* pixel, float* to, Index count) {
    for (Index i = 0; i < count; ++i, pixel += 3) {
      // Grey is the luma of ITU-R BT.601.
      to[i] = channels_ == 3 ? static_cast<float>(pixel[channel]) / 255
                             : static_cast<float>(299 * pixel[0] + 587 * pixel[1] + 114 * pixel[2]) / (1000 * 255);
    }
  };
  if (width == width_ && picture.height == height_) {
    Index const size = width * height_;
    for (Index c = 0; c < channels_; ++c) take(c, picture.values.data(), values + c * size, size);
    return;
  }
  horizontal_.set(width, width_);
  vertical_.set(picture.height, height_);
  line_.resize(static_cast<std::size_t>(width));
  resized_.resize(static_cast<std::size_t>(width_));
  std::fill_n(values, channels_ * height_ * width_, 0.0f);
  for (Index c = 0; c < channels_; ++c) {
    float* const to = values + c * height_ * width_;
    std::size_t done = 0;  // how many lines of the result need no more of the picture
    for (Index y = 0; y < picture.height; ++y) {
      take(c, picture.values.data() + 3 * y * width, line_.data(), width);
      float const* weight = horizontal_.values.data();
      for (std::size_t x = 0; x < resized_.size(); ++x) {
        float sum = 0;
        float const* from = line_.data() + horizontal_.first[x];
        for (Index k = 0; k < horizontal_.count[x]; ++k) sum += *weight++ * *from++;
        resized_[x] = sum;
      }
      auto const lines = vertical_.first.size();
      while (done < lines && vertical_.first[done] + vertical_.count[done] <= y) ++done;
      for (std::size_t i = done; i < lines && vertical_.first[i] <= y; ++i) {
        float const share = vertical_.values[vertical_.begin[i] + static_cast<std::size_t>(y - vertical_.first[i])];
        float* const line = to + static_cast<Index>(i) * width_;
        for (Index x = 0; x < width_; ++x) line[x] += share * resized_[static_cast<std::size_t>(x)];
      }
    }
  }
}

}  // namespace coldpress::data
