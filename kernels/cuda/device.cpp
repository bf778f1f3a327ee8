#include <coldpress/backend/cuda/device.hpp>

namespace coldpress::cuda {

void Device::release(void* memory) noexcept {
  try {
    flush();       // kernels that were gathered may use it
  } catch (...) {  // whoever reads results is told
  }
  destroy(memory);
}

void Device::gather(Call call, void const* arguments) {
  try {
    if (call.kernel) call.blocks = std::min(call.blocks, most_blocks(call.kernel));
    pass_.add(call, arguments);
  } catch (...) {
    abandon();
    throw;
  }
}

void Device::flush() {
  if (pass_.empty()) return;
  constexpr std::size_t most = 8;
  auto const start = [&] {
    for (auto const& known : taken_down_) {
      if (!known->pass.is_like(pass_)) continue;
      try {
        known->pass.take(pass_, [&](std::size_t number) { ++counts().patches, known->change(number); });
        return known->start();
      } catch (...) {  // its arguments are neither these nor those
        taken_down_.erase(taken_down_.begin() + (&known - taken_down_.data()));
        throw;
      }
    }
    ++counts().graphs;
    auto fresh = take_down(pass_);
    if (taken_down_.size() < most) taken_down_.emplace_back();
    auto& place = taken_down_[next_++ % most];
    place = std::move(fresh);
    place->start();
  };
  ++counts().launches;
  for (Call const& call : pass_.calls())
    ++(call.library ? counts().library_calls : counts().kernels), counts().blocks += call.blocks;
  try {
    start();
  } catch (...) {
    pass_.clear();
    throw;
  }
  pass_.clear();
}

void Device::submit() {
  flush();
  mark(turn_);
  turn_ = 1 - turn_, waited_ = false;
}

int Device::turn() {
  if (!waited_) wait(turn_);
  if (again_) wait(1 - turn_);
  waited_ = true, again_ = false;
  return turn_;
}

}  // namespace coldpress::cuda
