// The CPU backend of networks that are known only at run time.
#pragma once

#include <coldpress/backend/concept.hpp>
#include <coldpress/kernels/table_cpu.hpp>
#include <coldpress/kernels/tape.hpp>

namespace coldpress::cpu {

/// Calls that a tape takes down where there is one.
struct TapedCalls {
  Tape* tape = nullptr;
  bool halves = false;  // the matrices of dense layers are of Bfloat16

 protected:
  template <class... Parameters, class... Args>
  void make(void (*kernel)(Parameters...), Args const&... args) const {
    tape ? tape->record(kernel, args...) : kernel(args...);
  }
  template <class Step>
  void make(Kernel kernel, Step const& step) const {
    tape ? tape->record(kernel, step) : kernel(&step);
  }
};

struct RuntimeCpu : TableCpu<TapedCalls> {
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
