// xtensor's views, in the old and the new layout of its headers.
#pragma once

#if __has_include(<xtensor/views/xview.hpp>)
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xview.hpp>
#endif
