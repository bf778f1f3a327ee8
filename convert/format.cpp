// Tells formats by the first bytes, the members of a zip file or the keys of a JSON object, and calls their readers.
#include <coldpress/convert/format.hpp>

#include <coldpress/convert/keras.hpp>
#include <coldpress/convert/nam.hpp>
#include <coldpress/convert/onnx.hpp>
#include <coldpress/convert/rtneural.hpp>
#include <coldpress/core/error.hpp>

#include "data/positioned_file.hpp"
#include "data/zip_file.hpp"
#include "other_formats.hpp"
#ifdef COLDPRESS_CONVERT_KERAS
#include "keras_file.hpp"
#endif

#include <algorithm>

namespace coldpress::convert {
namespace {

constexpr std::size_t most_read = 4096;

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
    persist::OtherFormat const* const found = persist::other_format(bytes, file.size());
    if (!found) return "";
    if (found->name == "hdf5") return has_model_of_keras(path) ? "keras" : "hdf5";
    if (found->name == "zip") return format_of_members(path);
    if (found->name == "json") return format_of_json(file, bytes);
    constexpr std::string_view others[] = {"npy", "safetensors", "pickle", "onnx"};
    return std::ranges::find(others, found->name) != std::end(others) ? found->name : "";
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
  // That of an array says what reads it.
  if (format.empty() || format == "npy") return {.model = persist::read_model(path, options)};
  UnsupportedError error{"is " + std::string{format} +
                         ", which has only weights: read them into the network of a config, as coldpress convert "
                         "--config does"};
  error.in_file(path);
  throw error;
}

}  // namespace coldpress::convert
