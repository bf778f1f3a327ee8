// A layer of any type behind virtual functions, for custom layers in networks that are known only at run time.
#pragma once

#include <coldpress/core/executor.hpp>
#include <coldpress/core/totals.hpp>
#include <coldpress/dynamic/custom.hpp>
#include <coldpress/run/run.hpp>

#include <memory>
#include <typeindex>

namespace coldpress::dynamic {

/// The properties and functions of a layer's struct, for float. Only a pointwise layer's operation is fused with the
/// layers before and after.
class AnyLayer {
 public:
  using Inputs = std::array<Rows<float>, max_inputs>;
  using WholeForward =
      ForwardPass<Shapes, Inputs, ParameterView<float const>, Rows<float>, PostOps<Chain<>, float>, float>;
  using WholeBackward = BackwardPass<Shapes, Inputs, ParameterView<float const>, Rows<float>, Rows<float>, Inputs,
                                     Chain<>, GradientSinks<float>, float>;
  using Forward = PartPass<WholeForward>;
  using Backward = PartPass<WholeBackward>;
  /// The primitives that the layer computes with: those of the reference, or the CPU's as compiled with the layer.
  struct Primitives {
    bool reference;
    Context context;
  };
  struct Op {
    ErasedOp erased;
    std::shared_ptr<void const> owner;
  };

  virtual ~AnyLayer() = default;
  virtual Custom custom(bool weights) const = 0;
  /// The node of the layer. A join is a compute node here.
  virtual Node node(View<int const> inputs, Shapes in) const = 0;
  virtual Shape output_shape(Shapes in) const = 0;
  virtual std::vector<Parameter> parameters(Shapes in) const = 0;
  virtual Index scratch(bool reference, Shapes in, Extent extent) const = 0;
  virtual Index flops(Shapes in) const = 0;
  virtual Totals totals(Shapes in) const = 0;
  virtual Index state(Shapes in) const = 0;
  virtual Index remembers(Shapes in) const = 0;
  virtual std::uint64_t key(std::uint64_t seed, std::string_view layer_name) const = 0;
  /// The operation of a pointwise layer. `key` is that of its random numbers.
  virtual Op op(bool reference, std::uint64_t key) const = 0;
  virtual void forward(Primitives with, Forward const& pass) const = 0;
  virtual void backward(Primitives with, Backward const& pass) const = 0;
  virtual void backward_input(Primitives with, Backward const& pass) const = 0;
  virtual void backward_parameters(Primitives with, Backward const& pass) const = 0;
};

/// What the process knows about a type of layer.
struct Registration {
  std::type_index type;
  bool source;     // takes no input
  bool any_steps;  // takes sequences of any length, with the same weights
  std::shared_ptr<AnyLayer const> (*make)(Custom const&);
};
/// Throws ConfigError if the name is that of a built-in layer or of another type. It may be called from any thread.
void register_type(std::string_view name, Registration const& registration);
/// Returns null if no type of this name is registered.
Registration const* find_type(std::string const& name);

}  // namespace coldpress::dynamic
