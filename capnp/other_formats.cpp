// The table of formats that are not those of coldpress, with what reads them.
#include "other_formats.hpp"

#include <algorithm>
#include <iterator>

namespace coldpress::persist {
namespace {

template <char const*... starts>
bool begins_with(std::string_view begin, std::uint64_t) {
  return (begin.starts_with(starts) || ...);
}

constexpr char of_npy[] = "\x93NUMPY", of_hdf5[] = "\x89HDF\r\n\x1a\n", of_zip[] = "PK\3\4", of_empty_zip[] = "PK\5\6",
               of_png[] = "\x89PNG\r\n\x1a\n", of_jpeg[] = "\xff\xd8\xff", of_gzip[] = "\x1f\x8b",
               of_lfs[] = "version https://git-lfs", of_html[] = "<!DOCTYPE", of_markup[] = "<html", of_xml[] = "<?xml";

bool is_json(std::string_view begin, std::uint64_t) {
  auto const first = begin.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && begin[first] == '{';
}

/// A length of 8 bytes, and a JSON header of that length.
bool is_safetensors(std::string_view begin, std::uint64_t size) {
  if (begin.size() < 10 || begin[8] != '{') return false;
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(begin[i]);
  return length <= size - 8;
}

/// A pickle of protocol 2 to 5.
bool is_pickle(std::string_view begin, std::uint64_t) {
  return begin.size() > 2 && begin[0] == '\x80' && begin[1] >= 2 && begin[1] <= 5;
}

/// A model begins with the version of the format, a number, and goes on with one of the fields of a model that have a
/// length.
bool is_onnx(std::string_view begin, std::uint64_t) {
  constexpr char version = 0x08, newest = 64;
  constexpr std::string_view next = "\x12\x1a\x22\x32\x3a\x42\x72";
  return begin.size() > 2 && begin[0] == version && begin[1] >= 1 && begin[1] < newest &&
         next.find(begin[2]) != std::string_view::npos;
}

bool is_sound(std::string_view begin, std::uint64_t) {
  return begin.starts_with("RIFF") && begin.size() >= 12 && begin.substr(8, 4) == "WAVE";
}

constexpr std::string_view networks = "convert::read_network and coldpress convert read such networks",
                           weights = "coldpress convert --config reads such weights into the network of a config",
                           samples = "data::open_source and --data read samples", nothing = "nothing here reads it";

// Of two that begin alike, the one that is rarer by chance comes first: a length may be spelt with a bracket of JSON.
constexpr OtherFormat table[] = {
    {"safetensors", "a .safetensors file", weights, is_safetensors},
    {"onnx", "an ONNX model", networks, is_onnx},
    {"hdf5", "an HDF5 file", "coldpress convert reads networks of Keras and weights of Mocha, and --data hdf5: samples",
     begins_with<of_hdf5>},
    {"zip", "a zip file, as .keras, .npz and .pt files are",
     "coldpress convert reads networks of Keras, and with --config weights in .npz files",
     begins_with<of_zip, of_empty_zip>},
    {"npy", "an array of NumPy", "coldpress data inspect npy:FILE shows it, and --data npy:FILE reads samples",
     begins_with<of_npy>},
    {"pickle", "a pickle of Python", "that is a program, and is not read; save as .safetensors or .onnx", is_pickle},
    {"png", "a PNG picture", samples, begins_with<of_png>},
    {"jpeg", "a JPEG picture", samples, begins_with<of_jpeg>},
    {"sound", "a WAV file", samples, is_sound},
    {"gzip", "a file that gzip compressed", "gunzip unpacks it", begins_with<of_gzip>},
    {"lfs", "a pointer of Git LFS", "git lfs pull gets the file itself", begins_with<of_lfs>},
    {"markup", "a page of HTML or XML", nothing, begins_with<of_html, of_markup, of_xml>},
    {"json", "JSON, as .nam files and models of RTNeural are", networks, is_json}};

}  // namespace

OtherFormat const* other_format(std::string_view begin, std::uint64_t size) {
  auto const* const found =
      std::ranges::find_if(table, [&](OtherFormat const& format) { return format.begins(begin, size); });
  return found == std::end(table) ? nullptr : found;
}

std::string seems_to_be(std::string_view begin, std::uint64_t size) {
  OtherFormat const* const found = other_format(begin, size);
  return found ? "; it seems to be " + std::string{found->is} + ": " + std::string{found->read} : "";
}

}  // namespace coldpress::persist
