// The primitives whose calls a tape may record, for all programs.
#include "recorded_cpu.hpp"

namespace coldpress::cpu {

template struct RecordedCpu<ForTypes>;
template struct RecordedCpu<ForConfigs>;

}  // namespace coldpress::cpu
