// Writes ONNX models in protobuf's wire format, without protobuf: field numbers are those that ONNX published.
#pragma once

#include "convert/caffe_writer.hpp"
#include "support/catch.hpp"

#include <coldpress/convert/onnx.hpp>

#include <string>
#include <vector>

namespace onnx_writer {

/// Whether ONNX models can be read here; if not, it says so.
inline bool has() {
  if (!coldpress::convert::has_onnx()) WARN("skipped: coldpress::convert was built without protobuf");
  return coldpress::convert::has_onnx();
}

using caffe_writer::number, caffe_writer::part;

/// A tensor of floats.
inline std::string tensor(std::string const& name, std::vector<std::int64_t> const& shape,
                          std::vector<float> const& values) {
  std::string bytes = part(8, name) + number(2, 1) + part(9, caffe_writer::raw<float>(values));
  for (auto const extent : shape) bytes += number(1, extent);
  return bytes;
}
/// Whole numbers; a list if no shape is given.
inline std::string integers(std::string const& name, std::vector<std::int64_t> const& values,
                            std::vector<std::int64_t> shape = {}) {
  if (shape.empty()) shape = {static_cast<std::int64_t>(values.size())};
  std::string bytes = part(8, name) + number(2, 7);
  for (auto const extent : shape) bytes += number(1, extent);
  for (auto const value : values) bytes += number(7, value);
  return bytes;
}

/// One whole number, without axes.
inline std::string number_of(std::string const& name, std::int64_t value) {
  return part(8, name) + number(2, 7) + number(7, value);
}

inline std::string attribute(std::string const& name, std::int64_t value) {
  return part(5, part(1, name) + number(3, value) + number(20, 2));
}
inline std::string attribute(std::string const& name, std::vector<std::int64_t> const& values) {
  std::string bytes = part(1, name) + number(20, 7);
  for (auto const value : values) bytes += number(8, value);
  return part(5, bytes);
}

inline std::string text_attribute(std::string const& name, std::string const& text) {
  return part(5, part(1, name) + part(4, text) + number(20, 3));
}

inline std::string node(std::string const& op, std::string const& name, std::vector<std::string> const& inputs,
                        std::vector<std::string> const& outputs, std::string const& attributes = "") {
  std::string bytes = part(3, name) + part(4, op) + attributes;
  for (auto const& input : inputs) bytes += part(1, input);
  for (auto const& output : outputs) bytes += part(2, output);
  return part(1, bytes);
}

/// The name and the shape of an input or an output; an extent of 0 is open and has the name "open".
inline std::string value(std::string const& name, std::vector<std::int64_t> const& shape, std::int64_t type = 1) {
  std::string dims;
  for (auto const extent : shape) dims += part(1, extent == 0 ? part(2, "open") : number(1, extent));
  return part(1, name) + part(2, part(1, number(1, type) + part(2, dims)));
}

struct Model {
  std::string nodes, constants, inputs;
  std::vector<std::string> outputs{"y"};
  std::int64_t opset = 17;

  std::string bytes() const {
    std::string graph = nodes + part(2, "test") + constants + inputs;
    for (auto const& output : outputs) graph += part(12, part(1, output));
    return number(1, 8) + part(7, graph) + part(8, number(2, opset));
  }
};
inline std::string input(std::string const& name, std::vector<std::int64_t> const& shape, std::int64_t type = 1) {
  return part(11, value(name, shape, type));
}
inline std::string constant(std::string const& bytes) { return part(5, bytes); }

}  // namespace onnx_writer
