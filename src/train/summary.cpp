// Puts the last values of chosen statistics into one line.
#include <coldpress/train/summary.hpp>

#include "numbers.hpp"

#include <cstdio>

namespace coldpress::train {

Summary::Summary(std::vector<std::string> names, std::function<void(std::string_view)> write)
    : names_(std::move(names)), write_(std::move(write)) {
  if (write_) return;
  write_ = [](std::string_view line) {
    std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
    std::fflush(stdout);
  };
}

void Summary::operator()(Trainer& trainer) {
  std::string line =
      "step " + std::to_string(trainer.iteration()) + "  epoch " + detail::fixed(trainer.epochs_done(), 2);
  auto const add = [&](std::string const& name) {
    auto const value = trainer.statistics().last(name);
    line.append("  ").append(name).append(" ").append(value ? detail::rounded(*value) : "-");
  };
  for (std::string const& name : names_) add(name);
  if (names_.empty()) {
    for (Series const& series : trainer.statistics().all()) add(series.name);
  }
  write_(line);
}

}  // namespace coldpress::train
