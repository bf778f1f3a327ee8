// Adds the layers of a Sequential or Functional model, and of the models inside, call by call.
#include "keras_model.hpp"

#include "keras_entries.hpp"
#include "keras_file.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace coldpress::convert {
namespace {

using json::Json, json::Node;
using keras::Builder, keras::Call, keras::Layer, keras::Place, keras::Source, keras::Value;

class KerasReader {
 public:
  KerasReader(keras::Contents& contents, KerasOptions const& options) : builder_(contents), options_(options) {}

  persist::Model read(Node const& model) {
    auto outputs = add_model(model, {}, {}, "", 0);
    for (Value& output : outputs) {
      std::string const name = output.name;
      output = options_.channels_last ? builder_.keras_order(name, output) : builder_.settled(name, output);
    }
    Node const config = model["config"];
    auto const name = config.is_object() ? config.find_value("name") : std::nullopt;
    return builder_.model(name && name->is_text() ? name->text() : "network", outputs);
  }

 private:
  using Values = std::map<Source, Value>;
  struct WaitingCall {
    std::size_t layer, number;  // 0: the layer's first
    Call call;
  };

  std::vector<Value> add_model(Node const& model, std::vector<Value> const& inputs, Place const& place,
                               std::string const& prefix, int depth) {
    auto const layers = keras::layers_of(model, place);
    if (layers.empty()) model.refuse("has no layers");
    return model["class_name"].text() == "Sequential" ? add_sequential(model, layers, inputs, prefix, depth)
                                                      : add_functional(model, layers, inputs, prefix, depth);
  }

  std::vector<Value> add_sequential(Node const& model, std::vector<Layer> const& layers, std::vector<Value> inputs,
                                    std::string const& prefix, int depth) {
    Node const config = model["config"], list = config.is_list() ? config : config["layers"];
    if (inputs.empty() && layers[0].kind != "InputLayer") {
      bool const inside = layers[0].config.find_value("batch_input_shape").has_value();
      Node const& holder = inside ? layers[0].config : config;
      auto const shape = holder.find_value(inside ? "batch_input_shape" : "build_input_shape");
      if (!shape) model.refuse("does not say the shape of its input");
      inputs = {add_input("input", *shape)};
    }
    std::vector<Value> values = inputs;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (layers[i].kind == "InputLayer") {
        if (inputs.empty()) inputs = values = {add_input(layers[i].name, shape_of(layers[i].config))};
        continue;
      }
      values = add(list[i], layers[i], {}, values, prefix, depth);
    }
    return values;
  }

  std::vector<Value> add_functional(Node const& model, std::vector<Layer> const& layers,
                                    std::vector<Value> const& inputs, std::string const& prefix, int depth) {
    Node const config = model["config"], list = config["layers"];
    auto const begins = keras::ends_of(config["input_layers"]), ends = keras::ends_of(config["output_layers"]);
    if (!inputs.empty() && begins.size() != inputs.size())
      model.refuse<UnsupportedError>("reads " + std::to_string(inputs.size()) + " values, and has " +
                                     std::to_string(begins.size()) + " inputs");
    Values values;
    for (std::size_t b = 0; b < begins.size(); ++b) {
      auto const layer = std::ranges::find(layers, begins[b].layer, &Layer::name);
      if (layer == layers.end() || layer->kind != "InputLayer")
        config["input_layers"].refuse("'" + persist::printable(begins[b].layer) + "' is no input layer");
      values.emplace(begins[b], inputs.empty() ? add_input(layer->name, shape_of(layer->config)) : inputs[b]);
    }
    std::vector<WaitingCall> waiting;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (values.contains({layers[i].name, 0})) continue;
      std::vector<Call> calls = keras::calls_of(list[i]);
      if (calls.empty()) list[i].refuse("is called by nothing");
      std::string const name = prefix + layers[i].name;
      for (std::size_t c = 0; c < calls.size(); ++c) {
        if (calls.size() > 1) builder_.share(call_name(name, c), name);
        waiting.push_back({i, c, std::move(calls[c])});
      }
    }
    // Layers usually come after what they read.
    for (bool any = true; any && !waiting.empty();) {
      any = false;
      std::vector<WaitingCall> left;
      for (WaitingCall& next : waiting) {
        auto const& sources = next.call.sources;
        bool const ready = std::ranges::all_of(sources, [&](Source const& from) { return values.contains(from); });
        if (!ready || sources.empty()) {
          left.push_back(std::move(next));
          continue;
        }
        std::vector<Value> in;
        for (Source const& from : sources) in.push_back(values.at(from));
        Node const& entry = list[next.layer];
        Layer layer = layers[next.layer];
        layer.name = call_name(layer.name, next.number);
        auto const out = add(entry, layer, next.call.keywords, in, prefix, depth);
        if (out.size() != 1) entry.refuse<UnsupportedError>("has " + std::to_string(out.size()) + " outputs");
        Source const made{layers[next.layer].name, next.number + keras::first_call_of(entry)};
        if (!values.emplace(made, out[0]).second) entry.refuse("has the name of another layer");
        any = true;
      }
      waiting = std::move(left);
    }
    if (!waiting.empty()) list[waiting[0].layer].refuse("reads something that no layer before it computes");
    std::vector<Value> outputs;
    for (Source const& end : ends) {
      auto const value = values.find(end);
      if (value == values.end()) config["output_layers"].refuse("'" + persist::printable(end.layer) + "' is no layer");
      outputs.push_back(value->second);
    }
    if (outputs.empty()) config["output_layers"].expected("a list of at least 1");
    return outputs;
  }

  /// The name of the layer that a call of a layer becomes.
  static std::string call_name(std::string const& layer, std::size_t call) {
    return call == 0 ? layer : layer + "." + std::to_string(call + 1);
  }

  std::vector<Value> add(Node const& entry, Layer layer, std::optional<Node> const& keywords,
                         std::vector<Value> const& inputs, std::string const& prefix, int depth) {
    if (keras::is_model(layer.kind))
      return add_model(entry, inputs, layer.place.part("layers"), prefix + layer.name + ".", depth + 1);
    layer.name = prefix + layer.name;
    layer.keywords = keywords;
    if (layer.kind == "TimeDistributed") {
      if (inputs.size() != 1 || !inputs[0].is_sequence())
        layer.config.refuse<UnsupportedError>("does not read a sequence {steps, features}");
      Node const inner = layer.config["layer"];
      std::string const kind = inner["class_name"].text();
      static std::set<std::string> const by_step{"Dense", "Activation", "Dropout", "ReLU", "LeakyReLU", "ELU"};
      if (!by_step.contains(kind))
        inner.refuse<UnsupportedError>("is a layer " + kind + ", which TimeDistributed may not have here");
      layer = {kind, layer.name, inner["config"], layer.place.part("layer")};
    }
    return {keras::add_layer(builder_, layer, inputs)};
  }

  static Node shape_of(Node const& config) {
    return config.find_value("batch_shape") ? config["batch_shape"] : config["batch_input_shape"];
  }

  Value add_input(std::string const& name, Node const& batch_shape) {
    if (batch_shape.size() < 2 || batch_shape.size() > 5)
      batch_shape.refuse<UnsupportedError>("has " + std::to_string(batch_shape.size()) +
                                           " extents, expected 2 to 5, the batch first");
    auto const rank = static_cast<int>(batch_shape.size()) - 1;
    Shape keras{};  // with 0 where the model leaves the extent open
    for (int a = 0; a < rank; ++a) {
      Node const extent = batch_shape[static_cast<std::size_t>(a) + 1];
      keras.extents[a] = extent.is_null() ? 0 : extent.integer(1, keras::max_size);
    }
    bool const image = rank >= 3, last = options_.channels_last;
    Shape here = keras;
    if (image && !last) std::rotate(here.extents, here.extents + rank - 1, here.extents + rank);
    if (options_.input) {
      for (int a = 0; a < rank || a < options_.input->rank(); ++a) {
        Index const given = options_.input->extents[a];
        if (a >= rank || given == 0 || (here.extents[a] != 0 && here.extents[a] != given))
          throw ShapeError{"the input is " + to_string(*options_.input) + ", but the model reads " +
                           described(here, rank)};
        here.extents[a] = given;
      }
    }
    if (rank == 2 && here.extents[0] == 0) here.extents[0] = 1;  // a step at a time
    if (std::find(here.extents, here.extents + rank, 0) != here.extents + rank)
      throw ShapeError{"the model reads " + described(here, rank) + ", so that the shape of its input must be given"};
    Value const x = builder_.input(name, here);
    return image && last ? builder_.our_order(name, x) : x;
  }
  static std::string described(Shape const& shape, int rank) {
    std::string text;
    for (int a = 0; a < rank; ++a)
      text += (a ? ", " : "{") + (shape.extents[a] ? std::to_string(shape.extents[a]) : std::string{"?"});
    return text + "}";
  }

  Builder builder_;
  KerasOptions const& options_;
};

}  // namespace

persist::Model keras::read_model(Contents& contents, KerasOptions const& options) {
  Json const json = json::parse_json(contents.config());
  Node const model{json, ""};
  std::string const kind = model["class_name"].text();
  if (!is_model(kind))
    model["class_name"].refuse<UnsupportedError>("got " + json::described(model["class_name"].json()) +
                                                 ", expected \"Sequential\" or \"Functional\"");
  refuse_unknown(model);
  refuse_quantised(model);
  return KerasReader{contents, options}.read(model);
}

persist::Model read_keras(std::string const& path, KerasOptions const& options) {
  return with_file(path, [&] {
    keras::File file{path};
    return keras::read_model(file, options);
  });
}

}  // namespace coldpress::convert
