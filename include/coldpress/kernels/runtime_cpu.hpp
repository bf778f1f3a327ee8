// The CPU backend of networks that become known only at run time.
#pragma once

#include <coldpress/backend/concept.hpp>
#include <coldpress/kernels/table_cpu.hpp>

namespace coldpress::cpu {

struct RuntimeCpu : TableCpu<ForConfigs> {
  Index storage_size(Parameter const& parameter) const {
    return halves ? HalfLayout::storage_size(parameter) : Layout::storage_size(parameter);
  }
  float get(Parameter const& parameter, float const* storage, Index element) const {
    return halves ? HalfLayout::get(parameter, storage, element) : Layout::get(parameter, storage, element);
  }
  void put(Parameter const& parameter, float* storage, Index element, float value) const {
    halves ? HalfLayout::put(parameter, storage, element, value) : Layout::put(parameter, storage, element, value);
  }
};
static_assert(concepts::Backend<RuntimeCpu>);

}  // namespace coldpress::cpu
