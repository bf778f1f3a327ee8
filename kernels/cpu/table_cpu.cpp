// The primitives whose calls a tape may record, for all programs.
#include "recorded_cpu.hpp"

namespace coldpress::cpu {

template struct RecordedCpu<Tape>;

}  // namespace coldpress::cpu
