// Adds values to series in the order of iterations, and finds the last one of a name.
#include <coldpress/train/statistics.hpp>

#include <algorithm>

namespace coldpress::train {

void Statistics::add(std::string_view name, std::uint64_t iteration, double value) {
  auto found = std::ranges::find(series_, name, &Series::name);
  if (found == series_.end()) found = series_.insert(found, {.name = std::string{name}});
  if (!found->iterations.empty() && found->iterations.back() == iteration) {
    found->values.back() = value;
    return;
  }
  if (!found->iterations.empty() && found->iterations.back() > iteration) {
    throw ConfigError{"statistic '" + found->name + "': iteration " + std::to_string(iteration) + " comes after " +
                      std::to_string(found->iterations.back())};
  }
  found->iterations.push_back(iteration);
  found->values.push_back(value);
}

Series const* Statistics::find(std::string_view name) const {
  auto const found = std::ranges::find(series_, name, &Series::name);
  return found == series_.end() ? nullptr : &*found;
}

std::optional<double> Statistics::last(std::string_view name) const {
  Series const* series = find(name);
  return series && !series->values.empty() ? std::optional{series->values.back()} : std::nullopt;
}

}  // namespace coldpress::train
