// Prints the nodes, parameters and options of a program as C++ constants, from which a StaticProgram is made.
#include "source.hpp"

#include <coldpress/core/numbers.hpp>
#include <coldpress/optim/optimizers.hpp>

namespace coldpress::cuda {
namespace {

std::string text(auto number) { return std::to_string(number); }
/// A number as its bits, so that no compiler rounds it.
std::string literal(auto number) { return text(bits_of(number)) + "u"; }
std::string number(float value) { return "number(" + literal(value) + ")"; }

std::string step(std::string_view field) { return "." + std::string{field}; }
std::string step(std::size_t place) { return "[" + text(place) + "]"; }

/// The elements in braces, separated by commas.
template <class List, class F>
std::string list(List const& elements, F f) {
  std::string all = "{";
  for (auto const& element : elements) all.append(all.size() > 1 ? ", " : "").append(f(element));
  return all + "}";
}
std::string array(std::string_view type, std::size_t size, std::string const& elements) {
  return "std::array<" + std::string{type} + ", " + text(size) + ">{" + (size > 0 ? elements : "") + "}";
}
std::string of_shape(Shape const& shape) {
  return "Shape" + list(std::span{shape.extents}, [](Index extent) { return text(extent); });
}
/// Escapes a name; it may contain any byte, since kernels only hash names.
std::string quoted(std::string_view name) {
  std::string all = "{\"";
  for (char c : name) {
    unsigned const byte = static_cast<unsigned char>(c);
    all += {'\\', static_cast<char>('0' + byte / 64), static_cast<char>('0' + byte / 8 % 8),
            static_cast<char>('0' + byte % 8)};
  }
  return all + "\", " + text(name.size()) + "}";
}

std::string node(dynamic::Program const& program, std::size_t i) {
  Node const& node = program.nodes()[i];
  std::string const head = "  static constexpr auto node(std::integral_constant<int, " + text(i) + ">) {";
  if (node.kind == Node::Kind::input) return head + " return JitNode<Shape, 0>{" + of_shape(node.shape) + "}; }\n";
  return std::visit(
      [&](auto const& layer) {
        using L = std::remove_cvref_t<decltype(layer)>;
        if constexpr (std::is_same_v<L, dynamic::CustomNode>) {
          return std::string{};  // such networks are rejected before
        } else {
          std::string const type{name_of_type<L>()};
          auto const inputs = static_cast<std::size_t>(node.input_count());
          std::string all = head + "\n    " + type + " layer{};\n";
          for_each_number(layer, [&](auto value, auto const&... path) {
            all += "    put(layer" + (std::string{} + ... + step(path)) + ", " + literal(value) + ");\n";
          });
          return all + "    return JitNode<" + type + ", " + text(inputs) + ">{layer, " +
                 array("int", inputs, list(std::span{node.inputs, inputs}, [](int input) { return text(input); })) +
                 ", " + quoted(program.names()[i]) + ", " + text(node.closed) + "u, " + text(node.sums) + "};\n  }\n";
        }
      },
      program.layers()[i]);
}

std::string parameters(dynamic::Graph const& graph) {
  std::size_t i = 0;
  return array("JitParameter", graph.parameters.size(), list(graph.parameters, [&](Parameter const& parameter) {
                 return "{" + text(graph.owner[i++]) + ", " + number(parameter.lr_mult) + ", " +
                        number(parameter.decay_mult) + ", static_cast<Regularizer>(" +
                        text(static_cast<int>(parameter.regularizer)) + "), {" + number(parameter.max_norm.norm) +
                        ", " + text(parameter.max_norm.every) + "}}";
               }));
}

std::string of_options(PlanOptions const& options) {
  auto const flag = [](bool set) { return set ? "true, " : "false, "; };
  return std::string{"PlanOptions{"} + flag(options.training) + flag(options.losses) + flag(options.input_gradient) +
         flag(options.keep_gradients) + text(options.blocks) + "}";
}

}  // namespace

std::string source_of(dynamic::Program const& program, Precision precision, std::string_view what,
                      std::string_view more) {
  dynamic::Graph const& graph = program.graph();
  std::string all =
      "#include <coldpress/cuda/jit_program.hpp>\n"
      "namespace coldpress::cuda {\n"
      "struct List {\n"
      "  static constexpr int size = " +
      text(program.nodes().size()) + ", inputs = " + text(graph.inputs()) + ", targets = " + text(program.target()) +
      ";\n  static constexpr auto outputs = " +
      array("int", graph.outputs.size(), list(graph.outputs, [](int output) { return text(output); })) + ";\n";
  for (std::size_t i = 0; i < program.nodes().size(); ++i) all += node(program, i);
  all += "  static constexpr auto parameters = " + parameters(graph) +
         ";\n};\n"
         "constexpr auto program_of(List) { return StaticProgram<JitGraph<List>, Grid, " +
         of_options(program.options()) +
         ">{}; }\n"
         "using Program = decltype(program_of(List{}));\n";
  auto const same = [&](std::string_view value, Index known) {
    all.append("static_assert(").append(value).append(" == ").append(text(known)).append(");\n");
  };
  PlanSummary const& plan = program.plan();
  same("Program::plan().groups", plan.groups), same("Program::plan().workspace", plan.workspace);
  same("Program::plan().state", plan.state), same("Program::parameter_size", program.parameter_size());
  same("Program::memory.scratch", program.scratch());
  same("Program::memory.worker_scratch", program.worker_scratch());
  return all + "using Body = PassBody<List, " + std::string{what} + ", Index, static_cast<Precision>(" +
         text(static_cast<int>(precision)) + "), " + text(dynamic::Program::inputs_capacity) + ", void, " +
         std::string{more} +
         ">;\n"
         "}  // namespace coldpress::cuda\n"
         "COLDPRESS_KERNEL(coldpress::cuda::Body)\n";
}

}  // namespace coldpress::cuda
