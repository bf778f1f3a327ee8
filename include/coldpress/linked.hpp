// Network types with linked kernels, Network<..., LinkedCpu>, in code whose default is Cpu.
#pragma once

// Code that links coldpress::kernels by name has them by default, and needs no more than coldpress/coldpress.hpp.

#include <coldpress/kernels/linked_streams.hpp>
#include <coldpress/typed/tabled_program.hpp>
