#include "levels.hpp"

namespace coldpress::cpu {

TrainingTable const& training_table_of(Table const& table) {
#if defined __x86_64__
  if (&table == &v4::table()) return v4::training_table();
  if (&table == &v3::table()) return v3::training_table();
  return v2::training_table();
#else
  static_cast<void>(table);
  return native::training_table();
#endif
}

}  // namespace coldpress::cpu
