// Remembers the paths that a command reads and writes, and compares them before it begins.
#include "writable.hpp"

#include <coldpress/data/atomic_file.hpp>
#include <coldpress/data/dataset.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace coldpress::command {

namespace {

/// Whether a path is that of a picture somewhere in a folder, from which pictures are read.
bool is_picture_in(std::string const& path, std::string const& folder) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return false;
  std::string ending = fs::path{path}.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (ending != ".png" && ending != ".jpg" && ending != ".jpeg") return false;
  fs::path const inner = fs::weakly_canonical(fs::path{path}, ignored), outer = fs::canonical(folder, ignored);
  return !outer.empty() && std::ranges::mismatch(outer, inner).in1 == outer.end();
}

}  // namespace

void Files::check_distinct(File const& written, File const& other, char const* verb) {
  if (!same_file(written.path, other.path) && !is_picture_in(written.path, other.path)) return;
  std::string const name = written.path == other.path ? "" : " as '" + other.path + "'";
  throw CLI::ValidationError(written.option,
                             "would overwrite '" + written.path + "', which " + other.option + " " + verb + name);
}

void Files::reads(std::string const& option, std::string const& path) {
  if (path.empty()) return;
  File const file{option, path};
  for (File const& written : written_) check_distinct(written, file, "reads");
  read_.push_back(file);
}

void Files::reads_data(std::string const& option, std::string const& spec) {
  if (spec.empty()) return;
  for (std::string const& path : data::files_of(spec)) reads(option, path);
}

void Files::writes(std::string const& option, std::string const& path, std::string const& over) {
  File const file{option, path};
  for (File const& read : read_)
    if (read.option != over) check_distinct(file, read, "reads");
  for (File const& written : written_) check_distinct(file, written, "writes");
  written_.push_back(file);
}

void Files::writes_into(std::string const& option, std::string const& folder) {
  namespace fs = std::filesystem;
  for (fs::path part = fs::path{folder}.lexically_normal(); !part.empty(); part = part.parent_path()) {
    for (auto const& [files, verb] : {std::pair{&read_, "reads"}, std::pair{&written_, "writes"}}) {
      for (File const& file : *files) check_distinct({option, part.string()}, file, verb);
    }
    if (part == part.parent_path()) break;
  }
  folders_.push_back({option, folder});
}

void Files::check_writable() const {
  for (File const& file : written_) coldpress::check_writable(file.path);
  for (auto const& [option, path] : folders_) {
    std::error_code ignored;
    std::filesystem::path there =
        std::filesystem::absolute(path, ignored);  // or, if it is not, what it will be made in
    while (!std::filesystem::exists(there, ignored) && there != there.parent_path()) there = there.parent_path();
    if (!std::filesystem::is_directory(there, ignored)) {
      FileError error{"cannot write files into it, because " + there.string() + " is not a folder"};
      error.in_file(path);
      throw error;
    }
    coldpress::check_writable((there / "events").string());
  }
}

}  // namespace coldpress::command
