// Finds the kernels for streams that belong to a table, in a file that only programs that stream link.
#include "levels.hpp"

namespace coldpress::cpu {

StreamTable const& stream_table_of(Table const& table) {
#define LEVEL(name) \
  if (&table == &name::table()) return name::stream_table();
  COLDPRESS_LEVELS
#undef LEVEL
  refuse("cpu: a table of kernels that is not one of this program's");
}

}  // namespace coldpress::cpu
