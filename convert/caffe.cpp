// Turns the blobs of Caffe's layers into weights of a config, those of a Scale with those of the layer before it.
#include <coldpress/convert/caffe.hpp>

#include <coldpress/persist/model.hpp>

#include "caffe_file.hpp"
#include "mean.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <string_view>

namespace coldpress::convert {
namespace {

/// Translates the blobs of a file's layers, in Caffe's order, into weights of a config's layers.
class Translation {
 public:
  explicit Translation(std::vector<CaffeLayer> const& layers) : layers_(layers), taken_(layers.size()) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      for (std::string const& name : layers[i].bottom) readers_[name].push_back(i);
    }
    for (std::size_t i = 0; i < layers.size(); ++i) {
      CaffeLayer const& layer = layers[i];
      if (layer.blobs.empty() || taken_[i]) continue;
      if (layer.type == "BatchNorm") {
        batch_norm(i);
      } else if (layer.type == "Convolution" || layer.type == "InnerProduct" || layer.type == "Embed") {
        affine(layer);
      } else {
        for (std::size_t k = 0; k < layer.blobs.size(); ++k) stored(layer, k, layer, "");
      }
    }
  }
  std::vector<Blob> blobs() && { return std::move(blobs_); }

 private:
  static std::string origin(CaffeLayer const& layer, std::size_t blob) {
    return layer.name + " (" + layer.type + ") blob " + std::to_string(blob);
  }
  /// Adds blob k of layer `from` for the weight of layer `to` with this suffix; an empty suffix says that no weight
  /// takes it.
  Blob& stored(CaffeLayer const& from, std::size_t k, CaffeLayer const& to, std::string suffix) {
    CaffeBlob const& blob = from.blobs[k];
    return blobs_.emplace_back(Blob{.layer = to.name,
                                    .suffix = std::move(suffix),
                                    .origin = origin(from, k),
                                    .shape = blob.shape,
                                    .read = [blob](std::span<float> values) { blob.read(values); }});
  }
  /// Adds a weight that Caffe leaves out, with the value that changes nothing.
  void constant(CaffeLayer const& layer, std::string suffix, Index size, float value) {
    std::string const without = value == 0 ? ") without a bias: 0" : ") without a Scale: 1";
    blobs_.push_back({.layer = layer.name,
                      .suffix = std::move(suffix),
                      .origin = layer.name + " (" + layer.type + without,
                      .shape = {size},
                      .read = [value](std::span<float> values) { std::ranges::fill(values, value); },
                      .implied = true});
  }

  void affine(CaffeLayer const& layer) {
    auto const suffix = [](std::size_t k) { return k == 0 ? "-0" : k == 1 ? "-0-bias" : ""; };
    for (std::size_t k = 0; k < layer.blobs.size(); ++k) {
      Blob& blob = stored(layer, k, layer, suffix(k));
      if (k == 0 && layer.transpose) transpose(blob);
    }
    // In older files a matrix is {1, 1, out, in}.
    auto const& shape = blobs_.back().shape;
    bool const dense = layer.type == "InnerProduct";
    if (layer.blobs.size() == 1 && shape.size() >= 2 && layer.type != "Embed")
      constant(layer, "-0-bias", dense ? shape[shape.size() - 2] : shape[0], 0);
  }

  static void transpose(Blob& blob) {
    if (blob.shape.size() != 2)
      throw FormatError{"'" + persist::printable(blob.origin) + "' is transposed, but is no matrix"};
    std::swap(blob.shape[0], blob.shape[1]);
    blob.read = [read = std::move(blob.read), rows = static_cast<std::size_t>(blob.shape[0]),
                 columns = static_cast<std::size_t>(blob.shape[1])](std::span<float> values) {
      std::vector<float> before(values.size());
      read(before);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = before[i % columns * rows + i / columns];
    };
  }

  /// Caffe stores sums of the means and of the variances; the third blob has the number to divide them by.
  void batch_norm(std::size_t number) {
    CaffeLayer const& layer = layers_[number];
    bool const whole =
        layer.blobs.size() == 3 && layer.blobs[2].shape == std::vector<Index>(layer.blobs[2].shape.size(), 1);
    if (!whole)
      throw FormatError{"layer '" + persist::printable(layer.name) + "' is a BatchNorm with " +
                        std::to_string(layer.blobs.size()) + " blobs, expected mean, variance and one scale factor"};
    float sum = 0;
    layer.blobs[2].read({&sum, 1});
    float const factor = sum == 0 ? 0 : 1 / sum;
    for (std::size_t k = 0; k < 2; ++k) {
      Blob& blob = stored(layer, k, layer, k == 0 ? "-0-mean" : "-0-variance");
      blob.read = [read = std::move(blob.read), factor, origin = blob.origin, k](std::span<float> values) {
        read(values);
        for (float& value : values) value *= factor;
        if (k == 1 && std::ranges::any_of(values, [](float value) { return value < 0; }))
          throw DataError{"'" + persist::printable(origin) + "' has a variance below 0"};
      };
    }
    CaffeLayer const* const scale = scale_after(number);
    auto const& shape = blobs_.back().shape;
    Index const channels = std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>{});
    if (scale) {
      stored(*scale, 0, layer, "-0");
      for (std::size_t k = 1; k < scale->blobs.size(); ++k) stored(*scale, k, layer, k == 1 ? "-0-bias" : "");
    } else {
      constant(layer, "-0", channels, 1);
    }
    if (!scale || scale->blobs.size() == 1) constant(layer, "-0-bias", channels, 0);
  }

  /// The Scale that is the first to read what the layer writes; null if there is none.
  CaffeLayer const* scale_after(std::size_t number) {
    auto const& top = layers_[number].top;
    auto const readers = top.empty() ? readers_.end() : readers_.find(top[0]);
    if (readers == readers_.end()) return nullptr;
    auto const next = std::ranges::upper_bound(readers->second, number);
    if (next == readers->second.end()) return nullptr;
    CaffeLayer const& layer = layers_[*next];
    if (layer.type != "Scale" || layer.bottom.size() != 1 || layer.blobs.empty()) return nullptr;
    taken_[*next] = true;
    return &layer;
  }

  std::vector<CaffeLayer> const& layers_;
  std::map<std::string_view, std::vector<std::size_t>> readers_;  // of each value, in order
  std::vector<bool> taken_;                                       // layers whose blobs another layer has taken
  std::vector<Blob> blobs_;
};

}  // namespace

Conversion read_caffe(std::string const& path, dynamic::LayerConfig config, Options const& options) {
  auto const layers = read_caffe_layers(path);
  return with_file(path, [&] { return fill(std::move(config), Translation{layers}.blobs(), options); });
}

data::NpyArray read_caffe_mean(std::string const& path) {
  CaffeBlob const blob = read_caffe_blob(path);
  return with_file(
      path, [&] { return mean_of("the mean", blob.shape, [&](std::span<float> values) { blob.read(values); }); });
}

}  // namespace coldpress::convert
