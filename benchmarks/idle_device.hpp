// A GPU that is not there, for what looks at passes alone: it has no memory, and neither copies nor starts anything.
#pragma once

#include <coldpress/cuda/device.hpp>

#include <string>

namespace bench {

class IdleDevice : public coldpress::cuda::Device {
 public:
  std::string const& name() const override { return name_; }
  bool emulated() const override { return true; }
  coldpress::cuda::Compiled compile(std::string const&) override { return {}; }
  void release_pinned(void*) noexcept override {}

 protected:
  explicit IdleDevice(std::string name) : name_(std::move(name)) {}
  void* make(std::size_t) override { return nullptr; }
  void* make_pinned(std::size_t) override { return nullptr; }
  void destroy(void*) noexcept override {}
  void copy_up(void*, void const*, std::size_t) override {}
  void copy_down(void*, void const*, std::size_t) override {}
  void copy_ahead(void*, void const*, std::size_t) override {}
  void copy_over(void*, Device&, void const*, std::size_t) override {}
  void set_zero(void*, std::size_t) override {}
  int most_blocks(coldpress::cuda::Call const&) override { return 1; }
  bool has_cluster(coldpress::cuda::Call const&, int) override { return false; }
  void mark(int) override {}
  void wait(int) override {}

 private:
  std::string name_;
};

}  // namespace bench
