#include <coldpress/persist/training.hpp>

#include <coldpress/data/atomic_file.hpp>

#include "content.hpp"
#include "message.hpp"
#include "text.hpp"

namespace coldpress::persist {
namespace {

Training read(schema::Training::Reader file) {
  Training training;
  if (!file.hasNetwork()) {
    ConfigError error{"is missing"};
    error.in_field("network");
    throw error;
  }
  training.network = read_bare_config(file.getNetwork());
  read_run(file, training);
  return training;
}

}  // namespace

dynamic::LayerConfig read_bare_config(schema::LayerConfig::Reader file) {
  auto config = read_config(file);
  drop_batch(config, {});
  return std::move(config.config);
}

void write_bare_config(schema::LayerConfig::Builder file, dynamic::LayerConfig const& config, Index batch) {
  write_config(file, config, batch);
  check_written(read_config(file.asReader()), {});
}

dynamic::SolverConfig read_solver(schema::SolverConfig::Reader file) {
  dynamic::SolverConfig solver{
      .name = text_of(file.getName()), .base_lr = file.getBaseLr(), .momentum = file.getMomentum()};
  if (file.getMinibatchSize() != 0) {
    in_field("solver.minibatchSize", [&] { check_size(file.getMinibatchSize()); });
    solver.minibatch_size = static_cast<Index>(file.getMinibatchSize());
  }
  if (file.getClipGradients() != 0) solver.clip_gradients = file.getClipGradients();
  check_solver(solver);
  return solver;
}

void write_solver(schema::SolverConfig::Builder file, dynamic::SolverConfig const& solver) {
  check_solver(solver);
  file.setName(text_for(solver.name));
  if (solver.minibatch_size) file.setMinibatchSize(static_cast<std::uint64_t>(*solver.minibatch_size));
  file.setBaseLr(solver.base_lr);
  file.setMomentum(solver.momentum);
  if (solver.clip_gradients) file.setClipGradients(*solver.clip_gradients);
}

void check_solver(dynamic::SolverConfig const& solver) {
  auto const number = [](char const* field, float value, bool holds, char const* wanted) {
    in_field(field, [&] {
      check_number(field, value);
      if (!holds) throw ConfigError{std::string{"must be "} + wanted + ", is " + std::to_string(value)};
    });
  };
  in_field("solver.name", [&] { check_text(solver.name); });
  if (solver.minibatch_size)
    in_field("solver.minibatchSize", [&] { check_size(static_cast<std::uint64_t>(*solver.minibatch_size)); });
  number("solver.baseLr", solver.base_lr, solver.base_lr >= 0, "at least 0");
  number("solver.momentum", solver.momentum, solver.momentum >= 0 && solver.momentum < 1, "at least 0 and below 1");
  if (solver.clip_gradients)
    number("solver.clipGradients", *solver.clip_gradients, *solver.clip_gradients > 0, "above 0");
}

Training read_training(std::string const& path) {
  auto const bytes = read_file(path, max_file);
  return with_context(
      [&] {
        return translated([&] {
          if (!is_text(bytes)) return read(Message{bytes}.root<schema::Training>());
          std::string const text{reinterpret_cast<char const*>(bytes.data()), bytes.size()};
          capnp::MallocMessageBuilder message;
          auto root = message.initRoot<schema::Training>();
          parse_text(text, root);
          return read(root.asReader());
        });
      },
      [&](Error& error) { error.in_file(path); });
}

void write_training(std::string const& path, Training const& training) {
  with_context(
      [&] {
        translated([&] {
          capnp::MallocMessageBuilder message;
          auto root = message.initRoot<schema::Training>();
          write_run(root, training);
          write_bare_config(root.initNetwork(), training.network, training.batch);
          std::string const text = to_text(root.asReader());
          write_atomically(path, std::as_bytes(std::span{text}));
        });
      },
      [&](Error& error) { error.in_file(path); });
}

}  // namespace coldpress::persist
