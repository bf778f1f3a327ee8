// The parts of a training file and a checkpoint that a trainer reads: how quality is measured, and what was measured.
#pragma once

#include "tensors.hpp"

#include <coldpress/persist/checkpoint.hpp>

namespace coldpress::persist {

/// `Reader` is that of a Training or a Checkpoint. Throws ConfigError or FormatError with the field.
template <class Reader>
Monitoring read_monitoring(Reader file);
/// Throws ConfigError for an accuracy of which low values are said to be good: a config that leaves `better` out.
void check_directions(Monitoring const& monitoring);
template <class Builder>
void write_monitoring(Builder file, Monitoring const& monitoring);

std::vector<Series> read_statistics(capnp::List<schema::Series>::Reader file);
void write_statistics(capnp::List<schema::Series>::Builder file, std::vector<Series> const& all);

std::vector<NamedState> read_states(capnp::List<schema::State>::Reader file);
void write_states(capnp::List<schema::State>::Builder file, std::vector<NamedState> const& all);

}  // namespace coldpress::persist
