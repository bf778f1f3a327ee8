// Reads classes, names and calls of layers, in the JSON of Keras 2 and 3, and lists classes that are not known.
#include "keras_entries.hpp"

#include <coldpress/persist/model.hpp>

#include <map>

namespace coldpress::convert::keras {
namespace {

constexpr int max_models = 16;  // one inside another
constexpr std::size_t max_layers = 10'000;

/// A class as the groups of a .keras file spell it: max_pooling2d of MaxPooling2D.
std::string snake_case(std::string_view name) {
  std::string snake;
  auto const lower = [](char c) { return c >= 'a' && c <= 'z'; };
  auto const upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (i > 0 && upper(name[i]) && (lower(name[i - 1]) || (i + 1 < name.size() && lower(name[i + 1])))) snake += '_';
    snake += upper(name[i]) ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
  }
  return snake;
}

/// Why layers of a class cannot be read; empty if support for them is merely missing.
std::string reason_of(std::string const& kind) {
  if (kind == "Masking") {
    return ", which finds the steps to hide by their values, while an rnn here takes the number of steps of each "
           "sample as an input; a model for sequences that need no padding does the same without it";
  }
  if (kind == "Lambda") return ", which is code of Python";
  return "";
}

/// The classes of all layers that are not known, with the layers' names.
void list_unknown(Node const& model, int depth, std::string& unknown) {
  if (depth == max_models) model.refuse("more than " + std::to_string(max_models) + " models, one inside another");
  auto const check = [&](Node const& entry, std::string const& kind, std::string const& name) {
    if (is_model(kind)) return list_unknown(entry, depth + 1, unknown);
    if (kind != "InputLayer" && kind != "TimeDistributed" && !is_known(kind))
      unknown += (unknown.empty() ? "" : ", ") + persist::printable(name) + " (" + persist::printable(kind) +
                 reason_of(kind) + ")";
  };
  Node const config = model["config"], list = config.is_list() ? config : config["layers"];
  for (std::size_t i = 0; i < list.size(); ++i) {
    Node const inner = list[i]["config"];
    auto const name = inner.find_value("name");
    check(list[i], list[i]["class_name"].text(), name ? name->text() : list[i].path());
  }
}

/// The name of a policy of dtypes that quantises weights, such as {"class_name": "QuantizedDTypePolicy"} or
/// "int8_from_float32", also in a map of policies.
std::optional<Node> quantising(Node const& dtype) {
  if (dtype.is_text() && dtype.text().find("_from_") != std::string::npos) return dtype;
  if (!dtype.is_object()) return std::nullopt;
  if (auto const kind = dtype.find_value("class_name"); kind && kind->is_text()) {
    std::string const name = kind->text();
    if (name.ends_with("DTypePolicy") && name != "DTypePolicy" && name != "FloatDTypePolicy") return kind;
  }
  for (auto const& [key, value] : dtype.json().items()) {
    if (auto const found = quantising(dtype[key])) return found;
  }
  return std::nullopt;
}

void refuse_quantised_in(Node const& node, std::string layer) {
  if (node.is_list()) {
    for (std::size_t i = 0; i < node.size(); ++i) refuse_quantised_in(node[i], layer);
  } else if (node.is_object()) {
    if (auto const name = node.find_value("name"); name && name->is_text()) layer = name->text();
    if (auto const dtype = node.find_value("dtype")) {
      if (auto const policy = quantising(*dtype))
        policy->refuse<UnsupportedError>("got " + json::described(policy->json()) + " for the layer '" +
                                         persist::printable(layer) +
                                         "', whose weights are quantised; expected weights that are floats");
    }
    for (auto const& [key, value] : node.json().items()) refuse_quantised_in(node[key], layer);
  }
}

/// The tensors that are named somewhere in the arguments of a call, in order: [layer, node, number].
void find_tensors(Node const& node, std::vector<Node>& found) {
  if (node.is_list()) {
    // Keras 2 names them so among the named arguments.
    if (node.size() == 3 && node[0].is_text() && node[1].json().is_number() && node[2].json().is_number())
      return found.push_back(node);
    for (std::size_t i = 0; i < node.size(); ++i) find_tensors(node[i], found);
  } else if (node.is_object()) {
    auto const kind = node.find_value("class_name");
    if (kind && kind->is_text() && kind->text() == "__keras_tensor__")
      return found.push_back(node["config"]["keras_history"]);
    for (auto const& [key, value] : node.json().items()) find_tensors(node[key], found);
  }
}

/// Adds the value and the key of an attention, if they are among the named arguments, and refuses other inputs there.
void add_named_inputs(std::string const& kind, Node const& keywords, std::vector<Node>& tensors) {
  auto const is_read = [&](std::string const& key) {
    return kind == "MultiHeadAttention" && (key == "value" || key == "key");
  };
  for (auto const& [key, value] : keywords.json().items()) {
    std::vector<Node> named;
    find_tensors(keywords[key], named);
    bool const constant = !value.is_null() && (key == "mask" || key == "initial_state");
    if ((!named.empty() || constant) && !is_read(key))
      keywords[key].refuse<UnsupportedError>("is another input, such as a mask or an initial state, which is not read");
  }
  for (std::string const key : {"value", "key"}) {
    if (auto const given = keywords.find_value(key); given && is_read(key)) find_tensors(*given, tensors);
  }
}

/// Refuses a call of Keras 2 with training=True, which holds when the model predicts, too. In Keras 3 it does not.
void refuse_training(Node const& keywords) {
  auto const training = keywords.find_value("training");
  if (training && training->json() != false && training->json() != 0)
    training->refuse<UnsupportedError>("got " + json::described(training->json()) +
                                       ", with which the layer always computes as in training; expected false or "
                                       "nothing");
}

/// The output of a call that [layer, call, number] names.
Source source_of(Node const& tensor) {
  if (tensor[2].integer(0, 64) != 0) tensor.refuse<UnsupportedError>("is not the first output of its layer");
  return {tensor[0].text(), static_cast<std::size_t>(tensor[1].integer(0, static_cast<Index>(max_layers)))};
}

}  // namespace

bool is_model(std::string const& kind) { return kind == "Sequential" || kind == "Functional" || kind == "Model"; }

std::vector<Layer> layers_of(Node const& model, Place const& place) {
  Node const config = model["config"];
  Node const list = config.is_list() ? config : config["layers"];  // the oldest Sequential models are lists
  if (list.size() > max_layers) list.expected("a list of at most " + json::grouped(static_cast<Index>(max_layers)));
  std::map<std::string, int> counts;
  std::vector<Layer> layers;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Node const entry = list[i], inner = entry["config"];
    std::string const kind = entry["class_name"].text();
    auto const module = entry.find_value("module");
    // What an operator has made is no layer, and has no variables.
    bool const is_operator = module && module->is_text() && module->text().starts_with("keras.src.ops");
    std::string path = is_operator ? "" : snake_case(kind);
    if (int const before = is_operator ? 0 : counts[path]++; before > 0) path += "_" + std::to_string(before);
    auto const name = inner.find_value("name");
    layers.push_back({kind, name ? name->text() : path, inner, place.part(path, name ? name->text() : path)});
    if (place.path.empty()) layers.back().place.path = "layers/" + path;
  }
  return layers;
}

void refuse_unknown(Node const& model) {
  std::string unknown;
  list_unknown(model, 0, unknown);
  if (!unknown.empty()) throw UnsupportedError{"has layers that are not known: " + unknown};
}

void refuse_quantised(Node const& model) { refuse_quantised_in(model, "model"); }

std::vector<Call> calls_of(Node const& layer) {
  std::string const kind = layer["class_name"].text();
  std::vector<Call> all;
  Node const calls = layer["inbound_nodes"];
  if (calls.size() > max_layers) calls.expected("a list of at most " + json::grouped(static_cast<Index>(max_layers)));
  for (std::size_t c = 0; c < calls.size(); ++c) {
    std::vector<Node> tensors;
    Call call;
    if (calls[c].is_object()) {
      find_tensors(calls[c]["args"], tensors);
      call.keywords = calls[c].find_value("kwargs");
      if (call.keywords) add_named_inputs(kind, *call.keywords, tensors);
    } else {
      for (std::size_t i = 0; i < calls[c].size(); ++i) {
        Node const tensor = calls[c][i];  // Keras 2: [layer, node, number, {}], with the same named arguments in each
        tensors.push_back(tensor);
        if (tensor.size() > 3) call.keywords = tensor[3];
      }
      if (call.keywords) {
        add_named_inputs(kind, *call.keywords, tensors);
        refuse_training(*call.keywords);
      }
    }
    for (Node const& tensor : tensors) call.sources.push_back(source_of(tensor));
    all.push_back(std::move(call));
  }
  return all;
}

std::size_t first_call_of(Node const& layer) {
  Node const calls = layer["inbound_nodes"];
  if (!is_model(layer["class_name"].text()) || calls.size() == 0 || calls[0].is_object()) return 0;
  Node const config = layer["config"], layers = config.is_list() ? config : config["layers"];
  return layers.size() > 0 && layers[0]["class_name"].text() == "InputLayer" ? 1 : 0;
}

std::vector<Source> ends_of(Node const& list) {
  if (list.size() == 3 && list[0].is_text()) return {source_of(list)};
  std::vector<Source> ends;
  for (std::size_t i = 0; i < list.size(); ++i)
    ends.push_back(list[i].is_text() ? Source{list[i].text(), 0} : source_of(list[i]));
  return ends;
}

}  // namespace coldpress::convert::keras
