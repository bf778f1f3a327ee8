// Plays models of amplifiers, and compares what is heard.
#pragma once

#include <coldpress/convert/nam.hpp>

#include "convert/nam_models.hpp"
#include "data/files.hpp"

#include <coldpress/data/npy.hpp>
#include <coldpress/dynamic/layer.hpp>
#include <coldpress/persist/network.hpp>

namespace nam_test {

using namespace coldpress;
using namespace coldpress::convert;

inline bool has_json() {
  if (!has_nam()) WARN("skipped: coldpress::convert was built without nlohmann-json");
  return has_nam();
}

inline std::vector<float> play(persist::Model const& model, Frames const& signal, std::size_t silence = 0) {
  auto layer = persist::layer_of(dynamic::Backend{"cpu"}, model);
  float const zero = 0;
  for (std::size_t t = 0; t < silence; ++t) static_cast<void>(layer.step({&zero, 1}));
  std::vector<float> y;
  for (auto const& sample : signal) {
    std::vector<float> const x(sample.begin(), sample.end());
    auto const out = layer.step(x);
    y.insert(y.end(), out.begin(), out.end());
  }
  return y;
}

/// The greatest difference, as a fraction of the peak.
inline double difference(std::vector<float> const& y, std::vector<double> const& expected) {
  REQUIRE(y.size() == expected.size());
  double peak = 0, most = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    peak = std::max(peak, std::abs(expected[i]));
    double const here = std::abs(static_cast<double>(y[i]) - expected[i]);
    if (!(here <= most)) most = here;
  }
  return most / peak;
}
inline std::vector<double> flat(Frames const& signal) {
  std::vector<double> values;
  for (auto const& sample : signal) values.insert(values.end(), sample.begin(), sample.end());
  return values;
}

inline constexpr double bound = 1e-5;
inline auto const signal = noise(60);

template <class Expected>
std::string refused(std::string const& text, NamOptions const& options = {}) {
  TemporaryFolder folder;
  std::string const path = folder.put("bad.nam", text);
  std::string const said = message<Expected>([&] { static_cast<void>(read_nam(path, options)); });
  CHECK(said.starts_with(path + ": "));
  return said.substr(path.size() + 2);
}
inline std::string replaced(std::string text, std::string const& old, std::string const& by) {
  auto const place = text.find(old);
  REQUIRE(place != std::string::npos);
  return text.replace(place, old.size(), by);
}

}  // namespace nam_test
