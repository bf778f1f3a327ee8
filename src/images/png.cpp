// Decodes a PNG picture with libpng.
#include "picture.hpp"

#include <algorithm>
#include <string_view>

#include <png.h>

namespace coldpress::data {
namespace {

/// libpng's simplified interface, which reports errors by return and frees what it has.
class Image {
 public:
  Image() { image_.version = PNG_IMAGE_VERSION; }
  Image(Image const&) = delete;
  ~Image() { ::png_image_free(&image_); }
  png_image* operator->() { return &image_; }
  png_image* get() { return &image_; }
  template <class Failure>
  [[noreturn]] void failed(std::string const& what) const {
    throw Failure{what + ": " + image_.message};
  }

 private:
  png_image image_{};
};

/// Whether a warning is about something other than the pixels, such as "iCCP: known incorrect sRGB profile": the names
/// of such chunks begin with a small letter.
bool is_of_ancillary_chunk(std::string_view warning) {
  return warning.size() > 4 && warning[4] == ':' && warning[0] >= 'a' && warning[0] <= 'z';
}

}  // namespace

void decode_png(std::span<std::byte const> bytes, DecodedPicture& picture, bool pixels) {
  Image image;
  if (!::png_image_begin_read_from_memory(image.get(), bytes.data(), bytes.size()))
    image.failed<FormatError>("is a PNG file that cannot be read");
  picture.width = image->width, picture.height = image->height;
  check_size(picture);
  if (!pixels) return;
  // Colours of 16 bits are like those of 8 bits, unless the file says otherwise.
  image->flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  image->format = PNG_FORMAT_RGBA;  // without a background, transparent colours stay as they are
  picture.values.resize(static_cast<std::size_t>(4 * picture.width * picture.height));
  if (!::png_image_finish_read(image.get(), nullptr, picture.values.data(), 0, nullptr))
    image.failed<FormatError>("is a damaged PNG file");
  if (image->warning_or_error != 0 && !is_of_ancillary_chunk(image->message))
    image.failed<FormatError>("is a damaged PNG file");
  std::size_t const count = picture.values.size() / 4;
  for (std::size_t i = 0; i < count; ++i) std::copy_n(&picture.values[4 * i], 3, &picture.values[3 * i]);
  picture.values.resize(3 * count);
}

}  // namespace coldpress::data
