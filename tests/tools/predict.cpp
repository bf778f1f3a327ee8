#include "tools/command.hpp"

#include <coldpress/data/images.hpp>
#include <coldpress/data/npy.hpp>
#include <coldpress/data/output.hpp>
#include <coldpress/persist.hpp>

#include <cmath>
#include <cstring>
#include <optional>

#include <sys/resource.h>

namespace coldpress::command {
namespace {

struct Case {
  TemporaryFolder folder;
  std::string model = folder / "net.juice", input = folder / "x.npy", output = folder / "y.npy";
  std::vector<float> x = std::vector<float>(17 * 6);

  Case() {
    dynamic::SequentialConfig net;
    net.add_input("data", {6})
        .add_layer({"fc1", Linear{.output_size = 9}})
        .add_layer({"drop", Dropout{.probability = 0.5f}});
    net.add_layer({"relu", ReLU{}}).add_layer({"fc2", Linear{.output_size = 6}}).add_layer({"fold", Reshape{{2, 3}}});
    dynamic::Layer::from_config(dynamic::Backend{}, {"net", net}, {}, 5).save(model);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));
    data::write_npy(input, std::vector<Index>{17, 2, 3}, x);
  }
  std::vector<std::string> predict(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"predict", "--model", model, "--input", input, "--output", output});
    return more;
  }
};

/// A layer that reads and makes values with names.
dynamic::LayerConfig layer(char const* name, dynamic::LayerType const& type, std::vector<std::string> inputs,
                           std::vector<std::string> outputs = {}) {
  dynamic::LayerConfig config{name, type};
  config.inputs = std::move(inputs), config.outputs = std::move(outputs);
  return config;
}

TEST_CASE("predict gives the library's outputs, bit for bit, in batches of any size") {
  if (!has_command()) return;
  Case const c;
  for (char const* backend : {"cpu", "cpu:reference"}) {
    auto layer = dynamic::Layer::load(dynamic::Backend{backend}, c.model);
    layer.set_mode(dynamic::Mode::inference);
    for (std::size_t const batch :
         {std::size_t{64}, std::size_t{17}, std::size_t{5}, std::size_t{1}, std::size_t{1} << 40}) {
      INFO(backend << ", batch " << batch);
      std::vector<float> y;
      for (std::span<float const> left{c.x}; !left.empty();) {
        auto const part = layer.forward(left.first(std::min(left.size() / 6, batch) * 6));
        y.insert(y.end(), part.begin(), part.end());
        left = left.subspan(part.size());  // as many values come out as go in
      }
      std::string const text = output(c.predict({"--batch", std::to_string(batch), "--backend", backend}));
      CHECK(text == "17 samples of {2, 3} to {2, 3} in " + c.output + "\n");
      auto const found = data::read_npy(c.output);
      CHECK(found.extents == std::vector<Index>{17, 2, 3});
      REQUIRE(found.values.size() == y.size());
      CHECK(std::memcmp(found.values.data(), y.data(), y.size() * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("predict takes any data, and writes what the ending says") {
  if (!has_command()) return;
  Case const c;
  std::string const y = c.folder / "labels.npy";
  data::write_npy(y, std::vector<Index>{17}, std::vector<float>(17));
  output(c.predict());
  auto const expected = data::read_npy(c.output).values;
  std::string const net = c.model, spec = "npy:" + c.input + "," + y;
  auto const predict = [&](std::string const& input, std::string const& to) {
    return output({"predict", "--model", net, "--input", input, "--output", c.folder / to, "--batch", "5"});
  };
  predict(spec, "z.npy");
  CHECK(data::read_npy(c.folder / "z.npy").values == expected);
  predict("npy:" + c.input, "z.npz");
  CHECK(load(*data::open_npz(c.folder / "z.npz", "output")).samples == expected);
  // The outputs are the input of the next network, which is the same one.
  predict("npz:" + c.folder / "z.npz" + "?x=output&y=output", "z.csv");
  CHECK(content(c.folder / "z.csv").starts_with("y0,y1,y2,y3,y4,y5\n"));
  for (char const* const targets : {"", "&y=none"}) {
    predict("npz:" + c.folder / "z.npz" + "?x=output" + targets, "zz.csv");
    CHECK(content(c.folder / "zz.csv") == content(c.folder / "z.csv"));
  }
  predict("npz:" + c.folder / "z.npz" + "?x=output", "z2.csv");
  predict("csv:" + c.folder / "z.csv" + "?targets=none", "z3.csv");
  predict("npz:" + c.folder / "z.npz" + "?x=output", "z2.npz");
  predict("npz:" + c.folder / "z2.npz" + "?x=output", "z4.csv");
  CHECK(content(c.folder / "z3.csv") == content(c.folder / "z4.csv"));
  auto const hdf5 = run({"predict", "--model", net, "--input", c.input, "--output", c.folder / "z.h5"});
  if (contains(hdf5.err, "without coldpress::hdf5")) {
    WARN("skipped: the command was built without HDF5");
  } else {
    CHECK(hdf5.code == 0);
    // Nobody needs the targets, wherever they are.
    for (char const* const targets : {"", "&y=output", "&y=none"}) {
      predict("hdf5:" + c.folder / "z.h5" + "?x=output" + targets, "zz.csv");
      CHECK(content(c.folder / "zz.csv") == content(c.folder / "z.csv"));
    }
  }
}

TEST_CASE("predict leaves out the inputs that only losses read") {
  if (!has_command()) return;
  Case const c;
  auto const network = [&](bool reads) {
    dynamic::SequentialConfig net;
    net.add_input("data", {6}).add_input("label", {6});
    net.add_layer(layer("scale", Power{.scale = 2}, {"data"}, {"twice"}));
    net.add_layer(layer("loss", MeanSquaredError{}, {"twice", "label"}));
    if (reads) net.add_layer(layer("sum", Add{}, {"twice", "label"}, {"sum"}));
    dynamic::LayerConfig config{"net", net};
    config.outputs = {reads ? "sum" : "twice"};
    persist::write_model(c.model, {.name = "net", .config = config});
  };
  network(false);
  output(c.predict({"--batch", "5"}));
  auto const found = data::read_npy(c.output).values;
  REQUIRE(found.size() == c.x.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == 2 * c.x[i]);
  network(true);
  CHECK(contains(failure(c.predict()),
                 c.input + ": the network takes data {6} and label {6} of each sample, but the samples have shape "));
}

TEST_CASE("predict writes all outputs where a file has room for them, and otherwise says which") {
  if (!has_command()) return;
  Case const c;
  dynamic::SequentialConfig net;
  net.add_input("data", {6});
  net.add_layer(layer("once", Power{.scale = 3}, {"data"}, {"first"}));
  net.add_layer(layer("fc", Reshape{{2, 3}}, {"first"}, {"folded"}));
  net.add_layer(layer("half", Slice{.end = 1}, {"folded"}, {"a/second"}));
  dynamic::LayerConfig config{"net", net};
  config.outputs = {"first", "a/second"};
  persist::write_model(c.model, {.name = "net", .config = config});
  std::string const note =
      "note: of the outputs first, a_second, the first is written; .npz and .h5 have room for all\n";
  CHECK(output(c.predict()) == note + "17 samples of {2, 3} to {6} in " + c.output + "\n");
  std::string const path = c.folder / "all.npz";
  CHECK(output({"predict", "--model", c.model, "--input", c.input, "--output", path, "--batch", "5"}) ==
        "17 samples of {2, 3} to {6}, {1, 3} in " + path + "\n");
  for (auto const& [name, size] : {std::pair{"first", std::size_t{6}}, {"a_second", std::size_t{3}}}) {
    auto const values = load(*data::open_npz(path, name)).samples;
    REQUIRE(values.size() == 17 * size);
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == 3 * c.x[i / size * 6 + i % size]);
  }
}

TEST_CASE("predict needs no memory for all samples or outputs") {
  if (!has_command()) return;
  Case const c;
  // 2^20 samples of 6 values are 24 MiB, and so are their outputs. The command itself needs more, but not with these.
  std::vector<float> const row(6 * 4096, 0.5f);
  auto const big = data::open_output(c.folder / "big.npy", {2, 3});
  for (int i = 0; i < 256; ++i) big->append(row);
  big->finish();
  auto const peak = [&](std::string const& input, std::string const& to) {
    std::vector<std::string> arguments{std::getenv("COLDPRESS_COMMAND"),
                                       "predict",
                                       "--threads",
                                       "1",
                                       "--model",
                                       c.model,
                                       "--input",
                                       input,
                                       "--output",
                                       c.folder / to};
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_t const id = ::fork();
    if (id == 0) {
      ::dup2(::open("/dev/null", O_WRONLY), 1);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    int status = 0;
    rusage usage;
    REQUIRE(::wait4(id, &status, 0, &usage) == id);
    REQUIRE(status == 0);
    return usage.ru_maxrss;  // in KiB
  };
  long const small = peak(c.input, "s.npy");
  for (char const* const to : {"b.npy", "b.npz", "b.csv"}) CHECK(peak(c.folder / "big.npy", to) - small < 8 << 10);
  CHECK(data::read_npy(c.folder / "b.npy").extents == std::vector<Index>{1 << 20, 2, 3});
}

TEST_CASE("predict classifies a picture, which is resized to what the network takes") {
  if (!has_command()) return;
  TemporaryFolder folder;
  dynamic::SequentialConfig net;
  net.add_input("data", {1, 1, 2}).add_layer({"fc", Linear{.output_size = 2}});
  std::string const model = folder / "net.juice", picture = folder / "a?b.png", result = folder / "y.csv";
  persist::write_model(model, {.name = "net",
                               .config = {"net", net},
                               .weights = {{"fc-0", {2, 2}, {1, 0, 0, 1}}},
                               .classes = {"left", "right"}});
  data::write_png(picture, {2, 4}, std::vector<float>{0, 0, 1, 1, 0, 0, 1, 1});
  Result const known = run({"predict", "--model", model, "--input", picture, "--output", result, "--top-k", "2"});
  if (contains(known.err, "reads no pictures")) {
    WARN("skipped: the command was built without coldpress::images");
    return;
  }
  // The triangle filter weighs 0, 0 and 1 with 3 / 7, 3 / 7 and 1 / 7.
  CHECK(known.out.starts_with(picture + ": right 0.85714287, left 0.14285715\n1 sample of {1, 1, 2} to {2} in " +
                              result + "\ncomputed in "));
  std::filesystem::create_directory(folder / "photos");
  std::filesystem::rename(picture, folder / "photos/p.png");
  auto const predict = [&](std::string const& options) {
    return run({"predict", "--model", model, "--input", "images:" + folder / "photos" + options, "--output", result,
                "--top-k", "1"});
  };
  for (char const* const options : {"?width=2&height=1&channels=1", "", "?", "?skip=0", "?channels=1"})
    CHECK(contains(predict(options).out, folder / "photos/p.png" + ": right 0.857"));
  CHECK(contains(predict("?width=3").err, "{1, 1, 3}"));  // what the user says counts
}

TEST_CASE("predict does to samples what was done to those of the training, and prints the best classes") {
  if (!has_command()) return;
  TemporaryFolder folder;
  dynamic::SequentialConfig net;
  net.add_input("data", {2, 2}).add_layer({"fc", Linear{.output_size = 4}});
  std::string const model = folder / "net.juice";
  persist::write_model(model, {.name = "net",
                               .config = {"net", net},
                               .weights = {{"fc-0", {4, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}}},
                               .transforms = {data::OneHot{4}, data::SubtractMean{.mean = {1}}, data::Mirror{},
                                              data::Crop{{2, 2}}, data::Scale{0.5f, 3}},
                               .classes = {"cat", "dog", "eel\xe2\x80\xae"}});
  std::vector<float> pictures(2 * 4 * 3);
  for (std::size_t i = 0; i < pictures.size(); ++i) pictures[i] = static_cast<float>(i * 7 % 12);
  data::write_npy(folder / "x.npy", std::vector<Index>{2, 4, 3}, pictures);
  std::vector<std::string> const arguments{"predict",        "--model",  model,           "--input",
                                           folder / "x.npy", "--output", folder / "y.npy"};
  std::string const line = "2 samples of {4, 3} to {4} in " + folder / "y.npy" + "\n";
  CHECK(output(arguments) == line);
  std::vector<float> expected;
  for (std::size_t const i : {3, 4, 6, 7, 15, 16, 18, 19}) expected.push_back((pictures[i] - 1) * 0.5f + 3);
  CHECK(data::read_npy(folder / "y.npy").values == expected);

  auto with = arguments;
  with.insert(with.end(), {"--top-k", "2", "--batch", "1"});
  // The values are 9 4 6 1 of both pictures, so the outputs 7 4.5 5.5 3.
  std::string const printed = output(with);
  CHECK(printed.starts_with("0: cat 7, eel\\u{202e} 5.5\n1: cat 7, eel\\u{202e} 5.5\n" + line + "computed in "));
  CHECK(printed.ends_with(" samples/s\n"));
  with[with.size() - 3] = "9";
  CHECK(contains(output(with), "\n1: cat 7, eel\\u{202e} 5.5, dog 4.5, 3 3\n"));
  data::write_npy(folder / "x.npy", std::vector<Index>{1, 2, 2}, std::vector<float>{NAN, 3, 5, INFINITY});
  CHECK(contains(failure(arguments), "value 0 of sample 0 is nan, expected finite values"));
  data::write_npy(folder / "x.npy", std::vector<Index>{1, 4, 1}, std::vector<float>(4));
  CHECK(failure(arguments) == folder / "x.npy" +
                                  ": transforms[3] crop: needs pictures of at least 2 rows and 2 columns, but the "
                                  "samples have shape {4, 1}");
}

TEST_CASE("predict refuses what does not fit, and leaves the output as it was") {
  if (!has_command()) return;
  Case const c;
  auto const put = [&](std::vector<Index> extents) {
    Index size = 1;
    for (Index const extent : extents) size *= extent;
    data::write_npy(c.input, extents, std::vector<float>(static_cast<std::size_t>(size)));
  };
  c.folder.put("y.npy", "old");
  put({17, 5});
  CHECK(contains(failure(c.predict()), c.model + ": layer 'net': the network takes samples of shape {6}, not {5}"));
  put({17});
  CHECK(contains(failure(c.predict()), "the network takes samples of shape {6}, not {1}"));
  put({0, 6});
  CHECK(failure(c.predict()) == c.input + ": contains no values");
  put({});
  CHECK(failure(c.predict()) == c.input + ": has 0 extents, expected 1 to 9, samples first");
  c.folder.put("x.npy", "no array");
  CHECK(contains(failure(c.predict()), c.input + ": is not a .npy file"));
  CHECK(contains(failure(c.predict({"--backend", "abacus"})), "no backend 'abacus'"));
  std::string const table = c.folder.put("points.csv", "1,2\n");
  CHECK(failure({"predict", "--model", c.model, "--input", table, "--output", c.output})
            .ends_with("and a version; did you mean 'csv:" + table + "', or 'csv:" + table +
                       "?targets=none' if it has no targets?"));
  c.folder.put("net.juice", "no network");
  CHECK(contains(failure(c.predict()), c.model + ": is not a Cap'n Proto message"));
  CHECK(content(c.output) == "old");
  CHECK(contains(failure({"predict", "--model", c.model, "--input", c.input, "--output", c.folder / "nowhere/y.npy"}),
                 "nowhere"));
  CHECK(contains(failure({"predict", "--model", c.model, "--input", c.input, "--output", c.folder / "y.txt"}),
                 c.folder / "y.txt" + ": the name of an output ends in .npy, .npz, .csv, .h5, .hdf5"));
  auto const over = run({"predict", "--model", c.model, "--input", "npy:" + c.input, "--output", c.input});
  CHECK(over.code == 2);
  CHECK(contains(over.err, "would overwrite"));
}

/// As many rows of an array as take a while.
std::string many_rows(Case const& c, int parts) {
  std::string const path = c.folder / "many.npy";
  auto const output = data::open_output(path, {6});
  for (int i = 0; i < parts; ++i) output->append(std::vector<float>(6 * 4096, 0.5f));
  output->finish();
  return path;
}
/// How many bytes are in temporary files for the output; nothing if there is none.
std::optional<std::uintmax_t> bytes_of_temporary(Case const& c) {
  std::optional<std::uintmax_t> bytes;
  for (auto const& entry : std::filesystem::directory_iterator{std::filesystem::path{c.output}.parent_path()}) {
    std::error_code gone;
    if (!entry.path().filename().string().starts_with(".y.npy.tmp-")) continue;
    if (auto const size = entry.file_size(gone); !gone) bytes = bytes.value_or(0) + size;
  }
  return bytes;
}

TEST_CASE("predict leaves nothing behind when it is asked to end, and the output as it was") {
  if (!has_command()) return;
  Case const c;
  c.folder.put("y.npy", "old");
  std::string const input = many_rows(c, 512);
  for (int const number : {SIGINT, SIGTERM, SIGHUP}) {
    INFO("signal " << number);
    Running running{{"predict", "--model", c.model, "--input", input, "--output", c.output, "--batch", "1"}};
    running.until([&] { return bytes_of_temporary(c).value_or(0) > 0; });
    running.signal(number);
    auto const result = running.wait();
    CHECK(result.code == 1);
    CHECK(result.err == "coldpress: interrupted; nothing was written to " + c.output + "\n");
    CHECK(content(c.output) == "old");
    CHECK_FALSE(bytes_of_temporary(c));
  }
}

TEST_CASE("an output that is larger than the system lets a file be is a failure with a sentence") {
  if (!has_command()) return;
  Case const c;
  c.folder.put("y.npy", "old");
  std::string const command = "ulimit -f 16; \"$COLDPRESS_COMMAND\" predict --model '" + c.model + "' --input '" +
                              many_rows(c, 2) + "' --output '" + c.output + "' 2>'" + c.folder / "err" + "'";
  CHECK(WEXITSTATUS(std::system(command.c_str())) == 1);
  CHECK(content(c.folder / "err") == "coldpress: " + c.output + ": cannot write: File too large\n");
  CHECK(content(c.output) == "old");
  CHECK_FALSE(bytes_of_temporary(c));
}

TEST_CASE("what is printed does not get into a file where standard streams are closed") {
  if (!has_command()) return;
  Case const c;
  std::string rows;
  for (int i = 0; i < 2000; ++i) rows += "1,2,3,4,5,6\n";  // more lines than wait to be printed at the end
  std::string const input = "csv:" + c.folder.put("x.csv", rows) + "?targets=none";
  output({"predict", "--model", c.model, "--input", input, "--output", c.output});
  std::string const expected = content(c.output);
  // All of the table is read before the output is opened, whose folder and temporary file would have 0 and 1.
  std::string const command = "\"$COLDPRESS_COMMAND\" predict --model '" + c.model + "' --input '" + input +
                              "' --output '" + c.output + "' --top-k 1 <&- >&- 2>'" + c.folder / "err" + "'";
  CHECK(WEXITSTATUS(std::system(command.c_str())) == 1);
  CHECK(content(c.folder / "err") == "coldpress: the output cannot be written\n");
  CHECK(content(c.output) == expected);
}

}  // namespace
}  // namespace coldpress::command
