// A network with what its file says of it, its solver, and the values that a pass gets of arrays.
#include "bindings.hpp"

#include <coldpress/core/to_string.hpp>
#include <coldpress/data/source.hpp>
#include <coldpress/persist/training.hpp>

#include <algorithm>

namespace coldpress::python {
namespace {

[[noreturn]] void refuse_shape(Input const& array, Shape const& sample, std::size_t number) {
  std::string const wanted = to_text({sample.extents, sample.extents + sample.rank()});
  throw ShapeError{"input " + std::to_string(number) + " has the shape " + to_text(extents_of(array)) +
                   ", expected (samples, " + wanted.substr(1) + " or " + wanted};
}

/// The number of samples in an array. One value for each sample of a minibatch needs no extent of its own.
Index count_of(Input const& array, Shape const& sample, std::size_t number, bool is_minibatch) {
  std::vector<Index> const got = extents_of(array), one{sample.extents, sample.extents + sample.rank()};
  if (!is_minibatch && got == one) return 1;
  if (is_minibatch && got.size() == one.size() + 1 && std::equal(one.begin(), one.end(), got.begin() + 1))
    return got[0];
  if (is_minibatch && got.size() == 1 && one == std::vector<Index>{1}) return got[0];
  refuse_shape(array, sample, number);
}

bool crops(data::Transforms const& transforms) {
  return std::ranges::any_of(transforms, [](auto const& one) { return std::holds_alternative<data::Crop>(one); });
}

}  // namespace

std::string to_text(std::vector<Index> const& extents) {
  std::string text = "(";
  for (Index const extent : extents) text.append(text.size() > 1 ? ", " : "").append(std::to_string(extent));
  return text + ")";
}

std::vector<Index> extents_of(Input const& array) {
  std::vector<Index> extents;
  for (std::size_t axis = 0; axis < array.ndim(); ++axis) extents.push_back(static_cast<Index>(array.shape(axis)));
  return extents;
}

void About::write_to(persist::Model& model) const {
  model.transforms = transforms, model.classes = classes, model.metadata = metadata;
}

std::string place_of(data::Transforms const& transforms, std::size_t i) {
  return "transforms[" + std::to_string(i) + "] " +
         std::visit([](auto const& one) { return std::string{one.name}; }, transforms[i]);
}

About about_config(data::Transforms transforms) {
  try {
    data::check_fitted(transforms);
  } catch (ConfigError const& error) {
    UnsupportedError refused{
        error.sentence() +
        ": let `coldpress train` find them, load the network that it saves and give that to Solver, "
        "or write the numbers into the config"};
    refused.in_field(error.field());
    throw refused;
  }
  return {.transforms = std::move(transforms)};
}

Held::Held(dynamic::Layer layer, About about)
    : what_(std::move(layer)),
      about_(std::move(about)),
      inputs_(train::network_inputs(std::get<dynamic::Layer>(what_), train::InputsFor::loss_beside)) {
  for (std::size_t i = 0; inputs_.size() > 1 && i < about_.transforms.size(); ++i) {
    if (std::holds_alternative<data::OneHot>(about_.transforms[i])) continue;
    UnsupportedError error{"is for networks with one input, and this one has " + std::to_string(inputs_.size())};
    error.in_field(place_of(about_.transforms, i));
    throw error;
  }
}

void Held::train_with(dynamic::SolverConfig config) {
  nb::gil_scoped_release const released;
  std::lock_guard const alone{mutex_};
  auto* const layer = std::get_if<dynamic::Layer>(&what_);
  if (!layer) throw ConfigError{"the network already has a solver, which must be deleted first"};
  for (std::size_t i = 0; i < about_.transforms.size(); ++i) {
    data::Transform const& transform = about_.transforms[i];
    if (!data::is_for_training_alone(transform) && !std::holds_alternative<data::Crop>(transform)) continue;
    UnsupportedError error{
        "draws random numbers by the place of a sample in an epoch, which a minibatch does not tell: train with "
        "`coldpress train`, or without this transform, on samples that you change yourself"};
    error.in_field(place_of(about_.transforms, i));
    throw error;
  }
  // Checked with another network first, because a solver takes the network that it is given.
  dynamic::SolverConfig check = config;
  check.network = layer->config();
  static_cast<void>(dynamic::Solver::from_config(dynamic::Backend{}, check, layer->input_shape()));
  auto& solver = what_.emplace<dynamic::Solver>(dynamic::Solver{std::move(*layer), std::move(config)});
  solver.clear_state();  // that of a solver before
}

void Held::end_training() {
  std::lock_guard const alone{mutex_};  // Python's lock is held, too; no thread that has this one waits for that
  dynamic::Layer layer = std::move(std::get<dynamic::Solver>(what_).mut_network());
  what_.emplace<dynamic::Layer>(std::move(layer));
}

Given::Given(std::vector<train::NetworkInput> const& inputs, std::vector<Input> const& arrays,
             data::Transforms const& transforms, Input const* targets)
    : inputs_(inputs.size()) {
  auto const of_targets = static_cast<std::size_t>(std::ranges::count(inputs, true, &train::NetworkInput::of_targets));
  bool const all = arrays.size() == inputs.size();
  if (!all && arrays.size() + of_targets != inputs.size()) {
    refuse("the network takes ", inputs.size(), inputs.size() == 1 ? " input" : " inputs",
           of_targets == 0 ? "" : ", of which those that only losses read may be left out", ", got ", arrays.size());
  }
  std::vector<Input const*> given(inputs.size());
  for (std::size_t k = 0, next = 0; k < inputs.size(); ++k)
    if (all || !inputs[k].of_targets) given[k] = &arrays[next++];
  for (std::size_t k = 0; k < inputs.size(); ++k)
    is_minibatch_ |= given[k] && given[k]->ndim() == static_cast<std::size_t>(inputs[k].shape.rank()) + 1;

  Shape raw = inputs[0].shape;
  if (given[0] && crops(transforms)) {  // out of any larger picture
    auto const extents = extents_of(*given[0]);
    std::size_t const samples = is_minibatch_ ? 1 : 0;
    if (extents.size() != static_cast<std::size_t>(raw.rank()) + samples) refuse_shape(*given[0], raw, 0);
    std::copy(extents.begin() + static_cast<std::ptrdiff_t>(samples), extents.end(), raw.extents);
  }
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (!given[k]) continue;
    Index const count = count_of(*given[k], k == 0 ? raw : inputs[k].shape, k, is_minibatch_);
    if (k == 0) count_ = count;
    if (count != count_) refuse("input ", k, " has ", count, " samples, input 0 has ", count_);
    inputs_[k] = {given[k]->data(), given[k]->size()};
  }
  if (targets) targets_ = {targets->data(), targets->size()};
  if (!transforms.empty() && count_ > 0) transform(transforms, raw, inputs[0].shape);
  for (std::size_t k = 0; targets && k < inputs.size(); ++k) {
    if (given[k]) continue;
    if (of_targets > 1) refuse("the network takes ", of_targets, " arrays of targets: give all inputs in one tuple");
    Index const wanted = count_ * inputs[k].shape.size();
    if (static_cast<Index>(targets_.size()) != wanted)
      refuse("there are ", targets_.size(), " values of targets, expected ", wanted, " for ", count_, " samples");
    inputs_[k] = targets_;
  }
}

void Given::transform(data::Transforms const& transforms, Shape const& raw, Shape const& wanted) {
  data::Dataset before{.sample_shape = raw, .samples = {inputs_[0].begin(), inputs_[0].end()}};
  if (!targets_.empty()) {
    Index const values = static_cast<Index>(targets_.size());
    if (values % count_ != 0) refuse("there are ", values, " values of targets for ", count_, " samples");
    before.target_shape = {{values / count_}};
    before.targets.assign(targets_.begin(), targets_.end());
  }
  auto const source = data::borrow(before);
  auto const after = data::transformed(*source, transforms);
  if (after->sample_shape() != wanted) {
    throw ShapeError{"the transforms make samples of " + to_string(after->sample_shape()) + " of " + to_string(raw) +
                     ", but the network takes " + to_string(wanted)};
  }
  transformed_ = data::load(*after);
  inputs_[0] = transformed_.samples;
  if (!targets_.empty()) targets_ = transformed_.targets;
}

}  // namespace coldpress::python
