#include "mixed.hpp"

#include <type_traits>

static_assert(std::is_same_v<Net::Backend, coldpress::Cpu>);
std::vector<float> learn_compiled_in() { return learn(); }
