// Writes to a temporary file in the same folder, which takes the other's name when all is on the disk.
#include <coldpress/data/atomic_file.hpp>

#include "system.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>

namespace coldpress {
namespace {

namespace fs = std::filesystem;

// One system call transfers at most 2 GiB less one page.
constexpr std::size_t largest_transfer = std::size_t{1} << 30;
constexpr std::size_t most_of_a_stream = std::size_t{1} << 30;  // a pipe does not announce its length

/// Where `path` leads through symbolic links, even if nothing is there yet.
fs::path resolve(std::string const& path) {
  fs::path target = path;
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(target, error)); ++links) {
    if (links == 40) refuse(path, "cannot follow its links", ELOOP);
    fs::path const next = fs::read_symlink(target, error);
    if (error) refuse(path, "cannot follow its links", error.value());
    target = target.parent_path() / next;
  }
  return target;
}

std::string folder_of(fs::path const& file) { return file.has_parent_path() ? file.parent_path().string() : "."; }

/// The status of a file, through symbolic links; empty if there is no file, and errno then says why.
std::optional<struct stat> status_of(std::string const& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return {};
  return status;
}

/// A temporary file for one target. A writer keeps a lock on its temporary while it is alive, and the system releases
/// the lock when the writer dies, so a temporary that can be locked is a leftover. Unlike a process id in the name,
/// this is also correct across containers, and where a restarted process gets the same id again.
class Temporary {
 public:
  Temporary(std::string const& path, int folder, std::string const& name, mode_t mode)
      : path_(path), folder_(folder), prefix_(std::string{"."}.append(name, 0, 200) + ".tmp-"), file_(-1) {
    static std::atomic<unsigned> counter{0};
    for (;;) {
      name_ = prefix_ + std::to_string(::getpid()) + "-" + std::to_string(counter++);
      file_ = Descriptor{uninterrupted([&] {
        return ::openat(folder_, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
      })};
      if (!file_) {
        if (errno == EEXIST) continue;
        refuse(path_, "cannot create a temporary file beside it", errno);
      }
      uninterrupted([&] { return ::flock(file_.number(), LOCK_EX); });
      struct stat status;
      if (::fstat(file_.number(), &status) == 0 && status.st_nlink > 0) return;
      // Another writer took it for a leftover before it was locked.
    }
  }
  Temporary(Temporary const&) = delete;
  ~Temporary() {
    if (!renamed_) ::unlinkat(folder_, name_.c_str(), 0);
  }

  /// Takes over the permission bits of the file that will be replaced and, as far as the system allows, its owner.
  void look_like(struct stat const& old) {
    struct stat own;
    if (::fstat(file_.number(), &own) == 0 && (own.st_uid != old.st_uid || own.st_gid != old.st_gid)) [[maybe_unused]]
      int const allowed = ::fchown(file_.number(), old.st_uid, old.st_gid);
    if (::fchmod(file_.number(), old.st_mode & 0777) != 0) refuse(path_, "cannot keep the permissions", errno);
  }

  void write_at(std::uint64_t offset, std::span<std::byte const> bytes) {
    while (!bytes.empty()) {
      auto const written = uninterrupted([&] {
        return ::pwrite(file_.number(), bytes.data(), std::min(bytes.size(), largest_transfer),
                        static_cast<off_t>(offset));
      });
      if (written < 0) refuse(path_, "cannot write", errno);
      offset += static_cast<std::uint64_t>(written);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  void sync() {
    if (uninterrupted([&] { return ::fsync(file_.number()); }) != 0) refuse(path_, "cannot write to the disk", errno);
  }
  std::string const& name() const { return name_; }

  void rename_to(std::string const& name) {
    if (::renameat(folder_, name_.c_str(), folder_, name.c_str()) != 0) refuse(path_, "cannot replace", errno);
    renamed_ = true;
  }

  void remove_leftovers() const {
    // A separate descriptor, since reading a folder moves the position.
    int const copy = ::openat(folder_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy < 0) return;
    std::unique_ptr<DIR, int (*)(DIR*)> entries{::fdopendir(copy), ::closedir};
    if (!entries) {
      ::close(copy);
      return;
    }
    while (dirent const* entry = ::readdir(entries.get())) {
      if (std::string const found = entry->d_name; is_temporary(found) && found != name_) {
        Descriptor const leftover{::openat(folder_, entry->d_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)};
        if (leftover && ::flock(leftover.number(), LOCK_EX | LOCK_NB) == 0) ::unlinkat(folder_, entry->d_name, 0);
      }
    }
  }

 private:
  bool is_temporary(std::string const& name) const {
    return name.starts_with(prefix_) && name.find_first_not_of("0123456789-", prefix_.size()) == std::string::npos;
  }

  std::string const& path_;
  int folder_;
  std::string prefix_, name_;
  Descriptor file_;
  bool renamed_ = false;
};

/// The file that is replaced or created.
struct TargetFile {
  Descriptor folder;
  std::string folder_path, name;
  std::optional<struct stat> old;  // of the existing file
};

/// Throws FileError if it is known in advance that the file cannot be written.
TargetFile target_file(std::string const& path) {
  std::optional<struct stat> const old = status_of(path);
  if (!old && errno != ENOENT) refuse(path, "cannot write", errno);
  if (old && S_ISDIR(old->st_mode)) refuse(path, "cannot write", EISDIR);
  if (old && !S_ISREG(old->st_mode)) {
    FileError error{"cannot write: not a regular file"};
    error.in_file(path);
    throw error;
  }
  // Renaming would bypass the write protection of the file itself.
  if (old && ::access(path.c_str(), W_OK) != 0) refuse(path, "cannot write", errno);

  fs::path const target = resolve(path);
  std::string name = target.filename().string();
  if (name.empty()) refuse(path, "cannot write", path.empty() ? ENOENT : EISDIR);
  std::string const folder_path = folder_of(target);
  Descriptor folder{::open(folder_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!folder) refuse(path, "cannot open its folder", errno);
  return {std::move(folder), folder_path, std::move(name), old};
}

}  // namespace

void check_writable(std::string const& path) {
  TargetFile const target = target_file(path);
  if (::faccessat(target.folder.number(), ".", W_OK | X_OK, 0) != 0) refuse(path, "cannot write to its folder", errno);
  Temporary{path, target.folder.number(), target.name, 0600};  // some folders take no files, whatever their permissions
}

bool same_file(std::string const& a, std::string const& b) {
  auto const equal = [](struct stat const& x, struct stat const& y) {
    return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
  };
  auto const file_a = status_of(a), file_b = status_of(b);
  if (file_a || file_b) return file_a && file_b && equal(*file_a, *file_b);
  fs::path const target_a = resolve(a), target_b = resolve(b);
  auto const folder_a = status_of(folder_of(target_a)), folder_b = status_of(folder_of(target_b));
  if (folder_a && folder_b) return equal(*folder_a, *folder_b) && target_a.filename() == target_b.filename();
  return fs::absolute(target_a).lexically_normal() == fs::absolute(target_b).lexically_normal();
}

struct AtomicFile::State {
  std::string path;
  TargetFile target;
  Temporary temporary;
  std::uint64_t size = 0;

  explicit State(std::string path_)
      : path(std::move(path_)),
        target(target_file(path)),
        temporary(path, target.folder.number(), target.name, target.old ? mode_t{0600} : mode_t{0666}) {
    if (target.old) temporary.look_like(*target.old);
    temporary.remove_leftovers();
  }
};

AtomicFile::AtomicFile(std::string path) : state_(std::make_unique<State>(std::move(path))) {}
AtomicFile::AtomicFile(AtomicFile&&) noexcept = default;
AtomicFile::~AtomicFile() = default;

void AtomicFile::write(std::span<std::byte const> bytes) {
  state_->temporary.write_at(state_->size, bytes);
  state_->size += bytes.size();
}

void AtomicFile::write_at(std::uint64_t offset, std::span<std::byte const> bytes) {
  state_->temporary.write_at(offset, bytes);
}

std::string AtomicFile::temporary() const {
  return (fs::path{state_->target.folder_path} / state_->temporary.name()).string();
}

void AtomicFile::commit() {
  auto const last = std::move(state_);  // in any case the file is closed, and what has no name removed
  State& s = *last;
  s.temporary.sync();
  s.temporary.rename_to(s.target.name);
  // The new content is in place now. Some file systems have nothing to sync in a folder and return EINVAL.
  if (uninterrupted([&] { return ::fsync(s.target.folder.number()); }) != 0 && errno != EINVAL && errno != ENOTSUP)
    refuse(s.path, "was replaced, but its folder cannot be written to the disk", errno);
}

void write_atomically(std::string const& path, std::span<std::byte const> bytes) {
  AtomicFile file{path};
  file.write(bytes);
  file.commit();
}

std::vector<std::byte> read_file(std::string const& path, std::size_t max_bytes) {
  Readable const opened = open_to_read(path);
  if (!opened.has_size()) max_bytes = std::min(max_bytes, most_of_a_stream);

  auto const refuse_size = [&](std::string const& size) {
    FileError error{"has " + size + " bytes, expected at most " + std::to_string(max_bytes)};
    error.in_file(path);
    throw error;
  };
  auto const promised = opened.has_size() ? static_cast<std::size_t>(opened.status.st_size) : 0;
  if (promised > max_bytes) refuse_size(std::to_string(promised));

  // One more than promised, so that the end is found without growing. Pipes promise nothing.
  std::size_t const most = max_bytes == std::numeric_limits<std::size_t>::max() ? max_bytes : max_bytes + 1;
  std::vector<std::byte> bytes(std::min(most, std::max(promised, std::size_t{4095}) + 1));
  std::size_t size = 0;
  for (;;) {
    auto const got = uninterrupted([&] {
      return ::read(opened.file.number(), bytes.data() + size, std::min(bytes.size() - size, largest_transfer));
    });
    if (got < 0) refuse(path, "cannot read", errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    if (size > max_bytes) refuse_size("more than " + std::to_string(max_bytes));
    if (size == bytes.size()) bytes.resize(std::min(most, size > most / 2 ? most : 2 * size));
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace coldpress
