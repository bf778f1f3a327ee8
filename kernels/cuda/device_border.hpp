// Between the host's memory and a device's.
#pragma once

#include "border.hpp"
#include "device_copy.hpp"
#include "fused/passes.hpp"
#include "runtime_cuda.hpp"

#include <coldpress/backend/cuda/inlet.hpp>
#include <coldpress/backend/cuda/listed.hpp>

#include <algorithm>
#include <deque>

namespace coldpress::dynamic {

template <>
class Border<cuda::RuntimeCuda> {
 public:
  explicit Border(cuda::RuntimeCuda const& backend)
      : device_(backend.device),
        libraries_(backend.libraries),
        results_(backend.results),
        flags_(backend.device),
        fuses_(backend.fused) {}

  using Passes = cuda::FusedPasses;
  bool fuses() const { return fuses_; }
  template <class Run>
  bool forward(Passes& passes, Run const& run) const {
    if (fuses_) passes.play<ForwardOf>(*device_, run, [&] { coldpress::forward(run); });
    return fuses_;
  }
  template <class Run>
  bool evaluation(Passes& passes, Run const& run) const {
    auto const apart = [&] {
      cuda::Results::Aside const aside{*results_};
      coldpress::forward(run);
      loss_and_gradient(run, [](int, float) {});
    };
    if (fuses_) passes.play<EvaluationOf>(*device_, run, apart);
    return fuses_;
  }
  template <class Run, class Turn, class Each>
  bool step(Passes& passes, Run const& run, Turn const& turn, float* gradients, Each const& each) const {
    if (!fuses_) return false;
    int count = 0;
    run.program.for_each_group([&](int g) {
      if (run.program.group(g).loss >= 0) ++count;
    });
    float* const losses = results_->take(count);
    auto const apart = [&] {
      cuda::Results::Aside const aside{*results_};
      coldpress::forward(run);
      loss_and_gradient(run, [](int, float) {});
      backward(run, GradientSinks<float>{{run.workspace}, run.program.slots()});
      run.backend.subtract(run.workspace, run.workspace, run.program.parameter_size());  // in an update's place
    };
    if (gradients) {
      passes.play<cuda::ListedStep>(*device_, run, apart, turn, gradients, losses);
    } else {
      passes.play<cuda::ListedStep>(*device_, run, apart, turn, nullptr, losses);
    }
    run.program.for_each_group([&](int g) {
      if (run.program.group(g).loss >= 0) each(g, 0);
    });
    return true;
  }

  using Memory = cuda::DeviceMemory<float>;
  Memory memory(Index size = 0) const {
    Memory memory{device_};
    memory.reserve(size);
    return memory;
  }
  using Workspace = cuda::UnsetMemory<float>;
  Workspace workspace() const { return Workspace{device_}; }
  void clear(Memory& memory) const {
    if (memory.data()) device_->clear(memory.data(), static_cast<std::size_t>(memory.size()) * sizeof(float));
  }
  template <class F>
  void read(float const* values, Index size, F f) const {
    f(static_cast<float const*>(down(values, size, copy_)));
  }
  template <class F>
  void change(float* values, Index size, F f) const {
    f(down(values, size, copy_));
    device_->upload(values, copy_.data(), copy_.size() * sizeof(float));
  }
  float const* bring(Values values, std::size_t place, SharedTensor::Home* home) {
    if (values.empty()) return nullptr;
    while (brought_.size() <= place) brought_.emplace_back(device_);
    auto& [inlet, uploaded] = brought_[place];
    uploaded = {};
    if (!home) return inlet.bring(values);
    auto const& there = static_cast<DeviceHome const&>(*home);  // as its device's name says
    // A library's call has its operands' addresses for good: other minibatches are copied to the same.
    if (auto const* const stays = dynamic_cast<UploadedHome const*>(home);
        stays && &there.owner() == device_.get() && !libraries_) {
      uploaded = stays->values();
      return uploaded.address();
    }
    return inlet.bring(there.owner(), there.on_device());
  }
  float const* brought(Values, std::size_t place) const {
    if (place >= brought_.size()) return nullptr;
    auto const& [inlet, uploaded] = brought_[place];
    if (uploaded) return uploaded.address();
    device_->read_again();
    return inlet.last();
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
  void forget() const {
    if (libraries_) device_->forget(), libraries_->forget();
  }
  void end() const noexcept {
    for (std::size_t place = 0; place < lent_.size(); ++place) {
      if (is_held(place)) lent_[place]->settle_for_good();
    }
  }
  Values fetch(Values values, std::size_t place) {
    if (fetched_.size() <= place) fetched_.resize(place + 1);
    down(values.data(), static_cast<Index>(values.size()), fetched_[place]);
    return fetched_[place];
  }
  void lend(Values values, std::size_t place) {
    if (lent_.size() <= place) lent_.resize(place + 1);
    if (!lent_[place] || is_held(place)) lent_[place] = std::make_shared<DeviceCopy>(device_, spares_);
    lent_[place]->lend(values);
  }
  std::shared_ptr<SharedTensor::Home> home(std::size_t place) const { return lent_[place]; }
  static std::string device_of(cuda::RuntimeCuda const& backend) { return backend.device->name(); }

  using Sums = cuda::DeviceMemory<double>;
  Sums sums(int count) const {
    Sums sums{device_};
    sums.reserve(count);
    return sums;
  }
  void clear(Sums& sums) const {
    if (sums.data()) device_->clear(sums.data(), static_cast<std::size_t>(sums.size()) * sizeof(double));
  }
  std::vector<double> fetch(Sums const& sums) const {
    std::vector<double> all(static_cast<std::size_t>(sums.size()));
    if (!all.empty()) device_->download(all.data(), sums.data(), all.size() * sizeof(double));
    return all;
  }

  void start_losses() const { results_->start(); }
  template <class F>
  void settle_losses(F f) const {
    f(results_->fetch());
  }

 private:
  bool is_held(std::size_t place) const { return lent_[place].use_count() > 1; }
  float* down(float const* values, Index size, std::vector<float>& to) const {
    to.resize(static_cast<std::size_t>(size));
    if (size > 0) device_->download(to.data(), values, to.size() * sizeof(float));
    return to.data();
  }
  std::shared_ptr<cuda::Device> device_;
  std::shared_ptr<cuda::Libraries> libraries_;  // or null
  std::shared_ptr<cuda::Results> results_;
  struct Brought {
    explicit Brought(std::shared_ptr<cuda::Device> const& device) : inlet(device) {}
    cuda::Inlet inlet;
    cuda::DeviceValues<float> uploaded;  // in the inlet's place
  };
  std::deque<Brought> brought_;
  cuda::DeviceMemory<bool> flags_;
  bool fuses_;
  std::vector<bool> held_flags_;
  std::vector<std::vector<float>> fetched_;
  std::vector<std::shared_ptr<DeviceCopy>> lent_;  // what the last passes have made, which tensors may hold
  std::shared_ptr<DeviceCopy::Spares> const spares_ = std::make_shared<DeviceCopy::Spares>();
  mutable std::vector<float> copy_;
};

}  // namespace coldpress::dynamic
