#include <coldpress/convert/npz.hpp>

#include "convert/torch_networks.hpp"

#include <functional>

using namespace torch_test;

namespace {

template <class Expected = FormatError>
std::string refused(std::string const& bytes, dynamic::LayerConfig const& config = images()) {
  TemporaryFolder const folder;
  std::string const path = folder.put("a.npz", bytes),
                    said = message<Expected>([&] { static_cast<void>(read_npz(path, config)); });
  CHECK(said.starts_with(path + ": "));
  return said.substr(path.size() + 2);
}

}  // namespace

TEST_CASE("a state_dict in a .npz file is the network of the same weights in a .safetensors file") {
  auto const read = read_npz(file("images.npz"), images());
  CHECK(difference(read.model, "images") < 1e-5);
  CHECK(read.filled.front() == std::pair<std::string, std::string>{"features.0-0", "features.0.weight"});
  if (!has_safetensors()) return;
  CHECK(read.model == read_safetensors(file("images.safetensors"), images()).model);
  CHECK(read_npz(file("images.f16.npz"), images()).model ==
        read_safetensors(file("images.f16.safetensors"), images()).model);
}

TEST_CASE("what is written as .npz is read bit for bit, under the names of a map") {
  TemporaryFolder const folder;
  auto const model = read_npz(file("images.npz"), images()).model;
  write_npz(folder / "a.npz", model);
  CHECK(read_npz(folder / "a.npz", images()).model == model);
  NameMap const names{{{"net.*", "*"}}};
  write_npz(folder / "b.npz", model, names);
  CHECK(read_npz(folder / "b.npz", images(), {.names = names}).model == model);
  CHECK(contains(content(folder / "b.npz"), "net.features.1.running_mean.npy"));
  auto const source = data::open_npz(folder / "b.npz", "net.features.1.running_mean");  // as any other .npz file
  CHECK(source->size() == 4);
}

TEST_CASE("the weights of a network without any are an archive that NumPy opens") {
  TemporaryFolder const folder;
  std::string const path = folder / "a.npz";
  dynamic::SequentialConfig net;
  net.add_input("x", {2}).add_layer({"relu", ReLU{}});
  write_npz(path, {.config = {"net", net}});
  CHECK(content(path) == "PK\5\6" + std::string(18, '\0'));
  CHECK(contains(refused(content(path)), "has no arrays"));
}

TEST_CASE("a .npz file that is damaged is a typed error, and what it does not have is said") {
  CHECK(contains(refused("no zip"), "is not a zip file, or is cut short"));
  CHECK(contains(refused("PK\5\6" + std::string(18, '\0')), "has no arrays: none of its members ends in .npy"));
  for (char const* const name : {"images.npz", "images.f16.npz"}) {
    std::string const bytes = content(file(name));
    for (std::size_t size = 0; size < bytes.size(); size += 53) {
      INFO("cut to " << size << " bytes");
      CHECK_FALSE(refused(bytes.substr(0, size)).empty());
    }
    TemporaryFolder const folder;
    for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 29) {
      INFO("bit " << bit);
      std::string flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
      std::string const path = folder.put("a.npz", flipped);
      try {
        static_cast<void>(read_npz(path, images()));
      } catch (Error const& error) {
        CHECK(error.file() == path);
      }
    }
  }
  CHECK(contains(refused(content(file("bomb.npz"))),
                 "member 'classifier.weight.npy': the header promises {2097152} values, more than the file can hold"));
  auto other = images();
  std::get<Linear>(std::get<dynamic::SequentialConfig>(other.layer_type).layers.back().layer_type).output_size = 4;
  CHECK(
      refused<MismatchError>(content(file("images.npz")), other) ==
      "'classifier.weight' [3, 64] does not fit weight 'classifier-0', which has shape [4, 64]; 'classifier.bias' [3] "
      "does not fit weight 'classifier-0-bias', which has shape [4]");
}

TEST_CASE("a member of a .npz file that cannot be read is an error if a weight needs it") {
  // Each name is in front of its member and in the directory, 46 bytes behind the start of its entry.
  auto const compressed_otherwise = [](std::string bytes, std::string const& name) {
    bytes[bytes.rfind(name + ".npy") - 46 + 10] = 12;
    return bytes;
  };
  auto const of_objects = [](std::string bytes, std::string const& name) {
    return bytes.replace(bytes.find("<f4", bytes.find(name + ".npy")), 3, "|O8");
  };
  TemporaryFolder const folder;
  auto const model = read_npz(file("images.npz"), images()).model;
  write_npz(folder / "a.npz", model);
  std::string const whole = content(folder / "a.npz"), name = "features.1.weight";
  CHECK(contains(refused(compressed_otherwise(whole, name)),
                 "member 'features.1.weight.npy': is compressed by method 12, expected 0 (stored) or 8 (deflate)"));
  CHECK(contains(refused(of_objects(whole, name)), "member 'features.1.weight.npy': "));
  for (auto const& change : {std::function{compressed_otherwise}, std::function{of_objects}}) {
    auto const read =
        read_npz(folder.put("c.npz", change(whole, name)), images(), {.allow_missing = true, .names = {{{name, ""}}}});
    CHECK(read.unused == std::vector<std::string>{"features.1.weight, which cannot be read,"});
  }
}

TEST_CASE("weights that are not finite are not written as .npz, which would be refused when it is read") {
  TemporaryFolder const folder;
  auto model = read_npz(file("images.npz"), images()).model;
  model.weights[0].values[4] = std::numeric_limits<float>::infinity();
  CHECK(message<DataError>([&] { write_npz(folder / "a.npz", model); }) ==
        "weight '" + model.weights[0].name + "': value 4 is infinite or NaN");
  CHECK(folder.names().empty());
}
