// Decodes a JPEG picture with libjpeg, whose errors are caught by a jump.
#include "picture.hpp"

#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>
// jerror.h needs what jpeglib.h declares.
#include <jerror.h>

namespace coldpress::data {
namespace {

// Small files may have any number of scans, each of which passes over all pixels.
constexpr int most_scans = 100;

/// libjpeg, which jumps out of its functions after an error. Between setjmp and the jump there are no objects that need
/// a destructor.
class Decoder {
 public:
  Decoder() {
    info_.err = ::jpeg_std_error(&errors_.base);
    errors_.base.error_exit = [](j_common_ptr info) { stop(info); };
    errors_.base.emit_message = [](j_common_ptr info, int level) {
      if (level < 0 && !is_harmless(info->err->msg_code)) stop(info);
    };
    errors_.base.output_message = [](j_common_ptr) {};
    progress_.progress_monitor = [](j_common_ptr info) {
      auto* const decoder = reinterpret_cast<j_decompress_ptr>(info);
      if (decoder->input_scan_number > most_scans) ERREXIT(info, JERR_BAD_PROGRESSION);
    };
  }
  Decoder(Decoder const&) = delete;
  ~Decoder() {
    if (created_) ::jpeg_destroy_decompress(&info_);
  }

  /// False after an error.
  bool read_header(std::span<std::byte const> bytes) {
    if (setjmp(errors_.back)) return false;
    ::jpeg_create_decompress(&info_);
    created_ = true;
    info_.progress = &progress_;
    ::jpeg_mem_src(&info_, reinterpret_cast<unsigned char const*>(bytes.data()), bytes.size());
    ::jpeg_read_header(&info_, TRUE);
    return true;
  }
  Index width() const { return info_.image_width; }
  Index height() const { return info_.image_height; }

  /// Whether a pixel has four values, cyan, magenta, yellow and black, as in print; otherwise it has three.
  bool has_black() const { return info_.num_components == 4; }
  bool read_pixels(std::uint8_t* values) {
    if (setjmp(errors_.back)) return false;
    info_.out_color_space = has_black() ? JCS_CMYK : JCS_RGB;
    info_.dct_method = JDCT_ISLOW;
    ::jpeg_start_decompress(&info_);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = values + std::size_t{info_.output_scanline} * info_.output_width *
                                  static_cast<std::size_t>(info_.output_components);
      ::jpeg_read_scanlines(&info_, &row, 1);
    }
    ::jpeg_finish_decompress(&info_);
    return true;
  }
  /// Adobe's programs store 255 minus each of these values.
  bool is_inverted() const { return info_.saw_Adobe_marker != 0; }

  [[noreturn]] void failed() {
    char text[JMSG_LENGTH_MAX];
    errors_.base.format_message(reinterpret_cast<j_common_ptr>(&info_), text);
    throw FormatError{std::string{"is a damaged JPEG file: "} + text};
  }

 private:
  struct Errors {
    jpeg_error_mgr base;  // the first member, because the library passes its address to stop()
    std::jmp_buf back;
  };
  [[noreturn]] static void stop(j_common_ptr info) { std::longjmp(reinterpret_cast<Errors*>(info->err)->back, 1); }
  /// Warnings about files that are decoded as they were meant.
  static bool is_harmless(int code) {
    return code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR ||
           code == JWRN_NOT_SEQUENTIAL;
  }

  jpeg_decompress_struct info_{};
  jpeg_progress_mgr progress_{};
  Errors errors_{};
  bool created_ = false;
};

}  // namespace

void decode_jpeg(std::span<std::byte const> bytes, DecodedPicture& picture, bool pixels) {
  Decoder decoder;
  if (!decoder.read_header(bytes)) decoder.failed();
  picture.width = decoder.width(), picture.height = decoder.height();
  check_size(picture);
  if (!pixels) return;
  auto const count = static_cast<std::size_t>(picture.width * picture.height);
  auto& values = picture.values;
  values.resize(count * (decoder.has_black() ? 4 : 3));
  if (!decoder.read_pixels(values.data())) decoder.failed();
  if (!decoder.has_black()) return;
  for (std::size_t i = 0; i < count; ++i) {
    auto const ink = [&](std::size_t c) { return decoder.is_inverted() ? 255 - values[4 * i + c] : values[4 * i + c]; };
    int const light = 255 - ink(3);
    for (std::size_t c = 0; c < 3; ++c)
      values[3 * i + c] = static_cast<std::uint8_t>((light * (255 - ink(c)) + 127) / 255);
  }
  values.resize(3 * count);
}

}  // namespace coldpress::data
