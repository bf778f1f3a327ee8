// Checks before long work that files can be written at its end, and that they overwrite no other file.
#pragma once

#include <string>
#include <vector>

namespace coldpress::command {

/// The files of one run of the command, with the options that name them. Each file is registered before anything is
/// written. If a file would be written but is also read or written for another option, a CLI::ValidationError names
/// both options and the file. An empty path for reading is ignored.
class Files {
 public:
  void reads(std::string const& option, std::string const& path);
  /// The same for each file that a dataset's spec names.
  void reads_data(std::string const& option, std::string const& spec);
  /// `over` is the option whose file may be replaced after it was read.
  void writes(std::string const& option, std::string const& path, std::string const& over = {});
  /// A folder that is created where it is not there yet. It must be neither a file that was registered before, nor in
  /// one.
  void writes_into(std::string const& option, std::string const& folder);

  /// Throws FileError if write_atomically could not write one of them, or if a folder's place is not that of a folder.
  void check_writable() const;

 private:
  struct File {
    std::string option, path;
  };
  static void check_distinct(File const& written, File const& other, char const* verb);
  std::vector<File> read_, written_, folders_;
};

}  // namespace coldpress::command
