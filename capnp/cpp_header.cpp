#include <coldpress/persist/cpp_header.hpp>

#include <coldpress/core/finite.hpp>
#include <coldpress/dynamic/cpp_source.hpp>
#include <coldpress/dynamic/to_config.hpp>
#include <coldpress/persist/network.hpp>

#include <algorithm>
#include <cstdio>

namespace coldpress::persist {
namespace {

void check_namespace(std::string const& name) {
  bool begins = true, right = !name.empty();
  for (std::size_t i = 0; i < name.size() && right; ++i) {
    char const c = name[i];
    bool const letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_', digit = c >= '0' && c <= '9';
    if (name.compare(i, 2, "::") == 0 && !begins) {
      begins = true, ++i;
    } else {
      right = letter || (digit && !begins), begins = false;
    }
  }
  if (!right || begins)
    throw ConfigError{"the namespace must be a C++ name such as amp or my::amp, got '" + name + "'"};
}

/// The values in hexadecimal, which is exact.
void add_values(std::string& text, std::vector<float> const& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    char number[32];
    std::snprintf(number, sizeof number, "%af", static_cast<double>(values[i]));
    text.append(i == 0 ? "" : i % 8 == 0 ? ",\n    " : ", ").append(number);
  }
}

}  // namespace

std::string cpp_header(Model const& model, std::string const& name_space, std::optional<Shape> input) {
  check_namespace(name_space);
  dynamic::CppSource const source = dynamic::cpp_source(model.config, input);
  auto const weights = dynamic::weights_of(model.config, input);
  auto const values = weights_in_order(model);

  std::string text = "// A network with its weights, written by coldpress export. Usage: static " + name_space +
                     "::Network net{" + name_space +
                     "::weights};\n#pragma once\n\n#include <coldpress/coldpress.hpp>\n\nnamespace " + name_space +
                     " {\n\n";
  if (!source.function.empty()) text += source.function + "\n";
  text += "using Type = " + source.type + ";\nusing Network =\n    coldpress::Network<Type, " + source.inputs +
          ", coldpress::Batch<1>, coldpress::ConstantWeights<>>;\n\nnamespace values {\n";
  std::string list;
  for (int const i : source.weights) {
    auto const& weight = weights[static_cast<std::size_t>(i)];
    auto const& its = values[static_cast<std::size_t>(i)];
    if (Index const bad = first_not_finite<float>(its); bad >= 0)
      throw DataError{"weight '" + weight.name + "': value " + std::to_string(bad) + " is infinite or NaN"};
    std::string const array = "weight" + std::to_string(i);
    text += "inline constexpr float " + array + "[] = {  // " + weight.name + " " + to_string(weight.shape) + "\n    ";
    add_values(text, its);
    text += "};\n";
    list.append(list.empty() ? "" : ", ").append("values::").append(array);
  }
  return text + "}  // namespace values\n\ninline constexpr Network::Weights weights = Network::arranged(" + list +
         ");\n\n}  // namespace " + name_space + "\n";
}

}  // namespace coldpress::persist
