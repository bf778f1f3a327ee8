// Composes the line with the bar, the loss, the speed and the time that is left, and redraws it in place.
#include <coldpress/data/progress.hpp>

#include <coldpress/core/counted.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

namespace coldpress::data {
namespace {

constexpr int widest_bar = 32, narrowest_bar = 8;
// Room for most texts, so that the bar does not change its length with every digit of the loss.
constexpr std::size_t usual_text = 48;
constexpr double terminal_interval = 0.1, plain_interval = 5;

template <class... Values>
std::string formatted(char const* format, Values... values) {
  char text[64];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

std::string duration(double seconds) {
  if (!(seconds < 100 * 3600)) return seconds < 1e9 ? formatted("%.0f days", seconds / 86400) : "ages";
  auto const s = static_cast<int>(std::lround(seconds));
  return s < 3600 ? formatted("%d:%02d", s / 60, s % 60) : formatted("%d:%02d:%02d", s / 3600, s / 60 % 60, s % 60);
}

std::string rate(double each_second) {
  if (each_second < 999.5) return formatted("%.3g", each_second);
  if (each_second < 999.5e3) return formatted("%.3gk", each_second / 1e3);
  return formatted("%.3gM", each_second / 1e6);
}

int terminal_width(std::FILE* stream) {
  winsize size{};
  return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool is_terminal(std::FILE* stream) {
  char const* const kind = std::getenv("TERM");
  return ::isatty(::fileno(stream)) == 1 && kind && std::string_view{kind} != "dumb";
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string progress_line(ProgressState const& state, int width) {
  bool const known = state.total > 0;
  double const share =
      known ? std::clamp(static_cast<double>(state.done) / static_cast<double>(state.total), 0.0, 1.0) : 0;
  double const speed = state.seconds > 0 ? static_cast<double>(state.done - state.resumed) / state.seconds : 0;

  std::string text;
  // Rounded down, so that 100% appears only when everything is done.
  text += known ? formatted("%3d%%", static_cast<int>(100 * share)) : counted(state.done, "sample");
  if (!std::isnan(state.loss)) text += formatted("  loss %.4g", state.loss);
  if (speed > 0) {
    text.append("  ").append(rate(speed)).append(" samples/s");
    if (known && state.done >= state.total)
      text.append("  in ").append(duration(state.seconds));
    else if (known)
      text.append("  ").append(duration(static_cast<double>(state.total - state.done) / speed)).append(" left");
  }

  std::string line{state.label};
  if (!line.empty()) line += "  ";
  int const room = width - static_cast<int>(line.size() + std::max(text.size(), usual_text) + 3);
  if (known && room >= narrowest_bar) {
    int const bar = std::min(room, widest_bar);
    auto const full = static_cast<std::size_t>(share * bar);
    line.append("[").append(full, '=').append(static_cast<std::size_t>(bar) - full, ' ').append("] ");
  }
  line += text;
  if (width > 0 && line.size() > static_cast<std::size_t>(width)) line.resize(static_cast<std::size_t>(width));
  return line;
}

Progress::Progress(std::FILE* stream, Index total, Index resumed, Clock clock)
    : stream_(stream),
      clock_(clock ? std::move(clock) : Clock{steady_seconds}),
      start_(clock_()),
      drawn_(start_),
      terminal_(is_terminal(stream)) {
  state_.total = total;
  state_.done = state_.resumed = resumed;
}

Progress::~Progress() {
  if (on_line_ && !finished_) std::fputc('\n', stream_), std::fflush(stream_);
}

void Progress::update(std::string_view label, Index done, double loss) {
  label_ = label;
  state_.done = done;
  state_.loss = loss;
  double const now = clock_();
  state_.seconds = now - start_;
  if (finished_ || now - drawn_ < (terminal_ ? terminal_interval : plain_interval)) return;
  drawn_ = now;
  draw();
}

void Progress::print(std::string_view line) {
  if (on_line_) go_up();
  // "\33[K" clears the rest of a longer line, "\33[J" also what is below.
  char const* const clear = !on_line_ ? "" : lines_above_ > 0 ? "\33[J" : "\33[K";
  std::fprintf(stream_, "%s%.*s%s\n", on_line_ ? "\r" : "", static_cast<int>(line.size()), line.data(), clear);
  lines_above_ = 0;
  bool const again = on_line_;
  on_line_ = false;
  if (again && !finished_) draw();
  std::fflush(stream_);
}

void Progress::finish() {
  if (finished_) return;
  state_.seconds = clock_() - start_;
  draw();
  finished_ = true;
  if (terminal_) std::fputc('\n', stream_), std::fflush(stream_);
}

/// Goes to the first line of what was drawn. Otherwise the cursor rests on the bar's line, so that a program may end at
/// any time and leaves the terminal as it should be.
void Progress::go_up() {
  if (lines_above_ > 0) std::fprintf(stream_, "\33[%zuA", lines_above_);
}

void Progress::draw() {
  state_.label = label_;
  if (terminal_) {
    // The last column stays empty, because some terminals wrap when it is filled.
    int const width = std::max(1, terminal_width(stream_) - 1);
    auto const lines = above_ ? above_(width) : std::vector<std::string>{};
    if (on_line_) go_up();
    for (std::string const& line : lines) std::fprintf(stream_, "\r%s\33[K\n", line.c_str());
    char const* const clear = lines.size() < lines_above_ ? "\33[J" : "\33[K";
    std::fprintf(stream_, "\r%s%s", progress_line(state_, width).c_str(), clear);
    lines_above_ = lines.size();
    on_line_ = true;
  } else {
    std::fprintf(stream_, "%s\n", progress_line(state_, 0).c_str());
  }
  std::fflush(stream_);
}

}  // namespace coldpress::data
