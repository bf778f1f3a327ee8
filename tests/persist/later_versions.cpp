// What a later coldpress may say in a file and this one does not know: each new kind of something is refused as such,
// and never taken for another.
#include <coldpress/persist/training.hpp>

#include "persist/files.hpp"

#include <algorithm>

namespace coldpress::persist {
namespace {

/// A schema with one more member, at the next ordinal, at the end of a struct's union or of an enumeration.
std::string with_member(std::string text, std::string const& record, std::string const& end,
                        std::string const& member) {
  auto const start = text.find("\n" + record + " ");  // an annotation may follow
  REQUIRE(start != std::string::npos);
  auto const finish = text.find("\n}", start);
  int next = 0;
  for (auto at = text.find('@', start); at < finish; at = text.find('@', at + 1))
    next = std::max(next, std::atoi(text.c_str() + at + 1) + 1);
  auto const where = text.find(end, start);
  REQUIRE(where <= finish);
  auto const type = member.find(' ');
  return text.insert(where, "\n" + member.substr(0, type) + " @" + std::to_string(next) + member.substr(type) + ";");
}

/// The error that reading such a training ends in, once the later schema has made a message of its text.
std::string refusal(std::string const& layer, std::string const& solver, std::string const& params = "",
                    std::string const& transform = "") {
  TemporaryFolder folder;
  std::string juice = content(source_file("capnp/juice.capnp")), own = content(source_file("capnp/coldpress.capnp"));
  juice = with_member(juice, "struct LayerConfig", "\n  }\n", "quantum :Void");
  juice = with_member(juice, "enum Regularizer", "\n}", "l3 ");
  juice = with_member(juice, "enum DimCheckMode", "\n}", "loose ");
  juice = with_member(juice, "struct Filler", "\n  }\n", "kaiming :Void");
  juice = with_member(juice, "enum PoolingMode", "\n}", "median ");
  juice = with_member(juice, "struct CustomField", "\n  }\n", "matrix :Void");
  juice = with_member(juice, "struct Transform", "\n  }\n}", "hue :Void");
  juice = with_member(juice, "enum Per", "\n}", "row ");
  own = with_member(own, "struct SolverConfig", "\n  }\n", "lion :Void");
  own = with_member(own, "struct Policy", "\n  }\n", "polynomial :Void");
  own = with_member(own, "enum Regularization", "\n}", "l3 ");
  folder.put("juice.capnp", juice);
  std::string const schema = folder.put("coldpress.capnp", own);
  std::string const text = "(network = (name = \"fc\", layerType = (" + layer + "), params = [" + params +
                           "]), solver = (" + solver + "), transforms = [" + transform + "])";
  std::string const path = folder.put("run", capnp("encode", schema, text, "Training"));
  try {
    read_training(path);
  } catch (UnsupportedError const& error) {
    CHECK(error.file() == path);
    return error.sentence();
  }
  return "";
}

TEST_CASE("what only a later coldpress knows is refused") {
  CHECK(refusal("linear = (outputSize = 3)", "solver = (sgd = void), regularizationMethod = l1") == "");
  std::string const fc = "linear = (outputSize = 3", of = " that this version of coldpress does not know";
  CHECK(refusal("quantum = void", "") == "is of a kind" + of);
  CHECK(refusal(fc + ", weight = (kaiming = void))", "") == "is a filler" + of);
  CHECK(refusal(fc + ", weightRegularizer = l3)", "") == "has a value" + of);
  CHECK(refusal("pooling = (mode = median)", "") == "has a value" + of);
  CHECK(refusal("tanh = void", "", "", "(mirror = void)") == "");
  CHECK(refusal("tanh = void", "", "", "(hue = void)") == "has a transform" + of);
  CHECK(refusal("tanh = void", "", "", "(standardize = (per = row))") == "has a value" + of);
  CHECK(refusal(fc + ")", "", "(shareMode = loose)") == "has a share mode" + of);
  CHECK(refusal("custom = (name = \"own\", fields = [(name = \"f\", matrix = void)])", "") == "has a type" + of);
  CHECK(refusal(fc + ")", "solver = (lion = void)") == "has an optimizer" + of);
  CHECK(refusal(fc + ")", "lrPolicy = (polynomial = void)") == "has a policy" + of);
  CHECK(refusal(fc + ")", "momentumPolicy = (staged = [(policy = (polynomial = void))])") == "has a policy" + of);
  CHECK(refusal(fc + ")", "regularizationMethod = l3") == "has a regularisation" + of);
}

}  // namespace
}  // namespace coldpress::persist
