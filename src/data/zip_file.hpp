// Finds the members of a zip file.
#pragma once

#include "input_file.hpp"

#include <exception>
#include <string>
#include <vector>

namespace coldpress::data {

/// The member called `name`, which InputFile reads. It may be stored or deflated, and the file larger than 4 GiB.
/// Throws FileError, or FormatError if the file is no zip file, has no such member or two, or one that is encrypted or
/// compressed in another way.
/// `advice` is what the error says after the names of the members that there are.
InputFile::Member zip_member(std::string const& path, std::string const& name, std::string const& advice = {});

/// A member, or its name and why it cannot be read.
struct ZipEntry {
  InputFile::Member member;
  std::exception_ptr unreadable = {};
};
/// All members in the order of the directory; names may be there twice. Throws FileError, or FormatError if the file is
/// no zip file, has more than 2^16 members, or members that have together more bytes than it.
std::vector<ZipEntry> zip_entries(std::string const& path);
/// Their names, also of members that could not be read.
std::vector<std::string> zip_names(std::string const& path);

}  // namespace coldpress::data
