// Tells formats by the first bytes, the members of a zip file or the keys of a JSON object, and calls their readers.
#include <coldpress/convert/format.hpp>

#include <coldpress/convert/keras.hpp>
#include <coldpress/convert/nam.hpp>
#include <coldpress/convert/onnx.hpp>
#include <coldpress/convert/rtneural.hpp>
#include <coldpress/core/error.hpp>

#include "data/positioned_file.hpp"
#include "data/zip_file.hpp"
#ifdef COLDPRESS_CONVERT_KERAS
#include "keras_file.hpp"
#endif

#include <algorithm>
#include <vector>

namespace coldpress::convert {
namespace {

constexpr std::size_t most_read = 4096;
constexpr std::string_view of_npy = "\x93NUMPY", of_hdf5 = "\x89HDF\r\n\x1a\n", of_zip = "PK\3\4",
                           of_empty_zip = "PK\5\6";

/// Whether a file begins with a length of 8 bytes and has a JSON header of that length.
bool is_safetensors(std::string_view begin, std::uint64_t size) {
  if (begin.size() < 10 || begin[8] != '{') return false;
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(begin[i]);
  return length <= size - 8;
}

/// Whether a file begins as a pickle of protocol 2 to 5 does.
bool is_pickle(std::string_view begin) {
  return begin.size() > 2 && begin[0] == '\x80' && begin[1] >= 2 && begin[1] <= 5;
}

bool has_model_of_keras([[maybe_unused]] std::string const& path) {
#ifdef COLDPRESS_CONVERT_KERAS
  return keras::has_model(path);
#else
  return false;
#endif
}

std::string_view format_of_members(std::string const& path) {
  auto const names = data::zip_names(path);
  auto const any = [&](std::string_view end) {
    return std::ranges::any_of(names, [&](std::string const& name) { return name.ends_with(end); });
  };
  if (any(".pkl")) return "pickle";
  if (any("model.weights.h5") && any("config.json")) return "keras";
  return any(".npy") ? "npz" : "";
}

/// The format of a JSON object, by the first key that only one of the formats has. That key may come after the weights.
std::string_view format_of_json(data::PositionedFile const& file, std::string bytes) {
  if (auto const first = bytes.find_first_not_of(" \t\r\n"); first == std::string::npos || bytes[first] != '{')
    return "";
  constexpr std::uint64_t most_searched = std::uint64_t{1} << 26;
  constexpr std::size_t piece = std::size_t{1} << 16;
  constexpr std::string_view of_rtneural = "\"in_shape\"", of_nam = "\"architecture\"";
  for (std::uint64_t read = bytes.size();;) {
    auto const in_shape = bytes.find(of_rtneural), architecture = bytes.find(of_nam);
    if (in_shape != architecture) return in_shape < architecture ? "rtneural" : "nam";
    if (read >= std::min(file.size(), most_searched)) return "";
    bytes.erase(0, bytes.size() - std::min(bytes.size(), of_nam.size() - 1));  // a key may be in two pieces
    auto const kept = bytes.size(), more = static_cast<std::size_t>(std::min<std::uint64_t>(piece, file.size() - read));
    bytes.resize(kept + more);
    file.read(read, std::as_writable_bytes(std::span{bytes}.subspan(kept)));
    read += more;
  }
}

}  // namespace

std::string_view format_of_content(std::string const& path) {
  try {
    data::PositionedFile const file{path};
    std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), most_read)), '\0');
    file.read(0, std::as_writable_bytes(std::span{bytes}));
    std::string_view const begin = bytes;
    if (begin.starts_with(of_npy)) return "npy";
    if (begin.starts_with(of_hdf5)) return has_model_of_keras(path) ? "keras" : "hdf5";
    if (begin.starts_with(of_zip) || begin.starts_with(of_empty_zip)) return format_of_members(path);
    if (is_safetensors(begin, file.size())) return "safetensors";
    if (is_pickle(begin)) return "pickle";
    return is_onnx(path) ? "onnx" : format_of_json(file, bytes);
  } catch (Error const&) {
    return "";  // the reader of the format that the ending says will say what is wrong
  }
}

namespace {

[[noreturn]] void refuse_pickle(std::string const& path) {
  UnsupportedError error{
      "is a pickle of Python, which is a program, and is not read; save the weights in Python with "
      "safetensors.torch.save_file(model.state_dict(), \"model.safetensors\"), or the whole network with "
      "torch.onnx.export(model, inputs, \"model.onnx\")"};
  error.in_file(path);
  throw error;
}

}  // namespace

void refuse_pickles(std::string const& path) {
  if (format_of_content(path) == "pickle") refuse_pickle(path);
}

Conversion read_network(std::string const& path, LoadOptions const& options) {
  std::string_view format = format_of_content(path);
  if (format.empty() && path.ends_with(".nam")) format = "nam";  // JSON whose first keys do not say what it is
  if (format.empty() && path.ends_with(".json")) format = "rtneural";
  if (format == "pickle") refuse_pickle(path);
  if (format == "nam") return {.model = read_nam(path, {.input = options.input}).model};
  if (format == "rtneural") return {.model = read_rtneural(path, {.input = options.input})};
  if (format == "keras") return {.model = read_keras(path, {.input = options.input})};
  if (format == "onnx") return read_onnx(path, {.input = options.input});
  if (format.empty()) return {.model = persist::read_model(path, options)};
  UnsupportedError error{"is " + std::string{format} +
                         ", which has only weights: read them into the network of a config, as coldpress convert "
                         "--config does"};
  error.in_file(path);
  throw error;
}

}  // namespace coldpress::convert
