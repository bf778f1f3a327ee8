// Parses the protobuf messages of Caffe, old and new, after counting what they would take in memory.
#include "caffe_file.hpp"

#include <coldpress/core/error.hpp>
#include <coldpress/data/atomic_file.hpp>
#include <coldpress/persist/model.hpp>

#include "protobuf.hpp"
#include "weights.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace coldpress::convert {
namespace {

using protobuf::Bytes, protobuf::for_each_part;

constexpr char const* caffe_file = "file of Caffe";
constexpr Index max_extent = Index{1} << 40;
constexpr int max_parts = 1 << 16, max_depth = 8;
constexpr std::size_t max_shape_bytes = 256;

/// Counts what becomes an object when a network is parsed, so that a file of many tiny parts cannot fill the memory.
class Limits {
 public:
  template <class Layer>
  void check_layer(Bytes layer) {
    add();
    require(for_each_part(layer, [&](int field, Bytes part) {
      if (field == Layer::kBlobsFieldNumber) check_blob(part);
      if (field == Layer::kBottomFieldNumber || field == Layer::kTopFieldNumber) add();
      if constexpr (std::is_same_v<Layer, caffe::OldLayer>) {
        if (field != Layer::kLayerFieldNumber) return;
        require(for_each_part(part, [&](int inner, Bytes blob) {
          if (inner == caffe::OldestLayer::kBlobsFieldNumber) check_blob(blob);
        }));
      }
    }));
  }
  void check_blob(Bytes blob) {
    add();
    std::size_t shape = 0;
    require(for_each_part(blob, [&](int field, Bytes part) {
      if (field == caffe::Blob::kShapeFieldNumber && (shape += part.size()) > max_shape_bytes)
        throw FormatError{"has a blob with more than 256 bytes of extents"};
    }));
  }
  static void require(bool holds) { protobuf::require_message(holds, caffe_file); }

 private:
  void add() {
    if (++count_ > max_parts)
      throw FormatError{"has more than " + std::to_string(max_parts) + " layers, blobs and names of values"};
  }
  int count_ = 0;
};

template <class Message>
Message parsed(Bytes bytes) {
  return protobuf::parsed<Message>(bytes, max_depth, caffe_file);
}

CaffeBlob checked(caffe::Blob&& message) {
  std::vector<Index> shape{message.shape().dim().begin(), message.shape().dim().end()};
  if (message.has_num() || message.has_channels() || message.has_height() || message.has_width())
    shape = {message.num(), message.channels(), message.height(), message.width()};
  Index const count = message.double_data_size() > 0 ? message.double_data_size() : message.data_size();
  Index size = 1;
  for (Index const extent : shape) {
    bool const possible = extent >= 1 && extent <= max_extent && size <= max_extent / extent;
    if (!possible) throw FormatError{"has the impossible shape " + persist::text(shape)};
    size *= extent;
  }
  if (size != count) {
    throw FormatError{"has " + std::to_string(count) + " values, but its shape " + persist::text(shape) + " requires " +
                      std::to_string(size)};
  }
  std::string{}.swap(*message.mutable_unknown_fields());  // the gradients, for example
  return {std::make_shared<caffe::Blob const>(std::move(message)), std::move(shape)};
}

template <class Strings>
std::vector<std::string> strings(Strings const& all) {
  return {all.begin(), all.end()};
}

template <class Blobs>
std::vector<CaffeBlob> blobs_of(std::string const& layer, Blobs& messages) {
  std::vector<CaffeBlob> blobs;
  for (int i = 0; i < messages.size(); ++i) {
    with_context([&] { blobs.push_back(checked(std::move(messages[i]))); },
                 [&](Error& error) {
                   error.in_layer(persist::printable(layer));
                   error.in_field("blob " + std::to_string(i));
                 });
  }
  return blobs;
}

/// The name of an old layer's type in newer files, if such a layer has blobs.
std::string type_name(int type) {
  return type == 4 ? "Convolution" : type == 14 ? "InnerProduct" : type == 39 ? "Deconvolution" : std::to_string(type);
}
std::string type_name(std::string const& type) {
  return type == "conv" ? "Convolution" : type == "innerproduct" ? "InnerProduct" : type;
}

CaffeLayer layer_of(caffe::Layer&& layer) {
  return {layer.name(),
          layer.type(),
          strings(layer.bottom()),
          strings(layer.top()),
          blobs_of(layer.name(), *layer.mutable_blobs()),
          layer.inner_product().transpose()};
}
CaffeLayer layer_of(caffe::OldLayer&& layer) {
  auto const bottom = strings(layer.bottom()), top = strings(layer.top());
  if (!layer.has_layer())
    return {layer.name(), type_name(layer.type()), bottom, top, blobs_of(layer.name(), *layer.mutable_blobs()), false};
  auto& oldest = *layer.mutable_layer();
  return {oldest.name(), type_name(oldest.type()), bottom, top, blobs_of(oldest.name(), *oldest.mutable_blobs()),
          false};
}

}  // namespace

void CaffeBlob::read(std::span<float> values) const {
  if (message->double_data_size() == 0) {
    std::copy(message->data().begin(), message->data().end(), values.begin());
    return;
  }
  constexpr double greatest = std::numeric_limits<float>::max();
  std::transform(message->double_data().begin(), message->double_data().end(), values.begin(), [](double value) {
    return std::abs(value) > greatest ? std::numeric_limits<float>::infinity() : static_cast<float>(value);
  });
}

std::vector<CaffeLayer> read_caffe_layers(std::string const& path) {
  constexpr int new_layers = 100, old_layers = 2;  // the fields of Caffe's NetParameter
  return with_file(path, [&] {
    auto const bytes = read_file(path, protobuf::max_file);
    Limits limits;
    Limits::require(for_each_part(bytes, [&](int field, Bytes layer) {
      if (field == new_layers) limits.check_layer<caffe::Layer>(layer);
      if (field == old_layers) limits.check_layer<caffe::OldLayer>(layer);
    }));
    std::vector<CaffeLayer> layers;
    for_each_part(bytes, [&](int field, Bytes layer) {
      if (field == new_layers) layers.push_back(layer_of(parsed<caffe::Layer>(layer)));
      if (field == old_layers) layers.push_back(layer_of(parsed<caffe::OldLayer>(layer)));
    });
    if (layers.empty()) throw FormatError{"has no layers: it is no network that Caffe saved"};
    return layers;
  });
}

CaffeBlob read_caffe_blob(std::string const& path) {
  return with_file(path, [&] {
    auto const bytes = read_file(path, protobuf::max_file);
    Limits{}.check_blob(bytes);
    return checked(parsed<caffe::Blob>(bytes));
  });
}

}  // namespace coldpress::convert
