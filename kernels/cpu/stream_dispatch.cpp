#include "levels.hpp"

namespace coldpress::cpu {

StreamTable const& stream_table_of(Table const& table) {
#if defined __x86_64__
  if (&table == &v4::table()) return v4::stream_table();
  if (&table == &v3::table()) return v3::stream_table();
  return v2::stream_table();
#else
  static_cast<void>(table);
  return native::stream_table();
#endif
}

}  // namespace coldpress::cpu
