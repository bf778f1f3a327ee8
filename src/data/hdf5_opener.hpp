// Connects open_source with the component hdf5, where a program has it.
#pragma once

#include <coldpress/data/hdf5.hpp>

namespace coldpress::data {

/// What opens "hdf5:"; null if the component is not linked, which otherwise sets it before main().
using Hdf5Opener = std::unique_ptr<Source> (*)(Hdf5Data);
Hdf5Opener& hdf5_opener();

}  // namespace coldpress::data
