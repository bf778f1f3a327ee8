// Moves the average towards the weights after an update, and puts it into a model or a state.
#include <coldpress/train/callback.hpp>
#include <coldpress/train/weight_average.hpp>

namespace coldpress::train::detail {

void Averaged::add(AnySolver const& solver, bool updated, Index epoch) {
  bool const adds = kind_.kind == WeightAverage::Kind::ema
                        ? updated
                        : kind_.kind == WeightAverage::Kind::swa && epoch > kind_.from_epoch;
  if (!adds) return;
  if (count_ == 0) {
    solver.read_weights(average_);
  } else {
    solver.read_weights(latest_);
    float const share = kind_.kind == WeightAverage::Kind::ema ? 1 - kind_.decay : 1 / static_cast<float>(count_ + 1);
    for (std::size_t i = 0; i < average_.size(); ++i) {
      float* const average = average_[i].data();
      float const* const latest = latest_[i].data();
      for (std::size_t e = 0; e < average_[i].size(); ++e) average[e] += share * (latest[e] - average[e]);
    }
  }
  ++count_;
}

persist::Model Averaged::applied(persist::Model model) const {
  for (std::size_t i = 0; i < average_.size() && !empty(); ++i) model.weights[i].values = average_[i];
  return model;
}

persist::State Averaged::state(persist::Model const& model) const {
  persist::State state{.numbers = {static_cast<double>(kind_.kind), static_cast<double>(count_),
                                   static_cast<double>(kind_.decay), static_cast<double>(kind_.from_epoch)}};
  if (!empty()) state.tensors = applied(model).weights;
  return state;
}

void Averaged::restore(persist::State const& state, persist::Model const& model) {
  check_state("average", state, 4);
  if (state.numbers[0] != static_cast<double>(kind_.kind) || state.numbers[2] != static_cast<double>(kind_.decay) ||
      state.numbers[3] != static_cast<double>(kind_.from_epoch))
    throw MismatchError{"the checkpoint has another average of the weights than the training"};
  std::vector<std::vector<float>> average;
  if (state.numbers[1] > 0) {
    if (state.tensors.size() != model.weights.size()) {
      throw FormatError{"the average of the weights has " + std::to_string(state.tensors.size()) +
                        " tensors, expected " + std::to_string(model.weights.size())};
    }
    for (std::size_t i = 0; i < model.weights.size(); ++i) {
      if (state.tensors[i].values.size() != model.weights[i].values.size()) {
        throw FormatError{"the average of weight '" + model.weights[i].name + "' has " +
                          std::to_string(state.tensors[i].values.size()) + " values, expected " +
                          std::to_string(model.weights[i].values.size())};
      }
      average.push_back(state.tensors[i].values);
    }
  }
  average_ = std::move(average);
  count_ = static_cast<std::uint64_t>(count_in("average", state.numbers[1]));
}

}  // namespace coldpress::train::detail
