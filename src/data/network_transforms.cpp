// Compares transforms with those of a config, and leaves out what is for targets alone.
#include <coldpress/data/network_transforms.hpp>

#include "transform_chain.hpp"

namespace coldpress::data {
namespace {

/// A transform without what the config left to the data.
Transform without_fitted(Transform fitted, Transform const& configured) {
  if (fitted.index() != configured.index()) return fitted;
  if (auto* const mean = std::get_if<SubtractMean>(&fitted)) {
    auto const& of = std::get<SubtractMean>(configured);
    mean->file = of.file;
    if (of.mean.empty()) mean->mean.clear();
  } else if (auto* const standard = std::get_if<Standardize>(&fitted)) {
    if (std::get<Standardize>(configured).mean.empty()) standard->mean.clear(), standard->deviation.clear();
  } else if (auto* const one_hot = std::get_if<OneHot>(&fitted)) {
    if (std::get<OneHot>(configured).classes == 0) one_hot->classes = 0;
  }
  return fitted;
}

bool is_of_targets(Transform const& transform) { return std::holds_alternative<OneHot>(transform); }

}  // namespace

Transforms of_samples(Transforms transforms) {
  if (std::ranges::all_of(transforms, is_of_targets)) return {};
  for (Transform& transform : transforms)
    if (is_of_targets(transform)) transform = Scale{};
  return transforms;
}

bool are_fitted_of(Transforms const& fitted, Transforms const& configured) {
  return std::ranges::equal(fitted, configured, [](Transform const& one, Transform const& of_config) {
    return without_fitted(one, of_config) == of_config;
  });
}

void check_plays(Transforms const& transforms) {
  for (std::size_t i = 0; i < transforms.size(); ++i) {
    if (is_of_targets(transforms[i]) || is_for_training_alone(transforms[i])) continue;
    in_transform(i, transforms[i], [] {
      throw UnsupportedError{
          "is for samples, and a signal is played as it is: train the network on signals without this transform"};
    });
  }
}

}  // namespace coldpress::data
