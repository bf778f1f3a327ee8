// The layer Where: one of two values, as a third one says.
#pragma once

#include <coldpress/core/each.hpp>
#include <coldpress/core/layer.hpp>

namespace coldpress {

/// y = a where the condition is not 0, and b where it is, element by element, of three inputs of one shape: condition,
/// a, b (PyTorch's and ONNX' where). The gradient goes to the one that is taken; the condition gets none.
struct Where {
  static constexpr std::string_view name = "where";
  template <class Needs = Require>
  constexpr Shape output_shape(Shapes in, Needs require = {}) const {
    require(in.size() == 3, "where: takes three inputs, a condition and two values");
    if (require.failed()) return {};
    require(in[0] == in[1] && in[0] == in[2], "where: its inputs have different shapes");
    return in[0];
  }

  constexpr void forward(auto const& backend, auto const& pass) const {
    each_part(backend, pass.y, pass.y.columns, [&](Index n, auto first, Index last) {
      auto const *const condition = pass.x[0].row(n), *const a = pass.x[1].row(n), *const b = pass.x[2].row(n);
      auto* const y = pass.y.row(n);
      for (Index i = first; i < last; ++i) y[i] = condition[i] != 0 ? a[i] : b[i];
    });
  }
  constexpr void backward_input(auto const& backend, auto const& pass) const {
    using T = typename decltype(pass.dy)::Scalar;
    for (int k = 0; k < 3; ++k) {
      if (!pass.dx[k].data) continue;
      each_part(backend, pass.dy, pass.dy.columns, [&](Index n, auto first, Index last) {
        auto const *const condition = pass.x[0].row(n), *const dy = pass.dy.row(n);
        auto* const dx = pass.dx[k].row(n);
        for (Index i = first; i < last; ++i) dx[i] = k == (condition[i] != 0 ? 1 : 2) ? dy[i] : T{};
      });
    }
  }
  static constexpr Capabilities capabilities{
      .backward_reads_input = true, .backward_reads_output = false, .loops = true};
  constexpr InputCapabilities capabilities_for(Shapes) const { return {.streaming = StreamSupport::always}; }
  bool operator==(Where const&) const = default;
};

}  // namespace coldpress

COLDPRESS_FIELDS(coldpress::Where);
