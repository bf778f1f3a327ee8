// The registered types of layers by name, which a Custom in a config is looked up in.
#include "custom_node.hpp"

#include <map>
#include <mutex>

namespace coldpress::dynamic {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, Registration, std::less<>> types;  // never erased, so pointers to its elements stay valid
};
Registry& registry() {
  static Registry all;
  return all;
}

template <class... Types>
bool is_name_of(std::string_view name, std::variant<Types...> const*) {
  auto const is = [&]<class T>(T const*) {
    if constexpr (requires { T::name; }) return name == T::name;
    return false;
  };
  return (is(static_cast<Types const*>(nullptr)) || ...);
}

}  // namespace

void register_type(std::string_view name, Registration const& registration) {
  if (name.empty()) throw ConfigError{"register_layer: a layer's name has at least one character"};
  if (name == CustomNode::name || is_name_of(name, static_cast<LayerType const*>(nullptr)))
    throw ConfigError{"register_layer: '" + std::string{name} + "' is the name of a built-in layer"};
  std::lock_guard const lock{registry().mutex};
  auto const [there, is_new] = registry().types.try_emplace(std::string{name}, registration);
  if (!is_new && there->second.type != registration.type)
    throw ConfigError{"register_layer: '" + std::string{name} + "' is the name of another registered type"};
}

Registration const* find_type(std::string const& name) {
  std::lock_guard const lock{registry().mutex};
  auto const found = registry().types.find(name);
  return found == registry().types.end() ? nullptr : &found->second;
}

std::shared_ptr<AnyLayer const> custom_layer_of(Custom const& custom) {
  Registration const* const known = find_type(custom.type);
  if (!known)
    throw UnsupportedError{"this program knows no layer '" + custom.type + "': the file can be inspected, not run"};
  return known->make(custom);
}

}  // namespace coldpress::dynamic
