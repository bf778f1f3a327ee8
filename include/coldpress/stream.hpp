// Streams of network types: sequences, such as sound, in blocks of any length.
#pragma once

#include <coldpress/typed/stream.hpp>
