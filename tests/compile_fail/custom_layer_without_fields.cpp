// error: a layer in a config or a file must have named fields: COLDPRESS_FIELDS
#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic/to_config.hpp>

using namespace coldpress;

struct Reverse {
  static constexpr std::string_view name = "reverse";
  constexpr Shape output_shape(Shape in) const { return in; }
  void forward(auto const&, auto const&) const {}
  bool operator==(Reverse const&) const = default;
};

dynamic::LayerConfig const config{"reverse1", Reverse{}};
