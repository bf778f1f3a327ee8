// Collects the series of loss and accuracy for training, validation and test, and draws them as charts.
#include "report.hpp"

#include <coldpress/data/chart.hpp>

namespace coldpress::command {

void write_report(std::string const& file, train::Trainer const& trainer) {
  double const steps_per_epoch = static_cast<double>(trainer.iteration()) / trainer.epochs_done();
  auto const curve_of = [&](std::string const& statistic, std::string const& title) {
    data::Curve curve{title};
    if (train::Series const* series = trainer.statistics().find(statistic)) {
      for (std::uint64_t const iteration : series->iterations)
        curve.x.push_back(static_cast<double>(iteration) / steps_per_epoch);
      curve.y = series->values;
    }
    return curve;
  };
  std::vector<data::Chart> charts;
  for (auto const& [title, of_training, kind] :
       {std::tuple{"Loss", "training/loss", "/loss"}, {"Accuracy", "training/accuracy", "/accuracy"}}) {
    data::Chart chart{title, "epochs", "", {}};
    for (auto const& [statistic, curve] : {std::pair{std::string{of_training}, "training"},
                                           {std::string{"validation"} + kind, "validation"},
                                           {std::string{"test"} + kind, "test"}}) {
      data::Curve found = curve_of(statistic, curve);
      if (!found.y.empty()) chart.curves.push_back(std::move(found));
    }
    if (!chart.curves.empty()) charts.push_back(std::move(chart));
  }
  if (!charts.empty()) data::write_svg(file, charts);
}

}  // namespace coldpress::command
