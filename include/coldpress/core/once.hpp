// Which functions coldpress::kernels contains for all sources that link it.
#pragma once

// Functions that take little time to run, such as those that compose an error's sentence, take the compiler longer than
// the rest of a small network. They are marked COLDPRESS_ONCE. Sources with ready-made kernels only declare them, and
// coldpress::kernels contains them (kernels/cpu/once.cpp).
#if defined COLDPRESS_COMPILES_ONCE
#define COLDPRESS_ONCE __attribute__((cold))
#elif (defined COLDPRESS_LINKED_KERNELS || defined COLDPRESS_LEVEL) && defined __cpp_exceptions && !defined __CUDACC__
#define COLDPRESS_DECLARES_ONCE
#else
#define COLDPRESS_ONCE __attribute__((noinline, cold)) inline
#endif
