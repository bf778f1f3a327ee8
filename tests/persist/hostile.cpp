// Files that are cut, flipped, forged or written by a process that is killed. All of it is for sanitizers too.
#include <coldpress/persist/checkpoint.hpp>
#include <coldpress/persist/training.hpp>

#include "persist/files.hpp"
#include "support/guarded.hpp"

#include <cstring>
#include <random>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

namespace coldpress::persist {
namespace {

/// Whether two models are equal to the bit.
bool same(Model a, Model b) {
  if (a.weights.size() != b.weights.size()) return false;
  for (std::size_t i = 0; i < a.weights.size(); ++i) {
    auto const &x = a.weights[i].values, &y = b.weights[i].values;
    if (x.size() != y.size() || std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) != 0) return false;
    a.weights[i].values.clear();
    b.weights[i].values.clear();
  }
  return a == b;
}

std::string plain(std::string const& packed) { return capnp("convert packed:binary", own_schema, packed); }
std::string segments(std::string const& packed) {
  return capnp("encode --packed --segment-size=64", own_schema, capnp("decode --packed", own_schema, packed));
}

/// A model of 4 KiB, plain, with something of everything.
Model varied_model() {
  Model model = small_model();
  auto& net = std::get<dynamic::SequentialConfig>(model.config.layer_type);
  net.add_layer({"snake", dynamic::Custom{"snake",
                                          {{"a", 0.5},
                                           {"b", std::uint64_t{3}},
                                           {"c", std::string{"text"}},
                                           {"d", std::vector<std::uint64_t>{1, 2}}}}});
  net.add_layer({"pool", Pooling{.mode = PoolingMode::average, .filter_shape = {1, 2}}});
  net.layers[1].params = {{.name = "shared", .filler = Gaussian{0, 0.5f}}};
  net.layers[4].layer_type = Linear{.output_size = 10, .weight = Constant{0}};
  model.weights[2].values[3] = 0;
  model.transforms = {data::Standardize{.per = data::Per::channel, .mean = {0.5f, 0}, .deviation = {1, 2}},
                      data::Mirror{}, data::Crop{{3, 4}}, data::OneHot{10}, data::Mixup{}};
  model.classes = {"cat", "", "dog"};
  model.weights.push_back(tensor("odd", {3, 5}));  // whose last value shares its word with none
  return parse(text_of(serialize(model)));
}

/// `is_as_before` reads bytes, and says whether they mean what the unspoilt ones do.
template <class IsAsBefore>
void check_every_spoilt(std::string const& bytes, std::string const& file, IsAsBefore is_as_before) {
  REQUIRE(is_as_before(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    INFO("cut to " << size);
    CHECK_THROWS_AS(is_as_before(bytes.substr(0, size)), FormatError);
  }
  std::size_t refused = 0;
  flip_bits(bytes, [&](std::string const& spoilt, std::size_t bit) {
    try {
      if (!is_as_before(spoilt)) FAIL_CHECK("bit " << bit << " makes something else of it");
    } catch (Error const& error) {
      ++refused;
      if (error.file() != file || error.sentence().empty()) FAIL_CHECK("bit " << bit << ": " << error.what());
    }
  });
  CHECK(refused > 6 * bytes.size() / bits_per_flip);  // the others are padding
  for (std::string const& tail : {std::string(1, '\0'), std::string(8, '\0'), std::string{"("}, std::string(3, '\x11')})
    CHECK_THROWS_AS(is_as_before(bytes + tail), FormatError);
}
void check_every_spoilt(std::string const& bytes, Model const& model) {
  check_every_spoilt(bytes, "test.juice", [&](std::string const& read) { return same(parse(read), model); });
}

TEST_CASE("a file cut at any byte is refused, one with a bit flipped is refused or the same", "[hostile]") {
  Model const model = varied_model();
  std::string const packed = text_of(serialize(model));
  CHECK(packed.size() > 2000);
  check_every_spoilt(packed, model);
  check_every_spoilt(plain(packed), model);
  check_every_spoilt(segments(packed), model);
}

TEST_CASE("nothing behind the bytes of a message is read, wherever it is cut", "[hostile]") {
  Model model = small_model();
  for (float& value : model.weights[2].values) value = value / 3 + 1;  // without a byte of 0, so that they do not pack
  std::string const bytes = text_of(serialize(model));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    auto const all = bytes_of(bytes).first(size);
    test::Guarded<std::byte> const cut{all.begin(), all.end()};
    if (cut.capacity() != size) FAIL("the vector has room behind its bytes");
    CHECK_THROWS_AS(parse_model(cut, "cut"), FormatError);
  }
}

TEST_CASE("a checkpoint cut at any byte is refused, one with a bit flipped is refused or the same", "[hostile]") {
  dynamic::SequentialConfig net;
  net.add_input("x", {3}).add_layer({"fc", Linear{.output_size = 3}});
  Checkpoint checkpoint{.model = {.config = container("net", net), .weights = {tensor("fc-0", {3, 3})}}};
  checkpoint.loss = dynamic::LayerConfig{"loss", MeanSquaredError{.loss_weight = 0.5f}};
  checkpoint.solver = {.name = "fit", .solver = Adam{}, .minibatch_size = 4, .accumulate = 2};
  checkpoint.data = "csv:x";
  checkpoint.epochs = 7, checkpoint.batch = 2, checkpoint.seed = 5;
  checkpoint.optimizer_state = {tensor("fc-0/state0", {3, 3}), tensor("fc-0/gradient", {3, 1})};
  checkpoint.random_state = {6, 1};
  checkpoint.iteration = 9, checkpoint.epoch = 3, checkpoint.position = 4, checkpoint.waiting = 2;

  TemporaryFolder folder;
  std::string const path = folder / "run";
  write_checkpoint(path, checkpoint);
  std::string const packed = content(path);
  for (std::string const& bytes :
       {packed, capnp("convert packed:binary", "capnp/coldpress.capnp", packed, "Checkpoint")})
    check_every_spoilt(bytes, path, [&](std::string const& spoilt) {
      folder.put("run", spoilt);
      return read_checkpoint(path) == checkpoint;
    });
}

TEST_CASE("bits flipped in a file of Juice, which has no checksum, harm nothing", "[hostile]") {
  std::string const text = capnp("decode --packed", juice_schema, text_of(serialize(small_model())));
  for (char const* action : {"encode", "encode --packed"}) {
    std::string const bytes = capnp(action, juice_schema, text);
    for (std::size_t size = 0; size < bytes.size(); ++size) CHECK_THROWS_AS(parse(bytes.substr(0, size)), FormatError);
    flip_bits(bytes, [](std::string const& spoilt, std::size_t bit) {
      try {
        Model const model = parse(spoilt);
        for (auto const& weight : model.weights) {
          Index size = 1;
          for (auto const extent : weight.shape) size *= extent;
          if (static_cast<std::size_t>(size) != weight.values.size()) FAIL_CHECK("bit " << bit);
        }
      } catch (Error const&) {
      }
    });
  }
}

TEST_CASE("random bytes in place of others harm nothing", "[hostile]") {
  std::string const packed = text_of(serialize(varied_model()));
  std::string const unpacked = plain(packed);
  std::mt19937 random{1};
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = round % 2 ? packed : unpacked;
    for (unsigned changes = 1 + random() % 8; changes > 0; --changes) {
      std::size_t const at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes.erase(at, random() % 16);
          break;
        case 2:
          bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 16));
          break;
        default:
          bytes.replace(at / 8 * 8, 8, bytes.substr(random() % bytes.size() / 8 * 8, 8));
      }
    }
    try {
      parse(bytes);
    } catch (Error const& error) {
      if (error.sentence().empty()) FAIL_CHECK("round " << round);
    }
  }
}

/// The most memory that this process has had, in kilobytes.
long largest_kilobytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

std::string words(std::initializer_list<std::uint64_t> list) {
  std::string bytes;
  for (std::uint64_t word : list)
    for (int i = 0; i < 8; ++i) bytes += static_cast<char>(word >> 8 * i);
  return bytes;
}
constexpr std::uint64_t struct_pointer(std::uint64_t offset, std::uint64_t data, std::uint64_t pointers) {
  return offset << 2 | data << 32 | pointers << 48;
}
constexpr std::uint64_t list_pointer(std::uint64_t offset, std::uint64_t size, std::uint64_t count) {
  return 1 | offset << 2 | size << 32 | count << 35;
}

TEST_CASE("forged messages are refused before they cost anything", "[hostile]") {
  auto const refused = [](std::string const& bytes) {
    long const before = largest_kilobytes();
    std::string text;
    try {
      parse(bytes);
      FAIL_CHECK("was read");
    } catch (Error const& error) {
      text = error.what();
    }
    CHECK(largest_kilobytes() - before < 64 * 1024);
    INFO(text);
    return text;
  };
  CHECK(contains(refused(""), "is empty"));
  CHECK(contains(
      refused("not a messag\x01"),
      "is not a Cap'n Proto message, or is cut short: its 13 bytes match no segment table, neither plain nor packed"));
  CHECK(contains(refused(std::string(1000, '\xff')), "is not a Cap'n Proto message"));
  // Segment tables: 2^32 segments, one of 2^32 - 1 words, 512 segments of which the sum is right.
  CHECK(contains(refused(words({0xffffffff})), "is not a Cap'n Proto message"));
  CHECK(contains(refused(words({0xffffffff'00000000, 0})), "is not a Cap'n Proto message"));
  CHECK(contains(refused(words({0})), "malformed"));
  CHECK(contains(refused(words({std::uint64_t{1} << 32, 0})), "has no configuration"));
  CHECK(contains(refused(words({std::uint64_t{1} << 32, struct_pointer(1u << 28, 9, 9)})), "malformed"));

  // A packed message of zeros alone: a thousand words out of each word.
  std::string bomb{"\x70\x00\x00\x10", 4};
  bomb[1] = 1;
  std::string zeros;
  constexpr std::uint32_t promised = (1u << 20) - 1;
  bomb = std::string{'\x70'} + static_cast<char>(promised & 0xff) + static_cast<char>(promised >> 8 & 0xff) +
         static_cast<char>(promised >> 16);
  for (std::uint32_t left = promised; left > 0;) {
    std::uint32_t const run = std::min(left, 256u);
    bomb += std::string{'\0'} + static_cast<char>(run - 1);
    left -= run;
  }
  CHECK(contains(refused(bomb), "more than a network can be compressed"));

  // A root whose weights are 2^29 - 1 structs of no size; a configuration that contains itself; one that a thousand
  // layers share.
  std::uint64_t const many = (std::uint64_t{1} << 29) - 1;
  CHECK(contains(refused(words({std::uint64_t{8} << 32, struct_pointer(0, 0, 3), 0, struct_pointer(2, 2, 5),
                                list_pointer(0, 7, 0), many << 2, 0, 0, 0})),
                 ""));
  std::string circle =
      words({std::uint64_t{10} << 32, struct_pointer(0, 0, 3), 0, struct_pointer(1, 1, 6), 0, 4 /* sequential */, 0});
  CHECK(contains(refused(circle + words({0, 0, 0, 0})), ""));
}

TEST_CASE("a file of another format is called what it is, with what reads it", "[hostile]") {
  using namespace std::string_literals;
  constexpr char const* networks = "convert::read_network and coldpress convert read such networks";
  auto const model = [](std::string const& bytes) { return message<FormatError>([&] { parse(bytes); }); };
  auto const training = [](std::string const& bytes) {
    return message<FormatError>([&] { static_cast<void>(parse_training(bytes_of(bytes), "test")); });
  };
  struct Case {
    std::string bytes;
    char const *is, *read;
  };
  for (auto const& [bytes, is, read] :
       {Case{"\x08\x07\x12\x07pytorch"s, "an ONNX model", networks},
        Case{"\x89HDF\r\n\x1a\n\0\0"s, "an HDF5 file", "--data hdf5: samples"},
        Case{"PK\3\4\0\0"s, "a zip file, as .keras, .npz and .pt files are", "--config weights in .npz files"},
        Case{"PK\5\6\0\0"s, "a zip file", ""},
        Case{words({24}) + R"({"w": {"dtype": "F32"}} )", "a .safetensors file",
             "coldpress convert --config reads such weights into the network of a config"},
        Case{words({'{'}) + '{' + std::string(130, ' '), "a .safetensors file", ""},  // the length is spelt "{"
        Case{"\x93NUMPY\1\0"s, "an array of NumPy", "coldpress data inspect npy:FILE shows it"},
        Case{"\x80\x02}q\0."s, "a pickle of Python", "save as .safetensors or .onnx"},
        Case{"\x89PNG\r\n\x1a\n\0"s, "a PNG picture", "--data read samples"},
        Case{"\xff\xd8\xff\xe0\0\x10JFIF"s, "a JPEG picture", ""}, Case{"RIFF\x24\0\0\0WAVEfmt "s, "a WAV file", ""},
        Case{"\x1f\x8b\x08\0"s, "a file that gzip compressed", "gunzip unpacks it"}}) {
    INFO(is);
    std::string const end = std::string{"is not a Cap'n Proto message; it seems to be "} + is;
    for (std::string const& said : {model(bytes), training(bytes)}) {
      INFO(said);
      CHECK((contains(said, end) && contains(said, read)));
    }
  }
  // Texts, in which a config is looked for.
  for (auto const& [text, is, read] :
       {Case{" \n {\"version\": \"0.5.4\", \"weights\": [1]}", "JSON, as .nam files and models of RTNeural are",
             networks},
        Case{"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS", "git lfs pull"},
        Case{"<!DOCTYPE html>", "a page of HTML or XML", "nothing here reads it"}}) {
    std::string const seems = std::string{"; it seems to be "} + is + ": ";
    INFO(is);
    CHECK((contains(model(text), "is not a Cap'n Proto message" + seems) && contains(model(text), read)));
    CHECK(
        (contains(training(text), ": the value must be in round brackets" + seems) && contains(training(text), read)));
  }
  CHECK(contains(training(" \n {\"a\": [1]}"), "line 2, column 2: the value must be in round brackets"));
  CHECK(contains(training("hello\n"), "line 1, column 1: the value must be in round brackets, as in (network = ...)"));
  for (std::string const text : {"hello\n", "(network = (layerType = (relu = void)))", "# A config.\n(data = \"\")"})
    CHECK(contains(
        model(text),
        "it seems to be text: if it is a config, --config, persist::read_training and Python's Network read it"));
  // What only begins alike.
  for (std::string const& other :
       {"\x08\x07\x13"s, "PK\1\2\0"s, words({1u << 20}) + "{\1", "\x80\x06\1"s, "RIFF\1WAVE"s})
    CHECK(contains(model(other), ", or is cut short: its "));
}

TEST_CASE("a message whose parts refer to the same data again and again is refused", "[hostile]") {
  // 1000 pointers in the list of weights are all made to lead to one tensor of 16 KiB.
  std::string text = "(config = (layerType = (relu = void)), weightsData = [";
  for (int i = 0; i < 1000; ++i)
    text += "(name = \"w" + std::to_string(i) + "\", tensor = (shape = [1], data = [0])), ";
  text += "(name = \"big\", tensor = (shape = [4096], data = [1";
  for (int i = 1; i < 4096; ++i) text += ", 1";
  std::string bytes = capnp("encode --segment-size=65536", own_schema, text + "]))])");
  auto const word = [&](std::size_t at) {
    std::uint64_t value;
    std::memcpy(&value, bytes.data() + 8 * at, 8);
    return value;
  };
  // The tag of the weights: 1001 structs of two pointers each.
  std::size_t tag = 1;
  while (word(tag) != struct_pointer(1001, 0, 2)) ++tag;
  std::size_t const last = tag + 1 + 2 * 1000 + 1;
  std::size_t const tensor = last + 1 + static_cast<std::size_t>(static_cast<std::uint32_t>(word(last)) >> 2);
  for (std::size_t i = 0; i < 1000; ++i) {
    std::size_t const at = tag + 1 + 2 * i + 1;
    std::uint64_t const pointer = struct_pointer(tensor - at - 1, 0, 2);
    std::memcpy(bytes.data() + 8 * at, &pointer, 8);
  }
  std::string const refused = message<FormatError>([&] { parse(bytes); });
  INFO(refused);
  CHECK(contains(refused, "promises more than its bytes can hold"));
}

TEST_CASE("a file cannot be lost by killing the program that saves it", "[hostile]") {
  TemporaryFolder folder;
  std::string const path = folder / "net.juice", checkpoint_path = folder / "run.checkpoint";
  auto const version = [](int number) {
    Model model = small_model();
    model.weights.push_back({"version", {1 << 14}, std::vector<float>(1 << 14, static_cast<float>(number))});
    return model;
  };
  write_model(path, version(0));
  write_checkpoint(checkpoint_path, {.model = version(0)});

  std::mt19937 random{7};
  int constexpr of_a_round = 50000;  // versions: more than are saved before the signal comes, and exact as floats
  for (int round = 0; round < 200; ++round) {
    int saved[2];
    REQUIRE(::pipe(saved) == 0);
    pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      ::close(saved[0]);
      for (int number = 1;; ++number) {
        write_model(path, version(round * of_a_round + number));
        if (::write(saved[1], "", 1) != 1) ::_exit(1);
        write_checkpoint(checkpoint_path, {.model = version(round * of_a_round + number)});
      }
    }
    // It is killed at any moment after its first file is there, however long that takes.
    ::close(saved[1]);
    char byte;
    REQUIRE(::read(saved[0], &byte, 1) == 1);
    ::usleep(random() % 20000);
    REQUIRE(::kill(child, SIGKILL) == 0);
    ::close(saved[0]);
    REQUIRE(::waitpid(child, nullptr, 0) == child);

    Model const model = read_model(path);
    float const number = model.weights.back().values[0];
    CHECK(same(model, version(static_cast<int>(number))));
    CHECK(number > static_cast<float>(round * of_a_round));
    CHECK(same(read_checkpoint(checkpoint_path).model,
               version(static_cast<int>(read_checkpoint(checkpoint_path).model.weights.back().values[0]))));
  }
  // What the killed ones left behind goes with the next save.
  write_model(path, version(1));
  write_checkpoint(checkpoint_path, {.model = version(1)});
  CHECK(folder.names().size() == 2);
}

}  // namespace
}  // namespace coldpress::persist
