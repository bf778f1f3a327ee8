// Writes models and their types, and programs that compare them: models FOLDER PARTS.
#include <coldpress/convert/cpp_type.hpp>
#include <coldpress/persist.hpp>

#include "dynamic/cpp_literals.hpp"
#include "support/random_config.hpp"
#include "types/changed.hpp"
#include "types/networks.hpp"

#include <fstream>
#include <set>

using namespace coldpress;

namespace {

void write(std::string const& path, std::string const& text) {
  std::ofstream file{path, std::ios::binary};
  file << text;
  if (!file.flush()) throw FileError{path + ": cannot be written"};
}

/// The names of the types of all layers in the networks.
std::set<std::string, std::less<>> types_in(std::vector<test::NamedNetwork> const& networks) {
  std::set<std::string, std::less<>> types;
  for (auto const& network : networks) {
    for (auto const& layer : std::get<dynamic::SequentialConfig>(network.config.layer_type).layers)
      types.insert(dynamic::type_name(layer.layer_type));
  }
  return types;
}

/// A network with a layer, loss or statistic as its defaults are, for one that has no place in test::networks().
template <class L>
test::NamedNetwork network_of() {
  test::Wiring net{"only_" + std::string{L::name}};
  net.input("data", {4});
  std::string const y = net.then(Linear{.output_size = 4});
  if constexpr (Layer<L>) {
    net.then(L{});
  } else {
    Shape target{1};
    if constexpr (Loss<L>) target = L{}.target_shape(Shape{4});
    net.add(L{}, {y, net.input("target", target)});
    return net.network({y});
  }
  return net.network();
}

/// A program is compiled in parts, each with some of the networks.
class Parts {
 public:
  Parts(std::string folder, int parts) : folder_(std::move(folder)), texts_(static_cast<std::size_t>(parts)) {}

  void add(test::NamedNetwork const& network) {
    std::string const &name = network.name, juice = folder_ + "/" + name + ".juice";
    auto const layer = dynamic::Layer::from_config(dynamic::Backend{}, network.config, {}, 5);
    persist::write_model(juice, persist::model_of(layer));
    write(folder_ + "/" + name + ".hpp", convert::cpp_type(persist::read_model(juice), {.name_space = name}));
    std::string& text = texts_[next_++ % texts_.size()];
    text += "#include \"" + name + ".hpp\"\nTEST_CASE(\"" + name + "\") { coldpress::test::check_type<" + name +
            "::Network>(" + name + "::load, " + dynamic::cpp_quoted(juice) + "); }\n";
  }
  template <class... Layers>
  void add_literals(TypeList<Layers...>) {
    (add_literal<Layers>(), ...);
  }
  void finish() {
    texts_.back() += "TEST_CASE(\"literals of layers are these layers\") {\n  using namespace coldpress::test;\n" +
                     literals_ + "}\n";
    for (std::size_t i = 0; i < texts_.size(); ++i)
      write(folder_ + "/part" + std::to_string(i) + ".cpp", "#include \"types/check_type.hpp\"\n" + texts_[i]);
  }

 private:
  template <class L>
  void add_literal() {
    for (char const* const how : {"ordinary", "extreme"}) {
      dynamic::LibraryNames names{true};
      std::string const layer = dynamic::cpp_literal(
          test::changed<L>(*how == 'o' ? test::Change::ordinary : test::Change::extreme), true, names);
      std::string const type = layer.substr(0, layer.find('{'));
      literals_ += "  check_literal<" + type + ">(Change::" + how + ", " + layer + ");\n";
    }
  }

  std::string folder_, literals_;
  std::vector<std::string> texts_;
  std::size_t next_ = 0;
};

/// Adds literals of all types in a list, and networks of those that are in none yet.
template <class... Layers>
void add_list(Parts& parts, TypeList<Layers...> list) {
  auto const seen = types_in(test::networks());
  auto const add_missing = [&]<class L>(L const&) {
    if (!seen.contains(L::name)) parts.add(network_of<L>());
  };
  (add_missing(Layers{}), ...);
  parts.add_literals(list);
}

}  // namespace

int main(int, char** argument) {
  Parts parts{argument[1], std::stoi(argument[2])};
  for (test::NamedNetwork const& network : test::networks()) parts.add(network);
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    test::RandomConfig const random{seed, 14, seed % 2 == 0};
    parts.add({"random" + std::to_string(seed), random.config()});
  }
  add_list(parts, BuiltinLayers::Plain{});
  add_list(parts, BuiltinLosses::Plain{});
  add_list(parts, BuiltinStatistics::Plain{});
  parts.finish();
  return 0;
}
