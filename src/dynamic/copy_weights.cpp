#include <coldpress/dynamic/copy_weights.hpp>

#include <algorithm>

namespace coldpress::dynamic {
namespace {

std::string text_of(std::vector<Index> const& extents) {
  std::string text = "{";
  for (Index const extent : extents) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "}";
}

}  // namespace

CopiedWeights copy_weights(Layer const& from, Layer& to) {
  auto const &names = to.learnable_weights_names(), &there = from.learnable_weights_names();
  auto const &weights = to.learnable_weights_data(), &values = from.learnable_weights_data();
  auto const place_of = [&](std::string const& name) {
    return static_cast<std::size_t>(std::ranges::find(there, name) - there.begin());
  };
  CopiedWeights done;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::size_t const k = place_of(names[i]);
    if (k == there.size()) {
      done.missing.push_back(names[i]);
      continue;
    }
    if (values[k].shape() != weights[i].shape()) {
      throw MismatchError{"the weight '" + names[i] + "' has the shape " + text_of(values[k].shape()) + ", expected " +
                          text_of(weights[i].shape()) + " as in the network that learns on"};
    }
    done.copied.push_back(names[i]);
  }
  if (done.copied.empty()) throw MismatchError{"has no weight with the name of one of the network that learns on"};
  for (std::string const& name : there) {
    if (std::ranges::find(names, name) == names.end()) done.unused.push_back(name);
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::size_t const k = place_of(names[i]);
    if (k < there.size()) std::ranges::copy(values[k].read(), weights[i].write_only().begin());
  }
  to.send_weights();
  return done;
}

}  // namespace coldpress::dynamic
