#include "writable.hpp"

#include <coldpress/core/error.hpp>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <unistd.h>

namespace coldpress::command {

void check_writable(std::string const& path) {
  namespace fs = std::filesystem;
  auto const refuse = [&](std::string const& reason) {
    FileError error{"cannot be written: " + reason};
    error.in_file(path);
    throw error;
  };
  auto const reason = [](int number) { return std::generic_category().message(number); };
  std::error_code error;
  fs::file_status const status = fs::status(path, error);
  if (status.type() == fs::file_type::none) refuse(error.message());
  if (fs::is_directory(status)) refuse(reason(EISDIR));
  if (fs::exists(status) && !fs::is_regular_file(status)) refuse("not a regular file");
  if (fs::exists(status) && ::access(path.c_str(), W_OK) != 0) refuse(reason(errno));
  fs::path const target = fs::exists(status) ? fs::canonical(path) : fs::path{path};
  if (!target.has_filename()) refuse(reason(path.empty() ? ENOENT : EISDIR));
  std::string const folder = target.has_parent_path() ? target.parent_path().string() : ".";
  if (!fs::is_directory(folder, error)) refuse("there is no folder '" + folder + "'");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) refuse("its folder: " + reason(errno));
}

}  // namespace coldpress::command
