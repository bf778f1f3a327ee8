// Declares the tables of kernels of all instruction set levels.
#pragma once

#include <coldpress/kernels/dispatch.hpp>

namespace coldpress::cpu {

#if defined __x86_64__
namespace v2 {
Table const& table();
TrainingTable const& training_table();
StreamTable const& stream_table();
}  // namespace v2
namespace v3 {
Table const& table();
TrainingTable const& training_table();
StreamTable const& stream_table();
}  // namespace v3
namespace v4 {
Table const& table();
TrainingTable const& training_table();
StreamTable const& stream_table();
}  // namespace v4
#else
namespace native {
Table const& table();
TrainingTable const& training_table();
StreamTable const& stream_table();
}  // namespace native
#endif

}  // namespace coldpress::cpu
