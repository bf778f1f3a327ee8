#include "tools/command.hpp"

#include <coldpress/persist.hpp>
#include <coldpress/persist/cpp_header.hpp>

namespace coldpress::command {
namespace {

struct Case {
  TemporaryFolder folder;
  std::string model = folder / "net.juice", header = folder / "net.hpp";

  Case() {
    dynamic::SequentialConfig net;
    net.add_input("data", {6}).add_layer({"fc", Linear{.output_size = 3}});
    dynamic::Layer::from_config(dynamic::Backend{}, {"net", net}, {}, 5).save(model);
  }
  std::vector<std::string> arguments(std::vector<std::string> more) const {
    more.insert(more.begin(), {"export", model, "--output", header});
    return more;
  }
};

/// What it prints where it fails, as an error or as a wrong use.
std::string refusal(std::vector<std::string> arguments) {
  Result const result = run(std::move(arguments));
  CHECK(result.code > 0);
  return result.err;
}

TEST_CASE("export writes the library's header") {
  if (!has_command()) return;
  Case const c;
  std::string const expected = persist::cpp_header(persist::read_model(c.model), "my::net");
  CHECK(output(c.arguments({"--cpp", "--namespace", "my::net"})) ==
        c.header + ": " + std::to_string(expected.size()) + " bytes\n");
  CHECK(content(c.header) == expected);
}

TEST_CASE("export refuses namespaces that its header's includes declare, or have as macros") {
  if (!has_command()) return;
  Case const c;
  auto const with = [&](std::string const& name) { return c.arguments({"--cpp", "--namespace", name}); };
  for (std::string const name :
       {"size_t", "uint8_t", "printf", "vsnprintf", "fopen", "fopen64", "getc_unlocked", "wcslen", "srand", "tanh"})
    CHECK(contains(refusal(with(name)), "the namespace '" + name + "' begins with '" + name +
                                            "', which headers of C declare; expected another name, such as '" + name +
                                            "_'"));
  for (std::string const name : {"std", "coldpress", "stdin", "linux", "NULL", "EOF", "FILE", "SIZE_MAX", "SEEK_SET",
                                 "ERANGE", "BOOST_HANA_VERSION", "_Bool", "my__net"}) {
    CHECK(contains(refusal(with(name)), "the namespace '" + name + "' has the part '" + name + "', which is taken"));
    CHECK(contains(refusal(with("my::" + name)), "has the part '" + name + "', which is taken"));
  }
  for (std::string const name : {"amp", "AMP", "EQ", "amp_l", "stream", "island", "net64", "my::size_t", "_net"})
    output(with(name));
}

TEST_CASE("export refuses what does not fit, and leaves the header as it was") {
  if (!has_command()) return;
  Case const c;
  c.folder.put("net.hpp", "mine");
  CHECK(contains(refusal(c.arguments({})), "--cpp"));
  CHECK(contains(refusal(c.arguments({"--cpp", "--namespace", "1net"})), "'1net'"));
  CHECK(contains(refusal({"export", "--cpp", c.model, "--output", c.model}), c.model));
  CHECK(contains(refusal({"export", "--cpp", c.folder / "none.juice", "--output", c.header}), "none.juice"));
  CHECK(content(c.header) == "mine");
}

}  // namespace
}  // namespace coldpress::command
