// What the files of the extension module have in common: arrays of NumPy, and who may use a network.
#pragma once

#include <coldpress/dynamic/solver.hpp>
#include <coldpress/persist/model.hpp>
#include <coldpress/train/input_arrays.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace coldpress::python {

namespace nb = nanobind;

/// Values in C order. Arrays of another type or order are converted, which copies them.
using Input = nb::ndarray<float const, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<nb::numpy, float>;

/// The numbers of an array or a list. Raises what NumPy raises if they are none.
Input numbers_of(nb::handle value);

/// An array of NumPy's own with these values.
Output array_of(std::vector<float> values, std::vector<std::size_t> const& shape);

std::vector<Index> extents_of(Input const& array);
/// As Python shows a shape: "(2, 5)".
std::string to_text(std::vector<Index> const& extents);
nb::tuple tuple_of(Shape const& shape);
/// Throws ShapeError beyond eight extents, or for an extent that is less than 1.
Shape shape_of(std::vector<Index> const& extents);

/// What a file says of a network besides its layers and weights.
struct About {
  data::Transforms transforms = {};  // of samples before the network, with all numbers
  std::vector<std::string> classes = {};
  std::vector<persist::Entry> metadata = {};

  void write_to(persist::Model& model) const;
};
/// The transform with this number as errors name it: "transforms[0] scale".
std::string place_of(data::Transforms const& transforms, std::size_t i);
/// What a config says of its network. Throws UnsupportedError for transforms whose numbers are still to be found in
/// data.
About about_config(data::Transforms transforms);

/// A network that Python holds, or a solver with its network. Calls release Python's lock while they compute, and one
/// call at a time uses it.
class Held {
 public:
  /// Throws UnsupportedError for transforms of samples of several arrays.
  explicit Held(dynamic::Layer layer, About about = {});

  /// Calls f(layer) without Python's lock, and without another call at the same time.
  template <class F>
  auto use(F f) {
    nb::gil_scoped_release const released;
    std::lock_guard const alone{mutex_};
    auto* const solver = std::get_if<dynamic::Solver>(&what_);
    return f(solver ? solver->mut_network() : std::get<dynamic::Layer>(what_));
  }
  /// The same with the solver. There is one.
  template <class F>
  auto train(F f) {
    nb::gil_scoped_release const released;
    std::lock_guard const alone{mutex_};
    return f(std::get<dynamic::Solver>(what_));
  }
  /// Gives the network to a solver. Throws ConfigError if it has one, or if the config does not fit, and
  /// UnsupportedError for transforms that a minibatch alone cannot go through; then nothing has changed.
  void train_with(dynamic::SolverConfig config);
  /// Takes the network back from its solver.
  void end_training();

  About const& about() const { return about_; }
  /// The inputs. Those of targets are read by losses alone: by the network's own or, in training, by those that it is
  /// trained for.
  std::vector<train::NetworkInput> const& inputs() const { return inputs_; }

 private:
  std::variant<dynamic::Layer, dynamic::Solver> what_;
  About about_;
  std::vector<train::NetworkInput> inputs_;
  std::mutex mutex_;
};
using Network = std::shared_ptr<Held>;

/// What a network gets of a minibatch, or of one sample: the values of each input, which are empty for one that is left
/// out.
class Given {
 public:
  /// Takes the arrays for these inputs, in their order: for all of them or, if `targets` may be left out or are given
  /// beside the samples, for those of samples. Transforms come first. Throws ShapeError, with both shapes, for arrays
  /// of other shapes, and what data::transformed throws.
  Given(std::vector<train::NetworkInput> const& inputs, std::vector<Input> const& arrays,
        data::Transforms const& transforms, Input const* targets = nullptr);

  std::span<dynamic::Values const> inputs() const { return inputs_; }
  /// After the transforms. Where an input takes them, they are among the inputs, too.
  dynamic::Values targets() const { return targets_; }
  bool is_minibatch() const { return is_minibatch_; }
  Index count() const { return count_; }

 private:
  void transform(data::Transforms const& transforms, Shape const& raw, Shape const& wanted);

  std::vector<dynamic::Values> inputs_;
  dynamic::Values targets_;
  data::Dataset transformed_;  // empty without transforms
  bool is_minibatch_ = false;
  Index count_ = 1;
};

void add_errors(nb::module_& module);
void add_network(nb::module_& module);
void add_solver(nb::module_& module);

}  // namespace coldpress::python
