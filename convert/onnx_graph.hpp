// An ONNX model as plain data: nodes in an order in which they can be computed, and constants.
#pragma once

#include <coldpress/core/shape.hpp>
#include <coldpress/persist/model.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace coldpress::convert::onnx {

/// The types of elements that are read, by ONNX's numbers.
enum class Type {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  bfloat16 = 16
};
constexpr bool is_floating(Type type) {
  return type == Type::float32 || type == Type::float16 || type == Type::float64 || type == Type::bfloat16;
}

/// A whole number, which may be multiplied by the unknown number of samples, as in the shape of a value.
struct Int {
  Index factor = 0;
  bool samples = false;
  bool operator==(Int const&) const = default;
};

/// A constant. Its values are floats or whole numbers, depending on the type; narrower and wider types are converted.
struct Tensor {
  Type type = Type::float32;
  std::vector<Index> shape = {};  // row-major; none: a single number
  std::vector<float> floats = {};
  std::vector<Int> ints = {};
  std::string origin = {};  // the initialiser that it is, or is made of
  int samples_axis = -1;    // the axis that has the extent 1 here, and is repeated for each sample; -1: none

  bool floating() const { return is_floating(type); }
  Index size() const {
    Index size = 1;
    for (Index const extent : shape) size *= extent;
    return size;
  }
  int rank() const { return static_cast<int>(shape.size()); }
};
using Constant = std::shared_ptr<Tensor const>;

/// Most values of a constant that is computed from others, or read; and most places along the other axes of one that
/// has none because an extent is 0, since some operators go through these.
inline constexpr Index max_values = Index{1} << 33, max_empty = Index{1} << 16;

/// The number of values of a constant of that shape. Nothing if an extent is below 0 or there are more than these.
std::optional<Index> size_of(std::vector<Index> const& shape);

struct Unreadable {  // a graph, for example
};
using Attribute = std::variant<Unreadable, float, Index, std::string, Constant, std::vector<float>, std::vector<Index>,
                               std::vector<std::string>>;

struct Node {
  std::string name, op, domain;
  std::vector<std::string> inputs, outputs;  // names of values; empty: left out
  std::map<std::string, Attribute, std::less<>> attributes = {};
};

/// An extent of an input: a number, or a name for one that is known only at run time.
struct Dimension {
  Index extent = -1;  // -1: not known
  std::string name = {};
};
struct Input {
  std::string name;
  Type type = Type::undefined;
  std::optional<std::vector<Dimension>> shape = {};
};

struct Graph {
  std::string name = {}, producer = {};
  Index opset = 0;
  std::vector<Node> nodes = {};
  std::map<std::string, Constant> constants = {};  // initialisers
  std::vector<Input> inputs = {};                  // without those that are initialisers
  std::vector<std::string> outputs = {};
  std::vector<persist::Entry> metadata = {};
};

/// What a message calls a node: Conv '/conv1/Conv'.
std::string described(Node const& node);

/// Puts the nodes on which an output depends into an order in which each comes after those that compute what it reads,
/// and drops the others. Throws FormatError for a value that is computed twice or by none, and for a cycle.
void sort(Graph& graph);

/// Reads the graph of a file. Throws FileError; FormatError if the file is damaged, or has more parts, more axes or
/// more values than a model may have; UnsupportedError for an opset before 7, and for values in other files or of types
/// that are no numbers.
Graph read_graph(std::string const& path);

}  // namespace coldpress::convert::onnx
