#include <coldpress/data/progress.hpp>

#include "data/files.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace coldpress;
using namespace coldpress::data;

namespace {

std::string written(std::FILE* stream) {
  std::rewind(stream);
  std::string text;
  for (int c; (c = std::fgetc(stream)) != EOF;) text += static_cast<char>(c);
  return text;
}

struct Stream {
  std::FILE* file = std::tmpfile();
  ~Stream() { std::fclose(file); }
};

}  // namespace

TEST_CASE("a progress line shows loss, speed and time left") {
  ProgressState const state{.label = "epoch 3/10", .done = 4500, .total = 10000, .loss = 0.12345, .seconds = 9};
  CHECK(progress_line(state, 0) == "epoch 3/10   45%  loss 0.1235  500 samples/s  0:11 left");
  CHECK(progress_line(state, 79) == "epoch 3/10  [=======         ]  45%  loss 0.1235  500 samples/s  0:11 left");
  CHECK(progress_line(state, 79).size() <= 79);
  // No room for a bar, or not even for the text.
  CHECK(progress_line(state, 60) == progress_line(state, 0));
  CHECK(progress_line(state, 20) == "epoch 3/10   45%  lo");
}

TEST_CASE("a progress line leaves out what is not known") {
  CHECK(progress_line({}, 0) == "0 samples");
  CHECK(progress_line({.done = 0, .total = 10}, 0) == "  0%");
  CHECK(progress_line({.done = 5, .seconds = 2}, 80) == "5 samples  2.5 samples/s");
  CHECK(progress_line({.done = 0, .total = 10, .seconds = 5}, 0) == "  0%");
}

TEST_CASE("a progress line counts only the samples of this run as its speed") {
  CHECK(progress_line({.done = 900, .total = 1000, .resumed = 800, .seconds = 10}, 0) ==
        " 90%  10 samples/s  0:10 left");
}

TEST_CASE("a progress line says 100% and the time taken at the end alone") {
  CHECK(contains(progress_line({.done = 99999, .total = 100000, .seconds = 1}, 0), " 99%"));
  CHECK(progress_line({.done = 1000, .total = 1000, .seconds = 65}, 0) == "100%  15.4 samples/s  in 1:05");
}

TEST_CASE("times and speeds are written shortly") {
  auto const line = [](Index done, Index total, double seconds) {
    return progress_line({.done = done, .total = total, .seconds = seconds}, 0);
  };
  CHECK(contains(line(1, 3601, 1), "1:00:00 left"));
  CHECK(contains(line(1, 3600, 1), "59:59 left"));
  CHECK(contains(line(1, 864001, 1), "10 days left"));
  CHECK(contains(line(1, Index{1} << 60, 1), "ages left"));
  CHECK(contains(line(31234, 100000, 1), "31.2k samples/s"));
  CHECK(contains(line(9994, 100000, 10), "999 samples/s"));
  CHECK(contains(line(9997, 100000, 10), "1k samples/s"));
  CHECK(contains(line(9997000, 100000000, 10), "1M samples/s"));
  CHECK(contains(line(1250000, 9000000, 1), "1.25M samples/s"));
}

TEST_CASE("a pipe gets plain lines, one in five seconds and one at the end") {
  Stream const stream;
  double now = 100;
  {
    Progress progress{stream.file, 1000, 0, [&] { return now; }};
    for (int i = 1; i <= 99; ++i) {
      now += 0.125;
      progress.update("epoch 1/1", 10 * i, 2.5);
      if (i == 70) progress.print("a note");
    }
    progress.update("epoch 1/1", 1000, 0.5);
    progress.finish();
    progress.finish();
    now += 60;
    progress.update("epoch 1/1", 1000, 0.5);  // after the end nothing is said
  }
  CHECK(written(stream.file) ==
        "epoch 1/1   40%  loss 2.5  80 samples/s  0:08 left\n"
        "a note\n"
        "epoch 1/1   80%  loss 2.5  80 samples/s  0:03 left\n"
        "epoch 1/1  100%  loss 0.5  80.8 samples/s  in 0:12\n");
}

namespace {

/// What a terminal of 64 columns gets; nothing, said aloud, if there is no pseudo-terminal.
template <class Use>
std::string shown_in_terminal(Use use) {
  int const master = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) {
    WARN("skipped: no pseudo-terminal here");
    return {};
  }
  std::FILE* const terminal = ::fdopen(::open(::ptsname(master), O_RDWR | O_NOCTTY), "w");
  REQUIRE(terminal);
  winsize const size{24, 64, 0, 0};
  REQUIRE(::ioctl(master, TIOCSWINSZ, &size) == 0);
  ::setenv("TERM", "xterm", 1);
  use(terminal);
  std::fclose(terminal);
  // The terminal gives what it has piece by piece, and then fails, having no writer.
  std::string text;
  char piece[512];
  for (ssize_t got; (got = ::read(master, piece, sizeof piece)) > 0;) text.append(piece, static_cast<std::size_t>(got));
  ::close(master);
  return text;
}

}  // namespace

TEST_CASE("a terminal gets one line that is drawn again") {
  std::string const text = shown_in_terminal([](std::FILE* terminal) {
    double now = 0;
    Progress progress{terminal, 100, 0, [&] { return now; }};
    for (Index done : {10, 20, 30, 40}) {
      now += 0.06;
      progress.update("", done, 1);
    }
    progress.print("a note");
    progress.update("", 100, 1);
    progress.finish();
  });
  if (text.empty()) return;
  CHECK(text ==
        "\r[==          ]  20%  loss 1  167 samples/s  0:00 left\33[K"
        "\r[====        ]  40%  loss 1  167 samples/s  0:00 left\33[K"
        "\ra note\33[K\r\n"
        "\r[====        ]  40%  loss 1  167 samples/s  0:00 left\33[K"
        "\r[============] 100%  loss 1  417 samples/s  in 0:00\33[K\r\n");
}

TEST_CASE("lines above the bar are drawn again with it") {
  std::string const text = shown_in_terminal([](std::FILE* terminal) {
    double now = 0;
    int drawn = 0;
    Progress progress{terminal, 100, 0, [&] { return now; }};
    progress.show_above([&](int width) {
      CHECK(width == 63);
      ++drawn;
      return std::vector<std::string>(drawn < 3 ? 2 : 1, "chart " + std::to_string(drawn));
    });
    for (Index done : {10, 20, 30, 40}) {
      now += 0.06;
      progress.update("", done, 1);
    }
    progress.print("a note");
    progress.update("", 100, 1);
    progress.finish();
  });
  if (text.empty()) return;
  CHECK(text ==
        "\rchart 1\33[K\r\n\rchart 1\33[K\r\n\r[==          ]  20%  loss 1  167 samples/s  0:00 left\33[K"
        "\33[2A\rchart 2\33[K\r\n\rchart 2\33[K\r\n\r[====        ]  40%  loss 1  167 samples/s  0:00 left\33[K"
        "\33[2A\ra note\33[J\r\n"
        "\rchart 3\33[K\r\n\r[====        ]  40%  loss 1  167 samples/s  0:00 left\33[K"
        "\33[1A\rchart 4\33[K\r\n\r[============] 100%  loss 1  417 samples/s  in 0:00\33[K\r\n");
}
