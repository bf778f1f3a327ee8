// What all devices do alike: gather the calls of passes, start them together, and keep graphs that may be used again.
#include <coldpress/cuda/device.hpp>

#include <cstdlib>
#include <limits>
#include <string_view>

namespace coldpress::cuda {

bool Device::clusters_are_wanted() {
  char const* const wanted = std::getenv("COLDPRESS_CUDA_CLUSTERS");
  return !wanted || std::string_view{wanted} != "0";
}

void Device::make_common() {
  sums_ = static_cast<double*>(make(2 * grid::ThreadGroup::sum_parts * sizeof(double)));
  tickets_ = static_cast<std::uint32_t*>(make(2 * sizeof(std::uint32_t)));
  partial_sums_ = static_cast<float*>(make_unset(grid::ThreadGroup::partial_sums_capacity * sizeof(float)));
}
void Device::destroy_common() noexcept {
  for (void* memory : {static_cast<void*>(sums_), static_cast<void*>(tickets_), static_cast<void*>(partial_sums_)}) {
    if (memory) destroy(memory);
  }
  sums_ = nullptr, tickets_ = nullptr, partial_sums_ = nullptr;
}

void Device::release(void* memory) noexcept {
  try {
    flush();       // gathered kernels may use the memory
  } catch (...) {  // has_failed() reports it when results are read
  }
  destroy(memory);
}

void Device::gather(Call call, grid::LaunchEstimate const& estimate, void const* arguments) {
  asked_ = pass_.empty() ? estimate : asked_.followed_by(estimate);
  call.blocks = static_cast<int>(std::min(estimate.blocks, Index{std::numeric_limits<int>::max()}));
  call.barriers = estimate.barriers, call.shared = estimate.shared;
  try {
    int const of_cluster = std::min(call.blocks, static_cast<int>(grid::cluster_blocks));
    call.in_cluster = clusters && !call.library && estimate.in_cluster() && has_cluster(call, of_cluster);
    if (call.in_cluster) {
      call.blocks = of_cluster;
    } else if (!call.library) {
      call.blocks = std::min(call.blocks, most_blocks(call));
    }
    pass_.add(call, arguments);
  } catch (...) {
    abandon();
    throw;
  }
}

void Device::flush() {
  if (pass_.empty()) return;
  std::size_t const most = 6 + 2 * static_cast<std::size_t>(together_);
  auto const start = [&] {
    for (auto const& known : taken_down_) {
      if (!known->pass.is_like(pass_)) continue;
      try {
        known->pass.take(pass_, [&](std::size_t number) { ++counts().patches, known->change(number); });
        return known->start();
      } catch (...) {  // its arguments are now a mixture of old and new ones
        taken_down_.erase(taken_down_.begin() + (&known - taken_down_.data()));
        throw;
      }
    }
    ++counts().graphs;
    auto fresh = take_down(pass_);
    auto& place = taken_down_.size() < most ? taken_down_.emplace_back() : taken_down_[next_++ % most];
    place = std::move(fresh);
    place->start();
  };
  ++counts().launches;
  for (Call const& call : pass_.calls()) {
    ++(call.library ? counts().library_calls : counts().kernels), counts().blocks += call.blocks;
    counts().clusters += call.in_cluster, counts().barriers += call.barriers;
  }
  whole_ = 0;
  try {
    start();
  } catch (...) {
    pass_.clear(), failed_.push_back(starts_++);
    throw;
  }
  pass_.clear(), ++starts_;
}

void Device::submit() {
  whole_ = pass_.calls().size();
  if (++submitted_ < together_) return;
  int const done = std::exchange(group_, 1 - group_);
  bool const brought = std::exchange(waited_, false);  // before flush(), which may throw
  submitted_ = 0;
  flush();
  if (brought) mark(done);  // otherwise the group's inputs have not changed, and its earlier mark still holds
}

void Device::start_together(int passes) {
  if (passes < 1 || passes > 1024)
    throw UnsupportedError{"'" + name() + "': 1 to 1024 passes are started together, not " + std::to_string(passes)};
  flush(), mark(group_), wait(group_), wait(1 - group_);
  together_ = passes, submitted_ = 0;
}

int Device::launch_slot() {
  if (!waited_) wait(group_);
  if (again_) flush(), mark(group_), wait(group_), wait(1 - group_);
  waited_ = true, again_ = false;
  return group_ * together_ + submitted_;
}

}  // namespace coldpress::cuda
