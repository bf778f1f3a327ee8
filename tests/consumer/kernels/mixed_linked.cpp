#include "mixed.hpp"

#include <type_traits>

static_assert(std::is_same_v<Net::Backend, coldpress::LinkedCpu>);
std::vector<float> learn_linked() { return learn(); }
