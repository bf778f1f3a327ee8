// error: layer: a layer with backward_input must declare what that reads
#include <coldpress/coldpress.hpp>

using namespace coldpress;

struct Doubled {
  static constexpr std::string_view name = "doubled";
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
