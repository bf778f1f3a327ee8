// Names and texts for C++ source that coldpress writes.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace coldpress::dynamic {

/// Whether a text is a name in C++: ASCII letters, digits and underscores, no keyword.
[[nodiscard]] bool is_cpp_name(std::string_view text);

/// Whether headers of C may declare the name outside of namespaces, where a namespace then cannot have it.
[[nodiscard]] bool is_declared_by_c(std::string_view name);

/// Throws ConfigError unless a user may give a namespace this name, such as amp or my::amp.
void check_cpp_namespace(std::string_view name);

/// A string literal. What is not a printable ASCII character is written as its octal number.
[[nodiscard]] std::string cpp_quoted(std::string_view text);

/// A name after `wish`, "layer1.0.Conv" for example: layer1_0_conv. It is in lower case, so that it is the name of no
/// type. If nothing of the wish can be kept, it is `otherwise`, which is a name.
[[nodiscard]] std::string cpp_name_of(std::string_view wish, std::string_view otherwise);

/// Names of variables in a network's function, all different.
class CppVariables {
 public:
  std::string add(std::string_view wish, std::string_view otherwise);

 private:
  std::set<std::string, std::less<>> taken_;
};

/// The names of the library that a source text mentions.
class LibraryNames {
 public:
  /// `qualified`: they are written with "coldpress::". Otherwise the text needs using_declaration().
  explicit LibraryNames(bool qualified) : qualified_(qualified) {}

  /// How a name is written that may be given with its namespace, such as "coldpress::RnnType::gru".
  std::string operator()(std::string_view name);
  /// "using coldpress::Linear, coldpress::ReLU;", or nothing if no name was mentioned.
  [[nodiscard]] std::string using_declaration() const;

 private:
  bool qualified_;
  std::set<std::string, std::less<>> mentioned_;
};

}  // namespace coldpress::dynamic
