// The error that is thrown if a library of NVIDIA's refuses a request.
#pragma once

#include <coldpress/core/error.hpp>

#include <string>
#include <utility>

namespace coldpress::cuda {

/// A library is missing, has the wrong version, or refuses a request. what() reads "library version: sentence; advice".
struct LibraryError : Error {
  LibraryError(std::string library_name, std::string library_version, std::string const& sentence, std::string advice)
      : Error(library_name + " " + library_version + ": " + sentence + "; " + advice),
        library(std::move(library_name)),
        version(std::move(library_version)),
        what_to_do(std::move(advice)) {}

  std::string library, version, what_to_do;
};

}  // namespace coldpress::cuda
