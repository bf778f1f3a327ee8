#include "tools/command.hpp"

#include <algorithm>

namespace coldpress::command {
namespace {

TEST_CASE("help and version succeed and say something") {
  if (!has_command()) return;
  for (std::vector<std::string> const& arguments : {std::vector<std::string>{"--help"},
                                                    {"inspect", "--help"},
                                                    {"train", "--help"},
                                                    {"eval", "--help"},
                                                    {"predict", "--help"},
                                                    {"convert", "--help"}}) {
    CHECK(contains(output(arguments), "Usage: coldpress"));
  }
  for (char const* command : {"inspect", "train", "eval", "predict"}) CHECK(contains(output({"--help"}), command));
}

TEST_CASE("the version is that of the project") {
  if (!has_command()) return;
  std::string const version = output({"--version"});
  REQUIRE(version.starts_with("coldpress "));
  CHECK(contains(content(source_file("CMakeLists.txt")),
                 "project(coldpress VERSION " + version.substr(10, version.size() - 11) + " "));
}

TEST_CASE("bad use is exit code 2, and says what is wrong") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const config = folder.put("config", dropout_config), save = folder / "net.juice";
  struct Wrong {
    std::vector<std::string> arguments;
    char const* what;
  };
  for (auto const& [arguments, what] : {
           Wrong{{}, "A command is required"},
           Wrong{{"fly"}, "fly"},
           Wrong{{"inspect"}, "FILE is required"},
           Wrong{{"inspect", "a", "b"}, "b"},
           Wrong{{"train", "--save", save}, "--config or --resume is required"},
           Wrong{{"train", "--config", config}, "--save is required"},
           Wrong{{"train", "--config", config, "--save", save, "--epochs", "0"}, "--epochs"},
           Wrong{{"train", "--config", config, "--save", save, "--epochs", "99999999999999999999"}, "--epochs"},
           Wrong{{"train", "--config", config, "--save", save, "--batch", "many"}, "--batch"},
           Wrong{{"train", "--config", config, "--save", save, "--seed=-1"}, "--seed"},
           Wrong{{"train", "--config", config, "--save", save, "--seed", "18446744073709551616"},
                 "--seed: must be at most 18446744073709551615, is 18446744073709551616"},
           Wrong{{"convert", "a.npz", save, "--seed", "99999999999999999999999"}, "--seed: must be at most 1844"},
           Wrong{{"amp", "train", "--seed", "99999999999999999999999"}, "--seed: must be at most 1844"},
           Wrong{{"train", "--config", config, "--save", save, "--steps", "0"}, "--steps"},
           Wrong{{"train", "--config", config, "--save", save, "--checkpoint-every", "5"}, "--checkpoint"},
           Wrong{{"train", "--config", config, "--save", save, "--checkpoint", save, "--checkpoint-every", "5m"},
                 "600s"},
           Wrong{{"train", "--config", config, "--save", save, "--checkpoint", save, "--checkpoint-every", "0s"},
                 "600s"},
           Wrong{{"train", "--config", config, "--save", save, "--checkpoint", save, "--checkpoint-every", "0"},
                 "600s"},
           Wrong{{"train", "--config", config, "--save", save, "--trust-paths"}, "--resume"},
           Wrong{{"eval", "--model", save}, "--data is required"},
           Wrong{{"eval", "--model", save, "--data", "csv:a", "--loss", "pride"}, "--loss"},
       }) {
    auto const result = run(arguments);
    INFO(what << ": " << result.err);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK(contains(result.err, what));
  }
  CHECK(folder.names() == std::vector<std::string>{"config"});
}

TEST_CASE("an error of several lines is printed as such, and what a terminal would not show is spelt out") {
  if (!has_command()) return;
  auto const result = run({"inspect", "no\x1b[2Ksuch\nfile"});
  CHECK(result.code == 1);
  CHECK(result.err.starts_with("coldpress: no\\x1b[2Ksuch\n  file: "));
  CHECK(std::ranges::count(result.err, '\n') == 2);
}

TEST_CASE("a network is not saved as if it were a file of another format, or a table") {
  if (!has_command()) return;
  TemporaryFolder folder;
  std::string const config = folder.put("config", dropout_config), data = "csv:" + folder.put("data", sides(30)),
                    save = folder / "net.juice";
  auto const train = [&](std::string const& saved, std::string const& best) {
    return run({"train", "--config", config, "--data", data, "--epochs", "1", "--save", saved, "--keep-best", best});
  };
  auto const names = [&] {
    auto all = folder.names();
    std::ranges::sort(all);
    return all;
  };
  auto const before = names();
  for (auto const& [name, kind] : {std::pair{"net.nam", "files of the format nam"},
                                   {"net.ONNX", "files of the format onnx"},
                                   {"net.capnp.txt", "files of the format config"},
                                   {"net.h5", "files of the format mocha"},
                                   {"points.csv", "tables"},
                                   {"net.wav", "sounds"},
                                   {"net.pt", "models of PyTorch"}}) {
    std::string const said = ": '" + folder / name + "' ends as " + kind +
                             " do; the network is saved as .juice, and coldpress convert makes other formats of that";
    auto const saved = train(folder / name, save), kept = train(save, folder / name);
    INFO(saved.err << kept.err);
    CHECK((saved.code == 2 && contains(saved.err, "--save" + said)));
    CHECK((kept.code == 2 && contains(kept.err, "--keep-best" + said)));
    CHECK(names() == before);
  }
  // What has no ending, or one that nothing else has, is the user's choice.
  for (char const* name : {"net", "net.v2", "csv"}) {
    auto const result = run({"train", "--config", config, "--data", data, "--steps", "1", "--save", folder / name});
    INFO(result.err);
    CHECK(result.code == 0);
  }
}

TEST_CASE("no file is written that is read, or written for another option") {
  if (!has_command()) return;
  namespace fs = std::filesystem;
  TemporaryFolder folder;
  std::string const config = folder.put("config", dropout_config), data = folder.put("data", sides(30)),
                    save = folder / "net.juice", other = folder.put("other", sides(30));
  fs::create_directory(folder / "inner");
  fs::create_symlink("../data", folder / "inner/link"), fs::create_hard_link(data, folder / "hard");
  fs::create_symlink(".", folder / "here"), fs::create_symlink("net.juice", folder / "dangling");
  for (char const* name : {"x.npy", "y.npy", "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte"})
    folder.put(name, name);
  std::string text = dropout_config;
  std::string const naming = folder.put("naming", text.insert(text.size() - 1, ", data = \"csv:data\""));
  auto const before = [&] {
    std::vector<std::string> contents;
    for (std::string const& name : folder.names())
      contents.push_back(name + (fs::is_directory(folder / name) ? "" : content(folder / name)));
    std::ranges::sort(contents);
    return contents;
  };
  auto const contents = before();
  auto const refused = [&](std::vector<std::string> arguments, std::string const& written, std::string const& path,
                           std::string const& why) {
    auto const result = run(std::move(arguments));
    INFO(result.err);
    CHECK(result.code == 2);
    CHECK(contains(result.err, written + ": would overwrite '" + path + "', which " + why));
    CHECK(before() == contents);
  };
  auto const train = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"train", "--config", config});
    return more;
  };
  std::string const csv = "csv:" + data;
  refused(train({"--data", csv, "--save", config}), "--save", config, "--config reads");
  for (std::string const name : {"data", "./data", "inner/../data", "inner/link", "hard", "here/data"}) {
    refused(train({"--data", csv, "--save", folder / name}), "--save", folder / name, "--data reads");
    refused(train({"--data", csv, "--save", save, "--report", folder / name}), "--report", folder / name,
            "--data reads");
    refused(train({"--data", "csv:" + other, "--test", csv, "--save", save, "--checkpoint", folder / name}),
            "--checkpoint", folder / name, "--test reads");
    refused({"train", "--config", naming, "--save", folder / name}, "--save", folder / name,
            "the data of --config reads");
  }
  // Neither is there yet.
  for (std::string const name : {"./net.juice", "inner/../net.juice", "here/net.juice", "dangling"}) {
    refused(train({"--data", csv, "--save", save, "--checkpoint", folder / name}), "--checkpoint", folder / name,
            "--save writes");
    refused(train({"--data", csv, "--save", folder / name, "--report", save}), "--report", save, "--save writes");
    refused(train({"--data", csv, "--save", save, "--tensorboard", folder / name}), "--tensorboard",
            std::filesystem::path{folder / name}.lexically_normal().string(), "--save writes");
  }
  refused(train({"--data", csv, "--save", save, "--tensorboard", save + "/events"}), "--tensorboard", save,
          "--save writes");
  refused(train({"--data", csv, "--save", save, "--tensorboard", data}), "--tensorboard", data, "--data reads");
  for (std::string const name : {"train-images-idx3-ubyte.gz", "train-images-idx3-ubyte", "train-labels-idx1-ubyte"})
    refused(train({"--data", "mnist:" + folder / "here", "--save", folder / name}), "--save", folder / name,
            "--data reads");
  for (char const* name : {"x.npy", "y.npy"})
    refused(train({"--data", "npy:" + folder / "x.npy" + "," + folder / "y.npy", "--save", folder / name}), "--save",
            folder / name, "--data reads");
  refused({"train", "--resume", data, "--save", data}, "--save", data, "--resume reads");
  refused({"predict", "--model", other, "--input", data, "--output", folder / "hard"}, "--output", folder / "hard",
          "--input reads");
  refused({"predict", "--model", other, "--input", data, "--output", other}, "--output", other, "--model reads");
}

TEST_CASE("help shows no inside of the command, and names what an option takes") {
  if (!has_command()) return;
  for (char const* command : {"train", "eval", "predict"}) {
    std::string const text = output({command, "--help"});
    INFO(text);
    for (std::size_t at = 0; (at = text.find('{', at)) != std::string::npos; ++at)
      CHECK(text.compare(at, 8, "{N, ...}") == 0);
    for (char const* part : {"->", " OR ", "value in", "1 or more"}) CHECK_FALSE(contains(text, part));
    CHECK(contains(text, "fp32, tf32, bf16"));
    CHECK(contains(text, "1 for failures, 2 for usage errors"));
  }
  CHECK(contains(output({"eval", "--help"}), "negative_log_likelihood, mean_squared_error, "));
}

TEST_CASE("output that cannot be written is a failure") {
  if (!has_command()) return;
  if (!std::filesystem::exists("/dev/full")) {
    WARN("skipped: there is no /dev/full");
    return;
  }
  TemporaryFolder folder;
  std::string const command = "\"$COLDPRESS_COMMAND\" inspect '" + folder.put("config", dropout_config) +
                              "' >/dev/full 2>'" + folder / "err" + "'";
  CHECK(WEXITSTATUS(std::system(command.c_str())) == 1);
  CHECK(content(folder / "err") == "coldpress: the output cannot be written\n");
}

}  // namespace
}  // namespace coldpress::command
