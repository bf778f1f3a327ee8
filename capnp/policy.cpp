// Writes the stages of learning-rate policies into messages, and reads them back with a limit on nesting.
#include "policy.hpp"

#include "content.hpp"
#include "values.hpp"

#include <algorithm>

namespace coldpress::persist {
namespace {

Index read_count(std::string const& field, std::uint64_t count) {
  in_field(field, [&] { check_size(count); });
  return static_cast<Index>(count);
}

/// A policy that is not a list, which is the only one in `policy`.
void read_kind(std::string const& field_of_policy, capnp::DynamicStruct::Reader file, capnp::StructSchema::Field member,
               Policy& policy) {
  auto const known = spellings(Policy::Kind{});
  std::string const name = text_of(member.getProto().getName());
  auto const kind = std::ranges::find_if(known, [&](std::string_view word) { return camel_case(word) == name; });
  if (kind == known.end()) throw UnsupportedError{"has a policy that this version of coldpress does not know"};
  std::string const field = field_of_policy + "." + name;
  Policy::Stage& stage = policy.stages[0];
  stage.kind = static_cast<Policy::Kind>(kind - known.begin());
  if (member.getType().isVoid()) return;
  auto const group = file.get(member).as<capnp::DynamicStruct>();
  Policy::Stage::for_each_number(stage, [&](char const* number_name, auto& number, auto, auto) {
    auto const in_file = group.get(text_for(camel_case(number_name)));
    if constexpr (std::is_same_v<decltype(number), float&>) {
      number = in_file.as<float>();
    } else {
      number = read_count(field + "." + camel_case(number_name), in_file.as<std::uint64_t>());
    }
  });
  if (stage.kind != Policy::Kind::multistep) return;
  auto const steps = group.get("steps").as<capnp::List<std::uint64_t>>();
  in_field(field + ".steps", [&] {
    if (steps.size() > Policy::max_steps) throw ConfigError{"at most 16 are possible"};
    for (std::uint64_t const step : steps) {
      check_size(step);
      policy.steps[policy.step_count++] = static_cast<Index>(step);
    }
  });
  stage.step_count = policy.step_count;
}

/// `left` is how many stages may still be read, which bounds the work for a file whose lists are in lists.
Policy read(std::string const& field, schema::Policy::Reader file, int& left) {
  capnp::DynamicStruct::Reader const fields = file;
  Policy policy;
  if (!file.isStaged()) {
    KJ_IF_MAYBE (member, fields.which()) {
      read_kind(field, fields, *member, policy);
      return policy;
    }
    throw UnsupportedError{"has a policy that this version of coldpress does not know"};
  }
  auto const stages = file.getStaged();
  policy = {.stages = {{}}, .stage_count = 0};
  auto const refuse = [&](char const* sentence) { in_field(field + ".staged", [&] { throw ConfigError{sentence}; }); };
  if (stages.size() == 0) refuse("there are none");
  for (unsigned s = 0; s < stages.size(); ++s) {
    if (left-- == 0) refuse("lists in lists have too many stages");
    schema::Stage::Reader const stage = stages[s];
    std::string const at = field + ".staged[" + std::to_string(s) + "]";
    bool const last = s + 1 == stages.size();
    Index const iterations =
        last && stage.getIterations() == 0 ? 0 : read_count(at + ".iterations", stage.getIterations());
    policy.append(last ? 0 : iterations, read(at + ".policy", stage.getPolicy(), left), stage.getFactor());
    if (policy.stage_count > Policy::max_stages) refuse("at most 8 are possible, with those of the lists in it");
    if (policy.step_count > Policy::max_steps) refuse("at most 16 steps are possible, in all stages together");
  }
  return policy;
}

void write_kind(capnp::DynamicStruct::Builder file, Policy const& policy, Policy::Stage const& stage) {
  auto const member = file.getSchema().getFieldByName(text_for(camel_case(spelling(stage.kind))));
  if (member.getType().isVoid()) return file.set(member, capnp::VOID);
  auto group = file.init(member).as<capnp::DynamicStruct>();
  Policy::Stage::for_each_number(stage, [&](char const* name, auto number, auto, auto) {
    if constexpr (std::is_same_v<decltype(number), float>) {
      group.set(text_for(camel_case(name)), number);
    } else {
      group.set(text_for(camel_case(name)), static_cast<std::uint64_t>(number));
    }
  });
  if (stage.kind != Policy::Kind::multistep) return;
  auto steps = group.init("steps", static_cast<unsigned>(stage.step_count)).as<capnp::List<std::uint64_t>>();
  for (unsigned n = 0; n < steps.size(); ++n)
    steps.set(n, static_cast<std::uint64_t>(policy.steps[static_cast<unsigned>(stage.first_step) + n]));
}

}  // namespace

Policy read_policy(std::string const& field, schema::Policy::Reader file) {
  int left = Policy::max_stages * Policy::max_stages;
  return read(field, file, left);
}

void write_policy(schema::Policy::Builder file, Policy const& policy) {
  if (policy.stage_count == 1 && policy.stages[0].factor == 1) return write_kind(file, policy, policy.stages[0]);
  auto stages = file.initStaged(static_cast<unsigned>(policy.stage_count));
  for (unsigned s = 0; s < stages.size(); ++s) {
    Policy::Stage const& stage = policy.stages[s];
    stages[s].setIterations(static_cast<std::uint64_t>(stage.iterations));
    stages[s].setFactor(stage.factor);
    write_kind(stages[s].initPolicy(), policy, stage);
  }
}

}  // namespace coldpress::persist
