// Defines a macro for the sanitizer that a test is compiled with.
#pragma once

// g++ defines a macro for each sanitizer. clang has __has_feature, which xtl also defines for g++, as a macro that is
// always 0.

#if defined __clang__
#if __has_feature(address_sanitizer)
#define COLDPRESS_ADDRESS_SANITIZER
#endif
#if __has_feature(thread_sanitizer)
#define COLDPRESS_THREAD_SANITIZER
#endif
#else
#if defined __SANITIZE_ADDRESS__
#define COLDPRESS_ADDRESS_SANITIZER
#endif
#if defined __SANITIZE_THREAD__
#define COLDPRESS_THREAD_SANITIZER
#endif
#endif
