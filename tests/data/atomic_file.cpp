#include <coldpress/data/atomic_file.hpp>

#include "data/files.hpp"

#include <csignal>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

using namespace coldpress;
namespace fs = std::filesystem;

namespace {

void write(std::string const& path, std::string_view text) { write_atomically(path, std::as_bytes(std::span{text})); }

mode_t permissions(std::string const& path) {
  struct stat status;
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

/// What one write asks of the system that only shows after a power failure, in order, and which of it is to fail.
struct Asked {
  std::vector<std::string> calls;
  std::string failing = "";
  int reason = 0;

  /// 0, or -1 with errno where this call is the one that fails.
  int note(std::string call) {
    calls.push_back(std::move(call));
    if (calls.back() != failing) return 0;
    errno = reason;
    return -1;
  }
};
Asked* asked = nullptr;  // where somebody listens

}  // namespace

// They take the places of libc's in this program.
extern "C" int fsync(int number) {
  if (asked) {
    struct stat status;
    std::string const what = ::fstat(number, &status) != 0 ? "nothing"
                             : S_ISDIR(status.st_mode)     ? "the folder"
                                                           : std::to_string(status.st_size) + " bytes";
    if (asked->note("sync " + what) != 0) return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, number));
}
extern "C" int renameat(int from_folder, char const* from, int to_folder, char const* to) noexcept {
  if (asked && asked->note(std::string{"rename to "} + to) != 0) return -1;
  return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, 0));
}

TEST_CASE("write_atomically creates and replaces, and leaves nothing else behind") {
  TemporaryFolder const folder;
  std::string const path = folder / "file";
  mode_t const mask = ::umask(027);
  write(path, "first");
  ::umask(mask);
  CHECK(content(path) == "first");
  CHECK(permissions(path) == 0640);
  write(path, "second, longer");
  CHECK(content(path) == "second, longer");
  write(path, "");
  CHECK(content(path).empty());
  CHECK(folder.names() == std::vector<std::string>{"file"});
}

TEST_CASE("write_atomically keeps the permission bits of the file it replaces") {
  TemporaryFolder const folder;
  std::string const path = folder.put("file", "old");
  for (mode_t const mode : {0600u, 0664u, 0755u}) {
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    write(path, "new");
    CHECK(permissions(path) == mode);
  }
}

TEST_CASE("write_atomically follows symbolic links, relative, chained and dangling") {
  TemporaryFolder const folder;
  fs::create_directory(folder / "inner");
  fs::create_symlink("inner/target", folder / "link");
  fs::create_symlink("link", folder / "chain");
  write(folder / "chain", "through a dangling link");
  CHECK(content(folder / "inner/target") == "through a dangling link");
  write(folder / "link", "again");
  CHECK(content(folder / "inner/target") == "again");
  CHECK(fs::is_symlink(folder / "chain"));
  CHECK(fs::is_symlink(folder / "link"));

  fs::create_symlink("loop", folder / "loop");
  CHECK(contains(message<FileError>([&] { write(folder / "loop", "x"); }), "Too many levels of symbolic links"));
}

TEST_CASE("write_atomically names the file and the system's reason") {
  TemporaryFolder const folder;
  std::string const nowhere = folder / "nowhere/file";
  CHECK(message<FileError>([&] { write(nowhere, "x"); }) ==
        nowhere + ": cannot open its folder: No such file or directory");
  CHECK(contains(message<FileError>([&] { write(folder / "", "x"); }), "Is a directory"));
  CHECK(contains(message<FileError>([&] { write("", "x"); }), "No such file or directory"));
  CHECK(contains(message<FileError>([&] { write(folder.put("file", "") + "/below", "x"); }), "Not a directory"));
  CHECK(contains(message<FileError>([&] { write("/dev/null", "x"); }), "not a regular file"));
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("a write that fails halfway leaves the old file and no temporary") {
  TemporaryFolder const folder;
  std::string const path = folder.put("file", "old");
  rlimit before;
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  auto const handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit const small{4096, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string error;
  try {
    write(path, std::string(10000, 'x'));
  } catch (FileError const& thrown) {
    error = thrown.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(error == path + ": cannot write: File too large");
  CHECK(content(path) == "old");
  CHECK(folder.names() == std::vector<std::string>{"file"});
}

TEST_CASE("what is written reaches the disk before it takes the old file's place, and the folder after") {
  TemporaryFolder const folder;
  std::string const path = folder.put("file", "old");
  Asked record;
  asked = &record;
  write(path, "twelve bytes");
  asked = nullptr;
  CHECK(record.calls == std::vector<std::string>{"sync 12 bytes", "rename to file", "sync the folder"});
  CHECK(content(path) == "twelve bytes");

  // A step that fails is told of, and says truly which of the two contents is in place.
  struct Case {
    std::string call;
    int reason;
    char const *says, *leaves;
  };
  for (auto const& [call, reason, says, leaves] :
       {Case{"sync 3 bytes", EIO, ": cannot write to the disk: Input/output error", "old"},
        Case{"rename to file", EACCES, ": cannot replace: Permission denied", "old"},
        Case{"sync the folder", EIO, ": was replaced, but its folder cannot be written to the disk: Input/output error",
             "new"},
        Case{"sync the folder", EINVAL, nullptr, "new"}, Case{"sync the folder", ENOTSUP, nullptr, "new"}}) {
    INFO(call << " fails with " << reason);
    folder.put("file", "old");
    Asked failing{{}, call, reason};
    asked = &failing;
    std::string error;
    try {
      write(path, "new");
    } catch (FileError const& thrown) {
      error = thrown.what();
    }
    asked = nullptr;
    CHECK(error == (says ? path + says : ""));
    CHECK(content(path) == leaves);
    CHECK(folder.names() == std::vector<std::string>{"file"});
  }
}

TEST_CASE("leftovers of dead writers go, those of living ones and other files stay") {
  TemporaryFolder const folder;
  folder.put(".file.tmp-1-0", "left by a process that died, whose number is in use again");
  folder.put(".file.tmp-99999999-3", "left by one that died");
  std::string const living = folder.put(".file.tmp-12-7", "being written");
  folder.put(".file.tmp-notes", "somebody's");
  folder.put(".other.tmp-99999999-3", "of another file");
  int const writer = ::open(living.c_str(), O_WRONLY);
  REQUIRE(::flock(writer, LOCK_EX) == 0);
  write(folder / "file", "new");
  ::close(writer);
  auto names = folder.names();
  std::ranges::sort(names);
  CHECK(names == std::vector<std::string>{".file.tmp-12-7", ".file.tmp-notes", ".other.tmp-99999999-3", "file"});
}

TEST_CASE("a killed writer loses nothing") {
  TemporaryFolder const folder;
  std::string const path = folder / "file";
  std::string const contents[] = {std::string(300000, 'a'), std::string(200000, 'b')};
  write(path, contents[0]);
  for (int round = 0; round < 40; ++round) {
    pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0)
      for (int i = 0;; ++i) write(path, contents[i % 2]);
    std::this_thread::sleep_for(std::chrono::microseconds(137 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    std::string const found = content(path);
    CHECK((found == contents[0] || found == contents[1]));
  }
  write(path, "end");
  CHECK(folder.names() == std::vector<std::string>{"file"});
}

TEST_CASE("many writers of one file: a reader sees one of the contents, whole") {
  TemporaryFolder const folder;
  std::string const path = folder / "file";
  write(path, std::string(5000, '0'));
  std::vector<std::thread> writers;
  for (char c = '1'; c <= '6'; ++c)
    writers.emplace_back([&path, c] {
      for (int i = 0; i < 20; ++i) write(path, std::string(5000, c));
    });
  for (int i = 0; i < 100; ++i) {
    std::string const found = content(path);
    CHECK(found == std::string(5000, found.empty() ? '?' : found[0]));
  }
  for (auto& writer : writers) writer.join();
  CHECK(folder.names() == std::vector<std::string>{"file"});
}

TEST_CASE("read_file reads whole files up to its limit") {
  TemporaryFolder const folder;
  std::string const text(100000, 'x'), path = folder.put("file", text);
  CHECK(read_file(path, 100000).size() == 100000);
  CHECK(message<FileError>([&] { read_file(path, 99999); }) == path + ": has 100000 bytes, expected at most 99999");
  CHECK(read_file(folder.put("empty", ""), 0).empty());
  CHECK(contains(message<FileError>([&] { read_file(folder / "none", 1); }), "cannot open: No such file or directory"));
  CHECK(
      contains(message<FileError>([&] { read_file(folder / "", 1); }), "cannot read: is a folder, not a regular file"));

  // Files of no stated size are read to their end, and no further than the limit.
  CHECK_FALSE(read_file("/proc/self/status", 1 << 20).empty());
  CHECK(message<FileError>([] { read_file("/proc/self/status", 99); }) ==
        "/proc/self/status: has more than 99 bytes, expected at most 99");
}

TEST_CASE("read_file opens regular files alone") {
  TemporaryFolder const folder;
  std::string const fifo = folder / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(message<FileError>([&] { read_file(fifo, 1); }) == fifo + ": cannot read: is a FIFO, not a regular file");
  CHECK(message<FileError>([&] { read_file("/dev/zero", 1); }) ==
        "/dev/zero: cannot read: is a character device, not a regular file");
}

TEST_CASE("same_file knows links, and files that are not there yet") {
  TemporaryFolder const folder;
  std::string const file = folder.put("file", "x");
  fs::create_directory(folder / "inner");
  fs::create_symlink("../file", folder / "inner/link");
  fs::create_hard_link(file, folder / "hard");
  fs::create_symlink("inner", folder / "also");
  fs::create_symlink("new", folder / "inner/dangling");
  for (char const* name : {"./file", "inner/../file", "inner/link", "hard", "also/link"})
    CHECK(same_file(file, folder / name));
  for (char const* name : {"also/new", "inner/./new", "inner/dangling", "also/dangling"})
    CHECK(same_file(folder / "inner/new", folder / name));
  for (char const* name : {"also/other", "new", "file", "nowhere/new"})
    CHECK_FALSE(same_file(folder / "inner/new", folder / name));
  CHECK(same_file(folder / "nowhere/new", folder / "nowhere/./new"));
}

TEST_CASE("check_writable says what write_atomically would, and writes nothing") {
  TemporaryFolder const folder;
  folder.put("file", "");
  for (std::string const& path : {folder / "nowhere/file", folder / "", std::string{}, folder / "file/below",
                                  std::string{"/dev/null"}, std::string{"/proc/coldpress"}})
    CHECK(message<FileError>([&] { check_writable(path); }) == message<FileError>([&] { write(path, "x"); }));
  CHECK_NOTHROW(check_writable(folder / "new"));
  CHECK_NOTHROW(check_writable(folder / "file"));
  CHECK(folder.names() == std::vector<std::string>{"file"});
}
