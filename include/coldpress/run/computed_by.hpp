// Decides whether layers, statistics and updates are computed by their own functions or by the backend.
#pragma once

// Their own functions use a backend's primitives. A backend with takes_layers has functions with the names below
// (concepts::LayerBackend) and computes the whole layer; one with ready-made kernels does so for layers that compute in
// loops. The executor makes the same decision in one more place, where a function in between would cost instructions.

#include <coldpress/core/pass.hpp>
#include <coldpress/graph/node.hpp>

#include <array>

namespace coldpress {

namespace detail {

/// Runs f on one of the threads of a pass; the others do not wait. It is for functions that read no value of the pass.
template <class Backend, class F>
constexpr void once(Backend const& backend, F f) {
  if constexpr (requires { backend.once(f); }) {
    backend.once(f);
  } else {
    f();
  }
}
/// The same, but the others wait, so that what f reads may be overwritten afterwards.
template <class Backend, class F>
constexpr void once_meanwhile(Backend const& backend, F f) {
  if constexpr (requires { backend.once(f); }) {
    backend.each(1, [&](Index) { f(); });
  } else {
    f();
  }
}

/// A layer's forward pass where nothing in it is a constant: it is compiled once for all groups of a program.
template <class Backend, class L, class Pass>
struct ForwardOfAny {
  __attribute__((noinline)) static void forward(Backend const& backend, L const& layer, Pass const& pass) {
    layer.forward(backend, pass);
  }
};

}  // namespace detail

/// Each function calls either the backend's function of the same name, or that of the layer, statistic or update.
template <class Backend>
struct ComputedBy {
  static constexpr bool whole = takes_layers<Backend>;

  template <class L, class Pass>
  static constexpr void forward(Backend const& backend, L const& layer, Pass const& pass) {
    if constexpr (whole || has_loops<Backend, L>) {
      backend.forward(layer, pass);
    } else {
      detail::ForwardOfAny<Backend, L, Pass>::forward(backend, layer, pass);
    }
  }
  /// Computes what both gradients share, if the layer has such a function.
  template <class L, class Pass>
  static constexpr void backward(Backend const& backend, L const& layer, Pass const& pass) {
    if constexpr (whole || has_loops<Backend, L>) {
      backend.backward(layer, pass);
    } else if constexpr (requires { layer.backward(backend, pass); }) {
      layer.backward(backend, pass);
    }
  }
  template <class L, class Pass>
  static constexpr void backward_input(Backend const& backend, L const& layer, Pass const& pass) {
    if constexpr (whole || has_loops<Backend, L>) {
      backend.backward_input(layer, pass);
    } else {
      layer.backward_input(backend, pass);
    }
  }
  template <class L, class Pass>
  static constexpr void backward_parameters(Backend const& backend, L const& layer, Pass const& pass) {
    if constexpr (whole || has_loops<Backend, L>) {
      backend.backward_parameters(layer, pass);
    } else {
      layer.backward_parameters(backend, pass);
    }
  }
  /// Adds the loss of a minibatch, given as its mean, and the number of samples to sums.
  template <class T, class Count>
  static constexpr void gather(Backend const& backend, double* sums, T mean, Count batch) {
    if constexpr (whole) {
      backend.gather(sums, mean, batch);
    } else {
      detail::once(backend, [&] {
        sums[0] += static_cast<double>(mean) * static_cast<double>(Index{batch});
        sums[1] += static_cast<double>(Index{batch});
      });
    }
  }
  /// Lets a statistic observe a minibatch. x[k] are the rows of its input k.
  template <class Statistic, class X, class Count>
  static constexpr void observe(Backend const& backend, Statistic const& statistic, Shapes in, X const& x, Count batch,
                                double* sums) {
    if constexpr (whole) {
      backend.observe(statistic, in, x, sums);
    } else {
      detail::once_meanwhile(backend, [&] {
        for (Index i = 0; i < batch; ++i) {
          std::array<typename Backend::Scalar const*, max_inputs> sample{};
          for (std::size_t k = 0; k < in.size(); ++k) sample[k] = x[k].row(i);
          statistic.observe(in, sample.data(), sums);
        }
      });
    }
  }
  /// Updates the parameters from gradients that are in memory.
  template <class UpdateStep, class Gradients, class Parameters>
  static constexpr void update(Backend const& backend, UpdateStep const& update_step, Gradients gradients,
                               Parameters slots, int count) {
    if constexpr (whole) {
      backend.update(update_step, gradients, slots, count);
    } else {
      update_step.update_by_primitives(backend, gradients, slots, count);
    }
  }
  /// Computes weights -= gradients.
  template <class T>
  static constexpr void subtract(Backend const& backend, T* weights, T const* gradients, Index size) {
    if constexpr (whole) {
      backend.subtract(weights, gradients, size);
    } else {
      for (Index e = 0; e < size; ++e) weights[e] -= gradients[e];
    }
  }
};

}  // namespace coldpress
