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
  first.clear(), count.clear(), values.clear();
  double const scale = static_cast<double>(from) / static_cast<double>(to), reach = std::max(scale, 1.0);
  for (Index i = 0; i < to; ++i) {
    double const center = (static_cast<double>(i) + 0.5) * scale;
    auto const begin = std::max<Index>(0, static_cast<Index>(std::floor(center - reach + 0.5)));
    auto const end = std::min(from, static_cast<Index>(std::floor(center + reach + 0.5)));
    std::size_t const at = values.size();
    double sum = 0;
    for (Index j = begin; j < end; ++j) {
      double const weight = std::max(0.0, 1 - std::abs(static_cast<double>(j) + 0.5 - center) / reach);
      values.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (std::size_t k = at; k < values.size(); ++k) values[k] /= static_cast<float>(sum);
    first.push_back(begin);
    count.push_back(end - begin);
  }
}

void Sampler::sample(DecodedPicture const& picture, float* values) {
  Index const size = picture.width * picture.height;
  bool const as_it_is = picture.width == width_ && picture.height == height_;
  if (!as_it_is) {
    horizontal_.set(picture.width, width_);
    vertical_.set(picture.height, height_);
    plane_.resize(static_cast<std::size_t>(size));
    rows_.resize(static_cast<std::size_t>(picture.height * width_));
  }
  for (Index c = 0; c < channels_; ++c) {
    float* const to = values + c * height_ * width_;
    float* const plane = as_it_is ? to : plane_.data();
    std::uint8_t const* pixel = picture.values.data();
    for (Index i = 0; i < size; ++i, pixel += 3) {
      // Grey is the luma of ITU-R BT.601.
      plane[i] = channels_ == 3 ? static_cast<float>(pixel[c]) / 255
                                : static_cast<float>(299 * pixel[0] + 587 * pixel[1] + 114 * pixel[2]) / (1000 * 255);
    }
    if (as_it_is) continue;
    float* row = rows_.data();
    for (Index y = 0; y < picture.height; ++y) {
      float const* weight = horizontal_.values.data();
      for (std::size_t x = 0; x < horizontal_.first.size(); ++x) {
        float sum = 0;
        float const* from = plane + y * picture.width + horizontal_.first[x];
        for (Index k = 0; k < horizontal_.count[x]; ++k) sum += *weight++ * *from++;
        *row++ = sum;
      }
    }
    float const* weight = vertical_.values.data();
    for (std::size_t y = 0; y < vertical_.first.size(); ++y) {
      float* const line = to + static_cast<Index>(y) * width_;
      std::fill_n(line, width_, 0.0f);
      for (Index k = 0; k < vertical_.count[y]; ++k, ++weight) {
        float const* const from = rows_.data() + (vertical_.first[y] + k) * width_;
        for (Index x = 0; x < width_; ++x) line[x] += *weight * from[x];
      }
    }
  }
}

}  // namespace coldpress::data
