#include <coldpress/convert/caffe.hpp>

#include "convert/caffe_writer.hpp"
#include "convert/lenet.hpp"

#include <cmath>
#include <limits>

using namespace coldpress;
using namespace coldpress::convert;
using caffe_writer::Style;

namespace {

using Write = std::string (*)(caffe_writer::Layer const&);

/// Whether the library was built with protobuf.
bool has_caffe() {
  static bool const has = [] {
    try {
      static_cast<void>(read_caffe_mean("missing"));
    } catch (UnsupportedError const&) {
      return false;
    } catch (Error const&) {
    }
    return true;
  }();
  if (!has) WARN("skipped: coldpress::convert was built without protobuf");
  return has;
}

std::string ip(std::string const& name, std::int64_t out, std::int64_t in, Index number, Style style, Write write) {
  return write({name,
                "InnerProduct",
                {"data"},
                {name},
                {caffe_writer::blob({out, in}, pattern(number, out * in), style),
                 caffe_writer::blob({out}, pattern(number + 1, out), style)}});
}
std::string conv1(Style style = Style::packed, Write write = caffe_writer::layer) {
  return write(
      {"conv1",
       "Convolution",
       {"data"},
       {"conv1"},
       {caffe_writer::blob({3, 2, 2, 3}, pattern(0, 36), style), caffe_writer::blob({3}, pattern(1, 3), style)}});
}
std::string lenet_file(Style style = Style::packed, Write write = caffe_writer::layer) {
  return caffe_writer::part(1, "LeNet") + write({"relu1", "ReLU", {"ip1"}, {"ip1"}, {}}) + conv1(style, write) +
         ip("ip1", 5, 36, 2, style, write) + ip("ip2", 2, 5, 4, style, write);
}

/// A network of one layer.
dynamic::LayerConfig one(std::string const& name, dynamic::LayerType const& layer, Shape input) {
  dynamic::SequentialConfig layers;
  layers.add_input("data", input).add_layer({name, layer});
  return {"net", layers};
}

struct File {
  TemporaryFolder folder;
  std::string path;
  explicit File(std::string const& bytes) : path(folder.put("net.caffemodel", bytes)) {}
};
Conversion convert_bytes(std::string const& bytes, dynamic::LayerConfig const& config, Options const& options = {}) {
  File const file{bytes};
  return read_caffe(file.path, config, options);
}
template <class Expected>
std::string refused(std::string const& bytes, dynamic::LayerConfig const& config) {
  File const file{bytes};
  std::string const said = message<Expected>([&] { static_cast<void>(read_caffe(file.path, config)); });
  CHECK(said.starts_with(file.path + ": "));
  return said.substr(file.path.size() + 2);
}

}  // namespace

TEST_CASE("a LeNet of Caffe computes what numpy does, in every generation of the format") {
  if (!has_caffe()) return;
  Conversion const conversion = convert_bytes(lenet_file(), lenet());
  check_lenet(conversion.model);
  CHECK(weight(conversion.model, "conv1-0") == pattern(0, 36));
  CHECK(conversion.initialised.empty());
  CHECK(conversion.unused.empty());
  CHECK(conversion.filled[0] == std::pair<std::string, std::string>{"conv1-0", "conv1 (Convolution) blob 0"});
  for (Write const write : {caffe_writer::layer, caffe_writer::old_layer, caffe_writer::oldest_layer}) {
    for (Style const style : {Style::packed, Style::unpacked, Style::doubles, Style::legacy_shape}) {
      Conversion const again = convert_bytes(lenet_file(style, write), lenet());
      CHECK(again.model == conversion.model);
      CHECK(again.filled == conversion.filled);
    }
  }
}

TEST_CASE("a transposed InnerProduct, one without bias, and an Embed") {
  if (!has_caffe()) return;
  std::string const transpose = caffe_writer::part(117, caffe_writer::number(6, 1));
  auto const matrix = caffe_writer::blob({3, 2}, {1, 4, 2, 5, 3, 6});
  auto const conversion = convert_bytes(caffe_writer::layer({"ip", "InnerProduct", {}, {}, {matrix}, transpose}),
                                        one("ip", Linear{.output_size = 2}, {3}));
  CHECK(weight(conversion.model, "ip-0") == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(weight(conversion.model, "ip-0-bias") == std::vector<float>{0, 0});
  CHECK(conversion.initialised.empty());  // Caffe's layer has no bias, so it is 0 whatever the config's filler is
  auto const legacy = caffe_writer::blob({2, 3}, {1, 2, 3, 4, 5, 6}, Style::legacy_shape);
  auto const ones = convert_bytes(caffe_writer::layer({"ip", "InnerProduct", {}, {}, {legacy}}),
                                  one("ip", Linear{.output_size = 2, .bias = Constant{7}}, {3}));
  CHECK(weight(ones.model, "ip-0") == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(weight(ones.model, "ip-0-bias") == std::vector<float>{0, 0});
  auto const unbiased =
      convert_bytes(caffe_writer::layer({"c", "Convolution", {}, {}, {caffe_writer::blob({1, 1, 1, 2}, {1, 2})}}),
                    one("c", Convolution{.num_output = 1, .filter_shape = {1, 2}, .has_bias = false}, {1, 1, 2}));
  CHECK(unbiased.model.weights.size() == 1);
  auto const table =
      convert_bytes(caffe_writer::layer({"words", "Embed", {}, {}, {caffe_writer::blob({3, 2}, {1, 2, 3, 4, 5, 6})}}),
                    one("words", Embedding{.vocabulary = 3, .features = 2}, {4}));
  CHECK(weight(table.model, "words-0") == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("BatchNorm is divided by its factor, and takes the Scale that reads it") {
  if (!has_caffe()) return;
  auto const config = one("bn", BatchNormalization{}, {2, 1, 2});
  auto const blobs = [](float factor) {
    return std::vector{caffe_writer::blob({2}, {4, -8}), caffe_writer::blob({2}, {16, 2}),
                       caffe_writer::blob({1}, {factor})};
  };
  std::string const bn = caffe_writer::layer({"bn", "BatchNorm", {"x"}, {"x"}, blobs(4)});
  std::string const scale = caffe_writer::layer(
      {"scale", "Scale", {"x"}, {"x"}, {caffe_writer::blob({2}, {3, 5}), caffe_writer::blob({2}, {-1, 2})}});
  std::string const relu = caffe_writer::layer({"relu", "ReLU", {"x"}, {"x"}, {}});
  std::string const gamma = caffe_writer::layer({"scale", "Scale", {"x"}, {"y"}, {caffe_writer::blob({2}, {3, 5})}});

  auto const both = convert_bytes(bn + scale, config);
  CHECK(weight(both.model, "bn-0") == std::vector<float>{3, 5});
  CHECK(weight(both.model, "bn-0-bias") == std::vector<float>{-1, 2});
  CHECK(weight(both.model, "bn-0-mean") == std::vector<float>{1, -2});
  CHECK(weight(both.model, "bn-0-variance") == std::vector<float>{4, 0.5f});
  CHECK(both.unused.empty());
  auto layer = persist::layer_of(dynamic::Backend{"cpu"}, both.model);  // gamma (x - mean) / sqrt(variance) + beta
  auto const y = layer.predict(std::vector<float>{1, 3, -2, 0});
  std::vector<double> const expected{-1, 3 * 2 / 2.0 - 1, 2, 5 * 2 / std::sqrt(0.5) + 2};
  for (std::size_t i = 0; i < 4; ++i) CHECK(static_cast<double>(y[i]) == Approx(expected[i]).epsilon(1e-4));

  auto const alone = convert_bytes(bn + relu + scale, config);  // the ReLU comes between them
  CHECK(weight(alone.model, "bn-0") == std::vector<float>{1, 1});
  CHECK(weight(alone.model, "bn-0-bias") == std::vector<float>{0, 0});
  CHECK(alone.unused == std::vector<std::string>{"scale (Scale) blob 0 [2]", "scale (Scale) blob 1 [2]"});
  auto const unbiased = convert_bytes(bn + gamma, config);
  CHECK(weight(unbiased.model, "bn-0") == std::vector<float>{3, 5});
  CHECK(weight(unbiased.model, "bn-0-bias") == std::vector<float>{0, 0});
  auto const empty = convert_bytes(caffe_writer::layer({"bn", "BatchNorm", {"x"}, {"x"}, blobs(0)}), config);
  CHECK(weight(empty.model, "bn-0-mean") == std::vector<float>{0, 0});

  CHECK(contains(refused<FormatError>(caffe_writer::layer({"bn", "BatchNorm", {}, {}, {blobs(1)[0]}}), config),
                 "layer 'bn' is a BatchNorm with 1 blobs, expected mean, variance and one scale factor"));
  CHECK(contains(refused<DataError>(caffe_writer::layer({"bn", "BatchNorm", {}, {}, blobs(-1)}), config),
                 "'bn (BatchNorm) blob 1' has a variance below 0"));
}

TEST_CASE("everything that does not fit is named, with both shapes, and what is left over is listed") {
  if (!has_caffe()) return;
  std::string const deconvolution =
      caffe_writer::layer({"ip2", "Deconvolution", {}, {}, {caffe_writer::blob({2, 5}, pattern(0, 10))}});
  CHECK(refused<MismatchError>(conv1() + ip("ip1", 4, 36, 2, Style::packed, caffe_writer::layer) + deconvolution,
                               lenet()) ==
        "'ip1 (InnerProduct) blob 0' [4, 36] does not fit weight 'ip1-0', which has shape [5, 36]; "
        "'ip1 (InnerProduct) blob 1' [4] does not fit weight 'ip1-0-bias', which has shape [5]; "
        "'ip2 (Deconvolution) blob 0' [2, 5] has no place in layer 'ip2' of the config; "
        "nothing in the file is for weight 'ip2-0' [2, 5]");
  CHECK(contains(refused<MismatchError>(lenet_file() + conv1(), lenet()),
                 "'conv1 (Convolution) blob 0' [3, 2, 2, 3] is a second blob for weight 'conv1-0'"));
  std::string many;
  for (int i = 0; i < 30; ++i) many += conv1();
  CHECK(refused<MismatchError>(lenet_file() + many, lenet()).ends_with("; and 40 more"));

  Conversion const tuned = convert_bytes(conv1() + ip("ip9", 4, 36, 2, Style::packed, caffe_writer::layer), lenet(),
                                         {.allow_missing = true});
  CHECK(tuned.initialised == std::vector<std::string>{"ip1-0", "ip1-0-bias", "ip2-0", "ip2-0-bias"});
  CHECK(tuned.unused == std::vector<std::string>{"ip9 (InnerProduct) blob 0 [4, 36]", "ip9 (InnerProduct) blob 1 [4]"});
  CHECK(weight(tuned.model, "conv1-0") == pattern(0, 36));
  auto const fresh = persist::model_of(dynamic::Layer::from_config(dynamic::Backend{"cpu"}, lenet()));
  CHECK(weight(tuned.model, "ip1-0") == weight(fresh, "ip1-0"));
  auto nan = pattern(0, 36);
  nan[5] = std::numeric_limits<float>::quiet_NaN();
  std::string const with_nan =
      caffe_writer::layer({"conv1", "Convolution", {}, {}, {caffe_writer::blob({3, 2, 2, 3}, nan)}}) +
      ip("ip1", 5, 36, 2, Style::packed, caffe_writer::layer) + ip("ip2", 2, 5, 4, Style::packed, caffe_writer::layer);
  CHECK(refused<DataError>(with_nan, lenet()) ==
        "'conv1 (Convolution) blob 0': value 5 is infinite, NaN or beyond the range of a float");
}

TEST_CASE("layers that share weights have equal ones in the file") {
  if (!has_caffe()) return;
  dynamic::SequentialConfig layers;
  layers.add_input("data", Shape{2});
  for (char const* const name : {"a", "b"}) {
    dynamic::LayerConfig layer{name, Linear{.output_size = 2}};
    layer.params = {{.name = "w"}, {.name = "v"}};
    layers.add_layer(layer);
  }
  dynamic::LayerConfig const config{"net", layers};
  auto const a = ip("a", 2, 2, 0, Style::packed, caffe_writer::layer);
  auto const same = convert_bytes(a + ip("b", 2, 2, 0, Style::packed, caffe_writer::layer), config);
  CHECK(same.model.weights.size() == 2);
  CHECK(same.filled.size() == 4);
  CHECK(contains(refused<MismatchError>(a + ip("b", 2, 2, 6, Style::packed, caffe_writer::layer), config),
                 "'b (InnerProduct) blob 0' is shared with 'a (InnerProduct) blob 0', but has other values"));
}

TEST_CASE("a network that is cut or spoilt anywhere is a typed error that names its file, or a network") {
  if (!has_caffe()) return;
  TemporaryFolder const folder;
  auto const config = one("c", Convolution{.num_output = 2, .filter_shape = {1, 2}}, {1, 1, 2});
  std::string const file =
      caffe_writer::part(1, "net") + caffe_writer::layer({"c",
                                                          "Convolution",
                                                          {"x"},
                                                          {"y"},
                                                          {caffe_writer::blob({2, 1, 1, 2}, {1, 2, 3, 4}),
                                                           caffe_writer::blob({2}, {5, 6}, Style::legacy_shape)}});
  int errors = 0;
  auto const try_to_read = [&](std::string const& bytes) {
    std::string const path = folder.put("spoilt", bytes);
    try {
      auto const read = read_caffe(path, config);
      CHECK(read.model.weights.size() == 2);
    } catch (Error const& error) {
      ++errors;
      CHECK(error.file() == path);
      CHECK_FALSE(error.sentence().empty());
    }
  };
  try_to_read(file);
  CHECK(errors == 0);
  for (std::size_t size = 0; size < file.size(); ++size) try_to_read(file.substr(0, size));
  CHECK(errors == static_cast<int>(file.size()));
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    std::string spoilt = file;
    spoilt[bit / 8] = static_cast<char>(spoilt[bit / 8] ^ (1 << bit % 8));
    try_to_read(spoilt);
  }
  CHECK(errors > 2 * static_cast<int>(file.size()));
}

TEST_CASE("sizes and counts are checked before memory is taken") {
  if (!has_caffe()) return;
  auto const config = lenet();
  auto const with_blob = [&](std::string const& blob) {
    return refused<FormatError>(caffe_writer::layer({"conv1", "Convolution", {}, {}, {blob}}), config);
  };
  CHECK(with_blob(caffe_writer::blob({3, 2}, {1, 2, 3})) ==
        "layer 'conv1': blob 0: has 3 values, but its shape [3, 2] requires 6");
  CHECK(with_blob(caffe_writer::blob({-1}, {1})) == "layer 'conv1': blob 0: has the impossible shape [-1]");
  CHECK(contains(with_blob(caffe_writer::blob({1 << 30, 1 << 30}, {1})), "has the impossible shape"));
  CHECK(contains(with_blob(caffe_writer::blob({0}, {})), "has the impossible shape [0]"));
  CHECK(contains(with_blob(caffe_writer::blob(std::vector<std::int64_t>(300, 1), {1})),
                 "has a blob with more than 256 bytes of extents"));
  CHECK(contains(with_blob(caffe_writer::varint(5 << 3 | 2) + caffe_writer::varint(1ull << 40)), "is damaged"));
  std::string tiny;
  for (int i = 0; i < 1 << 17; ++i) tiny += caffe_writer::part(100, "");
  CHECK(refused<FormatError>(tiny, config) == "has more than 65536 layers, blobs and names of values");
  std::string blobs;
  for (int i = 0; i < 1 << 17; ++i) blobs += caffe_writer::part(7, "");
  CHECK(contains(refused<FormatError>(caffe_writer::part(100, blobs), config), "has more than 65536"));
  CHECK(contains(refused<FormatError>("", config), "has no layers"));
  CHECK(contains(refused<FormatError>("name: \"LeNet\"\nlayer { name: \"conv1\" }\n", config), "is damaged"));
  CHECK(contains(refused<FormatError>(std::string(1000, '\x93'), config), "is damaged"));
  std::string const groups(1000, static_cast<char>(9 << 3 | 3));
  CHECK(contains(refused<FormatError>(caffe_writer::part(100, caffe_writer::part(117, groups)), config), "is damaged"));
  CHECK(contains(message<FileError>([&] { static_cast<void>(read_caffe("missing.caffemodel", config)); }),
                 "missing.caffemodel: "));
}

TEST_CASE("a mean is an image, with or without a batch of one") {
  if (!has_caffe()) return;
  auto const values = pattern(1, 12);
  for (Style const style : {Style::packed, Style::legacy_shape, Style::doubles}) {
    File const file{caffe_writer::blob({1, 3, 2, 2}, values, style)};
    auto const mean = read_caffe_mean(file.path);
    CHECK(mean.extents == std::vector<Index>{3, 2, 2});
    CHECK(mean.values == values);
  }
  CHECK(read_caffe_mean(File{caffe_writer::blob({1, 3, 4}, values)}.path).extents == std::vector<Index>{1, 3, 4});
  auto const wrong = [](std::string const& bytes) {
    File const file{bytes};
    return message<FormatError>([&] { static_cast<void>(read_caffe_mean(file.path)); });
  };
  CHECK(contains(wrong(caffe_writer::blob({2, 3, 2, 1}, values)), "'the mean' has 4 extents"));
  CHECK(contains(wrong(""), "has 0 values, but its shape [] requires 1"));
}
