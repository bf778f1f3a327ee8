// Reads tensors at the places that the header names, and writes the weights of a network behind a header.
#include <coldpress/convert/safetensors.hpp>

#include <coldpress/convert/format.hpp>
#include <coldpress/data/atomic_file.hpp>

#include "data/positioned_file.hpp"
#include "safetensors_header.hpp"
#include "state_dict.hpp"

#include <array>
#include <memory>

#include <nlohmann/json.hpp>

namespace coldpress::convert {
namespace {

using persist::printable;
using safetensors::Entry;

// As in the format's own library: a file has a length of 8 bytes, a header of at most max_header bytes, and the values.
constexpr std::uint64_t max_header = 100'000'000;
constexpr std::size_t length_size = 8;

/// An open file, of which tensors are read at any time.
struct OpenFile {
  data::PositionedFile file;
  std::uint64_t values = 0;  // where they begin
  std::vector<Entry> entries;

  explicit OpenFile(std::string const& path) : file(path) {
    std::array<std::byte, length_size> digits;
    if (file.size() < length_size)
      throw FormatError{"has " + std::to_string(file.size()) + " bytes, too few for a .safetensors file"};
    file.read(0, digits);
    std::uint64_t length = 0;
    for (std::size_t i = length_size; i-- > 0;) length = length << 8 | std::to_integer<std::uint64_t>(digits[i]);
    if (length > max_header || length > file.size() - length_size)
      throw FormatError{"is not a .safetensors file, or is cut short: its header would have " + std::to_string(length) +
                        " bytes, and the file has " + std::to_string(file.size())};
    std::string header(static_cast<std::size_t>(length), '\0');
    file.read(length_size, std::as_writable_bytes(std::span{header}));
    values = length_size + length;
    entries = safetensors::parse_header(header, file.size() - values);
  }

  void read(Entry const& entry, std::span<float> floats) const {
    std::array<std::byte, 32768> piece;
    std::size_t const at_once = piece.size() / entry.type->width;
    for (std::size_t done = 0; done < floats.size();) {
      std::size_t const count = std::min(at_once, floats.size() - done);
      auto const bytes = std::span{piece}.first(count * entry.type->width);
      file.read(values + entry.begin + done * entry.type->width, bytes);
      std::size_t const converted = entry.type->to_floats(bytes.data(), count, floats.data() + done);
      done += converted;
      if (converted < count)
        throw DataError{"'" + printable(entry.name) + "': value " + std::to_string(done) +
                        " is beyond the range of a float"};
    }
  }
};

std::string json_text(std::string const& name) {
  if (name.size() > safetensors::max_name)
    throw DataError{"a name has more than " + std::to_string(safetensors::max_name) + " bytes"};
  try {
    return nlohmann::json(name).dump();
  } catch (nlohmann::json::exception const&) {
    throw DataError{"the name '" + printable(name) + "' is not UTF-8"};
  }
}

/// The length and the header, which is filled up with blanks so that the values begin at a multiple of 8.
std::string beginning_of(std::vector<persist::NamedTensor> const& tensors) {
  std::string header = R"({"__metadata__":{"format":"pt"})";
  std::size_t offset = 0;
  for (auto const& tensor : tensors) {
    std::size_t const end = offset + tensor.values.size() * sizeof(float);
    header += "," + json_text(tensor.name) + R"(:{"dtype":"F32","shape":)" + nlohmann::json(tensor.shape).dump() +
              R"(,"data_offsets":[)" + std::to_string(offset) + "," + std::to_string(end) + "]}";
    offset = end;
  }
  header += '}';
  header.resize((header.size() + length_size - 1) / length_size * length_size, ' ');
  std::string length;
  for (std::size_t i = 0; i < length_size; ++i) length += static_cast<char>(header.size() >> 8 * i & 0xff);
  return length + header;
}

}  // namespace

Conversion read_safetensors(std::string const& path, dynamic::LayerConfig config, Options const& options) {
  return with_file(path, [&] {
    refuse_pickles(path);
    auto const file = std::make_shared<OpenFile const>(path);
    std::vector<Tensor> tensors;
    for (Entry const& entry : file->entries)
      tensors.push_back(
          {entry.name, entry.shape, [file, &entry](std::span<float> values) { file->read(entry, values); }});
    return fill_from_state_dict(std::move(config), tensors, options);
  });
}

void write_safetensors(std::string const& path, persist::Model const& model, NameMap const& names) {
  auto const tensors = state_dict_of(model, names);
  std::string const beginning = beginning_of(tensors);
  with_file(path, [&] {
    AtomicFile file{path};
    file.write(std::as_bytes(std::span{beginning}));
    for (auto const& tensor : tensors) file.write(std::as_bytes(std::span{tensor.values}));
    file.commit();
  });
}

}  // namespace coldpress::convert
