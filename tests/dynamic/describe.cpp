#include "tensors.hpp"

#include <coldpress/coldpress.hpp>
#include <coldpress/dynamic/describe.hpp>
#include <coldpress/dynamic/to_config.hpp>
#include <coldpress/typed/describe.hpp>

namespace {

using namespace coldpress;
using namespace coldpress::test;

template <class Type, Shape in>
void check_table() {
  std::string const text = dynamic::describe(dynamic::to_config<Type, in>());
  CHECK(text == describe(Network<Type, in>{}));
  INFO(text);
  CHECK(text.find("group") != std::string::npos);
}

}  // namespace

TEST_CASE("a config's plan is described as its type's") {
  check_table<Sequential<Linear{128}, ReLU{}, Linear{10}, LogSoftmax{}>, Shape{784}>();
  check_table<Sequential<Flatten{}, Linear{7}, TanH{}, Dropout{}, Reshape{Shape{7, 1}}, Linear{3}>, Shape{2, 3}>();
  check_table<Sequential<Sequential<TanH{}, ReLU{}>{}, Named<"head", Linear{4}>{}, Softmax{}>, Shape{5}>();
  check_table<Sequential<Flatten{}>, Shape{5}>();
}

TEST_CASE("layers computed in one pass have one group") {
  std::string const text = dynamic::describe(sequential({{"a", Linear{8}}, {"r", ReLU{}}, {"b", Linear{3}}}), Shape{4});
  INFO(text);
  auto const line = [&](std::string const& name) {
    std::size_t const begin = text.find("\n" + name + " ") + 1;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  CHECK(line("a").find("registers") != std::string::npos);
  CHECK(line("a").find(" 40 ") != std::string::npos);  // parameters
  CHECK(line("a").find(" 64 ") != std::string::npos);  // operations
  CHECK(line("all").find(" 67 ") != std::string::npos);
  auto const group = [&](std::string const& name) {  // the last number before the buffer
    std::string const columns = line(name);
    std::size_t const buffer =
        columns.find("registers") != std::string::npos ? columns.find("registers") : columns.find(" + ");
    std::size_t end = columns.find_last_not_of(' ', columns.rfind("  ", buffer));
    return columns[end];
  };
  CHECK(group("a") == '1');
  CHECK(group("r") == '1');
  CHECK(group("b") == '2');
}
