// The network that an ONNX model becomes: layers of a config, and what is known of the values between them.
#pragma once

#include <coldpress/convert/weights.hpp>
#include <coldpress/dynamic/layer_config.hpp>

#include "onnx_graph.hpp"
#include "refusal.hpp"
#include "whole_network.hpp"

#include <set>
#include <utility>

namespace coldpress::convert::onnx {

/// An axis of a value in the model. One of them counts the samples; it may count other things of a sample, too: before
/// and after the samples in memory, as where heads are counted together with samples.
struct Axis {
  Index before = 1, after = 1;
  bool samples = false;

  Index extent() const { return before * after; }           // of a sample
  bool hidden() const { return samples && extent() == 1; }  // a sample does not have it
  bool operator==(Axis const&) const = default;
};
std::string described(std::vector<Axis> const& axes);

/// A value of the config, and the shape of its samples.
struct Sample {
  std::string name = {};
  Shape shape = {};
};

/// A value of the model that is computed at run time. Its samples may have their axes in another order than the model,
/// so that a Transpose costs nothing where nothing depends on the order.
struct Value {
  Sample sample = {};
  std::vector<Axis> axes = {};  // in the model's order
  std::vector<int> order = {};  // for each axis of a sample, which of `axes` it is; hidden ones are left out
  Type type = Type::float32;

  int rank() const { return static_cast<int>(axes.size()); }
  Axis const& axis(int a) const { return axes[static_cast<std::size_t>(a)]; }
  Index extent(int a) const { return axis(a).extent(); }
  int place(int axis) const;  // of an axis in a sample
  int samples_axis() const;   // -1: there is none
};
/// The order in which the model has the axes.
std::vector<int> natural(std::vector<Axis> const& axes);
Shape shape_of(std::vector<Axis> const& axes, std::vector<int> const& order);

/// Replaces infinities, which masks have, by the largest finite numbers.
void make_finite(std::vector<float>& values);

/// A weight of a layer: its suffix in files, its values, and which initialiser they are.
struct Weight {
  std::string suffix;
  std::vector<Index> shape;
  std::vector<float> values;
  std::string origin;
};

class Network {
 public:
  /// `samples` is the number of samples that the model is written for; 0: any. `sequences` says whether rows of values
  /// are convolved as sequences wherever they can be, and `own` whether nodes have the names of coldpress' layers.
  /// `room` is the number of values that constants computed from others may still have.
  Network(Index samples, bool sequences, bool own, Index& room)
      : samples_(samples), sequences_(sequences), own_(own), room_(&room) {}

  Index samples() const { return samples_; }
  bool sequences() const { return sequences_; }

  void add_input(std::string const& name, Shape const& shape);
  bool has(std::string const& name) const { return names_.contains(name); }
  bool is_input(std::string const& name) const;
  /// The layers that are added next are those of this node.
  void begin(Node const& node, std::vector<Constant> const& constants);

  /// Adds a layer. `part` tells it from other layers of the same node. Throws Refusal if the layer refuses the inputs.
  template <class L>
  Sample add(std::string const& part, L const& given, std::vector<Sample> const& inputs,
             std::vector<Weight> weights = {}) {
    std::vector<Shape> shapes;
    for (Sample const& input : inputs) shapes.push_back(input.shape);
    L const layer = for_steps_too(given, shapes);
    Shape shape{};
    try {
      if constexpr (requires { layer.output_shape(Shapes{shapes.data(), shapes.size()}); }) {
        shape = layer.output_shape(Shapes{shapes.data(), shapes.size()});
      } else {
        shape = layer.output_shape(shapes.at(0));
      }
    } catch (Error const& error) {
      refuse_shapes(error, shapes);
    }
    return append(part, layer, inputs, shape, std::move(weights));
  }
  Sample reshape(Sample const& x, Shape const& shape);
  /// Values that are the same for each sample, as weights of a layer.
  Sample constant(std::vector<float> values, Shape const& shape, std::string const& origin);

  /// Counts the values of a constant that is computed of others. Throws Refusal if there is no room
  /// for them.
  void count_constant(Index values) { check_constant(values), *room_ -= values; }
  /// The same, before such a constant is made.
  void check_constant(Index values) const;

  /// The value with the axes of its samples in this order, which may leave out axes with one place and name hidden
  /// ones.
  Sample arranged(Value const& x, std::vector<int> const& order);
  Sample natural(Value const& x) { return arranged(x, onnx::natural(x.axes)); }

  /// The config, in which the outputs have the names of the model's outputs, and the values of its weights.
  dynamic::LayerConfig config(std::string const& name, std::vector<std::pair<std::string, Sample>> const& outputs);
  std::vector<Blob> take_weights();

 private:
  [[noreturn]] static void refuse_shapes(Error const& error, std::vector<Shape> const& shapes);
  Sample append(std::string const& part, dynamic::LayerType layer, std::vector<Sample> const& inputs,
                Shape const& shape, std::vector<Weight> weights);
  std::string unique(std::string const& name);

  Index samples_;
  bool sequences_, own_;
  Index* room_;
  std::string base_;  // of the names of layers
  dynamic::SequentialConfig container_ = {};
  std::vector<std::pair<std::string, Weight>> weights_ = {};
  std::set<std::string, std::less<>> names_ = {};
  std::map<std::string, int> numbers_ = {};      // the last one behind a name that is there more than once
  std::map<std::string, Sample> views_ = {};     // what a Reshape reads
  std::map<std::string, Sample> arranged_ = {};  // values in another order, by name and order
};

}  // namespace coldpress::convert::onnx
