// The LV2 plugin in hosts of others, where they are installed.
#include "audio/models.hpp"

#include "support/catch.hpp"

#include <cstdlib>
#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

using namespace audio_test;

namespace {

bool has(std::string const& program) {
  if (std::system(("command -v " + program + " >/dev/null").c_str()) == 0) return true;
  WARN("skipped: " << program << " is not installed");
  return false;
}
std::filesystem::path bundle() {
  char const* const path = std::getenv("COLDPRESS_LV2_BUNDLE");
  REQUIRE(path);
  return path;
}
/// Runs a script of the shell in which only our plugin and `more` folders of bundles are there. Returns what it prints.
std::string run(TemporaryFolder const& folder, std::string const& script, std::string const& more = "") {
  std::string const out = folder / "printed.txt",
                    command = "export LV2_PATH='" + bundle().parent_path().string() + more + "'\n" + script;
  int const status = std::system(("sh " + folder.put("script.sh", command) + " >" + out + " 2>&1").c_str());
  INFO(content(out));
  CHECK(status == 0);
  return content(out);
}

template <class T>
std::string bytes_of(T value) {
  return {reinterpret_cast<char const*>(&value), sizeof value};
}
/// A WAV file of one channel of floats.
std::string wav(std::vector<float> const& x, std::uint32_t rate) {
  auto const size = static_cast<std::uint32_t>(x.size() * sizeof(float));
  return "RIFF" + bytes_of(36 + size) + "WAVEfmt " + bytes_of(std::uint32_t{16}) + bytes_of(std::uint16_t{3}) +
         bytes_of(std::uint16_t{1}) + bytes_of(rate) + bytes_of(rate * 4) + bytes_of(std::uint16_t{4}) +
         bytes_of(std::uint16_t{32}) + "data" + bytes_of(size) +
         std::string{reinterpret_cast<char const*>(x.data()), size};
}
std::vector<float> samples_of(std::string const& file) {
  auto const place = file.find("data");
  REQUIRE(place != std::string::npos);
  std::vector<float> x((file.size() - place - 8) / sizeof(float));
  std::memcpy(x.data(), file.data() + place + 8, x.size() * sizeof(float));
  return x;
}

}  // namespace

TEST_CASE("the description of the plugin is valid, and lists what it has") {
  TemporaryFolder folder;
  if (has("sord_validate"))
    CHECK_THAT(run(folder, "sord_validate $(find /usr/lib/lv2 -name '*.ttl' -path '*.lv2/*') " +
                               (bundle() / "manifest.ttl").string() + " " + (bundle() / "coldpress.ttl").string()),
               Catch::Contains(" 0 errors"));
  if (!has("lv2info")) return;
  auto const said = run(folder, "lv2info urn:coldpress:amp");
  for (char const* const one : {"coldpress amp", "reported by port 7", "worker#interface", "state#interface",
                                "Symbol:      input_gain", "Symbol:      normalize"}) {
    CHECK_THAT(said, Catch::Contains(one));
  }
  CHECK_THAT(said, !Catch::Contains("error"));
}

TEST_CASE("lv2apply plays a file through it") {
  if (!has("lv2apply")) return;
  TemporaryFolder folder;
  auto const x = tones(5000);
  auto const path = folder.put("a.nam", wavenet(3).text);
  folder.put("in.wav", wav(x, 48000));
  std::string const apply = "lv2apply -i " + folder / "in.wav" + " -o " + folder / "out.wav" + " urn:coldpress:amp";
  CHECK_THAT(run(folder, "COLDPRESS_LV2_MODEL=" + path + " " + apply), !Catch::Contains("coldpress"));
  CHECK(same_bits(samples_of(content(folder / "out.wav")), alone(path, x)));
  CHECK_THAT(run(folder, "COLDPRESS_LV2_MODEL=/nowhere.nam " + apply), Catch::Contains("/nowhere.nam"));
  CHECK(same_bits(samples_of(content(folder / "out.wav")), x));
}

TEST_CASE("jalv plays it at 48 kHz in blocks of 64, and goes from one model to the other as presets say") {
  if (!has("jalv") || !has("jackd")) return;
  TemporaryFolder folder;
  auto const a = folder.put("a.nam", wavenet(3).text), b = folder.put("b.nam", wavenet(8).text);
  std::string const prefixes =
      "@prefix lv2: <http://lv2plug.in/ns/lv2core#> .\n"
      "@prefix pset: <http://lv2plug.in/ns/ext/presets#> .\n"
      "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
      "@prefix state: <http://lv2plug.in/ns/ext/state#> .\n";
  std::string manifest = prefixes;
  std::filesystem::create_directories(folder / "bundles/presets.lv2");
  for (auto const& [name, path] : {std::pair{"a", a}, {"b", b}, {"c", std::string{"/nowhere.nam"}}}) {
    std::string const uri = std::string{"<urn:preset:"} + name + ">", file = std::string{name} + ".ttl";
    manifest += uri + " a pset:Preset ; lv2:appliesTo <urn:coldpress:amp> ; rdfs:seeAlso <" + file + "> .\n";
    folder.put("bundles/presets.lv2/" + file, prefixes + uri +
                                                  " a pset:Preset ; lv2:appliesTo <urn:coldpress:amp> ; rdfs:label \"" +
                                                  name + "\" ; state:state [ <urn:coldpress:amp#model> \"" + path +
                                                  "\"^^<http://lv2plug.in/ns/ext/atom#Path> ] .\n");
  }
  folder.put("bundles/presets.lv2/manifest.ttl", manifest);
  std::string const server = "coldpress-" + std::to_string(::getpid());
  // jalv ends with its input, when all presets were applied.
  auto const said = run(folder,
                        R"(
    export JACK_NO_START_SERVER=1 JACK_DEFAULT_SERVER=)" +
                            server + R"(
    jackd --no-realtime --name $JACK_DEFAULT_SERVER -d dummy --rate 48000 --period 64 >)" +
                            folder / "jackd.txt" + R"( 2>&1 &
    jackd=$!
    trap 'kill $jackd; wait $jackd' EXIT
    try=0
    until ls /dev/shm/jack_sem.*_$JACK_DEFAULT_SERVER\_* >/dev/null 2>&1 || [ $try = 100 ] || ! kill -0 $jackd; do
      sleep 0.1
      try=$((try + 1))
    done
    { echo presets
      for i in $(seq 500); do printf 'preset urn:preset:a\npreset urn:preset:b\n'; done
      printf 'preset urn:preset:c\ncontrols\n'; } | jalv -t urn:coldpress:amp || echo status $?
  )",
                        ":/usr/lib/lv2:" + folder / "bundles");  // and the descriptions of LV2 itself
  CHECK_THAT(said, Catch::Contains("Sample rate:  48000 Hz") && Catch::Contains("Block length: 64 frames"));
  CHECK_THAT(said,
             Catch::Contains("/nowhere.nam: cannot open: No such file or directory; the model before it plays on"));
  // After each preset, jalv prints all controls; the model is one from the first on.
  std::size_t presets = 0;
  for (std::size_t at = 0; (at = said.find("model = ", at)) != std::string::npos; ++at) ++presets;
  CHECK(presets >= 1001);
  CHECK_THAT(said, !Catch::Contains("status"));
}
