// What the files of the extension module have in common: arrays of NumPy, and who may use a network.
#pragma once

#include <coldpress/dynamic/solver.hpp>

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

nb::tuple tuple_of(Shape const& shape);
/// Throws ShapeError beyond eight extents, or for an extent that is less than 1.
Shape shape_of(std::vector<Index> const& extents);

/// Samples as the network takes them: a minibatch, whose first extent is the number of samples, or one sample.
struct Samples {
  dynamic::Values values;
  bool is_minibatch;
  Index count;
};
/// Throws ShapeError, with both shapes, unless the array is one sample of this shape or a minibatch of them.
Samples samples_of(Input const& array, Shape const& sample, std::size_t number);

/// A network that Python holds, or a solver with its network. Calls release Python's lock while they compute, and one
/// call at a time uses it.
class Held {
 public:
  explicit Held(dynamic::Layer layer) : what_(std::move(layer)) {}

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
  /// Gives the network to a solver. Throws ConfigError if it has one, or if the config does not fit; then nothing has
  /// changed.
  void train_with(dynamic::SolverConfig config);

 private:
  std::variant<dynamic::Layer, dynamic::Solver> what_;
  std::mutex mutex_;
};
using Network = std::shared_ptr<Held>;

void add_errors(nb::module_& module);
void add_network(nb::module_& module);
void add_solver(nb::module_& module);

}  // namespace coldpress::python
