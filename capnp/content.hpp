// The parts that models, trainings and checkpoints share.
#pragma once

#include "batch.hpp"
#include "checksum.hpp"
#include "config_tree.hpp"
#include "tensors.hpp"

#include <coldpress/persist/training.hpp>

namespace coldpress::persist {

inline constexpr std::size_t max_file = std::size_t{1} << 40;

// These functions ignore the checksum; files that Juice wrote have none.
Model read_model(schema::Layer::Reader file, bool of_juice = false);
void write_model(schema::Layer::Builder file, Model const& model);

/// A configuration without weights; its batch does not matter. `by_hand` is given for trainings, which people write,
/// and is the size of their minibatches, or 1 if they do not say it. Then a shape that can be read in two ways is
/// refused (check_one_meaning).
dynamic::LayerConfig read_bare_config(schema::LayerConfig::Reader file, std::optional<Index> by_hand = {});
/// Without a batch, shapes are written as those of one sample.
void write_bare_config(schema::LayerConfig::Builder file, dynamic::LayerConfig const& config,
                       std::optional<Index> batch);

dynamic::SolverConfig read_solver(schema::SolverConfig::Reader file);
void write_solver(schema::SolverConfig::Builder file, dynamic::SolverConfig const& solver);
void check_solver(dynamic::SolverConfig const& solver);

/// The fields that a training and a checkpoint have in common: loss, solver, data, epochs, batch and seed. `by_hand` is
/// that of read_bare_config.
template <class Reader, class Value>
void read_run(Reader file, Value& value, std::optional<Index> by_hand = {});
template <class Builder, class Value>
void write_run(Builder file, Value const& value);

template <class Reader, class Value>
void read_run(Reader file, Value& value, std::optional<Index> by_hand) {
  if (file.hasSolver()) value.solver = read_solver(file.getSolver());
  in_field("data", [&] { check_text(value.data = text_of(file.getData())); });
  in_field("epochs", [&] { check_size(file.getEpochs()); });
  in_field("batch", [&] { check_size(file.getBatch()); });
  value.epochs = static_cast<Index>(file.getEpochs());
  value.batch = static_cast<Index>(file.getBatch());
  if (file.hasLoss()) in_field("loss", [&] { value.loss = read_bare_config(file.getLoss(), by_hand); });
  value.seed = file.getSeed();
}

template <class Builder, class Value>
void write_run(Builder file, Value const& value) {
  in_field("batch", [&] { check_size(static_cast<std::uint64_t>(value.batch)); });
  in_field("epochs", [&] { check_size(static_cast<std::uint64_t>(value.epochs)); });
  in_field("data", [&] { check_text(value.data); });
  auto const batch = std::is_same_v<Value, Training> ? std::nullopt : std::optional{value.batch};
  if (value.loss) in_field("loss", [&] { write_bare_config(file.initLoss(), *value.loss, batch); });
  write_solver(file.initSolver(), value.solver);
  file.setData(text_for(value.data));
  file.setEpochs(static_cast<std::uint64_t>(value.epochs));
  file.setBatch(static_cast<std::uint64_t>(value.batch));
  file.setSeed(value.seed);
}

}  // namespace coldpress::persist
