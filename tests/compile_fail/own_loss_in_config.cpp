// error: a config or a file cannot have a loss or a statistic of your own: use a network type
#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic/layer_config.hpp>

using namespace coldpress;

struct LogCosh {
  static constexpr std::string_view name = "log_cosh";
  static constexpr Target target = Target::value;
  float loss_weight = 1;
  constexpr Shape target_shape(Shape const& in) const { return in; }
  template <class T>
  T value(T y, T t) const {
    return Math<T>::softplus((y - t) * -2.0f) + y - t;
  }
  template <class T>
  T gradient(T y, T t) const {
    return Math<T>::tanh(y - t);
  }
  bool operator==(LogCosh const&) const = default;
};

dynamic::LayerConfig const config{"loss", LogCosh{}};
