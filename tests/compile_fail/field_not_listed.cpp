// error: COLDPRESS_FIELDS does not name every field of this struct
// lines gcc: 13
#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic/to_config.hpp>

using namespace coldpress;

// A file would forget the shift.
struct Affine {
  static constexpr std::string_view name = "affine";
  float factor = 1, shift = 0;
  Weight weight = {};
  constexpr Shape output_shape(Shape in) const { return in; }
  void forward(auto const&, auto const&) const {}
  bool operator==(Affine const&) const = default;
};
COLDPRESS_FIELDS(Affine, factor, weight);

dynamic::LayerConfig const config{"affine1", Affine{}};
