#include "tools/command.hpp"

#include <coldpress/data/npy.hpp>

#include <limits>

namespace coldpress::command {
namespace {

TEST_CASE("data --help explains all formats and their options") {
  if (!has_command()) return;
  std::string const text = output({"data", "--help"});
  INFO(text);
  for (char const* part : {"mnist:DIR", "mnist-test:DIR", "csv:FILE", "npy:X,Y", "hdf5:FILE,...",
                           "?x=", "?shuffle=", "Options begin at the last question mark"})
    CHECK(contains(text, part));
}

TEST_CASE("data inspect shows shapes, counts, ranges, classes and the first samples") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const spec = "csv:" + folder.put("data", "0,1,2\n1,3,4\n1,-5,0.5\n");
  CHECK(output({"data", "inspect", spec, "--first", "2"}) ==
        spec +
            ": 3 samples\n"
            "samples of {2}, from -5 to 4, mean 0.9166667\n"
            "targets of {1}, from 0 to 1, mean 0.6666667\n"
            "classes, with the number of samples:\n  0: 1\n  1: 2\n"
            "the first samples:\n  0: 1 2  target 0\n  1: 3 4  target 1\n");
  std::string const numbers = output({"data", "inspect", "csv:" + folder.put("numbers", "0.5,1\n2,3\n")});
  CHECK_FALSE(contains(numbers, "classes"));
  CHECK(contains(numbers, "  1: 3  target 2\n"));

  data::write_npy(folder / "x.npy", std::vector<Index>{2},
                  std::vector<float>{1, std::numeric_limits<float>::quiet_NaN()});
  CHECK(failure({"data", "inspect", "npy:" + folder / "x.npy" + "," + folder / "x.npy"}) ==
        folder / "x.npy" + ": value 1 is nan, expected finite values");
  CHECK(contains(failure({"data", "inspect", "tape:x"}), "the data 'tape:x' is not one of mnist:DIR"));
  CHECK(contains(failure({"data", "inspect", "csv:a?b=c"}), "csv: has no option 'b', since it has none"));
}

}  // namespace
}  // namespace coldpress::command
