// Files are written at the end of long work: whether they can be, and harm no other file, is asked before.
#pragma once

#include <string>
#include <vector>

namespace coldpress::command {

/// The files of one run of the command, by the options that name them. Each is told here before anything is written;
/// one that would be written, but is also read or written for another option, is refused by a CLI::ValidationError that
/// names both options and the file. An input without a name is none.
class Files {
 public:
  void reads(std::string const& option, std::string const& path);
  /// The same of each file that the spec of a dataset stands for.
  void reads_data(std::string const& option, std::string const& spec);
  /// `over`: the option whose file may be replaced, after it was read.
  void writes(std::string const& option, std::string const& path, std::string const& over = {});

  /// Throws FileError where write_atomically could not write one of them.
  void check_writable() const;

 private:
  struct File {
    std::string option, path;
  };
  static void check_distinct(File const& written, File const& other, char const* verb);
  std::vector<File> read_, written_;
};

}  // namespace coldpress::command
