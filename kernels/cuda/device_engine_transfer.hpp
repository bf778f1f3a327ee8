// What networks from configs add to the transfer between the host and a GPU.
#pragma once

#include "device_copy.hpp"
#include "engine_transfer.hpp"
#include "fused/passes.hpp"
#include "runtime_cuda.hpp"

#include <coldpress/cuda/device_transfer.hpp>
#include <coldpress/cuda/jit_program.hpp>

#include <algorithm>

namespace coldpress::dynamic {

template <>
class EngineTransfer<cuda::RuntimeCuda> : public cuda::DeviceTransfer, public cuda::DeviceTransfer::Buffers<float> {
  using Buffers = DeviceTransfer::Buffers<float>;

 public:
  explicit EngineTransfer(cuda::RuntimeCuda const& backend)
      : DeviceTransfer(backend.device),
        Buffers(static_cast<DeviceTransfer const&>(*this)),
        libraries_(backend.libraries),
        results_(backend.results),
        flags_(backend.device),
        fuses_(backend.fused) {}

  static constexpr bool runs_custom_layers = false;
  static constexpr bool keeps_brought = false;
  static Room room_for(Index values, Index scratch, Index own) {
    require(values <= UINT32_MAX, "network: on a GPU a minibatch has at most 2^32 values; take a smaller one");
    int const workers = cuda::RuntimeCuda::workers_for(own);
    scratch += own == 0 ? 0 : (workers - 1) * own;
    scratch = cuda::RuntimeCuda::pitch(scratch);  // so that the values after it start like a row
    return {values + scratch, scratch, workers};
  }
  static void attach(cuda::RuntimeCuda& backend, Room const& room, Index own) {
    backend.workers = room.workers, backend.own_scratch = own;
  }

  using Passes = cuda::FusedPasses;
  bool fuses() const { return fuses_; }
  template <class Run>
  bool forward(Passes& passes, Run const& run) const {
    if (fuses_) passes.play<ForwardOf>(*device_, run, [&] { coldpress::forward(run); });
    return fuses_;
  }
  template <class Run>
  bool evaluation(Passes& passes, Run const& run) const {
    auto const by_layers = [&] {
      cuda::Results::Aside const aside{*results_};
      coldpress::forward(run);
      loss_and_gradient(run, [](int, float) {});
    };
    if (fuses_) passes.play<EvaluationOf>(*device_, run, by_layers);
    return fuses_;
  }
  template <class Run, class UpdateStep, class Each>
  bool step(Passes& passes, Run const& run, UpdateStep const& update_step, float* gradients, Each const& each) const {
    if (!fuses_) return false;
    int count = 0;
    run.program.for_each_group([&](int g) {
      if (run.program.group(g).loss >= 0) ++count;
    });
    float* const losses = results_->take(count);
    auto const by_layers = [&] {
      cuda::Results::Aside const aside{*results_};
      coldpress::forward(run);
      loss_and_gradient(run, [](int, float) {});
      backward(run, GradientSinks<float>{{run.workspace}, run.program.slots()});
      run.backend.subtract(run.workspace, run.workspace, passes.program().parameter_size());  // stands for an update
    };
    if (gradients) {
      passes.play<cuda::JitStep>(*device_, run, by_layers, update_step, gradients, losses);
    } else {
      passes.play<cuda::JitStep>(*device_, run, by_layers, update_step, nullptr, losses);
    }
    run.program.for_each_group([&](int g) {
      if (run.program.group(g).loss >= 0) each(g, 0);
    });
    return true;
  }

  float const* bring(Values values, std::size_t place, SharedTensor::Home* home) {
    if (!home || values.empty()) return Buffers::bring(values, place);
    auto const& there = static_cast<DeviceHome const&>(*home);  // because it is on a GPU
    // A library's call keeps the addresses of its operands, so other minibatches are copied to the same address.
    if (auto const* const stays = dynamic_cast<UploadedHome const*>(home);
        stays && &there.owner() == device_.get() && !libraries_)
      return Buffers::bring(stays->values(), place);
    return Buffers::bring(there.owner(), there.on_device(), place);
  }
  std::shared_ptr<SharedTensor::Home> upload(Values values) const {
    return std::make_shared<UploadedHome>(device_, values);
  }
  bool const* flags(bool const* flags, Index count) {
    if (flags_.size() != count || !std::equal(flags, flags + count, held_flags_.begin())) {
      flags_.reserve(count);
      device_->upload(flags_.data(), flags, static_cast<std::size_t>(count));
      held_flags_.assign(flags, flags + count);
    }
    return flags_.data();
  }
  void start(std::size_t place) const {
    device_->abandon();
    for (; place < lent_.size(); ++place) {
      if (is_held(place)) lent_[place]->settle();
    }
  }
  void submit() const { device_->submit(); }
  void forget_layers() const {
    if (libraries_) device_->forget(), libraries_->forget();
  }
  void end() const noexcept {
    for (std::size_t place = 0; place < lent_.size(); ++place) {
      if (is_held(place)) lent_[place]->settle_for_good();
    }
  }
  void lend(Values values, std::size_t place) {
    if (lent_.size() <= place) lent_.resize(place + 1);
    if (!lent_[place] || is_held(place)) lent_[place] = std::make_shared<DeviceCopy>(device_, spares_);
    lent_[place]->lend(values);
  }
  std::shared_ptr<SharedTensor::Home> home(std::size_t place) const { return lent_[place]; }
  static std::string device_of(cuda::RuntimeCuda const& backend) { return backend.device->name(); }

  void start_losses() const { results_->start(); }
  template <class F>
  void settle_losses(F f) const {
    f(results_->fetch());
  }

 private:
  bool is_held(std::size_t place) const { return lent_[place].use_count() > 1; }
  using DeviceTransfer::device_;
  std::shared_ptr<cuda::Libraries> libraries_;  // or null
  std::shared_ptr<cuda::Results> results_;
  cuda::DeviceMemory<bool> flags_;
  bool fuses_;
  std::vector<bool> held_flags_;
  std::vector<std::shared_ptr<DeviceCopy>> lent_;  // the results of the last passes, which tensors may hold
  std::shared_ptr<DeviceCopy::Spares> const spares_ = std::make_shared<DeviceCopy::Spares>();
};

}  // namespace coldpress::dynamic
