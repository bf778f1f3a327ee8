// Reads a training config, its solver and its networks, and writes them.
#include <coldpress/persist/training.hpp>

#include <coldpress/data/atomic_file.hpp>

#include "change.hpp"
#include "content.hpp"
#include "message.hpp"
#include "monitoring.hpp"
#include "policy.hpp"
#include "text.hpp"
#include "transforms.hpp"

#include <coldpress/dynamic/solver.hpp>

#include <algorithm>

namespace coldpress::persist {
namespace {

/// `given` are the fields that are known to be given, even if they have their defaults. A size of minibatches that is
/// only a default says nothing about shapes.
Training read(schema::Training::Reader file, std::set<std::string> const& given) {
  Training training;
  bool const says_batch = given.contains("batch") || file.getBatch() != schema::Training::Reader{}.getBatch();
  Index const by_hand = says_batch ? static_cast<Index>(file.getBatch()) : 1;
  if (!file.hasNetwork()) {
    ConfigError error{"is missing"};
    error.in_field("network");
    throw error;
  }
  read_run(file, training, by_hand);
  training.monitoring = read_monitoring(file);
  check_directions(training.monitoring);
  training.network = read_bare_config(file.getNetwork(), by_hand);
  training.transforms = read_transforms(file.getTransforms());
  return training;
}

schema::Training::Reader root_of(Message& message) {
  if (message.starts_with_text()) throw OtherKindError{"is a model, not a training"};
  return message.root<schema::Training>();
}

Index read_size(char const* field, std::uint64_t size) {
  in_field(field, [&] { check_size(size); });
  return static_cast<Index>(size);
}

/// Whether an optimizer's field is stored elsewhere: learning rate and momentum have fields of their own in the file.
bool is_apart(std::string_view field) { return field == "learning_rate" || field == "momentum"; }

template <class... Optimizers>
dynamic::AnyOptimizer read_optimizer(capnp::DynamicStruct::Reader file, TypeList<Optimizers...>) {
  std::optional<dynamic::AnyOptimizer> found;
  auto const read_one = [&](auto optimizer, capnp::StructSchema::Field member) {
    if (camel_case(optimizer.name) != text_of(member.getProto().getName())) return;
    for_each_field(optimizer, [&](std::string_view name, float& value) {
      if (!is_apart(name))
        value = file.get(member).as<capnp::DynamicStruct>().get(text_for(camel_case(name))).as<float>();
    });
    found = optimizer;
  };
  KJ_IF_MAYBE (member, file.which()) {
    (read_one(Optimizers{}, *member), ...);
  }
  if (!found) throw UnsupportedError{"has an optimizer that this version of coldpress does not know"};
  return *found;
}
dynamic::AnyOptimizer read_optimizer(schema::SolverConfig::Solver::Reader file) {
  return read_optimizer(file, BuiltinOptimizers{});
}

template <class Optimizer>
void write_optimizer(capnp::DynamicStruct::Builder file, Optimizer const& optimizer) {
  auto const member = file.getSchema().getFieldByName(text_for(camel_case(Optimizer::name)));
  if (member.getType().isVoid()) return file.set(member, capnp::VOID);
  auto fields = file.init(member).template as<capnp::DynamicStruct>();
  for_each_field(optimizer, [&](std::string_view name, float value) {
    if (!is_apart(name)) fields.set(text_for(camel_case(name)), value);
  });
}

}  // namespace

dynamic::LayerConfig read_bare_config(schema::LayerConfig::Reader file, std::optional<Index> by_hand) {
  auto config = read_config(file);
  if (by_hand) check_one_meaning(config, *by_hand);
  drop_batch(config, {});
  return std::move(config.config);
}

void write_bare_config(schema::LayerConfig::Builder file, dynamic::LayerConfig const& config,
                       std::optional<Index> batch) {
  write_config(file, config, batch);
  check_written(read_config(file.asReader()), {});
}

dynamic::SolverConfig read_solver(schema::SolverConfig::Reader file) {
  dynamic::SolverConfig solver{.name = text_of(file.getName()),
                               .solver = read_optimizer(file.getSolver()),
                               .lr_policy = read_policy("solver.lrPolicy", file.getLrPolicy()),
                               .base_lr = file.getBaseLr(),
                               .momentum = file.getMomentum(),
                               .momentum_policy = read_policy("solver.momentumPolicy", file.getMomentumPolicy())};
  if (file.getMinibatchSize() != 0) solver.minibatch_size = read_size("solver.minibatchSize", file.getMinibatchSize());
  if (file.getClipGradients() != 0) solver.clip_gradients = file.getClipGradients();
  if (file.getClipValues() != 0) solver.clip_values = file.getClipValues();
  if (file.getWeightDecay() != 0) solver.weight_decay = file.getWeightDecay();
  if (file.getRegularizationMethod() > schema::Regularization::L1)
    throw UnsupportedError{"has a regularisation that this version of coldpress does not know"};
  solver.regularization_method = read_enumerator<Regularization>(capnp::toDynamic(file.getRegularizationMethod()));
  solver.accumulate = read_size("solver.accumulate", file.getAccumulate());
  if (file.getMicrobatch() != 0) solver.microbatch = read_size("solver.microbatch", file.getMicrobatch());
  solver.sync_batch_normalization = file.getSyncBatchNormalization();
  solver.bfloat16_gradients = file.getBfloat16Gradients();
  solver.shard_optimizer = file.getShardOptimizer();
  check_solver(solver);
  return solver;
}

void write_solver(schema::SolverConfig::Builder file, dynamic::SolverConfig const& solver) {
  check_solver(solver);
  file.setName(text_for(solver.name));
  if (solver.minibatch_size) file.setMinibatchSize(static_cast<std::uint64_t>(*solver.minibatch_size));
  file.setBaseLr(solver.base_lr);
  file.setMomentum(solver.momentum);
  if (solver.momentum_policy != Policy{}) write_policy(file.initMomentumPolicy(), solver.momentum_policy);
  if (solver.clip_gradients) file.setClipGradients(*solver.clip_gradients);
  if (solver.clip_values) file.setClipValues(*solver.clip_values);
  std::visit([&](auto const& optimizer) { write_optimizer(file.getSolver(), optimizer); }, solver.solver);
  if (solver.lr_policy != Policy{}) write_policy(file.initLrPolicy(), solver.lr_policy);
  if (solver.weight_decay) file.setWeightDecay(*solver.weight_decay);
  capnp::DynamicStruct::Builder{file}.set(
      "regularizationMethod",
      written_enumerator(capnp::Schema::from<schema::Regularization>(), solver.regularization_method));
  file.setAccumulate(static_cast<std::uint64_t>(solver.accumulate));
  if (solver.microbatch) file.setMicrobatch(static_cast<std::uint64_t>(*solver.microbatch));
  file.setSyncBatchNormalization(solver.sync_batch_normalization);
  file.setBfloat16Gradients(solver.bfloat16_gradients);
  file.setShardOptimizer(solver.shard_optimizer);
}

void check_solver(dynamic::SolverConfig const& solver) {
  in_field("solver.name", [&] { check_text(solver.name); });
  if (solver.minibatch_size)
    in_field("solver.minibatchSize", [&] { check_size(static_cast<std::uint64_t>(*solver.minibatch_size)); });
  in_field("solver.accumulate", [&] { check_size(static_cast<std::uint64_t>(solver.accumulate)); });
  if (solver.microbatch)
    in_field("solver.microbatch", [&] { check_size(static_cast<std::uint64_t>(*solver.microbatch)); });
  try {
    dynamic::check_numbers(solver);
  } catch (ConfigError const& error) {  // the file spells its fields differently
    ConfigError here{error.sentence()};
    here.in_field("solver." + camel_case(error.field()));
    throw here;
  }
}

Training read_training(std::string const& path, std::vector<std::string> const& changes) {
  return with_file(path, [&] { return parse_training(read_file(path, max_file), path, changes); });
}

Training parse_training(std::span<std::byte const> bytes, std::string const& file,
                        std::vector<std::string> const& changes) {
  return with_file(file, [&] {
    return translated([&] {
      capnp::MallocMessageBuilder message;
      std::set<std::string> given;
      if (is_text(bytes)) {
        given = parse_text({reinterpret_cast<char const*>(bytes.data()), bytes.size()},
                           message.initRoot<schema::Training>());
      } else {
        Message file_message{bytes};
        if (changes.empty()) return read(root_of(file_message), {});
        message.setRoot(root_of(file_message));
      }
      auto root = message.getRoot<schema::Training>();
      for (std::string const& change : changes) given.insert(apply_change(root, change));
      return read(root.asReader(), given);
    });
  });
}

void write_training(std::string const& path, Training const& training) {
  check_directions(training.monitoring);
  with_file(path, [&] {
    translated([&] {
      capnp::MallocMessageBuilder message;
      auto root = message.initRoot<schema::Training>();
      write_run(root, training);
      write_monitoring(root, training.monitoring);
      write_bare_config(root.initNetwork(), training.network, {});
      if (!training.transforms.empty())
        write_transforms(root.initTransforms(list_size(training.transforms.size())), training.transforms);
      std::string const text = to_text(root.asReader());
      write_atomically(path, std::as_bytes(std::span{text}));
    });
  });
}

}  // namespace coldpress::persist
