// Finds the members of a zip file.
#pragma once

#include "input_file.hpp"

#include <string>
#include <vector>

namespace coldpress::data {

/// The member called `name`, which InputFile reads. It may be stored or deflated, and the file larger than 4 GiB.
/// Throws FileError, or FormatError if the file is no zip file, has no such member or two, or one that is encrypted or
/// compressed in another way.
InputFile::Member zip_member(std::string const& path, std::string const& name);
/// All members in the order of the directory. Throws what zip_member throws; names may be there twice.
std::vector<InputFile::Member> zip_members(std::string const& path);
/// Their names, also of members that could not be read.
std::vector<std::string> zip_names(std::string const& path);

}  // namespace coldpress::data
