// Paths of data that end in .txt and list other files, line by line, and lists of the names of classes.
#include "formats.hpp"

#include <algorithm>
#include <filesystem>

namespace coldpress::data {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(std::string const& file) {
  InputFile input{file, {}};
  std::string text, piece(4096, '\0');
  while (std::size_t const got = input.read(std::as_writable_bytes(std::span{piece}))) {
    text.append(piece, 0, got);
    if (text.size() > std::size_t{1} << 24) input.malformed("is longer than 2^24 bytes, expected a list of names");
  }
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t const end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.push_back(std::move(line));
    begin = end + 1;
  }
  return lines;
}

namespace {

std::vector<std::string> files_in_list(std::string const& list) {
  std::vector<std::string> files = lines_of(list);
  if (files.empty()) fail_in<FormatError>(list, "names no file");
  for (std::string& name : files) name = (fs::path{list}.parent_path() / name).string();
  return files;
}

}  // namespace

std::vector<std::string> listed_files(std::vector<std::string> const& paths) {
  std::vector<std::string> files;
  for (std::string const& path : paths) {
    auto const more = path.ends_with(".txt") ? files_in_list(path) : std::vector{path};
    files.insert(files.end(), more.begin(), more.end());
  }
  return files;
}

std::vector<std::string> files_and_lists(std::vector<std::string> const& paths) {
  std::vector<std::string> files = paths;
  for (std::string const& path : paths) {
    if (!path.ends_with(".txt")) continue;
    try {
      auto const more = files_in_list(path);
      files.insert(files.end(), more.begin(), more.end());
    } catch (Error const&) {
    }
  }
  return files;
}

void check_classes(std::vector<std::string> const& classes) {
  auto sorted = classes;
  std::ranges::sort(sorted);
  auto const twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) throw ConfigError{"the class " + printable(*twice) + " is named twice"};
  if (std::ranges::count(classes, "") > 0) throw ConfigError{"a class has no name; names are separated by commas"};
}

}  // namespace coldpress::data
