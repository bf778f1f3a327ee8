// The results of the last pass: outputs and input gradients, which stay in the backend's memory until they are read.
#pragma once

#include "engine_transfer.hpp"

namespace coldpress::dynamic {

template <class Backend>
class PassResults {
 public:
  PassResults(EngineTransfer<Backend>& transfer, std::size_t outputs, std::size_t inputs)
      : transfer_(transfer), outputs_(outputs), made_(outputs + inputs), shown_(first()) {}

  /// Stores output k; indices from the number of outputs on are input gradients.
  void put(std::size_t k, Values values) {
    made_[k] = values;
    transfer_.forget(k), transfer_.lend(values, k);
    if (k < outputs_) shown_ = first();
  }
  /// Whether a span of values is a list of these results, which a pass changes.
  bool lists(std::span<Values const> given) const {
    return is_among(given.data(), made_.data(), static_cast<Index>(made_.size())) ||
           is_among(given.data(), shown_.data(), static_cast<Index>(shown_.size()));
  }
  /// Replaces the outputs by others that are on the host.
  std::span<Values const> show(std::span<Values const> outputs) { return shown_ = outputs; }
  void drop_input_gradients() {
    if (!input_gradients_there().empty())
      std::fill(made_.begin() + static_cast<std::ptrdiff_t>(outputs_), made_.end(), Values{});
  }
  /// Forgets all results, because their memory is about to be released.
  void drop() { std::fill(made_.begin(), made_.end(), Values{}); }

  /// The results in the backend's memory; outputs() and input_gradients() bring them to the host.
  std::span<Values const> outputs_there() const { return shown_; }
  std::span<Values const> input_gradients_there() const {
    std::span const all = std::span{made_}.subspan(outputs_);
    return all.empty() || all[0].empty() ? std::span<Values const>{} : all;
  }
  std::span<Values const> outputs() {
    bring(0, outputs_);
    return shown_;
  }
  std::span<Values const> input_gradients() {
    bring(outputs_, made_.size());
    return input_gradients_there();
  }
  Executable::Made made(std::size_t k) const {
    Values const values = k < outputs_ ? shown_[k] : made_[k];
    return {values, values.empty() ? nullptr : transfer_.home(k)};
  }

 private:
  std::span<Values const> first() const { return std::span{made_}.first(outputs_); }
  void bring(std::size_t from, std::size_t to) {
    for (std::size_t k = from; k < to; ++k) made_[k] = transfer_.fetch(made_[k], k);
  }
  EngineTransfer<Backend>& transfer_;
  std::size_t outputs_;
  std::vector<Values> made_;
  std::span<Values const> shown_;
};

}  // namespace coldpress::dynamic
