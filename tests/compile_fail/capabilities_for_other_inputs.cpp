// error: layer: capabilities_for must be const and take the Shape of its input, or the Shapes of all inputs
#include <coldpress/coldpress.hpp>

using namespace coldpress;

struct Doubled {
  static constexpr std::string_view name = "doubled";
  static constexpr Capabilities capabilities{.backward_reads_input = false, .backward_reads_output = false};
  constexpr InputCapabilities capabilities_for(Shapes) const { return {.mixes_samples = true}; }
  constexpr Shape output_shape(Shape in) const { return in; }
  void forward(auto const&, auto const& pass) const {
    for (Index i = 0; i < pass.x.rows; ++i) {
      for (Index c = 0; c < pass.x.columns; ++c) pass.y.row(i)[c] = 2 * pass.x.row(i)[c];
    }
  }
  void backward_input(auto const&, auto const& pass) const {
    for (Index i = 0; i < pass.x.rows; ++i) {
      for (Index c = 0; c < pass.x.columns; ++c) pass.dx.row(i)[c] = 2 * pass.dy.row(i)[c];
    }
  }
  bool operator==(Doubled const&) const = default;
};

int main() { Network<Sequential<Linear{7}, Doubled{}>, Shape{4}> net; }
