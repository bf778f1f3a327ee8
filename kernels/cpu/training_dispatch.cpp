// Finds the training kernels that belong to a table, in a file that only programs that train link.
#include "levels.hpp"

namespace coldpress::cpu {

TrainingTable const& training_table_of(Table const& table) {
#define LEVEL(name) \
  if (&table == &name::table()) return name::training_table();
  COLDPRESS_LEVELS
#undef LEVEL
  refuse("cpu: a table of kernels that is not one of this program's");
}

}  // namespace coldpress::cpu
