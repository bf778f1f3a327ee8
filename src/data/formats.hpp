// What the formats of specs are made of. spec.cpp has the list of them.
#pragma once

#include "input_file.hpp"
#include "spec_options.hpp"

#include <coldpress/data/dataset.hpp>
#include <coldpress/data/source.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace coldpress::data {

/// What a user asks for.
struct Request {
  std::vector<std::string> paths;
  SpecOptions options;
  ReadOptions reading;
  bool samples_alone = false;  // targets in arrays of their own are neither needed nor read
};
/// Data that is held in memory is a Dataset, so that no caller needs a copy.
using Opened = std::variant<Dataset, std::unique_ptr<Source>>;

Opened open_csv(Request const& request);
Opened open_hdf5_files(Request const& request);
Opened open_image_folder(Request const& request);
Opened open_signals(Request const& request);
Opened open_text_file(Request const& request);

enum class Part { training, test };
std::vector<std::string> mnist_files(Part part, std::string const& folder);
Opened open_mnist(Part part, Request const& request);

enum class Cifar { ten, hundred };
std::vector<std::string> cifar_files(Cifar kind, Part part, std::string const& folder);
Opened open_cifar(Cifar kind, Part part, Request const& request);

/// Files, where one whose name ends in .txt stands for those that it lists, one in each line, relative to its folder.
std::vector<std::string> listed_files(std::vector<std::string> const& paths);
/// The same and the lists themselves; a list that cannot be read is one of the files.
std::vector<std::string> files_and_lists(std::vector<std::string> const& paths);
/// The lines of a small text file, without those that are empty.
std::vector<std::string> lines_of(std::string const& file);

/// Refuses classes that are named twice.
void check_classes(std::vector<std::string> const& classes);

}  // namespace coldpress::data
