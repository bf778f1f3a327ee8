// docs/config.md: its configs are read, its commands run, its C++ is part of an example, and it names every field.
#include "tools/command.hpp"
#include "tools/page.hpp"

#include <coldpress/persist.hpp>

#include <fstream>
#include <regex>

namespace coldpress::command {
namespace {

/// The fields of a struct in a schema.
std::vector<std::string> fields(std::string const& schema, std::string const& name) {
  auto const at = schema.find("struct " + name + " ");
  REQUIRE(at != std::string::npos);
  std::string const body = schema.substr(at, schema.find("\n}", at) - at);
  std::regex const field{R"(\n +(\w+) @\d+ :)"};
  std::vector<std::string> found;
  for (std::sregex_iterator match{body.begin(), body.end(), field}, end; match != end; ++match)
    found.push_back((*match)[1]);
  return found;
}

/// Runs a page's commands in a folder in which `coldpress` is the command, and returns what they print.
std::string run_script(TemporaryFolder const& folder, std::string const& text) {
  std::string const command =
      "cd '" + folder / "." + "' && PATH=\"$PWD:$PATH\" sh -e '" + folder.put("script", text) + "' >out 2>&1";
  int const code = std::system(command.c_str());
  INFO(content(folder / "out"));
  REQUIRE(code == 0);
  return content(folder / "out");
}

TEST_CASE("the configs and commands of docs/config.md go from nothing to a trained network") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::filesystem::create_symlink(std::getenv("COLDPRESS_COMMAND"), folder / "coldpress");
  int configs = 0, scripts = 0;
  for (auto const& [language, text] : code_blocks(content(source_file("docs/config.md")))) {
    INFO(text);
    if (language == "capnp") {
      std::string const name = text.substr(2, text.find('\n') - 2);
      REQUIRE(text.starts_with("# "));
      CHECK_NOTHROW(persist::read_training(folder.put(name, text)));
      ++configs;
    } else if (language == "cpp") {
      CHECK(contains(content(source_file("examples/xor.cpp")), text));
    } else {
      REQUIRE(language == "sh");
      run_script(folder, text);
      ++scripts;
    }
  }
  CHECK(configs == 4);
  CHECK(scripts == 4);
  auto net = dynamic::Layer::load(dynamic::Backend{"cpu"}, folder / "circle.juice");
  int right = 0, samples = 0;
  for (float x = -0.95f; x < 1; x += 0.1f) {
    for (float y = -0.95f; y < 1; y += 0.1f, ++samples) {
      auto const scores = net.predict(std::vector{x, y});
      right += (scores[1] > scores[0]) == (x * x + y * y < 0.6f);
    }
  }
  CHECK(right > samples * 3 / 4);  // the page's data are what this machine's awk draws

  auto const of_training = code_blocks(content(source_file("docs/training.md")));
  auto const search = std::ranges::find_if(of_training, [](Block const& block) {
    return block.language == "sh" && contains(block.text, "find-rate --config circle.capnp.txt");
  });
  REQUIRE(search != of_training.end());
  CHECK(contains(run_script(folder, search->text), "\nSuggested: baseLr = "));
}

TEST_CASE("docs/config.md names every field of a config but those of the layers") {
  std::string const page = content(source_file("docs/config.md"));
  auto const names = [&](char const* schema, std::initializer_list<char const*> structs) {
    for (char const* name : structs) {
      auto const all = fields(content(source_file(schema)), name);
      CHECK(all.size() > 0);
      for (std::string const& field : all) {
        INFO(name << "." << field);
        std::regex const named{"[`( ]" + field + "[`, =]"};
        CHECK(std::regex_search(page, named));
      }
    }
  };
  names("capnp/coldpress.capnp",
        {"Training", "SolverConfig", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Policy", "Stage"});
  names("capnp/juice.capnp",
        {"WeightConfig", "Filler", "SequentialConfig", "ShapedInput", "CustomConfig", "CustomField", "Transform"});
  for (char const* field :
       {"name", "layerType", "outputs", "inputs", "params", "propagateDown", "lossWeight", "lossAverage"})
    CHECK(contains(page, std::string{"`"} + field + "`"));
}

}  // namespace
}  // namespace coldpress::command
