// Transforms and names of classes in trainings, networks and checkpoints.
#include <coldpress/persist/checkpoint.hpp>
#include <coldpress/persist/training.hpp>

#include "persist/files.hpp"

namespace coldpress::persist {
namespace {

data::Transforms const all_kinds{data::SubtractMean{.per = data::Per::channel, .mean = {0.5f, -1}},
                                 data::Scale{0.0039f, 0.25f},
                                 data::Standardize{.epsilon = 0.125f, .mean = {1}, .deviation = {2, 3}},
                                 data::OneHot{10},
                                 data::Crop{{28, 24}},
                                 data::Mirror{},
                                 data::Shift{{0, 2}},
                                 data::Rotate{15},
                                 data::Noise{0.5f},
                                 data::Cutout{{8}},
                                 data::Mixup{0.75f}};

Model with_transforms() {
  Model model = small_model();
  model.transforms = all_kinds;
  model.classes = {"cat", "dog",
                   "\xc3\xa9"
                   "cureuil"};
  return model;
}

Training training(std::string const& transforms) {
  TemporaryFolder folder;
  return read_training(folder.put("net", "(network = (layerType = (tanh = void)), transforms = [" + transforms + "])"));
}
std::string refused(std::string const& transforms) {
  return message<ConfigError>([&] { training(transforms); });
}

TEST_CASE("a config says what is done to samples") {
  CHECK(training("").transforms.empty());
  CHECK(training("(subtractMean = (per = channel)), (scale = (factor = 0.0039)), (crop = (extents = [28, 28])), "
                 "(mirror = void)")
            .transforms == data::Transforms{data::SubtractMean{.per = data::Per::channel}, data::Scale{0.0039f},
                                            data::Crop{{28, 28}}, data::Mirror{}});
  // What is left out has the default of C++.
  CHECK(training("(subtractMean = ()), (scale = ()), (standardize = ()), (oneHot = ()), (mixup = ())").transforms ==
        data::Transforms{data::SubtractMean{}, data::Scale{}, data::Standardize{}, data::OneHot{}, data::Mixup{}});
  CHECK(training("(subtractMean = (file = \"mean.npy\")), (subtractMean = (mean = [1, 2.5]))").transforms ==
        data::Transforms{data::SubtractMean{.file = "mean.npy"}, data::SubtractMean{.mean = {1, 2.5f}}});
}

TEST_CASE("a config with transforms that make no sense names the transform and the field") {
  CHECK(contains(refused("(mirror = void), ()"), ": transforms[1]: names no transform"));
  CHECK(contains(refused("(crop = (extents = [1, 2, 3]))"), ": crop.extents: has 3 numbers, expected 1 or 2"));
  CHECK(contains(refused("(crop = ())"), ": transforms[0] crop: extents must be two numbers"));
  CHECK(
      contains(refused("(scale = ()), (scale = (factor = nan))"), ": transforms[1] scale: the factor must be finite"));
  CHECK(contains(refused("(oneHot = (classes = 99999999999999))"), ": oneHot.classes: must be at least 1 and at most"));
  CHECK(contains(refused("(standardize = (mean = [1], deviation = [0]))"), "a deviation must be above 0"));
  CHECK(contains(message<FormatError>([] { training("(mirorr = void)"); }), "mirror"));
}

TEST_CASE("a training is written with its transforms") {
  TemporaryFolder folder;
  std::string const path = folder / "net";
  Training written;
  written.network = {"t", TanH{}};
  written.transforms = all_kinds;
  write_training(path, written);
  CHECK(read_training(path) == written);
}

TEST_CASE("a network keeps its transforms and the names of its classes") {
  Model const model = with_transforms();
  std::string const bytes = text_of(serialize(model));
  CHECK(parse(bytes) == model);
  std::string text = capnp("decode --packed", own_schema, bytes);
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  INFO(text);
  CHECK(contains(text, "transforms=[(subtractMean=(per=channel,mean=[0.5,-1])),(scale=(factor=0.0039,offset=0.25)),"));
  CHECK(contains(text, "(oneHot=(classes=10)),(crop=(extents=[28,24])),(mirror=void),(shift=(pixels=[0,2])),"));
  CHECK(contains(text, "(cutout=(extents=[8])),(mixup=(alpha=0.75))],classes=[\"cat\",\"dog\",\"\xc3\xa9"));

  TemporaryFolder folder;
  Checkpoint checkpoint;
  checkpoint.model = model;
  write_checkpoint(folder / "run", checkpoint);
  CHECK(read_checkpoint(folder / "run").model.transforms == model.transforms);
  CHECK(read_checkpoint(folder / "run").model.classes == model.classes);
}

TEST_CASE("a network that was saved before there were transforms has none, and none are written") {
  // linear {1} -> {1}, written by coldpress train of 45c7ba6.
  Model const old = parse(unhex(
      "1043500104ff56541b61f8bb7b1200110d12510c010711a92711ed62016e010411191251180102118d061189061185071185010000016e"
      "000011214711011f410403110912110915000001780101010151040107010111191a51180702113906113506113107113101000003666301"
      "010007500302500302410802110d2a410c02111d524120020f66632d3011051511090c010101010f3fb6b53eff66632d302d626961000173"
      "11051511090c010101010f7e29d43bff636f6c64707265730007732031"));
  CHECK(old.checksummed);
  CHECK(old.transforms.empty());
  CHECK(old.classes.empty());
  CHECK(old.weights.size() == 2);
  std::string const text = capnp("decode --packed", own_schema, text_of(serialize(old)));
  CHECK_FALSE(contains(text, "transforms"));
  CHECK_FALSE(contains(text, "classes ="));
}

TEST_CASE("the checksum covers transforms and classes") {
  std::string const text = capnp("decode --packed", own_schema, text_of(serialize(with_transforms())));
  for (auto const& [from, to] : {std::pair{"channel", "all"},
                                 {"degrees = 15", "degrees = 16"},
                                 {"\"dog\"", "\"dot\""},
                                 {"mirror = void", "scale = ()"}}) {
    std::string changed = text;
    changed.replace(changed.find(from), std::string{from}.size(), to);
    INFO(changed);
    CHECK_THROWS_AS(parse_described(changed), ChecksumError);
  }
}

TEST_CASE("a network's transforms are complete, and read no file") {
  for (auto const& [transform, words] : std::vector<std::pair<data::Transform, char const*>>{
           {data::SubtractMean{}, "subtract_mean: lacks its numbers"},
           {data::SubtractMean{.file = "/etc/mean.npy"}, "subtract_mean: lacks its numbers"},
           {data::SubtractMean{.file = "/etc/mean.npy", .mean = {1}}, "has both a mean and a file"},
           {data::Standardize{}, "standardize: lacks its numbers"},
           {data::OneHot{}, "one_hot: lacks its numbers"},
           {data::Noise{std::nanf("")}, "noise: the deviation must be finite"}}) {
    Model model = small_model();
    model.transforms = {data::Mirror{}, transform};
    auto const said = message<ConfigError>([&] { static_cast<void>(serialize(model)); });
    CHECK(contains(said, "transforms[1] "));
    CHECK(contains(said, words));
  }
  std::string const start = "(name = \"n\", config = (name = \"t\", layerType = (tanh = void)), ";
  CHECK(contains(message<ConfigError>([&] { parse_described(start + "transforms = [(standardize = ())])"); }),
                 "test.juice: transforms[0] standardize: lacks its numbers"));
  CHECK(contains(message<FormatError>([&] { parse_described(start + "classes = [\"a\", \"\\x1b[2J\"])"); }),
                 "test.juice: classes: has a control character"));
}

}  // namespace
}  // namespace coldpress::persist
