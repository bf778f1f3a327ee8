// A network made of a function that is run at run time, so that its shapes need not be known before.
#pragma once

#include <coldpress/dynamic/layer.hpp>
#include <coldpress/dynamic/to_config.hpp>

namespace coldpress::dynamic {

/// dynamic::Network{resnet, Shape{1, height, width}} corresponds to coldpress::Network<Graph<resnet>, Shape{...}> for
/// the same graph(...): it has the same names, the same files and, on the same instruction set, the same bits. Throws
/// ShapeError if a layer refuses a shape.
class Network : public Layer {
 public:
  template <class Function, class List, class... More>
  requires(std::is_same_v<More, Shape>&&...)
      Network(Expression<Function, List> const& expression, Shape const& in, More const&... more)
      : Network(Backend::like_static(), 0, expression, in, more...) {}
  template <class Function, class List, class... Shapes>
  Network(Backend const& backend, std::uint64_t seed, Expression<Function, List> const& expression, Shapes const&... in)
      : Layer(from_config(backend, to_config(expression, in...), {}, seed)) {}
};

}  // namespace coldpress::dynamic
