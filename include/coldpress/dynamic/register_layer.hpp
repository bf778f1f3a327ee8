// Registers a custom layer, so that configs, files and everything else that is built at run time can use it.
#pragma once

// It needs coldpress::reference, with whose primitives the layer is compiled, too.

#include <coldpress/backend/cpu.hpp>
#include <coldpress/backend/erased.hpp>
#include <coldpress/backend/reference.hpp>
#include <coldpress/dynamic/any_layer.hpp>

namespace coldpress::dynamic {
inline namespace COLDPRESS_ISA {

template <Described L>
class RegisteredCustom final : public AnyLayer {
 public:
  explicit RegisteredCustom(L const& layer) : layer_(layer) {}

  Custom custom(bool weights) const override { return custom_of(layer_, weights); }
  Node node(View<int const> inputs, Shapes in) const override {
    Node node = node_of(layer_, inputs, in);
    if constexpr (JoinLayer<L>) {
      node.kind = Node::Kind::compute;
      node.in_place = node.commutes = node.passes_on = false;
    }
    node.normalizes = false;
    return node;
  }
  Shape output_shape(Shapes in) const override { return output_shape_of(layer_, in); }
  std::vector<Parameter> parameters(Shapes in) const override {
    auto const all = parameters_of(layer_, in);
    return {all.begin(), all.end()};
  }
  Index scratch(bool reference, Shapes in, Extent extent) const override {
    return reference ? scratch_of<Reference<float>>(layer_, in, extent) : scratch_of<Cpu>(layer_, in, extent);
  }
  Index flops(Shapes in) const override { return flops_of(layer_, in); }
  Totals totals(Shapes in) const override { return totals_of(layer_, in); }
  Index state(Shapes in) const override { return state_of(layer_, in); }
  Index remembers(Shapes in) const override { return past_of(layer_, in); }
  std::uint64_t key(std::uint64_t seed, std::string_view layer_name) const override {
    return layer_key(layer_, seed, layer_name);
  }

  Op op(bool reference, std::uint64_t key) const override {
    if constexpr (PointwiseLayer<L>) {
      using Operation = decltype(layer_.op(key));
      auto const operation = std::make_shared<Operation>(layer_.op(key));
      Op made{reference ? cpu::erased_op<float, Operation>(-1) : cpu::erased_op<cpu::Vector, Operation>(-1), operation};
      made.erased.op = operation.get();
      return made;
    } else {
      return {};
    }
  }

  void forward(Primitives with, Forward const& pass) const override {
    visit(with, [&](auto const& backend) {
      if constexpr (JoinLayer<L>) {
        auto const& other = pass.x[1];
        using Join = BinaryPostOp<decltype(layer_.join()), float>;
        backend.map(pass.x[0], pass.y,
                    PostOps<Chain<>, float, Join>{
                        {}, pass.step, nullptr, 0, {layer_.join(), other.data, other.pitch, other.columns}});
      } else if constexpr (ComputeLayer<L> && OneInput<L>) {
        using Own =
            ForwardPass<Shape, Rows<float>, ParameterView<float const>, Rows<float>, PostOps<Chain<>, float>, float>;
        layer_.forward(backend, as_part<L>(pass, Own{pass.in[0], pass.x[0], pass.p, pass.y, pass.post_ops, pass.memory,
                                                     pass.state, pass.key, pass.step}));
      } else if constexpr (ComputeLayer<L>) {
        layer_.forward(backend, pass);
      }
    });
  }
  void backward(Primitives with, Backward const& pass) const override {
    visit_backward(with, pass, [&](auto const& backend, auto const& own) {
      if constexpr (requires { layer_.backward(backend, own); }) layer_.backward(backend, own);
    });
  }
  void backward_input(Primitives with, Backward const& pass) const override {
    visit_backward(with, pass, [&](auto const& backend, auto const& own) {
      if constexpr (JoinLayer<L>) {
        for (std::size_t k : {0, 1}) {
          if (pass.dx[k].data)
            backend.join_gradient(layer_, k == 1, pass.dy, pass.x[0], pass.x[1], pass.dx[k], pass.derivative);
        }
      } else if constexpr (requires { layer_.backward_input(backend, own); }) {
        layer_.backward_input(backend, own);
      }
    });
  }
  void backward_parameters(Primitives with, Backward const& pass) const override {
    visit_backward(with, pass, [&](auto const& backend, auto const& own) {
      if constexpr (has_parameters<L>) layer_.backward_parameters(backend, own);
    });
  }

 private:
  template <class F>
  static void visit(Primitives with, F f) {
    if constexpr (ComputeLayer<L> || JoinLayer<L>) {
      if (with.reference) {
        Reference<float> backend;
        backend.scratch = with.context.scratch;
        f(backend);
      } else {
        f(Cpu{{{}, {with.context}}});
      }
    }
  }
  /// Calls f(backend, pass) with the pass in this layer's form: with one input, or with all.
  template <class F>
  static void visit_backward(Primitives with, Backward const& pass, F f) {
    visit(with, [&](auto const& backend) {
      if constexpr (OneInput<L>) {
        f(backend, as_part<L>(pass, coldpress::detail::backward_pass<NoVariant>(
                                        pass.in[0], pass.x[0], pass.p, pass.y, pass.dy, pass.dx[0], pass.derivative,
                                        pass.sinks, pass.memory, pass.key, pass.step)));
      } else {
        f(backend, pass);
      }
    });
  }

  L layer_;
};

}  // namespace COLDPRESS_ISA

/// Registers L: from now on it runs wherever its name, L::name, is in a config or a file, with the fields that
/// COLDPRESS_FIELDS names. Registering a type again changes nothing. Throws ConfigError if the name is that of a
/// built-in layer or of another type.
template <coldpress::Layer L>
void register_layer() {
  static_assert(Described<L>, "register_layer: the layer needs COLDPRESS_FIELDS(TYPE, FIELDS...)");
  static_assert(std::is_default_constructible_v<L>, "register_layer: the layer's fields need defaults");
  auto const make = [](Custom const& custom) -> std::shared_ptr<AnyLayer const> {
    return std::make_shared<RegisteredCustom<L>>(layer_from<L>(custom));
  };
  register_type(L::name,
                {.type = typeid(L), .source = Source<L>, .any_steps = LayerTraits<L>::any_steps, .make = make});
}
/// Does not compile, and says that a config has no losses and statistics of your own.
template <NeverCustom L>
void register_layer() {
  custom_of(L{});
}

}  // namespace coldpress::dynamic
