// Reads a text in pieces of a number of bytes, with the byte that follows each of them as its target.
#include <coldpress/data/text.hpp>

#include "formats.hpp"
#include "positioned_file.hpp"

#include <algorithm>
#include <utility>

namespace coldpress::data {
namespace {

constexpr Index most_in_text = Index{1} << 24;

class Text final : public Source {
 public:
  Text(PositionedFile file, TextOptions options, Index count)
      : Source({{options.steps}, {options.steps, 1}, count}), file_(std::move(file)), options_(options) {}
  std::unique_ptr<Source::Reader> reader() const override { return std::make_unique<Part>(*this); }

 private:
  struct Part final : Source::Reader {
    explicit Part(Text const& of) : source(of), bytes(static_cast<std::size_t>(of.options_.steps) + 1) {}
    void read(Index first, Index count, float* samples, float* targets) override {
      auto const value = [](std::byte byte) { return static_cast<float>(byte); };
      for (Index i = first; i < first + count; ++i) {
        source.file_.read(static_cast<std::uint64_t>(i * source.options_.stride), bytes);
        if (samples) samples = std::transform(bytes.begin(), bytes.end() - 1, samples, value);
        targets = std::transform(bytes.begin() + 1, bytes.end(), targets, value);
      }
    }
    Text const& source;
    std::vector<std::byte> bytes;
  };

  PositionedFile file_;
  TextOptions options_;
};

}  // namespace

std::unique_ptr<Source> open_text(std::string const& path, TextOptions options) {
  auto const check = [](char const* name, Index number) {
    if (number < 1 || number > most_in_text)
      throw ConfigError{"text: " + std::string{name} + " is " + std::to_string(number) + ", expected 1 to " +
                        std::to_string(most_in_text)};
  };
  check("steps", options.steps);
  if (options.stride == 0) options.stride = options.steps;
  check("stride", options.stride);
  PositionedFile file{path};
  auto const size = static_cast<Index>(file.size());
  if (size <= options.steps)
    fail_in<FormatError>(path, "has " + std::to_string(size) + (size == 1 ? " byte" : " bytes") + ", but a sample of " +
                                   std::to_string(options.steps) + " steps and its targets need " +
                                   std::to_string(options.steps + 1));
  return std::make_unique<Text>(std::move(file), options, (size - 1 - options.steps) / options.stride + 1);
}

Opened open_text_file(Request const& request) {
  SpecOptions const& options = request.options;
  TextOptions chosen;
  if (options.has("steps")) chosen.steps = options.count("steps");
  if (options.has("stride")) chosen.stride = options.count("stride");
  return open_text(request.paths[0], chosen);
}

}  // namespace coldpress::data
