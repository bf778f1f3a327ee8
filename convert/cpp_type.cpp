// Surrounds a network type by a header: includes, a namespace, and comments on its use and on compilers' limits.
#include <coldpress/convert/cpp_type.hpp>

#include "cpp_comments.hpp"
#include "dynamic/cpp_network.hpp"

#include <coldpress/core/counted.hpp>
#include <coldpress/core/to_string.hpp>

#include <filesystem>
#include <string_view>

namespace coldpress::convert {
namespace {

std::string cpp_list(std::vector<Shape> const& shapes) {
  std::string text;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    text += (i == 0 ? "" : i + 1 == shapes.size() ? " and " : ", ") + to_string(shapes[i]);
  return text;
}

/// What a program does to samples itself.
std::string comment_on_transforms(data::Transforms const& transforms) {
  std::string names;
  for (data::Transform const& transform : transforms) {
    std::visit([&](auto const& t) { names += (names.empty() ? "" : ", ") + persist::camel_case(t.name); }, transform);
  }
  if (names.empty()) return {};
  return "// Samples go through these transforms before, which the type does not have: " + names + ".\n";
}

/// The options that compilers need for large networks. Compilers limit the steps of a constant expression and the depth
/// of fold expressions, and recording a network takes steps that grow with the square of its layers.
std::string comment_on_limits(int layers) {
  if (layers <= 250) return {};
  std::string const number = std::to_string(layers);
  std::string text = "// Compile it with these options. clang: -fbracket-depth=" + std::to_string(layers + 256) +
                     " -fconstexpr-steps=" + number + "00000; g++: ";
  return text + (layers <= 500 ? "none.\n" : "-fconstexpr-ops-limit=" + number + "000000.\n");
}

std::string comment_on_use(CppTypeOptions const& options, std::size_t inputs) {
  std::string text = "//\n//   ", space = options.name_space;
  if (options.weights.empty()) {
    text += space + "::Network net{42};  // the seed of its first weights\n";
  } else {
    text += "auto net = " + space + "::load(" + dynamic::cpp_quoted(options.weights) + ");\n";
  }
  std::string arguments = inputs == 1 ? "x" : "x1, x2";
  if (inputs > 2) arguments += ", ...";
  return text + "//   auto const y = net.forward(" + arguments + ");\n";
}

}  // namespace

std::string cpp_type(persist::Model const& model, CppTypeOptions const& options) {
  check_namespace(options.name_space);
  dynamic::CppNetwork const network = dynamic::cpp_network(model.config, options.input, {});

  std::string text = "// A network of " + counted(network.layers, "layer") + " with " +
                     counted(network.parameters, "parameter") + ", written by coldpress convert";
  if (!options.origin.empty()) text += " from " + persist::printable(options.origin);
  text += ".\n" + comment_on_transforms(model.transforms) + persist::comment_on_classes(model.classes) +
          comment_on_limits(network.layers) + comment_on_use(options, network.in.size()) +
          "#pragma once\n\n#include <coldpress/coldpress.hpp>\n#include <coldpress/persist.hpp>\n\n";
  std::string const type = network.function + (network.function.empty() ? "" : "\n") + "using Type = " + network.type;
  if (type.find("std::numeric_limits") != std::string::npos) text += "#include <limits>\n";
  text += "#include <string>\n\nnamespace " + options.name_space + " {\n\n" + network.using_declaration + "\n" + type +
          ";\n\n/// Takes " + cpp_list(network.in) + ", gives " + cpp_list(network.out) +
          ".\nusing Network = coldpress::Network<Type, " + network.inputs + ">;\n\n";
  return text +
         "/// The network with the weights in a file. Throws as coldpress::load does.\n"
         "inline Network load(std::string const& path) { return coldpress::load<Network>(path); }\n\n"
         "}  // namespace " +
         options.name_space + "\n";
}

void check_namespace(std::string_view name) { dynamic::check_cpp_namespace(name); }

std::string namespace_of(std::string const& path) {
  std::string const name = dynamic::cpp_name_of(std::filesystem::path{path}.stem().string(), "network");
  return dynamic::is_declared_by_c(name) ? name + "_" : name;
}

}  // namespace coldpress::convert
