// Which level's kernels run: the best this CPU has, or the one that is asked for.
#pragma once

#include <coldpress/kernels/table.hpp>

#include <string>

namespace coldpress::cpu {

/// The table of a level ("v2", "v3", "v4" on x86-64, "native" elsewhere); empty: the best. Throws UnsupportedError,
/// naming those this CPU can run.
Table const& table_for(std::string const& level);
/// That of the best level, or of the one that COLDPRESS_CPU_LEVEL names: the same in every call.
Table const& best_table();
/// That of the same level.
TrainingTable const& training_table_of(Table const& table);

}  // namespace coldpress::cpu
