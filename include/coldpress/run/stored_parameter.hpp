// A parameter in the layout of a backend: its initial values, and how it is read and written in the order of a file.
#pragma once

#include <coldpress/core/filler.hpp>

namespace coldpress {

/// Stores the initial values of a parameter, whose filler is one of `kinds`.
template <class Backend, Fillers kinds, class T = typename Backend::Scalar>
void fill_parameter(Parameter const& parameter, RandomStream stream, T* stored) {
  Backend const backend{};
  fill<kinds>(
      parameter, stream, [&](Index e, float value) __attribute__((noinline, cold)) {
        backend.put(parameter, stored, e, static_cast<T>(value));
      });
}
/// Copies all values of a parameter, which are in canonical order outside of the backend's memory.
template <class Backend, class T = typename Backend::Scalar>
void read_parameter(Parameter const& parameter, T const* stored, T* values) {
  Backend const backend{};
  Index const size = parameter.shape.size();
  for (Index e = 0; e < size; ++e) values[e] = backend.get(parameter, stored, e);
}
template <class Backend, class T = typename Backend::Scalar>
void write_parameter(Parameter const& parameter, T* stored, T const* values) {
  Backend const backend{};
  Index const size = parameter.shape.size();
  for (Index e = 0; e < size; ++e) backend.put(parameter, stored, e, values[e]);
}

}  // namespace coldpress
