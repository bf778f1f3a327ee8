// The functions of losses and statistics.
#include <coldpress/kernels/linked_layers.hpp>

namespace coldpress::detail {

constexpr FunctionsOfAll<ObjectiveFunctions<LinkedCpu>, BuiltinLosses> loss_functions =
    functions_of_all<ObjectiveFunctionsOf>(BuiltinLosses{});
constexpr FunctionsOfAll<ObjectiveFunctions<LinkedCpu>, BuiltinStatistics> statistic_functions =
    functions_of_all<ObjectiveFunctionsOf>(BuiltinStatistics{});

}  // namespace coldpress::detail
