// The class Network: loads and runs networks.
#include "bindings.hpp"

#include <coldpress/convert/format.hpp>
#include <coldpress/convert/onnx.hpp>
#include <coldpress/dynamic/describe.hpp>
#include <coldpress/persist.hpp>

#include <algorithm>

namespace coldpress::python {
namespace {

using nb::literals::operator""_a;

std::string to_text(std::vector<Index> const& extents) {
  std::string text = "(";
  for (Index const extent : extents) text.append(text.size() > 1 ? ", " : "").append(std::to_string(extent));
  return text + ")";
}

/// The outputs of a pass, each of which becomes an array of its own.
struct Made {
  std::vector<std::vector<float>> values = {};
  std::vector<std::vector<std::size_t>> shapes = {};

  void add(dynamic::Values output, Shape const& sample, Samples const& like) {
    std::vector<std::size_t> shape;
    if (like.is_minibatch) shape.push_back(static_cast<std::size_t>(like.count));
    for (int axis = 0; axis < sample.rank(); ++axis) shape.push_back(static_cast<std::size_t>(sample[axis]));
    values.emplace_back(output.begin(), output.end());
    shapes.push_back(std::move(shape));
  }
  nb::object to_python() {
    if (values.size() == 1) return nb::cast(array_of(std::move(values[0]), shapes[0]));
    nb::list all;
    for (std::size_t k = 0; k < values.size(); ++k) all.append(array_of(std::move(values[k]), shapes[k]));
    return nb::tuple(all);
  }
};

/// Checks the inputs, and calls pass(layer, values) for the outputs.
template <class F>
nb::object pass(Network const& network, nb::args const& inputs, F f) {
  std::vector<Input> arrays;
  for (nb::handle const input : inputs) arrays.push_back(numbers_of(input));
  Made made = network->use([&](dynamic::Layer& layer) {
    auto const shapes = layer.input_shapes();
    if (arrays.size() != shapes.size())
      refuse("the network takes ", shapes.size(), shapes.size() == 1 ? " input" : " inputs", ", got ", arrays.size());
    std::vector<Samples> samples;
    std::vector<dynamic::Values> values;
    for (std::size_t k = 0; k < arrays.size(); ++k) {
      samples.push_back(samples_of(arrays[k], shapes[k], k));
      if (samples[k].is_minibatch != samples[0].is_minibatch || samples[k].count != samples[0].count)
        refuse("input ", k, " has ", samples[k].count, " samples, input 0 has ", samples[0].count);
      values.push_back(samples[k].values);
    }
    layer.send_weights();
    Made outputs;
    auto const sizes = layer.output_shapes();
    if (samples[0].count == 0) {
      for (Shape const& shape : sizes) outputs.add({}, shape, samples[0]);
      return outputs;
    }
    auto const results = f(layer, std::span<dynamic::Values const>{values});
    for (std::size_t k = 0; k < sizes.size(); ++k) outputs.add(results[k], sizes[k], samples[0]);
    return outputs;
  });
  return made.to_python();
}

nb::object predict(Network const& network, nb::args const& inputs) {
  return pass(network, inputs, [](dynamic::Layer& layer, std::span<dynamic::Values const> values) {
    return layer.executable().forward(values, dynamic::Mode::inference);
  });
}
nb::object step(Network const& network, nb::args const& inputs) {
  return pass(network, inputs, [](dynamic::Layer& layer, std::span<dynamic::Values const> values) {
    return layer.executable().stream(values);
  });
}

nb::dict weights(Network const& network) {
  struct Weight {
    std::string name;
    std::vector<std::size_t> shape;
    std::vector<float> values;
  };
  auto const all = network->use([](dynamic::Layer& layer) {
    std::vector<Weight> found;
    auto const& tensors = layer.learnable_weights_data();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      auto const values = tensors[i].read();
      Weight weight{layer.learnable_weights_names()[i], {}, {values.begin(), values.end()}};
      for (Index const extent : tensors[i].shape()) weight.shape.push_back(static_cast<std::size_t>(extent));
      found.push_back(std::move(weight));
    }
    return found;
  });
  nb::dict named;
  for (Weight const& weight : all) named[weight.name.c_str()] = array_of(weight.values, weight.shape);
  return named;
}

void set_weights(Network const& network, nb::dict const& values) {
  std::vector<std::pair<std::string, Input>> given;
  for (auto const& [name, value] : values) given.emplace_back(nb::cast<std::string>(name), numbers_of(value));
  network->use([&](dynamic::Layer& layer) {
    auto const& names = layer.learnable_weights_names();
    auto const& tensors = layer.learnable_weights_data();
    auto const at = [&](std::string const& name) -> dynamic::SharedTensor const& {
      auto const found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) throw ConfigError{"the network has no weight '" + name + "'"};
      return tensors[static_cast<std::size_t>(found - names.begin())];
    };
    for (auto const& [name, array] : given) {  // all of them, before any is written
      std::vector<Index> shape;
      for (std::size_t axis = 0; axis < array.ndim(); ++axis) shape.push_back(static_cast<Index>(array.shape(axis)));
      if (shape != at(name).shape()) {
        throw ShapeError{"weight '" + name + "' has the shape " + to_text(at(name).shape()) + ", got " +
                         to_text(shape)};
      }
    }
    for (auto const& [name, array] : given) std::copy_n(array.data(), array.size(), at(name).write_only().begin());
  });
}

std::optional<Shape> optional_shape(std::optional<std::vector<Index>> const& extents) {
  return extents ? std::optional{shape_of(*extents)} : std::nullopt;
}
dynamic::Backend backend_of(std::string const& name, int threads) {
  return dynamic::Backend{name, {.threads = threads}};
}

Network made(persist::Training const& training, std::optional<std::vector<Index>> const& input_shape,
             std::optional<std::uint64_t> seed, std::string const& backend, int threads) {
  auto const input = optional_shape(input_shape);
  nb::gil_scoped_release const released;
  return std::make_shared<Held>(
      dynamic::Layer::from_config(backend_of(backend, threads), training.network, input, seed.value_or(training.seed)));
}

nb::object shapes_of(Network const& network, std::span<Shape const> (dynamic::Layer::*shapes)() const) {
  nb::list all;
  auto const found = network->use([&](dynamic::Layer& layer) {
    auto const span = (layer.*shapes)();
    return std::vector<Shape>(span.begin(), span.end());
  });
  for (Shape const& shape : found) all.append(tuple_of(shape));
  return nb::tuple(all);
}

}  // namespace

void Held::train_with(dynamic::SolverConfig config) {
  nb::gil_scoped_release const released;
  std::lock_guard const alone{mutex_};
  auto* const layer = std::get_if<dynamic::Layer>(&what_);
  if (!layer) throw ConfigError{"the network already has a solver"};
  // Checked with another network first, because a solver takes the network that it is given.
  dynamic::SolverConfig check = config;
  check.network = layer->config();
  static_cast<void>(dynamic::Solver::from_config(dynamic::Backend{}, check, layer->input_shape()));
  what_ = dynamic::Solver{std::move(*layer), std::move(config)};
}

Input numbers_of(nb::handle value) {
  Input array;
  if (nb::try_cast(value, array)) return array;
  // Lists, and arrays of other types and byte orders: NumPy raises TypeError or ValueError for what are no numbers.
  nb::object const numpy = nb::module_::import_("numpy");
  return nb::cast<Input>(numpy.attr("ascontiguousarray")(value, numpy.attr("float32")));
}
Output array_of(std::vector<float> values, std::vector<std::size_t> const& shape) {
  auto* const owned = new std::vector<float>(std::move(values));
  nb::capsule const owner{owned, [](void* all) noexcept { delete static_cast<std::vector<float>*>(all); }};
  return Output(owned->data(), shape.size(), shape.data(), owner);
}
nb::tuple tuple_of(Shape const& shape) {
  nb::list extents;
  for (int axis = 0; axis < shape.rank(); ++axis) extents.append(shape[axis]);
  return nb::tuple(extents);
}
Shape shape_of(std::vector<Index> const& extents) {
  Shape shape{};
  if (extents.empty() || extents.size() > std::size_t{Shape::max_rank} - 1)
    refuse("a shape has from 1 to ", Shape::max_rank - 1, " extents, got ", extents.size());
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] < 1) refuse("an extent must be at least 1, got ", extents[axis]);
    shape.extents[axis] = extents[axis];
  }
  return shape;
}
Samples samples_of(Input const& array, Shape const& sample, std::size_t number) {
  std::vector<Index> got;
  for (std::size_t axis = 0; axis < array.ndim(); ++axis) got.push_back(static_cast<Index>(array.shape(axis)));
  std::vector<Index> const one{sample.extents, sample.extents + sample.rank()};
  dynamic::Values const values{array.data(), array.size()};
  if (got == one) return {values, false, 1};
  if (got.size() == one.size() + 1 && std::equal(one.begin(), one.end(), got.begin() + 1))
    return {values, true, got[0]};
  std::string const wanted = to_text(one);
  throw ShapeError{"input " + std::to_string(number) + " has the shape " + to_text(got) + ", expected (samples, " +
                   wanted.substr(1) + " or " + wanted};
}

void add_network(nb::module_& module) {
  nb::class_<Held>(
      module, "Network",
      "A network of a config, with weights initialised by the config's fillers and the seed. `config` is the "
      "path of a file as `coldpress train` takes it; `input_shape` is the shape of one sample, if the config "
      "does not say it. Arrays are of float32 in C order; others are converted. Several threads may use a "
      "network; it computes for one at a time.")
      .def(nb::new_([](std::filesystem::path const& config, std::optional<std::vector<Index>> const& input_shape,
                       std::optional<std::uint64_t> seed, std::string const& backend, int threads) {
             return made(persist::read_training(config.string()), input_shape, seed, backend, threads);
           }),
           "config"_a, "input_shape"_a = nb::none(), nb::kw_only(), "seed"_a = nb::none(), "backend"_a = "cpu",
           "threads"_a = 1)
      .def_static(
          "from_text",
          [](std::string const& config, std::optional<std::vector<Index>> const& input_shape,
             std::optional<std::uint64_t> seed, std::string const& backend, int threads) {
            auto const bytes = std::as_bytes(std::span{config});
            return made(persist::parse_training(bytes, "<text>"), input_shape, seed, backend, threads);
          },
          "config"_a, "input_shape"_a = nb::none(), nb::kw_only(), "seed"_a = nb::none(), "backend"_a = "cpu",
          "threads"_a = 1, "The same of a text: \"(network = (layerType = (sequential = (layers = [...]))))\".")
      .def(
          "predict", predict,
          "The outputs for a minibatch (samples, ...) or one sample (...), in inference mode: an array, or a tuple for "
          "several outputs. Raises ShapeError for an array of another shape.")
      .def("step", step,
           "The next part of a sequence: recurrent layers, causal convolutions and attention continue where the last "
           "call "
           "ended. Raises ShapeError if a layer needs the whole sequence at once.")
      .def(
          "reset", [](Network const& network) { network->use([](dynamic::Layer& layer) { layer.reset(); }); },
          "Makes the next step start a new sequence.")
      .def(
          "save",
          [](Network const& network, std::filesystem::path const& path) {
            network->use([&](dynamic::Layer& layer) { layer.save(path.string()); });
          },
          "path"_a, "Writes the config and the weights to a .juice file, atomically.")
      .def(
          "write_onnx",
          [](Network const& network, std::filesystem::path const& path) {
            network->use([&](dynamic::Layer& layer) { convert::write_onnx(path.string(), persist::model_of(layer)); });
          },
          "path"_a, "Writes an ONNX model, atomically. An UnsupportedError lists all layers that ONNX cannot express.")
      .def(
          "describe",
          [](Network const& network) {
            return network->use([](dynamic::Layer& layer) {
              return dynamic::describe(
                  layer.config(), layer.input_shapes().size() == 1 ? std::optional{layer.input_shape()} : std::nullopt);
            });
          },
          "How the network is computed: fused passes, memory and multiply-adds, as a table.")
      .def_prop_ro("weights", weights, "All weights by name, as copies: {'linear1-0': array, 'linear1-0-bias': array}.")
      .def(
          "set_weights", set_weights, "weights"_a,
          "Sets the weights that are given, by name. Raises ConfigError for an unknown name and ShapeError for another "
          "shape; then nothing has changed.")
      .def(
          "freeze",
          [](Network const& network, std::string const& name) {
            network->use([&](dynamic::Layer& layer) { layer.freeze(name); });
          },
          "name"_a, "Excludes a weight, or all weights of a layer, from training.")
      .def(
          "unfreeze",
          [](Network const& network, std::string const& name) {
            network->use([&](dynamic::Layer& layer) { layer.unfreeze(name); });
          },
          "name"_a)
      .def_prop_ro("input_shapes",
                   [](Network const& network) { return shapes_of(network, &dynamic::Layer::input_shapes); })
      .def_prop_ro("output_shapes",
                   [](Network const& network) { return shapes_of(network, &dynamic::Layer::output_shapes); })
      .def_prop_ro(
          "input_shape",
          [](Network const& network) {
            return tuple_of(network->use([](dynamic::Layer& layer) { return layer.input_shape(); }));
          },
          "The shape of one sample of the first input.")
      .def_prop_ro(
          "output_shape",
          [](Network const& network) {
            return tuple_of(network->use([](dynamic::Layer& layer) { return layer.output_shape(); }));
          },
          "The shape of one sample of the first output.")
      .def("__repr__", [](Network const& network) {
        return network->use([](dynamic::Layer& layer) {
          return "<coldpress.Network " + to_string(layer.input_shape()) + " -> " + to_string(layer.output_shape()) +
                 ">";
        });
      });
  module.def(
      "load",
      [](std::filesystem::path const& path, std::optional<std::vector<Index>> const& input_shape,
         std::string const& backend, int threads) {
        auto const input = optional_shape(input_shape);
        nb::gil_scoped_release const released;
        return with_file(path.string(), [&] {
          return std::make_shared<Held>(persist::layer_of(
              backend_of(backend, threads), convert::read_network(path.string(), {.input = input}).model, input));
        });
      },
      "path"_a, "input_shape"_a = nb::none(), nb::kw_only(), "backend"_a = "cpu", "threads"_a = 1,
      "Loads a network: a file of coldpress, Juice, ONNX, Keras or RTNeural, or a .nam file, of which the content says "
      "which it is. `input_shape` is the shape of one sample, for files that do not say it, or for sequences of "
      "another "
      "length.");
}

}  // namespace coldpress::python
