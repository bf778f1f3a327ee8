// THE LIST of built-in optimizers.
#pragma once

#include <coldpress/core/type_list.hpp>
#include <coldpress/optim/sgd.hpp>

namespace coldpress {

using BuiltinOptimizers = TypeList<Sgd>;

}  // namespace coldpress
