#include <coldpress/data/images.hpp>

#include <coldpress/data/npy.hpp>
#include <coldpress/data/prefetcher.hpp>

#include "data/python_files.hpp"
#include "support/heap.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

using namespace coldpress;
using namespace coldpress::data;

namespace {

namespace fs = std::filesystem;

/// Pictures that PIL writes, and what PIL reads from them.
struct ImageFiles : PythonFiles {
  ImageFiles() : PythonFiles("make_images.py", "PIL, numpy") {}

  /// The picture alone in a folder of its class.
  std::string alone(std::string const& name) const {
    fs::remove_all(path("alone"));
    fs::create_directories(path("alone/class"));
    fs::copy_file(path(name), path("alone/class/" + name));
    return path("alone");
  }
  /// The largest difference between what is read and what PIL reads.
  float difference(ImageFolder images, std::string const& name, std::string const& expected) const {
    images.folder = alone(name);
    Dataset const read = load(*open_images(std::move(images)));
    NpyArray const wanted = read_npy(path(name + expected + ".npy"));
    std::vector<Index> const extents(read.sample_shape.extents, read.sample_shape.extents + 3);
    CHECK(extents == wanted.extents);
    REQUIRE(read.samples.size() == wanted.values.size());
    float most = 0;
    for (std::size_t i = 0; i < read.samples.size(); ++i)
      most = std::max(most, std::abs(read.samples[i] - wanted.values[i]));
    return most;
  }
};

constexpr char const* names[] = {"rgb.png", "grey.png", "palette.png", "alpha.png",       "grey-alpha.png",
                                 "bit.png", "rgb.jpg",  "grey.jpg",    "progressive.jpg", "print.jpg"};
constexpr float one = 1.0f / 255;

}  // namespace

TEST_CASE("pictures of every kind are what PIL reads") {
  ImageFiles const files;
  if (!files.made) return;
  for (std::string const name : names) {
    INFO(name);
    // Libraries may round a JPEG file's values in another way.
    float const rounding = name.ends_with(".png") ? 1e-6f : 1.01f * one;
    CHECK(files.difference({}, name, "") <= rounding);
    CHECK(files.difference({.folder = {}, .channels = 1}, name, ".grey") <= rounding + 0.51f * one);
  }
  CHECK(files.difference({}, "deep.png", "") <= 0.51f * one);
}

TEST_CASE("pictures are resized like PIL's by a triangle filter") {
  ImageFiles const files;
  if (!files.made) return;
  for (std::string const name : names) {
    INFO(name);
    // PIL rounds to whole numbers twice.
    CHECK(files.difference({.folder = {}, .width = 9, .height = 7}, name, ".small") <= 2.1f * one);
    CHECK(files.difference({.folder = {}, .width = 50, .height = 31}, name, ".large") <= 2.1f * one);
    CHECK(files.difference({.folder = {}, .width = 45, .height = 5}, name, ".mixed") <= 2.1f * one);
  }
}

TEST_CASE("folders are classes, and pictures are sorted by path") {
  TemporaryFolder const folder;
  float next = 0;
  auto const put = [&](std::string const& name) {
    fs::create_directories(fs::path{folder / name}.parent_path());
    write_png(folder / name, {1, 2}, std::vector<float>{next, 1});
    next += 0.125f;
  };
  put("wolf/b.png"), put("wolf/a.PNG"), put("wolf/sub/c.png"), put("Bear/z.png"), put("none.png"), put(".hidden/x.png");
  put("wolf/.checkpoints/a.png"), put("wolf/._a.png");
  folder.put("wolf/notes.txt", "no picture");
  auto const source = open_source("images:" + folder / "" + "?channels=1");
  CHECK(source->description().classes == std::vector<std::string>{"Bear", "wolf"});
  CHECK(source->description().skipped.empty());
  CHECK(source->sample_shape() == Shape{1, 1, 2});
  Dataset const dataset = load(*source);
  CHECK(dataset.targets == std::vector<float>{0, 1, 1, 1});
  CHECK(targets_of(*source) == dataset.targets);
  auto const eighths = [&](std::size_t i) { return std::lround(8 * dataset.samples[2 * i]); };
  CHECK((eighths(0) == 3 && eighths(1) == 1 && eighths(2) == 0 && eighths(3) == 2));

  std::string const given = "images:" + folder / "" + "?channels=1&classes=cat,wolf,Bear";
  CHECK(open(given).targets == std::vector<float>{1, 1, 1, 2});
  CHECK(open(given).classes == std::vector<std::string>{"cat", "wolf", "Bear"});
  CHECK(message<FormatError>([&] { open("images:" + folder / "" + "?classes=wolf"); }) ==
        folder / "" + ": has a folder 'Bear', which is none of the classes given");
}

TEST_CASE("pictures are shuffled, read ahead, and resumed like those in memory") {
  TemporaryFolder const folder;
  for (int i = 0; i < 20; ++i) {
    std::string const name = folder / ("c" + std::to_string(i % 3)) + "/" + std::to_string(i) + ".png";
    fs::create_directories(fs::path{name}.parent_path());
    write_png(name, {3, 5, 4}, std::vector<float>(60, static_cast<float>(i) / 20));
  }
  auto const source = open_images({.folder = folder / ""});
  Dataset const dataset = load(*source);
  Batches memory{dataset, 6, 3};
  Prefetcher files{Batches{shuffled(*source, 3), 6}};
  for (int i = 0; i < 10; ++i) {
    if (i == 5) files.seek(memory.position());
    auto const a = memory.next(), b = files.next();
    CHECK(std::equal(a.samples.begin(), a.samples.end(), b.samples.begin(), b.samples.end()));
    CHECK(std::equal(a.targets.begin(), a.targets.end(), b.targets.begin(), b.targets.end()));
  }
}

TEST_CASE("a picture of another size is refused with both sizes, unless pictures are resized") {
  TemporaryFolder const folder;
  fs::create_directory(folder / "c");
  write_png(folder / "c/1.png", {4, 6}, std::vector<float>(24));
  write_png(folder / "c/2.png", {5, 6}, std::vector<float>(30));
  for (bool const skip : {false, true}) {
    auto const source = open_images({.folder = folder / "", .skip = skip});
    CHECK(source->size() == 2);
    CHECK(message<FormatError>([&] { load(*source); }) ==
          folder / "c/2.png" + ": is 6 x 5 pixels, but " + folder / "c/1.png" +
              " is 6 x 4; width and height resize all pictures to one size");
  }
  CHECK(load(*open_images({.folder = folder / "", .width = 3, .height = 3})).samples.size() == 2 * 27);
}

TEST_CASE("broken pictures are an error with the path, or skipped and counted") {
  TemporaryFolder const folder;
  fs::create_directory(folder / "c");
  for (char const* const name : {"c/1.png", "c/2.png", "c/3.png"})
    write_png(folder / name, {4, 6}, std::vector<float>(24, 0.5f));
  std::string const whole = content(folder / "c/2.png");
  folder.put("c/0.jpg", "no picture");
  folder.put("c/2.png", std::string_view{whole}.substr(0, whole.size() - 20));
  folder.put("c/4.png", "");
  CHECK(message<FormatError>([&] { open_images({.folder = folder / ""}); }) ==
        folder / "c/0.jpg" + ": is neither a PNG nor a JPEG file");
  auto const unread = open_images({.folder = folder / "", .width = 6, .height = 4});
  CHECK(unread->size() == 5);
  CHECK(contains(message<FormatError>([&] {
                   unread->reader()->read(2, 1, std::vector<float>(72).data(), std::vector<float>(1).data());
                 }),
                 folder / "c/2.png" + ": is a damaged PNG file"));
  auto const source = open_images({.folder = folder / "", .skip = true});
  CHECK(source->size() == 2);
  auto const& skipped = source->description().skipped;
  REQUIRE(skipped.size() == 3);
  CHECK(skipped[0] == folder / "c/0.jpg" + ": is neither a PNG nor a JPEG file");
  CHECK(skipped[1].starts_with(folder / "c/2.png: is a damaged PNG file"));
  CHECK(skipped[2] == folder / "c/4.png: is empty, expected a PNG or JPEG file");
  CHECK(load(*source).samples.size() == 2 * 72);
  fs::remove(folder / "c/1.png"), fs::remove(folder / "c/3.png");
  CHECK(contains(message<FormatError>([&] { open_images({.folder = folder / "", .skip = true}); }),
                 folder / "" + ": has no picture that can be read; the first: "));
}

TEST_CASE("a JPEG file whose data end early is refused, although the mark of its end is there") {
  ImageFiles const files;
  if (!files.made) return;
  for (std::string const name : {"rgb.jpg", "print.jpg"}) {
    INFO(name);
    std::string const bytes = content(files.path(name)), folder = files.alone(name), path = folder + "/class/" + name;
    fs::remove(path);
    std::ofstream{path, std::ios::binary} << bytes.substr(0, bytes.size() - 60) << "\xff\xd9";
    CHECK(contains(message<FormatError>([&] { load(*open_images({.folder = folder})); }),
                   path + ": is a damaged JPEG file: "));
  }
}

TEST_CASE("pictures without classes are a picture, or all of those below a folder, and have their names") {
  TemporaryFolder const folder;
  fs::create_directories(folder / "sub/deep");
  for (std::string const name : {"b.png", "sub/a.png", "sub/deep/c.png"})
    write_png(folder / name, {1, 2}, std::vector<float>{name == "b.png" ? 1.0f : 0.0f, 1});
  auto const all = open_samples("images:" + folder / "" + "?channels=1");
  REQUIRE(all->size() == 3);
  CHECK(all->target_shape() == Shape{});
  CHECK(all->description().classes.empty());
  CHECK((all->name_of(0) == folder / "b.png" && all->name_of(1) == folder / "sub/a.png"));
  CHECK(load(*all).samples == std::vector<float>{1, 1, 0, 1, 0, 1});

  // Folders of classes give the samples of training, in the same order, also through links.
  for (std::string const name : {"classes/cat-wild/1.png", "classes/cat/2.png", "real/dog/3.png"}) {
    fs::create_directories(fs::path{folder / name}.parent_path());
    write_png(folder / name, {1, 1}, std::vector<float>{static_cast<float>(name[name.size() - 5] - '0') / 4});
  }
  fs::create_directory_symlink("../real/dog", folder / "classes/dog");
  std::string const classes = "images:" + folder / "classes" + "?channels=1";
  CHECK(load(*open_samples(classes)).samples == load(*open_source(classes)).samples);
  CHECK(load(*open_samples(classes)).samples.size() == 3);

  auto const single = open_samples("images:" + folder / "sub/a.png");
  CHECK((single->size() == 1 && single->sample_shape() == Shape{3, 1, 2}));
  CHECK(single->name_of(0) == folder / "sub/a.png");
  CHECK(load(*single).samples == std::vector<float>{0, 1, 0, 1, 0, 1});
  CHECK(contains(message<FileError>([&] { open_samples("images:" + folder / "none.png"); }), "none.png: cannot open"));
  fs::create_directory(folder / "empty");
  CHECK(contains(message<FormatError>([&] { open_samples("images:" + folder / "empty"); }),
                 "empty: has no picture in it"));
}

TEST_CASE("what is no folder of pictures is refused") {
  TemporaryFolder const folder;
  std::string const path = folder / "";
  CHECK(contains(message<FormatError>([&] { open_images({.folder = path}); }), path + ": has no folder in it"));
  fs::create_directory(folder / "c");
  CHECK(contains(message<FormatError>([&] { open_images({.folder = path}); }),
                 path + "c: has no picture in it, so it would be a class that no sample has"));
  CHECK(contains(message<FormatError>([&] {
                   open_images({.folder = path, .classes = {"c", "d"}});
                 }),
                 path + ": has no picture in the folders of its classes"));
  CHECK(contains(message<FileError>([&] { open_images({.folder = folder / "no"}); }), "no: cannot read the folder: "));
  CHECK(contains(message<ConfigError>([&] { open("images:x?channels=2"); }), "pictures have 2 channels"));
  CHECK(contains(message<ConfigError>([&] { open("images:x?width=2"); }), "only one of them is given"));
  CHECK(contains(message<ConfigError>([&] { open("images:x?width=99999&height=99999"); }), "99999 x 99999 pixels"));
}

TEST_CASE("links to folders are followed, but not in a circle") {
  TemporaryFolder const folder;
  fs::create_directory(folder / "a");
  fs::create_directory(folder / "elsewhere");
  std::vector<float> const values(24);
  write_png(folder / "a/1.png", {4, 6}, values);
  fs::create_directory(folder / "elsewhere/b");
  write_png(folder / "elsewhere/b/1.png", {4, 6}, values);
  fs::create_directory(folder / "set");
  fs::create_directory_symlink(folder / "a", folder / "set/a");
  fs::create_directory_symlink(folder / "elsewhere/b", folder / "set/b");
  fs::create_symlink("nowhere", folder / "set/nowhere");
  fs::create_symlink("itself", folder / "set/itself");
  auto const source = open_images({.folder = folder / "set"});
  CHECK(source->size() == 2);
  CHECK(source->description().classes == std::vector<std::string>{"a", "b"});
  for (char const* const target : {".", "..", "/"}) {
    INFO("a class that is " << target);
    fs::create_directory_symlink(target, folder / "set/loop");
    CHECK(contains(message<FormatError>([&] { open_images({.folder = folder / "set"}); }),
                   folder / "set/loop" + ": is a link to a folder that contains it, "));
    fs::remove(folder / "set/loop");
  }
  fs::create_symlink("2.png", folder / "a/2.png");
  CHECK(contains(message<FileError>([&] { load(*open_images({.folder = folder / "set"})); }), "2.png: cannot open: "));
}

TEST_CASE("resizing takes memory for a few lines, however high the picture") {
  TemporaryFolder const folder;
  fs::create_directory(folder / "c");
  Index const height = 300000;
  std::vector<float> values(static_cast<std::size_t>(2 * height));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i < values.size() / 2 ? 0.0f : 1.0f;
  write_png(folder / "c/1.png", {height, 2}, values);
  auto const source = open_images({.folder = folder / "", .width = 1000, .height = 4, .channels = 1});
  static std::atomic<std::size_t> largest = 0;
  test::heap.refuses = [](std::size_t size) {
    if (size > largest) largest = size;
    return false;
  };
  std::vector<float> const seen = load(*source).samples;
  test::heap.refuses = nullptr;
  REQUIRE(seen.size() == 4000);
  CHECK((seen[0] == 0 && seen[3999] > 0.999f));
  CHECK(std::abs(seen[1500] - 1 / 8.0f) < 1e-4f);  // of the triangle about the second quarter
  CHECK(largest > 1000);
  CHECK(largest < std::size_t{16} << 20);  // all lines with a width of 1000 are 1.2 GB
}

TEST_CASE("the size of a picture is checked before there is memory for it") {
  // Headers of pictures with 2^31 - 1 and 65500 pixels in each direction.
  std::string const png = unhex("89504e470d0a1a0a0000000d494844527fffffff7fffffff0802000000f8f5b2a3");
  std::string const jpeg = unhex("ffd8ffc0000b08ffdcffdc0101110000ffda000801010000003f00");
  TemporaryFolder const folder;
  fs::create_directory(folder / "c");
  for (auto const& [name, bytes] : {std::pair{"c/a.png", png}, std::pair{"c/a.jpg", jpeg}}) {
    folder.put(name, bytes);
    std::string const said = message<FormatError>([&] {
      open_images({.folder = folder / "", .width = 1, .height = 1})
          ->reader()
          ->read(0, 1, std::vector<float>(3).data(), std::vector<float>(1).data());
    });
    INFO(said);
    CHECK((contains(said, "65500 x 65500 pixels, expected 1 to 2^26") || contains(said, "PNG file")));
    fs::remove(folder / name);
  }
}

TEST_CASE("spoilt pictures are typed errors, or pictures of the same size") {
  ImageFiles const files;
  if (!files.made) return;
  for (std::string const name : {"rgb.png", "palette.png", "rgb.jpg", "progressive.jpg", "print.jpg"}) {
    std::string const bytes = content(files.path(name));
    std::string const folder = files.alone(name), path = folder + "/class/" + name;
    int refused = 0;
    auto const read = [&](std::string const& spoilt) {
      fs::remove(path);
      std::ofstream{path, std::ios::binary} << spoilt;
      try {
        load(*open_images({.folder = folder}));
      } catch (FormatError const& error) {
        CHECK(error.file() == path);
        ++refused;
      }
    };
    for (std::size_t size = 0; size + 12 < bytes.size(); size += 11) {
      int const before = refused;
      INFO(name << " cut to " << size << " bytes of " << bytes.size());
      read(bytes.substr(0, size));
      CHECK(refused == before + 1);
    }
    refused = 0;
    for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 13) {
      INFO(name << ", bit " << bit);
      std::string spoilt = bytes;
      spoilt[bit / 8] = static_cast<char>(spoilt[bit / 8] ^ (1 << bit % 8));
      read(spoilt);
    }
    CHECK(refused > 10);
  }
}

TEST_CASE("write_png writes what is read again, and refuses what is no picture") {
  TemporaryFolder const folder;
  fs::create_directory(folder / "c");
  std::vector<float> values;
  for (int i = 0; i < 3 * 4 * 5; ++i) values.push_back(static_cast<float>(4 * i) / 255);
  write_png(folder / "c/a.png", {3, 4, 5}, values);
  Dataset const dataset = load(*open_images({.folder = folder / ""}));
  CHECK(dataset.sample_shape == Shape{3, 4, 5});
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(std::abs(dataset.samples[i] - values[i]) < 1e-6f);
  write_png(folder / "c/a.png", {1, 1, 4}, std::vector<float>{-1, 2, std::nanf(""), 0.5f});
  std::vector<float> const cut = load(*open_images({.folder = folder / "", .channels = 1})).samples;
  CHECK((cut[0] == 0 && cut[1] == 1 && cut[2] == 0 && std::abs(cut[3] - 0.5f) <= 0.51f * one));
  for (Shape const& bad : {Shape{4}, Shape{2, 1, 2}, Shape{1, 1, 1, 4}, Shape{2, 3}})
    CHECK(contains(message<ShapeError>([&] { write_png(folder / "b.png", bad, std::vector<float>(4)); }),
                   "are no picture"));
  CHECK(contains(message<FileError>([&] {
                   write_png(folder / "no/b.png", {2, 2}, std::vector<float>(4));
                 }),
                 "no/b.png: "));
}
