// Evaluates on held-out data, and remembers the best score in order to save, stop or reduce the rate.
#include <coldpress/train/validation.hpp>

#include <coldpress/core/counted.hpp>
#include <coldpress/core/numbers.hpp>

#include <algorithm>
#include <cmath>

namespace coldpress::train {
namespace {

/// Takes the values of the tensors that `with` has, too, by name.
void replace(std::vector<persist::NamedTensor>& tensors, std::vector<persist::NamedTensor> const& with) {
  for (persist::NamedTensor& tensor : tensors) {
    auto const found = std::ranges::find(with, tensor.name, &persist::NamedTensor::name);
    if (found != with.end() && found->values.size() == tensor.values.size()) tensor.values = found->values;
  }
}

/// A number that stands for a metric, because states hold no texts.
double number_of(Metric const& metric) {
  constexpr std::uint64_t mask = (std::uint64_t{1} << 52) - 1;
  return static_cast<double>(Fingerprint{}.add(metric.name).word(static_cast<std::uint64_t>(metric.better)).number &
                             mask);
}

}  // namespace

void Validation::operator()(Trainer& trainer) {
  score_ = trainer.evaluate_together(*source_);
  if (score_.loss) trainer.statistics().add(name + "/loss", trainer.iteration(), *score_.loss);
  if (score_.accuracy) trainer.statistics().add(name + "/accuracy", trainer.iteration(), *score_.accuracy);
  for (auto const& [own, value] : score_.statistics)
    trainer.statistics().add(name + "/" + own, trainer.iteration(), value);
}

Best::Found Best::look(Trainer const& trainer) {
  Series const* const series = trainer.statistics().find(metric_.name);
  if (!series || series->values.empty()) {
    std::string known;
    for (Series const& other : trainer.statistics().all()) known += (known.empty() ? "" : ", ") + other.name;
    throw ConfigError{"there is no statistic '" + metric_.name + "' to watch; there are " +
                      (known.empty() ? "none" : known)};
  }
  if (series->iterations.back() == seen_) return Found::nothing_new;
  seen_ = series->iterations.back();
  double const value = series->values.back();
  if (metric_.improves(value, value_, min_delta_)) {
    value_ = value, iteration_ = seen_, misses_ = 0;
    return Found::better;
  }
  ++misses_;
  return Found::not_better;
}

void Best::save(State& state) const {
  for (double const number : {value_.value_or(0), value_ ? 1.0 : 0.0, static_cast<double>(seen_),
                              static_cast<double>(iteration_), static_cast<double>(misses_), number_of(metric_)})
    state.numbers.push_back(number);
}

void Best::restore(std::string_view name, std::span<double const> saved) {
  auto const count = [&](std::size_t i) { return count_in(name, saved[i]); };
  Index const known = count(1), seen = count(2), iteration = count(3), misses = count(4);
  if (saved[5] != number_of(metric_)) {
    throw MismatchError{"the checkpoint's " + std::string{name} + " has watched another metric than '" + metric_.name +
                        "'"};
  }
  value_ = known != 0 ? std::optional{saved[0]} : std::nullopt;
  seen_ = static_cast<std::uint64_t>(seen), iteration_ = static_cast<std::uint64_t>(iteration), misses_ = misses;
}

StopEarly::StopEarly(EarlyStopping options) : options_(std::move(options)), best_(options_.metric, options_.min_delta) {
  check_numbers(Monitoring{.early_stopping = options_});
}

void StopEarly::operator()(Trainer& trainer) {
  if (trainer.ended()) {
    if (!options_.restore_best || best_weights_.empty()) return;
    persist::Model model = trainer.model();
    replace(model.weights, best_weights_);
    return trainer.load(model);
  }
  Best::Found const found = best_.look(trainer);
  if (found == Best::Found::better && options_.restore_best) best_weights_ = trainer.model().weights;
  if (found == Best::Found::not_better) stop_if_due(trainer);
}

void StopEarly::begin(Trainer& trainer) { stop_if_due(trainer); }

void StopEarly::stop_if_due(Trainer& trainer) const {
  if (best_.misses() < options_.patience) return;
  trainer.stop(options_.metric.name + " has not improved for " + counted(best_.misses(), "time") +
               ", since iteration " + std::to_string(best_.iteration()));
}

State StopEarly::state() const {
  State state{.tensors = best_weights_};
  best_.save(state);
  return state;
}

void StopEarly::restore(State const& state) {
  check_state(name, state, Best::numbers);
  best_.restore(name, state.numbers);
  best_weights_ = state.tensors;
}

ReduceRate::ReduceRate(ReduceOnPlateau options)
    : options_(std::move(options)), best_(options_.metric, options_.min_delta) {
  check_numbers(Monitoring{.reduce_on_plateau = options_});
}

void ReduceRate::operator()(Trainer& trainer) {
  Best::Found const found = best_.look(trainer);
  if (found == Best::Found::nothing_new) return;
  if (found == Best::Found::better && options_.reload) {
    trainer.solver().gather_state(true);
    persist::Checkpoint const now = trainer.solver().checkpoint();
    best_tensors_ = now.model.weights;
    best_tensors_.insert(best_tensors_.end(), now.optimizer_state.begin(), now.optimizer_state.end());
  }
  if (cooldown_ > 0) {
    --cooldown_;
    best_.forget_misses();
  }
  if (best_.misses() < options_.patience) return;
  best_.forget_misses();
  float const rate = trainer.solver().base_rate(), reduced = std::max(rate * options_.factor, options_.min_rate);
  if (!(reduced < rate)) return;
  if (options_.reload && !best_tensors_.empty()) {
    trainer.solver().gather_state(true);
    persist::Checkpoint now = trainer.solver().checkpoint();
    replace(now.model.weights, best_tensors_);
    replace(now.optimizer_state, best_tensors_);
    trainer.solver().resume(now);
  }
  trainer.solver().set_base_rate(reduced);
  cooldown_ = options_.cooldown;
  ++reductions_;
}

State ReduceRate::state() const {
  State state{.tensors = best_tensors_};
  best_.save(state);
  state.numbers.push_back(static_cast<double>(cooldown_));
  state.numbers.push_back(static_cast<double>(reductions_));
  return state;
}

void ReduceRate::restore(State const& state) {
  check_state(name, state, Best::numbers + 2);
  best_.restore(name, state.numbers);
  cooldown_ = count_in(name, state.numbers[Best::numbers]);
  reductions_ = count_in(name, state.numbers[Best::numbers + 1]);
  best_tensors_ = state.tensors;
}

}  // namespace coldpress::train
