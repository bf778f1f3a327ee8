// coldpress layers: prints the list of layers as Markdown, which is docs/layers.md.

#include "commands.hpp"
#include "layer_texts.hpp"
#include "print.hpp"

#include <coldpress/core/enumerator.hpp>
#include <coldpress/core/to_string.hpp>
#include <coldpress/dynamic/to_config.hpp>
#include <coldpress/persist/defaults.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace coldpress::command {
namespace {

// A layer and a shape of its samples, as an example.
std::pair<Linear, Shape> example(Linear) { return {{.output_size = 128}, {784}}; }
std::pair<Convolution, Shape> example(Convolution) { return {{.num_output = 20, .filter_shape = 5}, {1, 28, 28}}; }
std::pair<ConvolutionTranspose, Shape> example(ConvolutionTranspose) {
  return {{.num_output = 16, .filter_shape = 4, .stride = 2, .padding = 1}, {32, 7, 7}};
}
std::pair<Pooling, Shape> example(Pooling) { return {{.filter_shape = 2, .stride = 2}, {20, 24, 24}}; }
std::pair<Rnn, Shape> example(Rnn) { return {{.hidden_size = 32}, {10, 1}}; }
std::pair<Dropout, Shape> example(Dropout) { return {{.probability = 0.5f}, {128}}; }
std::pair<Power, Shape> example(Power) { return {{.power = 2}, {10}}; }
std::pair<Reshape, Shape> example(Reshape) { return {{{1, 28, 28}}, {784}}; }
std::pair<Flatten, Shape> example(Flatten) { return {{}, {50, 4, 4}}; }
std::pair<PReLU, Shape> example(PReLU) { return {{.num_parameters = 64}, {64, 7, 7}}; }
std::pair<Clip, Shape> example(Clip) { return {{.min = -1, .max = 1}, {10}}; }
std::pair<Glu, Shape> example(Glu) { return {{.gate = GluGate::silu}, {10, 64}}; }
std::pair<ChannelPooling, Shape> example(ChannelPooling) { return {{.filter_size = 3, .stride = 2}, {64, 8, 8}}; }
std::pair<LRN, Shape> example(LRN) { return {{.scale = 1e-4f}, {96, 27, 27}}; }
std::pair<Pad, Shape> example(Pad) { return {{.mode = PadMode::reflect, .before = 3, .after = 3}, {3, 32, 32}}; }
std::pair<Resize, Shape> example(Resize) { return {{.mode = ResizeMode::linear, .factor = 2}, {64, 7, 7}}; }
std::pair<Crop, Shape> example(Crop) { return {{.size = 227, .random_crop = true}, {3, 256, 256}}; }
std::pair<Onehot, Shape> example(Onehot) { return {{}, {1}}; }
std::pair<Slice, Shape> example(Slice) { return {{.begin = 2, .end = 6}, {10}}; }
std::pair<Reduce, Shape> example(Reduce) { return {{.operation = ReduceOperation::mean, .axis = -1}, {10, 64}}; }
std::pair<GlobalAveragePooling, Shape> example(GlobalAveragePooling) { return {{}, {64, 7, 7}}; }
std::pair<SoftmaxOver, Shape> example(SoftmaxOver) { return {{.axis = -1}, {10, 64}}; }
std::pair<LayerNormalization, Shape> example(LayerNormalization) { return {{}, {10, 64}}; }
std::pair<BatchNormalization, Shape> example(BatchNormalization) { return {{}, {64, 7, 7}}; }
std::pair<RMSNormalization, Shape> example(RMSNormalization) { return {{}, {10, 64}}; }
std::pair<GroupNormalization, Shape> example(GroupNormalization) { return {{}, {64, 7, 7}}; }
std::pair<LearnedPositions, Shape> example(LearnedPositions) { return {{}, {10, 64}}; }
std::pair<SinusoidalPositions, Shape> example(SinusoidalPositions) { return {{}, {10, 64}}; }
std::pair<RotaryPositions, Shape> example(RotaryPositions) { return {{.size = 16}, {10, 64}}; }
std::pair<Concat, Shape> example(Concat) { return {{}, {64, 7, 7}}; }
std::pair<MatMul, Shape> example(MatMul) { return {{}, {4, 10, 64}}; }
std::pair<Permute, Shape> example(Permute) { return {{.axes = {1, 0}}, {10, 64}}; }
std::pair<Expand, Shape> example(Expand) { return {{{64, 7, 7}}, {64, 1, 1}}; }
std::pair<TiedLinear, Shape> example(TiedLinear) { return {{.output_size = 784}, {128}}; }
std::pair<ScaledDotProductAttention, Shape> example(ScaledDotProductAttention) {
  return {{.heads = 4, .causal = true}, {32, 192}};
}
std::pair<Gather, Shape> example(Gather) { return {{}, {32, 192}}; }
std::pair<TopK, Shape> example(TopK) { return {{.k = 3}, {10}}; }
std::pair<CTCLoss, Shape> example(CTCLoss) { return {{}, {100, 29}}; }
std::pair<NegativeLogLikelihood, Shape> example(NegativeLogLikelihood) { return {{.num_classes = 10}, {10}}; }
std::pair<MeanSquaredError, Shape> example(MeanSquaredError) { return {{}, {6}}; }
template <class Layer>
std::pair<Layer, Shape> example(Layer) {
  return {{}, {10}};
}
/// The shapes of all inputs of an example, of which `in` is the first.
template <class Layer>
std::vector<Shape> inputs(Layer const&, Shape in) {
  if constexpr (Source<Layer>) return {};
  if constexpr (ManyInputs<Layer>) return {in, in};
  return {in};
}
std::vector<Shape> inputs(ScaledDotProductAttention const&, Shape in) { return {in}; }
std::vector<Shape> inputs(Rnn const&, Shape in) { return {in}; }
std::vector<Shape> inputs(Where const&, Shape in) { return {in, in, in}; }
std::vector<Shape> inputs(Gather const&, Shape in) { return {in, {5}}; }
std::vector<Shape> inputs(MatMul const&, Shape in) { return {in, {in[0], in[2], 32}}; }
std::vector<Shape> inputs(Concat const&, Shape in) { return {in, {32, in[1], in[2]}}; }

std::string kind(Index) { return "integer"; }
std::string kind(int) { return "integer, may be negative"; }
std::string kind(std::uint64_t) { return "integer"; }
std::string kind(float) { return "number"; }
std::string kind(bool) { return "true, false"; }
std::string kind(Shape) { return "extents"; }
template <NumberList List>
std::string kind(List const&) {
  return std::string{List::takes};
}
std::string kind(Weight const& weight) {
  std::vector<std::string> names;
  for_each_field(weight, [&](std::string_view name, auto const&) { names.emplace_back(name); });
  return joined(names);
}
std::string kind(Spelled auto choice) { return joined(spellings(choice)); }

std::string row(std::initializer_list<std::string> cells) {
  std::string text = "|";
  for (std::string const& cell : cells) text += " " + cell + " |";
  return text + "\n";
}
std::string head(std::initializer_list<std::string> cells) {
  std::string rule = "|";
  for (std::size_t i = 0; i < cells.size(); ++i) rule += "---|";
  return row(cells) + rule + "\n";
}

std::string join(Fields const& fields) {
  std::string text;
  for (auto const& [name, value] : fields) text.append(text.empty() ? "" : ", ").append(name).append(" ").append(value);
  return text;
}

std::string weights(dynamic::LayerConfig const& layer, Shape in) {
  dynamic::SequentialConfig container;
  container.add_layer(layer);
  Fields shapes;
  for (auto const& weight : dynamic::weights_of({"network", container}, in))
    shapes.emplace_back(weight.name, to_string(weight.shape));
  return join(shapes);
}

/// The fields of a layer that are not at their defaults.
template <class Layer>
std::string chosen(Layer const& layer) {
  Fields const defaults = fields_of(Layer{});
  Fields fields = fields_of(layer);
  std::erase_if(fields, [&](auto const& field) { return std::ranges::find(defaults, field) != defaults.end(); });
  return join(fields);
}

/// The layer's example and its output, as a row of a table.
template <class Layer>
std::string line() {
  auto const [layer, in] = example(Layer{});
  std::string const name{Layer::name}, link = "[" + name + "](#" + name + ")";
  if constexpr (Loss<Layer>) {
    return row({link, chosen(layer), to_string(in), to_string(layer.target_shape(in)), std::string{layer.mean_over}});
  } else if constexpr (Statistic<Layer>) {
    return row({link, chosen(layer), to_string(in), Labelled<Layer> ? "{1}" : to_string(in)});
  } else {
    auto const all = inputs(layer, in);
    std::string samples;
    for (Shape const& shape : all) samples.append(samples.empty() ? "" : " and ").append(to_string(shape));
    return row({link, chosen(layer), samples, to_string(output_shape_of(layer, Shapes{all})),
                has_parameters<Layer> ? weights({name, layer}, in) : ""});
  }
}

/// A comment as Markdown: its lines that are set in by two characters are the items of a list.
std::string markdown(std::string_view comment) {
  std::string text;
  bool in_list = false;
  while (!comment.empty()) {
    std::string_view line = comment.substr(0, comment.find('\n'));
    comment.remove_prefix(line.size() + 1);
    bool const continues = line.starts_with("    "), item = !continues && line.starts_with("  ");
    if (!continues && item != in_list) text += "\n";
    if (item) line.remove_prefix(2);
    in_list = item || (continues && in_list);
    text.append(item ? "- " : continues ? "  " : "").append(continues ? line.substr(4) : line).append("\n");
  }
  return text;
}

/// The layer's comment and its fields.
template <class Layer>
std::string part() {
  std::string const name{Layer::name};
  auto const comment = std::ranges::find(layer_texts(), name, &LayerText::name);
  if (comment == layer_texts().end()) throw std::logic_error{"no header in layers/ has a comment on " + name};
  std::string const header{comment->header};
  std::string text = "\n## " + name + "\n\n" + markdown(comment->comment) + "\n`" + std::string{comment->type} +
                     "` in [" + header + "](../include/coldpress/" + header + "), in a file `" +
                     persist::camel_case(name);
  Fields const defaults = fields_of(Layer{});
  auto const left_out = persist::defaults_in_file(Layer{});
  Fields const in_file = fields_of(left_out.layer);
  std::string table;
  std::string beside;  // of a loss whose kind has no fields in a file
  bool is_void = true;
  for_each_field(Layer{}, [&](std::string_view field, auto const& value) {
    is_void = is_void && persist::stands_beside(field);
    beside.append(beside.empty() ? "`" : " and `").append(persist::camel_case(field)).append("`");
    auto const found = std::ranges::find(defaults, field, &Fields::value_type::first);
    auto const there = std::ranges::find(in_file, field, &Fields::value_type::first);
    bool const required = std::ranges::find(left_out.required, field) != left_out.required.end();
    bool const differs = found != defaults.end() && there != in_file.end() && *there != *found;
    bool const shape = std::is_same_v<decltype(value), Shape const&>;
    table += row({std::string{field}, kind(value), found == defaults.end() ? "the layer's own" : found->second,
                  shape ? "sampleShape, or shape with the batch first" : persist::camel_case(field),
                  required  ? "must be given"
                  : differs ? there->second + ", as in Juice"
                            : "the same"});
  });
  if (table.empty()) return text + " = void`, without fields\n";
  bool const one = defaults.size() == 1;
  return text +
         (is_void ? " = void`, with " + beside + (one ? " as a field" : " as fields") + " of the layer\n\n"
                  : " = (...)`\n\n") +
         head({"Field", "Values", "Default in C++", "Name in a file", "Default in a file"}) + table;
}

std::string layers() {
  std::string text =
      "# Layers\n\n"
      "All layers, losses and statistics that coldpress has: an example of each, what it computes, and its fields.\n"
      "`coldpress layers` writes this page from the layers' structs and their comments.\n\n"
      "A field that a file leaves out has the same default as in C++, except for a few fields that Juice has,\n"
      "too. These have the default of Juice's files, which the column \"Default in a file\" shows.\n"
      "[config.md](config.md) describes files as a whole. In a file, `weight = (glorot = void)`, `weightLrMult`\n"
      "and `weightDecayMult` set a weight's initial values and its factors, and `bias`, `biasLrMult` and\n"
      "`biasDecayMult` do the same for a bias. \"The layer's own\" initial values are Glorot's for a weight and 0\n"
      "for a bias, unless the layer says otherwise. Shapes are those of one sample, without the batch;\n"
      "in a file, such a shape is a `sampleShape`.\n\n" +
      head({"Layer", "Example", "Sample", "Output", "Weights"});
  for_each_type(BuiltinLayers{}, [&]<class Layer>() { text += line<Layer>(); });
  text += "\n" + head({"Loss", "Example", "Prediction", "Target", "Mean over"});
  for_each_type(BuiltinLosses{}, [&]<class Loss>() { text += line<Loss>(); });
  text += "\n" + head({"Statistic", "Example", "Prediction", "Target"});
  for_each_type(BuiltinStatistics{}, [&]<class Statistic>() { text += line<Statistic>(); });
  for_each_type(BuiltinLayers{}, [&]<class Layer>() { text += part<Layer>(); });
  for_each_type(BuiltinLosses{}, [&]<class Loss>() { text += part<Loss>(); });
  for_each_type(BuiltinStatistics{}, [&]<class Statistic>() { text += part<Statistic>(); });
  return text;
}

}  // namespace

void add_layers(CLI::App& app) {
  auto* const command = app.add_subcommand("layers", "Lists the layers with their fields, as Markdown");
  command->callback([] { std::fputs(layers().c_str(), stdout); });
}

}  // namespace coldpress::command
