// Reads bytes at an offset with pread, which moves no position that threads would share.
#include "positioned_file.hpp"

#include <algorithm>

namespace coldpress::data {

PositionedFile::PositionedFile(std::string path) : path_(std::move(path)), file_(-1) {
  Readable opened = open_to_read(path_);
  if (!opened.has_size()) fail_in<FileError>(path_, "cannot read: is a pipe, expected a file");
  size_ = static_cast<std::uint64_t>(opened.status.st_size);
  file_ = std::move(opened.file);
}

PositionedFile::PositionedFile(std::string path, Descriptor file) : path_(std::move(path)), file_(std::move(file)) {
  struct stat status;
  if (::fstat(file_.number(), &status) != 0) refuse(path_, "cannot read", errno);
  size_ = static_cast<std::uint64_t>(status.st_size);
}

void PositionedFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    std::size_t const most = std::min(bytes.size(), std::size_t{1} << 30);
    auto const got =
        uninterrupted([&] { return ::pread(file_.number(), bytes.data(), most, static_cast<off_t>(offset)); });
    if (got < 0) refuse(path_, "cannot read", errno);
    if (got == 0)
      fail_in<FormatError>(path_, "ends after " + std::to_string(offset) + " bytes, but had " + std::to_string(size_) +
                                      " when it was opened");
    offset += static_cast<std::uint64_t>(got);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace coldpress::data
