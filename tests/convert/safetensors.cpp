#include "convert/torch_networks.hpp"

#include <cstring>

using namespace torch_test;

namespace {

/// A file with this header and these values.
std::string safetensors(std::string const& header, std::string const& values = "") {
  std::string length(8, '\0');
  std::uint64_t const size = header.size();
  std::memcpy(length.data(), &size, 8);
  return length + header + values;
}

dynamic::LayerConfig linear() {
  dynamic::SequentialConfig layers;
  layers.add_input("x", Shape{2}).add_layer({"fc", Linear{.output_size = 1}});
  return {"net", layers};
}

template <class Expected = FormatError>
std::string refused(std::string const& bytes, Options const& options = {},
                    dynamic::LayerConfig const& config = linear()) {
  TemporaryFolder const folder;
  std::string const path = folder.put("a.safetensors", bytes),
                    said = message<Expected>([&] { static_cast<void>(read_safetensors(path, config, options)); });
  CHECK(said.starts_with(path + ": "));
  return said.substr(path.size() + 2);
}

Conversion converted(std::string const& bytes, Options const& options = {}) {
  TemporaryFolder const folder;
  return read_safetensors(folder.put("a.safetensors", bytes), linear(), options);
}

std::string const weight = R"("fc.weight":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]})",
                  bias = R"("fc.bias":{"dtype":"F32","shape":[1],"data_offsets":[8,12]})";
std::string const floats = [] {
  std::array<float, 3> const values{0.5f, -2, 3};
  return std::string{reinterpret_cast<char const*>(values.data()), sizeof values};
}();
std::string const valid = safetensors("{" + weight + "," + bias + "}", floats);

struct Golden {
  char const* name;
  dynamic::LayerConfig (*config)();
};
constexpr std::array<Golden, 4> networks{
    {{"images", images}, {"volumes", volumes}, {"sequences", sequences}, {"block", block}}};

}  // namespace

TEST_CASE("networks with the state_dict of PyTorch compute what PyTorch computes") {
  if (!has_safetensors()) return;
  for (auto const& [name, config] : networks) {
    INFO(name);
    auto const read = read_safetensors(file(std::string{name} + ".safetensors"), config());
    CHECK(difference(read.model, name) < 1e-5);
    CHECK(read.initialised.empty());
    CHECK(read.unused.empty());
  }
}

TEST_CASE("what is written has the bytes of safetensors' own writer, and is read bit for bit") {
  if (!has_safetensors()) return;
  TemporaryFolder const folder;
  for (auto const& [name, config] : networks) {
    INFO(name);
    std::string const golden = file(std::string{name} + ".safetensors"), path = folder / name;
    auto const model = read_safetensors(golden, config()).model;
    write_safetensors(path, model);
    CHECK(read_safetensors(path, config()).model == model);
    bool const counts = std::string_view{name} == "images" || std::string_view{name} == "volumes";
    if (!counts) CHECK(content(path) == content(golden));  // PyTorch's BatchNorm counts its minibatches, too
  }
}

TEST_CASE("load_state_dict of PyTorch takes what is written") {
  if (!has_safetensors()) return;
  std::string python;
  for (char const* const candidate : {"python3", "/usr/bin/python3"}) {
    if (std::system((std::string{candidate} + " -c 'import torch, safetensors' 2>/dev/null").c_str()) == 0)
      python = candidate;
  }
  if (python.empty()) {
    WARN("skipped: there is no python3 with torch and safetensors");
    return;
  }
  TemporaryFolder const folder;
  for (auto const& [name, config] : networks) {
    INFO(name);
    auto const model = read_safetensors(file(std::string{name} + ".safetensors"), config()).model;
    write_safetensors(folder / "a.safetensors", model);
    write_npz(folder / "a.npz", model);
    for (char const* const written : {"a.safetensors", "a.npz"}) {
      std::string const command =
          python + " '" + in_source("torch_weights.py") + "' --load " + name + " '" + folder / written + "' >&2";
      CHECK(std::system(command.c_str()) == 0);
    }
  }
}

TEST_CASE("numbers of every type become the nearest floats") {
  if (!has_safetensors()) return;
  auto const model = read_safetensors(file("images.safetensors"), images()).model;
  CHECK(read_safetensors(file("images.f64.safetensors"), images()).model == model);
  auto const half = read_safetensors(file("images.f16.safetensors"), images()).model,
             brain = read_safetensors(file("images.bf16.safetensors"), images()).model;
  auto const rounded = [](float value, int bits) {  // to that many binary digits, ties to even
    int exponent = 0;
    float const fraction = std::frexp(value, &exponent);
    return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
  };
  for (std::size_t i = 0; i < model.weights.size(); ++i) {
    for (std::size_t j = 0; j < model.weights[i].values.size(); ++j) {
      float const value = model.weights[i].values[j];
      CHECK(half.weights[i].values[j] == rounded(value, 11));
      CHECK(brain.weights[i].values[j] == rounded(value, 8));
    }
  }
  struct Case {
    std::string type, values;
    std::vector<float> expected;
  };
  using namespace std::string_literals;
  std::vector<Case> const cases{
      {"F16", "\x01\x00\x00\xfc"s.substr(0, 2) + "\x00\xb8"s, {std::ldexp(1.0f, -24), -0.5f}},
      {"F16", "\xff\x7b\xff\x03"s, {65504, std::ldexp(1023.0f, -24)}},
      {"BOOL", "\x01\x00"s, {1, 0}},
      {"U8", "\xff\x00"s, {255, 0}},
      {"I8", "\xff\x7f"s, {-1, 127}},
      {"U16", "\xff\xff\x01\x00"s, {65535, 1}},
      {"I16", "\xff\xff\x01\x00"s, {-1, 1}},
      {"U32", "\xff\xff\xff\xff\x01\x00\x00\x00"s, {4294967296.0f, 1}},
      {"I32", "\xff\xff\xff\xff\x01\x00\x00\x01"s, {-1, 16777216}},
      {"U64", "\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00\x00\x00\x00\x00\x00"s, {18446744073709551616.0f, 1}},
      {"I64", "\xff\xff\xff\xff\xff\xff\xff\xff\x02\x00\x00\x00\x00\x00\x00\x00"s, {-1, 2}}};
  for (auto const& [type, values, expected] : cases) {
    INFO(type);
    std::string const header = R"({"fc.weight":{"dtype":")" + type + R"(","shape":[1,2],"data_offsets":[0,)" +
                               std::to_string(values.size()) + "]}}";
    CHECK(values_of(converted(safetensors(header, values)).model, "fc-0") == expected);
  }
}

TEST_CASE("a file that is damaged or lies about its sizes is refused with the tensor and the numbers") {
  if (!has_safetensors()) return;
  auto const with = [](std::string const& header, std::string const& values = floats) {
    return refused(safetensors("{" + header + "}", values));
  };
  CHECK(refused("") == "has 0 bytes, too few for a .safetensors file");
  CHECK(refused(std::string(8, '\xff')) ==
        "is not a .safetensors file, or is cut short: its header would have 18446744073709551615 bytes, and the file "
        "has 8");
  CHECK(refused(safetensors("[1]")) == "the header has a list where a header has none");
  CHECK(refused(safetensors("{\"a\":")).starts_with("the header is not JSON: parse error at line 1, column 6"));
  CHECK(refused(safetensors(std::string(100'000, '['))).starts_with("the header has a list"));
  CHECK(refused(safetensors("{\"a\xff\":1}")).starts_with("the header is not JSON: "));
  CHECK(refused(safetensors("{} {}")).starts_with("the header is not JSON: "));
  CHECK(with(weight + "," + bias + "," + weight) == "tensor 'fc.weight': is there twice");
  CHECK(with(R"("a":{"dtype":"F32","shape":[1]})") == "tensor 'a': has no \"data_offsets\"");
  CHECK(with(R"("a":{"dtype":"F32","dtype":"F32"})") == "tensor 'a': has two \"dtype\"");
  CHECK(with(R"("a":{"dtype":"F32","shape":[],"shape":[]})") == "tensor 'a': has two \"shape\"");
  CHECK(with(R"("a":{"shape":[1],"strides":[1]})") == "tensor 'a': has the unknown key \"strides\"");
  CHECK(with(R"("a":{"dtype":"F32","shape":[1.5]})") ==
        "tensor 'a': has a number that is not whole where a header has none");
  CHECK(with(R"("a":{"dtype":"F32","shape":[-1]})") == "tensor 'a': has a number below 0 where a header has none");
  CHECK(with(R"("a":{"dtype":"F32","shape":[[1]]})") == "tensor 'a': has a list where a header has none");
  CHECK(with(R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0]})") == "tensor 'a': has one of two \"data_offsets\"");
  CHECK(with(R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,1,2]})") ==
        "tensor 'a': has more than two \"data_offsets\"");
  CHECK(with(R"("a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,12]})") ==
        "tensor 'a': has 12 bytes, which are not those of {2, 2} values of F32");
  CHECK(with(R"("a":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,12]})") ==
        "tensor 'a': has 12 bytes, which are not those of {4294967296, 4294967296, 4} values of F32");
  CHECK(with(R"("a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]})") ==
        "tensor 'a': has bytes 0 to 16, but the file has 12 after its header");
  CHECK(with(R"("a":{"dtype":"F32","shape":[1],"data_offsets":[8,4]})") ==
        "tensor 'a': has bytes 8 to 4, but the file has 12 after its header");
  CHECK(
      with(
          R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]})") ==
      "tensor 'b': begins at byte 4, inside tensor 'a', which ends at 8");
  CHECK(
      with(
          R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]})") ==
      "tensor 'b': begins at byte 8, and bytes from 4 on are no tensor's");
  CHECK(with(weight) == "has 12 bytes after its header, of which the tensors have 8");
  CHECK(contains(with(R"("a":{"dtype":"F32","shape":[)" +
                      std::string(64, '1').replace(1, 62,
                                                   [] {
                                                     std::string ones;
                                                     for (int i = 0; i < 31; ++i) ones += ",1";
                                                     return ones;
                                                   }()) +
                      R"(]})"),
                 "tensor 'a': "));
  CHECK(refused<UnsupportedError>(
            safetensors(R"({"a":{"dtype":"F8_E4M3","shape":[12],"data_offsets":[0,12]}})", floats)) ==
        "tensor 'a': holds values of type 'F8_E4M3', expected one of F32, F64, F16, BF16, BOOL, U8, I8, U16, I16, U32, "
        "I32, U64, I64");
  std::string many;
  for (int i = 0; i < 65'537; ++i)
    many += (i ? ",\"" : "\"") + std::to_string(i) + R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  CHECK(with(many, "") == "the header has more than 65536 tensors");
}

TEST_CASE("files that are cut or have a flipped bit are typed errors, or networks") {
  if (!has_safetensors()) return;
  spoil(valid, [](std::string const& path) {
    try {
      static_cast<void>(read_safetensors(path, linear()));
    } catch (MismatchError const&) {     // other names or shapes
    } catch (UnsupportedError const&) {  // another type
    } catch (DataError const&) {         // not finite
    }
  });
  std::string const lstm = content(file("sequences.safetensors"));
  for (std::size_t size = 0; size < lstm.size(); size += 97) {
    INFO("cut to " << size << " bytes");
    CHECK_FALSE(refused(lstm.substr(0, size), {}, sequences()).empty());
  }
}

TEST_CASE("what does not fit a config is one error with all tensors and shapes") {
  if (!has_safetensors()) return;
  CHECK(refused<MismatchError>(safetensors(R"({"fc.weight":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                                           R"("fc.scale":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
                                           floats)) == "'fc.scale' [1] has no place in layer 'fc' of the config");
  auto wrong = sequences();
  auto& layers = std::get<dynamic::SequentialConfig>(wrong.layer_type).layers;
  std::get<Rnn>(layers[2].layer_type).num_layers = 3;
  std::get<Linear>(layers[4].layer_type).output_size = 3;
  std::string const said = refused<MismatchError>(content(file("sequences.safetensors")), {}, wrong);
  CHECK(contains(said, "nothing in the file is for 'gru.weight_ih_l2' [15, 5], a part of weight 'gru-0'"));
  CHECK_FALSE(contains(said, "gru.bias"));  // this layer might have none
  CHECK(contains(said, "'head.weight' [2, 3] does not fit weight 'head-0', which has shape [3, 3]"));
  std::get<Rnn>(layers[2].layer_type) = Rnn{.hidden_size = 4, .num_layers = 1, .rnn_type = RnnType::gru};
  std::string const other = refused<MismatchError>(content(file("sequences.safetensors")), {}, wrong);
  CHECK(contains(other, "'gru.weight_ih_l0' [15, 8] does not fit its part of weight 'gru-0', which has shape [12, 8]"));
  CHECK(contains(other, "'gru.weight_hh_l1' [15, 5] has no place in layer 'gru' of the config"));
  auto before = sequences();
  std::get<Rnn>(std::get<dynamic::SequentialConfig>(before.layer_type).layers[2].layer_type).reset_after = false;
  CHECK(
      contains(refused<MismatchError>(content(file("sequences.safetensors")), {}, before),
               "layer 'gru': resetAfter: is false, but PyTorch's GRUs apply the reset gate after the product with h"));
}

TEST_CASE("modules without biases or factors are completed by what that means, and it is said") {
  if (!has_safetensors()) return;
  NameMap const without{{{"rnn.bias_ih_l0", ""}, {"rnn.bias_hh_l0", ""}}};
  auto const conversion = read_safetensors(file("sequences.safetensors"), sequences(), {.names = without});
  auto const packed = values_of(conversion.model, "rnn-0"),
             whole = values_of(read_safetensors(file("sequences.safetensors"), sequences()).model, "rnn-0");
  CHECK(std::equal(packed.begin(), packed.end() - 6, whole.begin()));
  CHECK(std::vector<float>(packed.end() - 6, packed.end()) == std::vector<float>(6));
  CHECK(contains(message<MismatchError>([&] {
                   static_cast<void>(read_safetensors(file("sequences.safetensors"), sequences(),
                                                      {.names = {{{"rnn.bias_ih_l0", ""}}}}));
                 }),
                 "nothing in the file is for 'rnn.bias_ih_l0' [3], a part of weight 'rnn-0'"));
  std::pair<std::string, std::string> const implied{"rnn-0", "rnn without bias_hh_l0: 0"};
  CHECK(std::ranges::count(conversion.filled, implied) == 1);
  dynamic::SequentialConfig layers;
  layers.add_input("x", Shape{1}).add_layer({"norm", BatchNormalization{}});
  TemporaryFolder const folder;
  auto const read = [&](std::string const& more, std::string const& values) {
    std::string const statistics = R"({"norm.running_mean":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                                   R"("norm.running_var":{"dtype":"F32","shape":[1],"data_offsets":[4,8]})";
    return read_safetensors(folder.put("a", safetensors(statistics + more + "}", values)), {"net", layers});
  };
  auto const plain = read("", floats.substr(0, 8));
  CHECK(values_of(plain.model, "norm-0") == std::vector<float>{1});
  CHECK(values_of(plain.model, "norm-0-bias") == std::vector<float>{0});
  CHECK(values_of(plain.model, "norm-0-variance") == std::vector<float>{-2});
  CHECK(std::ranges::count(plain.filled, std::pair<std::string, std::string>{"norm-0", "norm without a weight: 1"}) ==
        1);
  CHECK(contains(message<MismatchError>([&] {
                   static_cast<void>(read(R"(,"norm.bias":{"dtype":"F32","shape":[1],"data_offsets":[8,12]})", floats));
                 }),
                 "nothing in the file is for weight 'norm-0' [1]"));
}

TEST_CASE("values that no float has are refused") {
  if (!has_safetensors()) return;
  double const huge = 1e300;
  std::string values(16, '\0');
  std::memcpy(values.data() + 8, &huge, 8);
  CHECK(refused<DataError>(safetensors(R"({"fc.weight":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}})", values)) ==
        "'fc.weight': value 1 is beyond the range of a float");
  CHECK(contains(refused<DataError>(safetensors("{" + weight + "," + bias + "}", std::string(12, '\xff'))),
                 "'fc.weight': value 0 is infinite, NaN or beyond the range of a float"));
}

TEST_CASE("a map renames tensors and modules, in both directions") {
  if (!has_safetensors()) return;
  TemporaryFolder const folder;
  auto const map = [&](std::string const& text) { return read_name_map(folder.put("map", text)); };
  NameMap const names = map("# a model in a wrapper\n\nmodule.*=*  # all of it\r\n");
  CHECK(names.lines == std::vector<std::pair<std::string, std::string>>{{"module.*", "*"}});
  for (auto const& network : networks) {
    auto const model = read_safetensors(file(std::string{network.name} + ".safetensors"), network.config()).model;
    write_safetensors(folder / "b", model, names);
    CHECK(contains(message<MismatchError>([&] { static_cast<void>(read_safetensors(folder / "b", network.config())); }),
                   "nothing in the file is for"));
    CHECK(read_safetensors(folder / "b", network.config(), {.names = names}).model == model);
  }
  auto const model = converted(valid).model;
  for (char const* const text : {"layers.0 = fc", "w = fc.weight\nb = fc.bias", "kernel = fc-0\nlayers.* = *",
                                 "layers.*.linear = *", "*.weight = *.bias\nother.bias = fc.weight"}) {
    INFO(text);
    write_safetensors(folder / "c", model, map(text));
    CHECK_FALSE(content(folder / "c") == valid);
    CHECK(read_safetensors(folder / "c", linear(), {.names = map(text)}).model == model);
  }
  auto const without = converted(valid, {.names = map("fc.bias =")});
  CHECK(without.initialised == std::vector<std::string>{"fc-0-bias"});
  CHECK(without.unused.size() == 1);
  CHECK(refused<MismatchError>(valid, {.names = map("a.* = b.*\nfc = fc\nfc.b = c")}) ==
        "the map is for other names; the file has nothing for 'a.* = b.*', 'fc.b = c'");
  CHECK(refused<MismatchError>(valid, {.names = map("layer.* = fc.*\nfc.bias = other.bias\nfc.weight = weight")}) ==
        "the map is for other names; the file has nothing for 'layer.* = fc.*'; tensors that are for no weight: "
        "'fc.weight' [1, 2], 'fc.bias' [1]; weights without a tensor: 'fc-0' [1, 2], 'fc-0-bias' [1]");
  CHECK(refused<MismatchError>(valid, {.names = map("fc.weight = weight")}) ==
        "nothing in the file is for weight 'fc-0' [1, 2]; no layer is called as these in the file: fc.weight [1, 2]");
  CHECK(contains(message<FormatError>([&] { map("a = b\nc\n"); }), "map: line 2: got 'c', expected THEIRS = OURS"));
  CHECK(contains(message<FormatError>([&] { map("= b"); }), "line 1: ' = b' has no name before the ="));
  CHECK(contains(message<FormatError>([&] { map("a.* = b"); }), "must have one * on both sides, or none"));
  CHECK(contains(message<FormatError>([&] { map("*.* = *.*"); }), "must have one * on both sides, or none"));
  CHECK(message<MismatchError>([&] { write_safetensors(folder / "c", model, map("a = fc.weight\na = fc.bias")); }) ==
        "two weights would be called 'a'");
}

TEST_CASE("weights that are tied, shared or unknown to PyTorch") {
  if (!has_safetensors()) return;
  dynamic::SequentialConfig layers;
  layers.add_input("x", Shape{3});
  auto const add = [&](dynamic::LayerConfig layer, std::string const& shared) {
    if (!shared.empty()) layer.params = {{.name = shared}, {.name = layer.name + "-b"}};
    layers.add_layer(layer);
  };
  add({"encoder", Linear{.output_size = 2}}, "w");
  add({"decoder", TiedLinear{.output_size = 3}}, "w");
  add({"twin", Linear{.output_size = 2}}, "w");
  dynamic::LayerConfig const config{"net", layers};
  auto const model = persist::model_of(dynamic::Layer::from_config(dynamic::Backend{"cpu"}, config, {}, 7));
  TemporaryFolder const folder;
  std::string const path = folder / "tied.safetensors";
  write_safetensors(path, model);
  CHECK(contains(content(path), R"("decoder.weight":{"dtype":"F32","shape":[3,2])"));
  auto const again = read_safetensors(path, config);
  CHECK(again.model == model);
  CHECK(again.filled.size() == 6);
  std::string bytes = content(path);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  folder.put("tied.safetensors", bytes);
  CHECK(contains(message<MismatchError>([&] { static_cast<void>(read_safetensors(path, config)); }),
                 "'twin.weight' is shared with 'decoder.weight (transposed)', but has other values"));

  layers.add_layer({"rnn", Rnn{.hidden_size = 2, .input_mode = InputMode::skip_input}});
  auto const skipping = persist::model_of(
      dynamic::Layer::from_config(dynamic::Backend{"cpu"}, dynamic::LayerConfig{"net", layers}, {}, 7));
  CHECK(message<UnsupportedError>([&] { write_safetensors(path, skipping); }) ==
        "no module of PyTorch has the weights: 'rnn-0' {32, 1, 1}");
  CHECK(content(path) == bytes);
  write_safetensors(path, skipping, {{{"rnn.packed", "rnn-0"}}});
  CHECK(read_safetensors(path, {"net", layers}, {.names = {{{"rnn.packed", "rnn-0"}}}}).model == skipping);
  write_safetensors(path, skipping, {{{"rnn-0", "rnn-0"}}});
  CHECK(read_safetensors(path, {"net", layers}).model == skipping);  // our own names need no map
}

TEST_CASE("pickles are refused by their content, with what to do instead") {
  if (!has_safetensors()) return;
  for (char const* const name : {"pickles.pt", "pickle.pt"}) {
    for (auto const& read : {read_safetensors, read_npz}) {
      std::string const said = message<UnsupportedError>([&] { static_cast<void>(read(file(name), linear(), {})); });
      CHECK(said == file(name) +
                        ": is a pickle of Python, which is a program, and is not read; save the weights in Python with "
                        "safetensors.torch.save_file(model.state_dict(), \"model.safetensors\"), or the whole network "
                        "with torch.onnx.export(model, inputs, \"model.onnx\")");
    }
  }
}

TEST_CASE("weights that are not finite are not written as .safetensors, which would be refused when it is read") {
  if (!has_safetensors()) return;
  TemporaryFolder const folder;
  auto model = read_npz(file("images.npz"), images()).model;
  model.weights[0].values[4] = std::numeric_limits<float>::infinity();
  CHECK(message<DataError>([&] { write_safetensors(folder / "a.safetensors", model); }) ==
        "weight '" + model.weights[0].name + "': value 4 is infinite or NaN");
  CHECK(folder.names().empty());
}
