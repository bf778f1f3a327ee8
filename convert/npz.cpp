// Reads each array of a .npz file as a tensor when a weight needs it, and writes the weights of a network as arrays.
#include <coldpress/convert/npz.hpp>

#include <coldpress/convert/format.hpp>

#include "data/npy_format.hpp"
#include "data/zip_file.hpp"
#include "data/zip_output.hpp"
#include "state_dict.hpp"

#include <algorithm>

namespace coldpress::convert {
namespace {

constexpr std::string_view ending = ".npy";

/// The array of a member. An error in it matters only if a weight takes its values.
Tensor tensor_of(std::string const& path, data::ZipEntry const& entry) {
  data::InputFile::Member const& member = entry.member;
  Tensor tensor{.name = member.name.substr(0, member.name.size() - ending.size()), .shape = {}, .read = {}};
  try {
    if (entry.unreadable) std::rethrow_exception(entry.unreadable);
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

std::vector<Tensor> tensors_of(std::string const& path) {
  std::vector<Tensor> tensors;
  for (auto const& entry : data::zip_entries(path)) {
    if (entry.member.name.ends_with(ending)) tensors.push_back(tensor_of(path, entry));
  }
  if (tensors.empty()) throw FormatError{"has no arrays: none of its members ends in .npy"};
  return tensors;
}

}  // namespace

Conversion read_npz(std::string const& path, dynamic::LayerConfig config, Options const& options) {
  return with_file(path, [&] {
    refuse_pickles(path);
    return fill_from_state_dict(std::move(config), tensors_of(path), options);
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
