// How long the passes of a network take, each measured by itself.
#pragma once

#include <coldpress/dynamic/layer_config.hpp>
#include <coldpress/typed/describe.hpp>

#include <optional>
#include <vector>

namespace coldpress::train {

/// Seconds for one minibatch.
struct GroupTime {
  double forward = 0;
  std::optional<double> backward = {};  // none if the layers have no backward pass
};

/// The time of each group of a plan, which is computed in one pass: forward in training mode; backward with the
/// gradients of the weights and of all inputs but the network's. `network` is the config with the layers of the plan,
/// whose names are those of its rows; `samples` is the size of the minibatch.
///
/// Each group is made again as a network of its own, on the backend "cpu" and one thread, with zeros as weights and
/// inputs. It is run until 5 ms are over, at least three times after a first run that does not count, and the shortest
/// run counts. So the sum differs from the time of a step, which also has losses, update and data. There is no time for
/// groups that compute nothing, and for those that have a layer without a name in the config, a registered layer that
/// this program does not know, or more inputs than a network may have.
[[nodiscard]] std::vector<std::optional<GroupTime>> group_times(Description const& plan,
                                                                dynamic::LayerConfig const& network, Index samples);

}  // namespace coldpress::train
