// The class Network: loads and runs networks.
#include "bindings.hpp"

#include <coldpress/convert/format.hpp>
#include <coldpress/convert/onnx.hpp>
#include <coldpress/core/to_string.hpp>
#include <coldpress/data/network_transforms.hpp>
#include <coldpress/dynamic/describe.hpp>
#include <coldpress/persist.hpp>

#include <algorithm>

namespace coldpress::python {
namespace {

using nb::literals::operator""_a;

/// The outputs of a pass, each of which becomes an array of its own.
struct Made {
  std::vector<std::vector<float>> values = {};
  std::vector<std::vector<std::size_t>> shapes = {};

  void add(dynamic::Values output, Shape const& sample, Given const& like) {
    std::vector<std::size_t> shape;
    if (like.is_minibatch()) shape.push_back(static_cast<std::size_t>(like.count()));
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
    auto const& all = network->inputs();  // of which the outputs may need fewer than the losses do
    bool const fewer = arrays.size() < train::inputs_of(all, false).size();
    Given const given{fewer ? train::network_inputs(layer, train::InputsFor::outputs) : all, arrays,
                      data::of_samples(network->about().transforms)};
    layer.send_weights();
    Made outputs;
    auto const sizes = layer.output_shapes();
    if (given.count() == 0) {
      for (Shape const& shape : sizes) outputs.add({}, shape, given);
      return outputs;
    }
    auto const results = f(layer, given.inputs());
    for (std::size_t k = 0; k < sizes.size(); ++k) outputs.add(results[k], sizes[k], given);
    return outputs;
  });
  return made.to_python();
}

/// Throws UnsupportedError for transforms that a part of a sequence cannot go through.
void check_steps(data::Transforms const& transforms, Shape const& step) {
  if (step.rank() < 2) return;
  for (std::size_t i = 0; i < transforms.size(); ++i) {
    auto const* const subtracted = std::get_if<data::SubtractMean>(&transforms[i]);
    auto const* const standardized = std::get_if<data::Standardize>(&transforms[i]);
    bool const is_for_each_value = (subtracted && subtracted->mean.size() > 1) ||
                                   (standardized && standardized->mean.size() + standardized->deviation.size() > 2);
    if (!is_for_each_value && !std::holds_alternative<data::Crop>(transforms[i])) continue;
    UnsupportedError error{"is for whole samples, and a step is a part of one: use predict"};
    error.in_field(place_of(transforms, i));
    throw error;
  }
}

nb::object predict(Network const& network, nb::args const& inputs) {
  return pass(network, inputs, [](dynamic::Layer& layer, std::span<dynamic::Values const> values) {
    return layer.executable().forward(values, dynamic::Mode::inference);
  });
}
nb::object step(Network const& network, nb::args const& inputs) {
  check_steps(network->about().transforms, network->inputs()[0].shape);
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
  for (auto const& [name, value] : values) {
    std::string text;
    if (!nb::try_cast(name, text)) throw nb::type_error("the names of weights are texts: {'linear1-0': array}");
    given.emplace_back(std::move(text), numbers_of(value));
  }
  network->use([&](dynamic::Layer& layer) {
    auto const& names = layer.learnable_weights_names();
    auto const& tensors = layer.learnable_weights_data();
    auto const at = [&](std::string const& name) -> dynamic::SharedTensor const& {
      auto const found = std::find(names.begin(), names.end(), name);
      if (found == names.end()) throw ConfigError{"the network has no weight '" + name + "'"};
      return tensors[static_cast<std::size_t>(found - names.begin())];
    };
    for (auto const& [name, array] : given) {  // all of them, before any is written
      std::vector<Index> const shape = extents_of(array);
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
  About about = about_config(training.transforms);
  return std::make_shared<Held>(
      dynamic::Layer::from_config(backend_of(backend, threads), training.network, input, seed.value_or(training.seed)),
      std::move(about));
}

/// The network with all that its file says of it.
persist::Model model_of(Network const& network, dynamic::Layer const& layer) {
  persist::Model model = persist::model_of(layer);
  network->about().write_to(model);
  return model;
}

void write_onnx(Network const& network, std::string const& path) {
  if (!network->about().transforms.empty()) {
    throw UnsupportedError{"an ONNX model cannot hold the transforms of samples that the network has (" +
                           place_of(network->about().transforms, 0) +
                           "); save the network, and `coldpress convert` writes a model without them"};
  }
  network->use([&](dynamic::Layer& layer) { convert::write_onnx(path, model_of(network, layer)); });
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
          "predict", predict, nb::sig("def predict(self, *x: typing.Any) -> typing.Any"),
          "The outputs for a minibatch (samples, ...) or one sample (...), in inference mode: an array, or a tuple for "
          "several outputs. Samples first go through the network's transforms. Inputs that only losses read may be "
          "left out; an input of one value for each sample may be (samples,). Raises ShapeError for an array of "
          "another shape.")
      .def("step", step, nb::sig("def step(self, *x: typing.Any) -> typing.Any"),
           "The next part of a sequence: recurrent layers, causal convolutions and attention continue where the last "
           "call ended. Raises ShapeError if a layer needs the whole sequence at once, and UnsupportedError for "
           "transforms that do.")
      .def(
          "reset", [](Network const& network) { network->use([](dynamic::Layer& layer) { layer.reset(); }); },
          "Makes the next step start a new sequence.")
      .def(
          "save",
          [](Network const& network, std::filesystem::path const& path) {
            network->use([&](dynamic::Layer& layer) {
              with_file(path.string(), [&] { persist::write_model(path.string(), model_of(network, layer)); });
            });
          },
          "path"_a,
          "Writes the config, the weights, the transforms and the names of classes to a .juice file, atomically.")
      .def(
          "write_onnx",
          [](Network const& network, std::filesystem::path const& path) { write_onnx(network, path.string()); },
          "path"_a,
          "Writes an ONNX model, atomically. An UnsupportedError lists all layers that ONNX cannot express; it cannot "
          "hold transforms of samples either. Raises DataError for a weight that is not finite.")
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
      .def_prop_ro(
          "classes",
          [](Network const& network) {
            nb::list names;
            for (std::string const& name : network->about().classes) names.append(name);
            return nb::tuple(names);
          },
          "The names of the classes that the network tells apart, by label; empty if its file has none.")
      .def_prop_ro(
          "input_shapes", [](Network const& network) { return shapes_of(network, &dynamic::Layer::input_shapes); },
          nb::sig("def input_shapes(self) -> tuple[tuple[int, ...], ...]"))
      .def_prop_ro(
          "output_shapes", [](Network const& network) { return shapes_of(network, &dynamic::Layer::output_shapes); },
          nb::sig("def output_shapes(self) -> tuple[tuple[int, ...], ...]"))
      .def_prop_ro(
          "input_shape",
          [](Network const& network) {
            return tuple_of(network->use([](dynamic::Layer& layer) { return layer.input_shape(); }));
          },
          "The shape of one sample of the first input, after transforms.")
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
        auto const computed_by = backend_of(backend, threads);
        return with_file(path.string(), [&] {
          persist::Model model = convert::read_network(path.string(), {.input = input}).model;
          dynamic::Layer layer = persist::layer_of(computed_by, model, input);
          return std::make_shared<Held>(std::move(layer), About{std::move(model.transforms), std::move(model.classes),
                                                                std::move(model.metadata)});
        });
      },
      "path"_a, "input_shape"_a = nb::none(), nb::kw_only(), "backend"_a = "cpu", "threads"_a = 1,
      "Loads a network: a file of coldpress, Juice, ONNX, Keras or RTNeural, or a .nam file, of which the content says "
      "which it is. `input_shape` is the shape of one sample, for files that do not say it, or for sequences of "
      "another length.");
}

}  // namespace coldpress::python
