// Chooses the kernels to run: those of the best instruction set level of this CPU, or of a requested one.
#pragma once

#include <coldpress/kernels/table.hpp>

#include <string>

namespace coldpress::cpu {

/// The table of an instruction set level ("v2", "v3" or "v4" on x86-64, "native" elsewhere); the empty string means the
/// best level. Throws UnsupportedError, which names the levels that this CPU can run.
Table const& table_for(std::string const& level);
/// The table of the best level, or of the level in COLDPRESS_CPU_LEVEL. Every call returns the same table.
Table const& best_table();
/// The other tables of the same level as `table`.
TrainingTable const& training_table_of(Table const& table);
StreamTable const& stream_table_of(Table const& table);

}  // namespace coldpress::cpu
