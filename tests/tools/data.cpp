#include "tools/command.hpp"

#include <coldpress/data/npy.hpp>

#include <limits>

namespace coldpress::command {
namespace {

TEST_CASE("data --help explains all formats and their options") {
  if (!has_command()) return;
  std::string const text = output({"data", "--help"});
  INFO(text);
  for (char const* part : {"mnist:DIR", "mnist-test:DIR", "cifar10:DIR", "cifar100-test:DIR", "images:DIR", "csv:FILE",
                           "npy:X,Y", "npz:FILE", "hdf5:FILE,...", "sound:INPUT,OUTPUT",
                           "?label=", "?width=", "?x=", "?shuffle=", "Options begin at the last question mark"})
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
  std::string const counted = output({"data", "inspect", "npy:" + folder / "x.npy" + "," + folder / "x.npy"});
  CHECK(contains(counted,
                 "samples of {1}, from 1 to 1, mean 1; 1 value is NaN or infinite, first in sample 1, so it "
                 "cannot be trained on\n"));
  CHECK_FALSE(contains(counted, "classes"));
  CHECK(contains(counted, "  1: nan  target nan\n"));
  float const infinity = std::numeric_limits<float>::infinity();
  data::write_npy(folder / "x.npy", std::vector<Index>{1, 2}, std::vector<float>{infinity, -infinity});
  CHECK(contains(output({"data", "inspect", "npy:" + folder / "x.npy"}),
                 "samples of {2}, no finite value; 2 values are NaN or infinite, first in sample 0"));
  CHECK(contains(failure({"data", "inspect", "tape:x"}), "the data 'tape:x' is not one of mnist:DIR"));
  CHECK(contains(failure({"data", "inspect", "npz:"}), "the data 'npz:' is not complete: write npz:FILE"));
  CHECK(contains(failure({"data", "inspect", "csv:a?b=c"}),
                 "csv: has no option 'b'; it has label, targets, ignore, header, delimiter, classes"));
}

TEST_CASE("data inspect draws samples that are pictures") {
  if (!has_command()) return;
  TemporaryFolder folder;
  // A dark picture with a bright upper left quarter, and one with a bright right half.
  std::vector<float> values(2 * 64, 0.25f);
  for (std::size_t y = 0; y < 8; ++y)
    for (std::size_t x = 0; x < 8; ++x) {
      if (y < 4 && x < 4) values[8 * y + x] = 0.75f;
      if (x >= 4) values[64 + 8 * y + x] = 0.5f;
    }
  std::string const path = folder / "x.npy", first = "  0: 0.75 0.75 0.75 0.75 0.25 0.25 0.25 0.25 ...\n",
                    second = "  1: 0.25 0.25 0.25 0.25 0.5 0.5 0.5 0.5 ...\n";
  for (std::vector<Index> const& extents : std::vector<std::vector<Index>>{{2, 8, 8}, {2, 1, 8, 8}}) {
    data::write_npy(path, extents, values);
    CHECK(contains(output({"data", "inspect", "npy:" + path}),
                   first + "    @@@@    \n    @@@@    \n            \n            \n" + second +
                       "        @@@@\n        @@@@\n        @@@@\n        @@@@\n"));
  }
  // In colours, of which a second one has the lower right quarter; a table is no picture.
  std::vector<float> colours(3 * 64);
  for (std::size_t y = 0; y < 4; ++y)
    for (std::size_t x = 0; x < 4; ++x) colours[8 * y + x] = colours[64 + 8 * (y + 4) + x + 4] = 0.5f;
  data::write_npy(path, std::vector<Index>{1, 3, 8, 8}, colours);
  CHECK(
      contains(output({"data", "inspect", "npy:" + path}), "    @@@@    \n    @@@@    \n        @@@@\n        @@@@\n"));
  data::write_npy(path, std::vector<Index>{1, 64, 3}, colours);
  CHECK(output({"data", "inspect", "npy:" + path}).ends_with(" ...\n"));
}

TEST_CASE("data inspect writes pictures as a picture, and shows what is broken") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const picture = folder / "sheet.png", npy = "npy:" + folder / "x.npy";
  std::vector<float> values(3 * 3 * 4 * 5, 1);
  data::write_npy(folder / "x.npy", std::vector<Index>{3, 3, 4, 5}, values);
  auto const drawn = run({"data", "inspect", npy, "--picture", picture});
  if (contains(drawn.err, "without coldpress::images")) {
    WARN("skipped: the command was built without libpng and libjpeg");
    return;
  }
  CHECK(drawn.code == 0);
  // Two columns of 5 and two rows of 4 pixels, with a line between them.
  std::filesystem::create_directory(folder / "c");
  std::filesystem::copy_file(picture, folder / "c/sheet.png");
  folder.put("c/broken.jpg", "no picture");
  std::string const images = "images:" + folder / "";
  CHECK(failure({"data", "inspect", images}) == folder / "c/broken.jpg" + ": is neither a PNG nor a JPEG file");
  std::string const text = output({"data", "inspect", images + "?skip=1"});
  CHECK(contains(text, images + "?skip=1: 1 sample\nsamples of {3, 9, 11}, from 0 to 1, mean 0.6060606\n"));
  CHECK(contains(text, "broken samples that were skipped: 1\n  " + folder / "c/broken.jpg" + ": is neither"));
  CHECK(contains(text, "  c: 1\n"));

  CHECK(contains(failure({"data", "inspect", "csv:" + folder.put("t.csv", "1,2\n"), "--picture", picture}),
                 "samples of shape {1} are no pictures"));
  CHECK(contains(failure({"data", "inspect", npy, "--picture", folder / "no/a.png"}), "no/a.png"));
  for (std::string const file : {"x.npy", "c/sheet.png", "c/new.png"}) {
    auto const over = run({"data", "inspect", file == "x.npy" ? npy : images + "?skip=1", "--picture", folder / file});
    CHECK(over.code == 2);
    CHECK(contains(over.err, "would overwrite"));
  }
}

}  // namespace
}  // namespace coldpress::command
