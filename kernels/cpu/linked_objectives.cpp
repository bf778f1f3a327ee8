// The functions of losses and statistics for network types with linked kernels.
#include <coldpress/kernels/linked_layers.hpp>

namespace coldpress::detail {

constexpr FunctionsOfAll<ObjectiveFunctions, BuiltinLosses> loss_functions =
    functions_of_all<ObjectiveFunctionsOf>(BuiltinLosses{});
constexpr FunctionsOfAll<ObjectiveFunctions, BuiltinStatistics> statistic_functions =
    functions_of_all<ObjectiveFunctionsOf>(BuiltinStatistics{});

}  // namespace coldpress::detail
