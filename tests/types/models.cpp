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

/// Throws unless each type of a list is that of a layer in the networks.
template <class... Layers>
void check_complete(TypeList<Layers...>) {
  std::set<std::string, std::less<>> seen;
  for (auto const& network : test::networks()) {
    for (auto const& layer : std::get<dynamic::SequentialConfig>(network.config.layer_type).layers)
      seen.insert(dynamic::type_name(layer.layer_type));
  }
  for (std::string_view const name : {std::string_view{Layers::name}...}) {
    if (!seen.contains(name)) throw ConfigError{"tests/types/networks.hpp has no " + std::string{name}};
  }
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

template <class List>
void add_list(Parts& parts, List list) {
  check_complete(list);
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
  add_list(parts, BuiltinLayers{});
  add_list(parts, BuiltinLosses{});
  add_list(parts, BuiltinStatistics{});
  parts.finish();
  return 0;
}
