// The CPU backend that calls the ready-made kernels (coldpress::kernels): of configs, and of network types in programs
// that link them.
#pragma once

// The instruction set is chosen when the program runs, so the program's own compiler flags matter little.

#include <coldpress/backend/concept.hpp>
#include <coldpress/backend/erased.hpp>
#include <coldpress/backend/row_primitives.hpp>
#include <coldpress/core/layer_traits.hpp>
#include <coldpress/kernels/table_cpu.hpp>
#include <coldpress/run/stored_parameter.hpp>

namespace coldpress {

namespace cpu {
/// Whether the tables have a kernel that passes a gradient in memory to a sink of this type.
template <class Sink>
constexpr bool is_builtin_sink = std::is_same_v<Sink, GradientSink<float>>;
template <class Optimizer>
constexpr bool is_builtin_sink<UpdateSink<Optimizer, float>> = is_builtin<Optimizer, BuiltinOptimizers>;
}  // namespace cpu

struct LinkedCpu : cpu::TableCpu {
  /// Its programs pass run-time numbers where those of Cpu have constants; see typed/tabled_program.hpp.
  static constexpr bool linked = true;
  template <class Optimizer>
  static constexpr bool fuses_update =
      TableCpu::fuses_update<Optimizer>&& cpu::is_builtin<Optimizer, BuiltinOptimizers>;

  /// Looks up the kernels. The training kernels are linked into the program only if link<true> is called somewhere.
  template <bool trains>
  void link() {
    table = &cpu::best_table();
    if constexpr (trains) prepare_training();
  }

  // How parameters are stored depends on `halves`, which configs may set.
  constexpr Index storage_size(Parameter const& parameter) const {
    return halves ? cpu::HalfLayout::storage_size(parameter) : Layout::storage_size(parameter);
  }
  constexpr float get(Parameter const& parameter, float const* storage, Index element) const {
    return halves ? cpu::HalfLayout::get(parameter, storage, element) : Layout::get(parameter, storage, element);
  }
  constexpr void put(Parameter const& parameter, float* storage, Index element, float value) const {
    halves ? cpu::HalfLayout::put(parameter, storage, element, value) : Layout::put(parameter, storage, element, value);
  }

  /// Whether a tape can record the calls of a layer: what users compile calls no kernels of the tables.
  template <class L>
  static constexpr bool records = cpu::is_builtin<L, BuiltinLayers>;
  /// The maximum number of kernel calls in a layer's forward pass. 0 means that the layer may compute by itself, so
  /// its calls cannot be recorded.
  template <class L>
  static constexpr Index calls_of(L const& layer) {
    if constexpr (std::is_same_v<L, Rnn>) {
      return 2 * layer.num_layers * layer.directions();
    } else {
      if constexpr (!records<L>) return 0;
      return LayerTraits<L>::fuses ? 1 : LayerTraits<L>::normalizes ? 2 : 0;
    }
  }

  template <Index input, Index calls>
  using RepeatedCalls = cpu::RepeatedCalls<input, static_cast<std::size_t>(calls) * 704>;

  // For custom layers: primitives that are followed by custom pointwise operations.
  using TableCpu::affine;
  using TableCpu::map;
  using TableCpu::map_gradient;
  using TableCpu::product;
  template <class Chain, class Join>
  void affine(cpu::In x, float const* weight, float const* bias, cpu::Out y,
              PostOps<Chain, float, Join> const& post_ops) const {
    compiled_in().affine(x, weight, bias, y, post_ops);
  }
  template <class Chain, class Adds>
  void product(cpu::In dy, float const* weight, cpu::Out dx, Derivative<Chain, float, Adds> const& derivative) const {
    compiled_in().product(dy, weight, dx, derivative);
  }
  template <class Chain, class Join>
  void map(cpu::In x, cpu::Out y, PostOps<Chain, float, Join> const& post_ops) const {
    compiled_in().map(x, y, post_ops);
  }
  template <class Chain, class Adds>
  void map_gradient(cpu::In dy, cpu::Out dx, Derivative<Chain, float, Adds> const& derivative) const {
    compiled_in().map_gradient(dy, dx, derivative);
  }

  // Built-in losses, layers and sinks have ready-made kernels. Custom ones are compiled with the program, for the
  // program's instruction set.
  template <class LossType>
  float loss(LossType const& loss, Normalization kind, cpu::In x, cpu::Out y, cpu::In target, cpu::Out dx) const {
    if constexpr (cpu::is_builtin<LossType, BuiltinLosses>) {
      return TableCpu::loss(loss, kind, x, y, target, dx);
    } else {
      return compiled_in().loss(loss, kind, x, y, target, dx);
    }
  }
  template <class LossType>
  void loss_target_gradient(LossType const& loss, cpu::In y, cpu::In target, cpu::Out dt) const {
    if constexpr (cpu::is_builtin<LossType, BuiltinLosses>) {
      TableCpu::loss_target_gradient(loss, y, target, dt);
    } else {
      compiled_in().loss_target_gradient(loss, y, target, dt);
    }
  }
  template <class L>
  void join_gradient(L const& layer, bool second, cpu::In dy, cpu::In a, cpu::In b, cpu::Out dx,
                     Derivative<ErasedChain, float> const& derivative) const {
    if constexpr (cpu::is_builtin<L, BuiltinLayers>) {
      TableCpu::join_gradient(layer, second, dy, a, b, dx, derivative);
    } else {
      compiled_in().join_gradient(layer, second, dy, a, b, dx, derivative);
    }
  }
  template <class Sink>
  void apply_gradient(float const* gradient, Index size, Sink const& sink) const {
    if constexpr (cpu::is_builtin_sink<Sink>) {
      TableCpu::apply_gradient(gradient, size, sink);
    } else {
      compiled_in().apply_gradient(gradient, size, sink);
    }
  }
  template <class L>
  ErasedOp erased() const {
    if constexpr (cpu::is_builtin<L, BuiltinLayers>) {
      return TableCpu::erased<L>();
    } else {
      return cpu::erased_op_of<cpu::Vector, L>();
    }
  }
  template <class L>
  ErasedJoin erased_join() const {
    if constexpr (cpu::is_builtin<L, BuiltinLayers>) {
      return TableCpu::erased_join<L>();
    } else {
      return cpu::erased_join_of<cpu::Vector, L>();
    }
  }

 private:
  cpu::RowPrimitives compiled_in() const { return {{}, {static_cast<Context const&>(*this)}}; }
};
static_assert(concepts::Backend<LinkedCpu>);

// What does not depend on a network is compiled with the kernels (kernels/cpu/linked_cpu.cpp).
extern template void fill_parameter<LinkedCpu, all_fillers>(Parameter const& parameter, RandomStream stream,
                                                            float* stored);
extern template void read_parameter<LinkedCpu>(Parameter const& parameter, float const* stored, float* values);
extern template void write_parameter<LinkedCpu>(Parameter const& parameter, float* stored, float const* values);

}  // namespace coldpress
