#include "writable.hpp"

#include <coldpress/data/atomic_file.hpp>
#include <coldpress/data/dataset.hpp>

#include <CLI/CLI.hpp>

namespace coldpress::command {

void Files::check_distinct(File const& written, File const& other, char const* verb) {
  if (!same_file(written.path, other.path)) return;
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

void Files::check_writable() const {
  for (File const& file : written_) coldpress::check_writable(file.path);
}

}  // namespace coldpress::command
