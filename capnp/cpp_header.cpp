// Composes the header: a comment, the network's type, and hexadecimal arrays of its weights.
#include <coldpress/persist/cpp_header.hpp>

#include "cpp_comments.hpp"
#include "dynamic/cpp_names.hpp"
#include "weights.hpp"

#include <coldpress/core/to_string.hpp>
#include <coldpress/dynamic/cpp_source.hpp>
#include <coldpress/dynamic/to_config.hpp>
#include <coldpress/persist/network.hpp>

#include <algorithm>
#include <cstdio>

namespace coldpress::persist {
namespace {

/// The values in hexadecimal, which is exact.
void add_values(std::string& text, std::vector<float> const& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    char number[32];
    std::snprintf(number, sizeof number, "%af", static_cast<double>(values[i]));
    text.append(i == 0 ? "" : i % 8 == 0 ? ",\n    " : ", ").append(number);
  }
}

std::string array(std::string const& name, std::vector<float> const& values) {
  std::string text = "inline constexpr float " + name + "[] = {\n    ";
  add_values(text, values);
  return text + "};\n";
}

/// What a program does to samples itself, and the numbers that it needs for that.
struct Preparation {
  std::string comment, arrays;

  explicit Preparation(data::Transforms const& transforms) {
    for (std::size_t i = 0; i < transforms.size(); ++i) {
      number = std::to_string(i);
      std::string const what = std::visit([&](auto const& transform) { return sentence(transform); }, transforms[i]);
      if (!what.empty()) comment += "//   " + what + "\n";
    }
    if (!comment.empty())
      comment =
          "// Its input is a sample x of `size` values to which this was done, in this order; it does not do it "
          "itself.\n" +
          comment;
    if (!arrays.empty()) arrays = "namespace transforms {\n" + arrays + "}  // namespace transforms\n\n";
  }

 private:
  std::string number;

  /// Adds the array, and returns how a value's entry in it is spelt.
  std::string entry(char const* name, std::vector<float> const& values) {
    arrays += array(name + number, values);
    return std::string{"transforms::"} + name + number +
           (values.size() == 1 ? "[0]" : "[i * " + std::to_string(values.size()) + " / size]");
  }
  static std::string exact(float value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
    return text;
  }

  std::string sentence(data::SubtractMean const& t) { return "x[i] -= " + entry("mean", t.mean); }
  std::string sentence(data::Scale const& t) { return "x[i] = x[i] * " + exact(t.factor) + " + " + exact(t.offset); }
  std::string sentence(data::Standardize const& t) {
    std::string const mean = entry("mean", t.mean);
    return "x[i] = (x[i] - " + mean + ") / " + entry("deviation", t.deviation);
  }
  std::string sentence(data::Crop const& t) {
    return "the central " + std::to_string(t.extents.front()) + " rows and " + std::to_string(t.extents.back()) +
           " columns of each channel";
  }
  std::string sentence(auto const&) { return {}; }  // of targets, or for training alone
};

/// What compilers must be told, which stop constant expressions that take long: arranging a weight takes some 200
/// steps.
std::string limits_for(std::vector<dynamic::Executable::Weight> const& weights, std::vector<int> const& used) {
  Index total = 0, largest = 0;
  for (int const i : used) {
    Index const size = weights[static_cast<std::size_t>(i)].shape.size();
    total += size, largest = std::max(largest, size);
  }
  if (total <= 2'000) return {};
  std::string const steps = std::to_string(400 * total);
  std::string text = "// Compile it with these options. clang: -fconstexpr-steps=" + steps + "; ";
  if (total <= 80'000) return text + "g++: none.\n";
  return text + "g++: -fconstexpr-ops-limit=" + steps +
         " -fconstexpr-loop-limit=" + std::to_string(std::max<Index>(262'144, largest + 1)) + ".\n";
}

}  // namespace

std::string cpp_header(Model const& model, std::string const& name_space, std::optional<Shape> input) {
  dynamic::check_cpp_namespace(name_space);
  dynamic::CppSource const source = dynamic::cpp_source(model.config, input);
  auto const weights = dynamic::weights_of(model.config, input);
  auto const values = weights_in_order(model);

  Preparation const preparation{model.transforms};
  std::string text = "// A network with its weights, written by coldpress export. Usage: static " + name_space +
                     "::Network net{" + name_space + "::weights};\n" + limits_for(weights, source.weights) +
                     preparation.comment + comment_on_classes(model.classes) +
                     "#pragma once\n\n#include <coldpress/coldpress.hpp>\n\nnamespace " + name_space + " {\n\n" +
                     preparation.arrays;
  if (!source.function.empty()) text += source.function + "\n";
  text += "using Type = " + source.type + ";\nusing Network =\n    coldpress::Network<Type, " + source.inputs +
          ", coldpress::Batch<1>, coldpress::ConstantWeights<>>;\n\nnamespace values {\n";
  std::string list;
  for (int const i : source.weights) {
    auto const& weight = weights[static_cast<std::size_t>(i)];
    auto const& its = values[static_cast<std::size_t>(i)];
    check_finite(weight, its);
    std::string const array = "weight" + std::to_string(i);
    text += "inline constexpr float " + array + "[] = {  // " + printable(weight.name) + " " + to_string(weight.shape) +
            "\n    ";
    add_values(text, its);
    text += "};\n";
    list.append(list.empty() ? "" : ", ").append("values::").append(array);
  }
  return text + "}  // namespace values\n\ninline constexpr Network::Weights weights = Network::arranged(" + list +
         ");\n\n}  // namespace " + name_space + "\n";
}

}  // namespace coldpress::persist
