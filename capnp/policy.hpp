// Conversion of policies between memory and messages.
#pragma once

#include "capnproto.hpp"

#include <coldpress/optim/policies.hpp>

namespace coldpress::persist {

/// `field` is the policy's place in errors. Throws ConfigError for a count that makes no sense and for too many stages
/// or steps, and UnsupportedError for a policy of a later version; check_solver checks all other numbers.
Policy read_policy(std::string const& field, schema::Policy::Reader file);
void write_policy(schema::Policy::Builder file, Policy const& policy);

}  // namespace coldpress::persist
