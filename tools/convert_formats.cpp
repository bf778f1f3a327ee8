// The tables of formats with their endings, readers, writers and the options that they take, and of other endings.
#include "convert_formats.hpp"

#include <coldpress/convert/caffe.hpp>
#include <coldpress/convert/keras.hpp>
#include <coldpress/convert/mocha.hpp>
#include <coldpress/convert/nam.hpp>
#include <coldpress/convert/npz.hpp>
#include <coldpress/convert/rtneural.hpp>
#include <coldpress/convert/safetensors.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>

namespace coldpress::command {

using convert::Conversion;

namespace {

/// A format whose tensors have PyTorch's names, or those of a map.
Format state_dict(std::string const& name, decltype(convert::read_npz)& read, decltype(convert::write_npz)& write,
                  std::shared_ptr<Chosen> const& chosen) {
  return {.name = name,
          .endings = {"." + name},
          .weights_only = true,
          .named = true,
          .read_network =
              [&read, chosen](std::string const& path, dynamic::LayerConfig config, convert::Options options) {
                options.names = chosen->names;
                return read(path, std::move(config), options);
              },
          .write_network = [&write, chosen](std::string const& path,
                                            persist::Model const& model) { write(path, model, chosen->names); }};
}

}  // namespace

std::vector<Format> formats(std::shared_ptr<Chosen> const& chosen) {
  return {
      {.name = "juice",
       .endings = {".juice"},
       .metadata = true,
       .transforms = true,
       .read_network = [](std::string const& path, dynamic::LayerConfig const&,
                          convert::Options const&) { return Conversion{.model = persist::read_model(path)}; },
       .write_network = persist::write_model},
      {.name = "nam",
       .endings = {".nam"},
       .metadata = true,
       .read_network =
           [chosen](std::string const& path, dynamic::LayerConfig const&, convert::Options const& options) {
             auto read = convert::read_nam(path, {.size = chosen->size, .input = options.input});
             chosen->sizes = std::move(read.sizes);
             return Conversion{.model = std::move(read.model)};
           },
       .write_network = [](std::string const& path, persist::Model const& model) { convert::write_nam(path, model); }},
      {.name = "onnx",
       .endings = {".onnx"},
       .metadata = true,
       .read_network =
           [chosen](std::string const& path, dynamic::LayerConfig const&, convert::Options const& options) {
             chosen->onnx.input = options.input;
             return convert::read_onnx(path, chosen->onnx);
           },
       .write_network = [](std::string const& path, persist::Model const& model) { convert::write_onnx(path, model); }},
      {.name = "mocha",
       .endings = {".hdf5", ".h5"},
       .weights_only = true,
       .read_network = convert::read_mocha,
       .write_network = convert::write_mocha,
       .read_array = convert::read_mocha_mean},
      {.name = "caffe",
       .endings = {".caffemodel", ".binaryproto"},
       .weights_only = true,
       .read_network = convert::read_caffe,
       .read_array = convert::read_caffe_mean},
      {.name = "rtneural",
       .endings = {".json"},
       .read_network =
           [](std::string const& path, dynamic::LayerConfig const&, convert::Options const& options) {
             return Conversion{.model = convert::read_rtneural(path, {.input = options.input})};
           }},
      {.name = "keras",
       .endings = {".keras"},
       .read_network =
           [chosen](std::string const& path, dynamic::LayerConfig const&, convert::Options const& options) {
             return Conversion{
                 .model = convert::read_keras(path, {.input = options.input, .channels_last = chosen->channels_last})};
           }},
      state_dict("safetensors", convert::read_safetensors, convert::write_safetensors, chosen),
      state_dict("npz", convert::read_npz, convert::write_npz, chosen),
      {.name = "type",
       .endings = {".hpp"},
       .about = "writes networks as C++, with the weights in a .juice beside",
       .metadata = true,
       .transforms = true,
       .write_network = [chosen](std::string const& path,
                                 persist::Model const& model) { write_type(path, model, chosen->type); }},
      {.name = "config",
       .endings = {".capnp.txt"},
       .about = "reads networks for types, writes networks without their weights, and configs as text",
       .transforms = true,
       .read_network = [](std::string const& path, dynamic::LayerConfig const&,
                          convert::Options const&) { return Conversion{.model = model_of_config(path)}; },
       .write_network = write_config},
      {.name = "npy", .endings = {".npy"}, .write_array = [](std::string const& path, data::NpyArray const& array) {
         data::write_npy(path, array.extents, array.values);
       }}};
}

void check_ending(std::string const& option, std::string const& path, std::vector<std::string> const& names) {
  static constexpr std::pair<std::string_view, std::string_view> without_networks[] = {
      {".csv", "tables"},          {".tsv", "tables"},           {".txt", "texts"},
      {".wav", "sounds"},          {".png", "pictures"},         {".jpg", "pictures"},
      {".jpeg", "pictures"},       {".svg", "pictures"},         {".html", "pages"},
      {".gz", "compressed files"}, {".pt", "models of PyTorch"}, {".pth", "models of PyTorch"}};
  std::string lower = path;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string others;
  std::vector<std::string> ours;
  bool chosen = names.size() < 2;  // nothing depends on the ending of a single format
  for (Format const& format : formats()) {
    bool const is_ours = std::ranges::find(names, format.name) != names.end();
    for (std::string const& ending : format.endings) {
      if (is_ours) ours.push_back(ending), chosen = chosen || path.ends_with(ending);
      if (!is_ours && lower.ends_with(ending)) others = "files of the format " + format.name;
    }
  }
  for (auto const& [ending, kind] : without_networks)
    if (others.empty() && lower.ends_with(ending)) others = kind;
  if (others.empty() && chosen) return;
  std::string const shown = "'" + persist::printable(path) + "'";
  throw CLI::ValidationError(option, (others.empty() ? "the ending of " + shown + " is that of no known format (endings are in lower case)"
                                                     : shown + " ends as " + others + " do") +
                                         "; the network is saved as " + joined(ours) +
                                         ", and coldpress convert makes other formats of that");
}

}  // namespace coldpress::command
