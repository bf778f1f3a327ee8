// Writes the tensors of a model into a message, with their names and shapes, and reads them back.
#include "tensors.hpp"

#include "values.hpp"

#include <algorithm>

namespace coldpress::persist {
namespace {

template <class Action>
void in_entry(std::string const& field, std::size_t index, std::string const& name, Action&& action) {
  std::string const shown = printable(name);
  with_context([&] { translated(action); },
               [&](Error& error) {
                 error.in_field(field + "[" + std::to_string(index) + "]" + (shown.empty() ? "" : " " + shown));
               });
}

void check_count(Extents const& shape, std::size_t values) {
  check_extents(shape);
  Index count = 1;
  for (auto const extent : shape) count *= extent;
  if (static_cast<std::size_t>(count) != values)
    throw FormatError{"shape " + to_string(shape) + " has " + std::to_string(count) + " values, but the data has " +
                      std::to_string(values)};
}

}  // namespace

std::vector<NamedTensor> read_tensors(capnp::List<schema::Weight>::Reader file, std::string const& field) {
  std::vector<NamedTensor> tensors;
  UniqueNames unique;
  for (unsigned i = 0; i < file.size(); ++i) {
    auto const weight = file[i];
    auto name = translated([&] { return text_of(weight.getName()); });
    in_entry(field, i, "", [&] { unique.add(name); });
    in_entry(field, i, name, [&] {
      auto const tensor = weight.getTensor();
      auto const data = tensor.getData();
      auto shape = read_extents(tensor.getShape(), Shape::max_rank);
      check_count(shape, data.size());
      std::vector<float> values(data.size());
      for (unsigned v = 0; v < data.size(); ++v) values[v] = data[v];
      tensors.push_back({std::move(name), std::move(shape), std::move(values)});
    });
  }
  return tensors;
}

void write_tensors(capnp::List<schema::Weight>::Builder file, std::span<NamedTensor const> tensors,
                   std::string const& field) {
  UniqueNames unique;
  for (unsigned i = 0; i < file.size(); ++i) {
    NamedTensor const& given = tensors[i];
    in_entry(field, i, given.name, [&] {
      unique.add(given.name);
      if (given.shape.empty() || given.shape.size() > Shape::max_rank)
        throw ConfigError{"a shape must have 1 to " + std::to_string(Shape::max_rank) + " extents, has " +
                          std::to_string(given.shape.size())};
      check_count(given.shape, given.values.size());
      file[i].setName(text_for(given.name));
      auto tensor = file[i].initTensor();
      auto shape = tensor.initShape(static_cast<unsigned>(given.shape.size()));
      for (unsigned a = 0; a < shape.size(); ++a) shape.set(a, static_cast<std::uint64_t>(given.shape[a]));
      auto data = tensor.initData(list_size(given.values.size()));
      for (unsigned v = 0; v < data.size(); ++v) data.set(v, given.values[v]);
    });
  }
}

unsigned words_for(std::span<NamedTensor const> tensors) {
  std::size_t words = 4096;
  for (auto const& tensor : tensors) words += tensor.values.size() / 2 + tensor.name.size() / 8 + 32;
  return static_cast<unsigned>(std::min(words, std::size_t{1} << 28));
}

}  // namespace coldpress::persist
