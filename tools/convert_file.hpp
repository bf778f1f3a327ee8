// What coldpress convert does with one file.
#pragma once

#include "convert_formats.hpp"

namespace coldpress::command {

struct ConvertOptions {
  std::string input, output, from, config, map;
  std::vector<std::string> to;  // of which one may be given
  std::vector<Index> sample;
  std::vector<std::string> check;  // samples, and the outputs of the other framework for them
  bool fold = false, seeded = false;
  convert::Options options;
  std::shared_ptr<Chosen> chosen = std::make_shared<Chosen>();
};

/// Reads the network, the weights or the array of a file, writes it in another format, and says what it has done.
/// Throws CLI's errors for options that do not fit the formats, and what the functions of these throw.
void convert_file(ConvertOptions const& options);

}  // namespace coldpress::command
