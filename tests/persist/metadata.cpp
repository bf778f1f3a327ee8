// What a model's file says beside its network.
#include "persist/files.hpp"

namespace coldpress::persist {
namespace {

Model with_metadata(std::vector<Entry> metadata) {
  Model model = small_model();
  model.metadata = std::move(metadata);
  return model;
}

TEST_CASE("a model keeps its metadata, in order, and a file without them is as it was") {
  TemporaryFolder const folder;
  Model const model = with_metadata(
      {{"sample_rate", "48000"}, {"tone", "größe \"7\""}, {"empty", ""}, {"a", std::string(100000, 'x')}});
  write_model(folder / "a.juice", model);
  CHECK(read_model(folder / "a.juice") == model);
  std::string const text = capnp("decode --packed --short", own_schema, content(folder / "a.juice"));
  CHECK(contains(text, "metadata = [(key = \"sample_rate\", value = \"48000\"), (key = \"tone\", value = "));
  std::string const plain = text_of(serialize(small_model()));
  CHECK_FALSE(contains(capnp("decode --packed --short", own_schema, plain), "metadata"));
  // The same in the words of Juice, which knows no metadata.
  std::string const juice = capnp("decode --packed --short", juice_schema, content(folder / "a.juice"));
  CHECK(juice == capnp("decode --packed --short", juice_schema, plain));
}

TEST_CASE("the checksum covers metadata") {
  std::string text = capnp("decode --packed", own_schema, text_of(serialize(with_metadata({{"loudness", "-18.5"}}))));
  CHECK(parse(capnp("encode --packed", own_schema, text)).metadata == std::vector<Entry>{{"loudness", "-18.5"}});
  text.replace(text.find("-18.5"), 5, "-12.5");
  CHECK_THROWS_AS(parse(capnp("encode --packed", own_schema, text)), ChecksumError);
}

TEST_CASE("metadata that no file may have are refused, in files and to be written") {
  std::vector<Entry> many(max_metadata);
  for (std::size_t i = 0; i < many.size(); ++i) many[i].key = std::to_string(i);
  CHECK(parse(text_of(serialize(with_metadata(many)))).metadata == many);
  many.push_back({"one more", ""});
  struct Bad {
    std::vector<Entry> metadata;
    std::string said;
  };
  for (Bad const& bad :
       {Bad{many, "metadata: has 4097 entries, at most 4096 are allowed"},
        Bad{{{"a", "1"}, {"b", "2"}, {"a", "3"}}, "metadata[2].key: 'a' is there twice"},
        Bad{{{"", "1"}}, "metadata[0].key: is empty"}, Bad{{{"a\n", "1"}}, "metadata[0].key: has a control character"},
        Bad{{{"a", "1"}, {"b", "\x1b[2J"}}, "metadata[1].value: has a control character at byte 0"},
        Bad{{{"a", "\xff"}}, "metadata[0].value: is not UTF-8 at byte 0"}}) {
    auto const& metadata = bad.metadata;
    auto const& said = bad.said;
    INFO(said);
    CHECK(contains(message<FormatError>([&] { serialize(with_metadata(metadata)); }), said));
    if (metadata[0].value == "\xff") continue;  // the tool writes no such text
    std::string text = "(name = \"net\", config = (layerType = (relu = void)), metadata = [";
    for (auto const& [key, value] : metadata) {
      auto const quoted = [](std::string const& of) {
        return of == "a\n" ? "a\\n" : of == "\x1b[2J" ? "\\x1b[2J" : of;
      };
      text += "(key = \"" + quoted(key) + "\", value = \"" + quoted(value) + "\"), ";
    }
    text.replace(text.size() - 2, 2, "])");
    CHECK(contains(message<FormatError>([&] { parse_described(text); }), "test.juice: " + said));
  }
  Model const absent = parse_described(
      "(name = \"net\", config = (layerType = (relu = void)), metadata = [(key = \"no value\"), (key = \"b\", value = "
      "\"2\")])");
  CHECK(absent.metadata == std::vector<Entry>{{"no value", ""}, {"b", "2"}});
}

}  // namespace
}  // namespace coldpress::persist
