// A value of a JSON text that knows its place, so that what is wrong with it is said with its path.
#pragma once

#include <coldpress/core/error.hpp>
#include <coldpress/core/shape.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace coldpress::convert::json {

using Json = nlohmann::json;

class Node {
 public:
  Node(Json const& value, std::string path) : value_(&value), path_(std::move(path)) {}

  Json const& json() const { return *value_; }
  std::string const& path() const { return path_; }
  bool is_null() const { return value_->is_null(); }
  bool is_object() const { return value_->is_object(); }
  bool is_list() const { return value_->is_array(); }
  bool is_text() const { return value_->is_string(); }

  /// A member of an object; nothing if it is missing.
  std::optional<Node> find(std::string_view key) const;
  /// The same; nothing if it is null, too.
  std::optional<Node> find_value(std::string_view key) const;
  /// A member that must be there.
  Node operator[](std::string_view key) const;
  std::size_t size() const;  // of a list
  Node operator[](std::size_t place) const;

  Index integer(Index least, Index most) const;
  Index integer(std::string_view key, Index otherwise, Index least, Index most) const;
  bool flag() const;
  bool flag(std::string_view key, bool otherwise) const;
  double number() const;
  float number(std::string_view key, float otherwise) const;  // within the range of a float
  std::string text() const;

  /// Throws FormatError or E: "PATH: got VALUE, expected WHAT".
  [[noreturn]] void expected(std::string const& what) const;
  template <class E = FormatError>
  [[noreturn]] void refuse(std::string const& sentence) const {
    E error{sentence};
    error.in_field(path_);
    throw error;
  }

 private:
  Json const* value_;
  std::string path_;
};

/// The text of a value for a message: whole if it is short, otherwise what kind of value it is.
std::string described(Json const& value);

/// 13802 as 13,802.
std::string grouped(Index number);

/// The value of a JSON text. Throws FormatError with line and column, and for values that are more than 64 deep, more
/// than 2^22, or more than 2^20 lists, objects and texts.
Json parse_json(std::string_view text);
/// The value of a file of at most 64 MiB; its bytes are not kept. Throws FileError, too.
Json read_json(std::string const& path);

}  // namespace coldpress::convert::json
