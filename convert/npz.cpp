#include <coldpress/convert/npz.hpp>

#include <coldpress/convert/format.hpp>

#include "data/npy_format.hpp"
#include "data/zip_file.hpp"
#include "data/zip_output.hpp"
#include "state_dict.hpp"

#include <algorithm>

namespace coldpress::convert {
namespace {

constexpr std::size_t max_members = std::size_t{1} << 16;
constexpr std::string_view ending = ".npy";

/// The array of a member. What is wrong with it matters only if a weight has its values.
Tensor tensor_of(std::string const& path, std::string const& name,
                 std::function<data::InputFile::Member()> const& find) {
  Tensor tensor{.name = name.substr(0, name.size() - ending.size()), .shape = {}, .read = {}};
  try {
    auto const member = find();
    data::InputFile file{path, member, {}};
    tensor.shape = data::read_npy_header(file).extents;
    tensor.read = [path, member](std::span<float> values) {
      data::InputFile again{path, member, {}};
      auto const header = data::read_npy_header(again);
      if (header.values != values.size()) again.malformed("has changed while it was read");
      std::ranges::copy(data::read_npy_values(again, header), values.begin());
    };
  } catch (Error const&) {
    tensor.unreadable = std::current_exception();
  }
  return tensor;
}

/// The arrays of a file. If one of its members cannot be read, each is looked for by its name.
std::vector<Tensor> tensors_of(std::string const& path) {
  std::vector<Tensor> tensors;
  try {
    for (auto const& member : data::zip_members(path)) {
      if (member.name.ends_with(ending)) tensors.push_back(tensor_of(path, member.name, [&] { return member; }));
    }
  } catch (Error const&) {
    constexpr std::size_t most = 4096;  // each of which reads the directory again
    auto const names = data::zip_names(path);
    if (names.size() > most) throw;
    tensors.clear();
    for (auto const& name : names) {
      if (name.ends_with(ending))
        tensors.push_back(tensor_of(path, name, [&] { return data::zip_member(path, name); }));
    }
  }
  return tensors;
}

}  // namespace

Conversion read_npz(std::string const& path, dynamic::LayerConfig config, Options const& options) {
  return with_file(path, [&] {
    refuse_pickles(path);
    auto const tensors = tensors_of(path);
    if (tensors.size() > max_members)
      throw FormatError{"has " + std::to_string(tensors.size()) + " arrays, expected at most " +
                        std::to_string(max_members)};
    if (tensors.empty()) throw FormatError{"has no arrays: none of its members ends in .npy"};
    return fill_from_state_dict(std::move(config), tensors, options);
  });
}

void write_npz(std::string const& path, persist::Model const& model, NameMap const& names) {
  auto const tensors = state_dict_of(model, names);
  constexpr std::size_t longest_name = 0xffff - ending.size();
  for (auto const& tensor : tensors) {
    if (tensor.name.size() > longest_name)
      throw DataError{"a name has more than " + std::to_string(longest_name) + " bytes"};
  }
  with_file(path, [&] {
    data::ZipOutput file{path};
    for (auto const& tensor : tensors) {
      std::string const beginning = data::npy_beginning(tensor.shape);
      file.begin(tensor.name + std::string{ending}, std::as_bytes(std::span{beginning}));
      file.write(std::as_bytes(std::span{tensor.values}));
      file.end(std::as_bytes(std::span{beginning}));
    }
    file.commit();
  });
}

}  // namespace coldpress::convert
