// Writes metrics, early stopping, plateaus and series of statistics into messages, and reads them back.
#include "monitoring.hpp"

#include "content.hpp"

#include <algorithm>

namespace coldpress::persist {
namespace {

/// Errors of check_numbers name the fields of C++.
void check(Monitoring const& monitoring) {
  try {
    check_numbers(monitoring);
  } catch (ConfigError const& error) {
    ConfigError here{error.sentence()};
    here.in_field(camel_case(error.field()));
    throw here;
  }
}

Index read_count(std::string const& field, std::uint64_t count, std::uint64_t least) {
  in_field(field, [&] {
    if (count < least || count > std::uint64_t{1} << 40)
      throw ConfigError{"must be from " + std::to_string(least) + " to 2^40, is " + std::to_string(count)};
  });
  return static_cast<Index>(count);
}

template <class Reader>
Metric read_metric(std::string const& field, Reader file) {
  Metric metric{text_of(file.getMetric()), {}};
  in_field(field + ".metric", [&] { check_text(metric.name); });
  in_field(field + ".better", [&] { metric.better = read_enumerator<Better>(capnp::toDynamic(file.getBetter())); });
  return metric;
}
template <class Builder>
void write_metric(Builder file, Metric const& metric) {
  file.setMetric(text_for(metric.name));
  capnp::DynamicStruct::Builder{file}.set("better",
                                          written_enumerator(capnp::Schema::from<schema::Better>(), metric.better));
}

void check_direction(std::string const& field, Metric const& metric) {
  std::string_view const statistic = std::string_view{metric.name}.substr(metric.name.rfind('/') + 1);
  if (metric.better == Better::higher || statistic != "accuracy") return;
  ConfigError error{"is lower, but of '" + metric.name + "' high values are good: write better = higher"};
  error.in_field(field + ".better");
  throw error;
}

void check_name(std::string const& field, std::string const& name, std::vector<std::string>& names) {
  in_field(field, [&] {
    check_text(name);
    if (std::ranges::find(names, name) != names.end()) throw FormatError{"contains '" + name + "' twice"};
    names.push_back(name);
  });
}

}  // namespace

template <class Reader>
Monitoring read_monitoring(Reader file) {
  Monitoring monitoring;
  monitoring.validate = file.getValidate();
  if (file.hasEarlyStopping()) {
    auto const stop = file.getEarlyStopping();
    monitoring.early_stopping = {.metric = read_metric("earlyStopping", stop),
                                 .patience = read_count("earlyStopping.patience", stop.getPatience(), 1),
                                 .min_delta = stop.getMinDelta(),
                                 .restore_best = stop.getRestoreBest()};
  }
  if (file.hasReduceOnPlateau()) {
    auto const reduce = file.getReduceOnPlateau();
    monitoring.reduce_on_plateau = {.metric = read_metric("reduceOnPlateau", reduce),
                                    .factor = reduce.getFactor(),
                                    .patience = read_count("reduceOnPlateau.patience", reduce.getPatience(), 1),
                                    .min_delta = reduce.getMinDelta(),
                                    .cooldown = read_count("reduceOnPlateau.cooldown", reduce.getCooldown(), 0),
                                    .min_rate = reduce.getMinRate(),
                                    .reload = reduce.getReload()};
  }
  auto const average = file.getAverage();
  switch (average.which()) {
    case schema::Average::NONE:
      break;
    case schema::Average::EMA:
      monitoring.average = {.kind = WeightAverage::Kind::ema, .decay = average.getEma()};
      break;
    case schema::Average::SWA:
      monitoring.average = {.kind = WeightAverage::Kind::swa,
                            .from_epoch = read_count("average.swa", average.getSwa(), 0)};
      break;
    default:
      in_field("average", [] {
        throw UnsupportedError{"has an average of weights that this version of coldpress does not know"};
      });
  }
  check(monitoring);
  return monitoring;
}

template <class Builder>
void write_monitoring(Builder file, Monitoring const& monitoring) {
  check(monitoring);
  file.setValidate(monitoring.validate);
  if (auto const& stop = monitoring.early_stopping) {
    auto to = file.initEarlyStopping();
    write_metric(to, stop->metric);
    to.setPatience(static_cast<std::uint64_t>(stop->patience));
    to.setMinDelta(stop->min_delta);
    to.setRestoreBest(stop->restore_best);
  }
  if (auto const& reduce = monitoring.reduce_on_plateau) {
    auto to = file.initReduceOnPlateau();
    write_metric(to, reduce->metric);
    to.setFactor(reduce->factor);
    to.setPatience(static_cast<std::uint64_t>(reduce->patience));
    to.setMinDelta(reduce->min_delta);
    to.setCooldown(static_cast<std::uint64_t>(reduce->cooldown));
    to.setMinRate(reduce->min_rate);
    to.setReload(reduce->reload);
  }
  WeightAverage const& average = monitoring.average;
  if (average.kind == WeightAverage::Kind::ema) file.initAverage().setEma(average.decay);
  if (average.kind == WeightAverage::Kind::swa)
    file.initAverage().setSwa(static_cast<std::uint64_t>(average.from_epoch));
}

void check_directions(Monitoring const& monitoring) {
  if (monitoring.early_stopping) check_direction("earlyStopping", monitoring.early_stopping->metric);
  if (monitoring.reduce_on_plateau) check_direction("reduceOnPlateau", monitoring.reduce_on_plateau->metric);
}

template Monitoring read_monitoring(schema::Training::Reader);
template Monitoring read_monitoring(schema::Checkpoint::Reader);
template void write_monitoring(schema::Training::Builder, Monitoring const&);
template void write_monitoring(schema::Checkpoint::Builder, Monitoring const&);

std::vector<Series> read_statistics(capnp::List<schema::Series>::Reader file) {
  std::vector<Series> all;
  std::vector<std::string> names;
  for (schema::Series::Reader const from : file) {
    std::string const field = "statistics[" + std::to_string(all.size()) + "]";
    Series& series = all.emplace_back(Series{.name = text_of(from.getName())});
    check_name(field, series.name, names);
    for (std::uint64_t const iteration : from.getIterations()) series.iterations.push_back(iteration);
    for (double const value : from.getValues()) series.values.push_back(value);
    in_field(field, [&] {
      if (series.iterations.size() != series.values.size()) {
        throw FormatError{"has " + std::to_string(series.values.size()) + " values for " +
                          std::to_string(series.iterations.size()) + " iterations"};
      }
      if (std::ranges::adjacent_find(series.iterations, std::greater_equal<>{}) != series.iterations.end())
        throw FormatError{"has iterations that do not ascend"};
    });
  }
  return all;
}

void write_statistics(capnp::List<schema::Series>::Builder file, std::vector<Series> const& all) {
  for (unsigned i = 0; i < file.size(); ++i) {
    Series const& series = all[i];
    file[i].setName(text_for(series.name));
    auto iterations = file[i].initIterations(list_size(series.iterations.size()));
    auto values = file[i].initValues(list_size(series.values.size()));
    for (unsigned k = 0; k < values.size(); ++k) {
      iterations.set(k, series.iterations[k]);
      values.set(k, series.values[k]);
    }
  }
}

std::vector<NamedState> read_states(capnp::List<schema::State>::Reader file) {
  std::vector<NamedState> all;
  std::vector<std::string> names;
  for (schema::State::Reader const from : file) {
    std::string const field = "states[" + std::to_string(all.size()) + "]";
    NamedState& state = all.emplace_back(NamedState{.name = text_of(from.getName())});
    check_name(field, state.name, names);
    for (double const number : from.getNumbers()) state.state.numbers.push_back(number);
    state.state.tensors = read_tensors(from.getTensors(), field + ".tensors");
  }
  return all;
}

void write_states(capnp::List<schema::State>::Builder file, std::vector<NamedState> const& all) {
  for (unsigned i = 0; i < file.size(); ++i) {
    NamedState const& from = all[i];
    file[i].setName(text_for(from.name));
    auto numbers = file[i].initNumbers(list_size(from.state.numbers.size()));
    for (unsigned k = 0; k < numbers.size(); ++k) numbers.set(k, from.state.numbers[k]);
    auto const& tensors = from.state.tensors;
    write_tensors(file[i].initTensors(list_size(tensors.size())), tensors, "states[" + std::to_string(i) + "].tensors");
  }
}

}  // namespace coldpress::persist
