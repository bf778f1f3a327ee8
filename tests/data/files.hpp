// A folder for one test, and files spoilt in every way.
#pragma once

#include "support/catch.hpp"

#include <coldpress/core/error.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "coldpress-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw coldpress::FileError{"no temporary folder"};
    path_ = name;
  }
  TemporaryFolder(TemporaryFolder const&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(std::string_view name) const { return (path_ / name).string(); }
  std::string put(std::string_view name, std::string_view bytes) const {
    std::ofstream{path_ / name, std::ios::binary}.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return *this / name;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (auto const& entry : std::filesystem::directory_iterator(path_))
      found.push_back(entry.path().filename().string());
    return found;
  }

 private:
  std::filesystem::path path_;
};

inline std::string content(std::string const& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// The bytes that pairs of hexadecimal digits stand for.
inline std::string unhex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string{digits.substr(i, 2)}, nullptr, 16));
  return bytes;
}

/// What an action says when it throws exactly an Expected; anything else fails the test.
template <class Expected, class Action>
std::string message(Action action) {
  try {
    action();
  } catch (Expected const& error) {
    CHECK(typeid(error) == typeid(Expected));
    return error.what();
  }
  FAIL("nothing was thrown");
  return {};
}

inline bool contains(std::string const& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Reads every proper beginning of `bytes`, each of which must be a FormatError, and `bytes` with every single bit
/// flipped, which may also still be a file. Each error must name the file.
template <class Read>
void spoil(std::string_view bytes, Read read) {
  TemporaryFolder folder;
  auto const refused = [&](std::string_view spoilt) {
    std::string const path = folder.put("spoilt", spoilt);
    try {
      read(path);
      return false;
    } catch (coldpress::FormatError const& error) {
      CHECK(error.file() == path);
      CHECK_FALSE(error.sentence().empty());
      return true;
    }
  };
  REQUIRE_FALSE(refused(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    INFO("cut to " << size << " bytes");
    CHECK(refused(bytes.substr(0, size)));
  }
  int flips_refused = 0;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    INFO("bit " << bit << " flipped");
    std::string spoilt{bytes};
    spoilt[bit / 8] = static_cast<char>(spoilt[bit / 8] ^ (1 << bit % 8));
    flips_refused += refused(spoilt);
  }
  CHECK(flips_refused > 0);
  CHECK(refused(std::string{bytes} + '\0'));
}
