#include <coldpress/backend/cuda/device.hpp>

#include <cstdlib>
#include <cstring>
#include <new>

namespace coldpress::cuda {
namespace {

class EmulatedDevice final : public Device {
 public:
  std::string const& name() const override {
    static std::string const name = "cuda:emulated";
    return name;
  }
  void* allocate(std::size_t bytes) override {
    void* const memory = ::operator new (bytes, std::align_val_t{alignment});
    return std::memset(memory, 0, bytes);
  }
  void release(void* memory) noexcept override { ::operator delete (memory, std::align_val_t{alignment}); }
  void upload(void* to, void const* from, std::size_t bytes) override { ++copies_.up, std::memcpy(to, from, bytes); }
  void download(void* to, void const* from, std::size_t bytes) override {
    ++copies_.down, std::memcpy(to, from, bytes);
  }
  void clear(void* to, std::size_t bytes) override { std::memset(to, 0, bytes); }

 private:
  static constexpr std::size_t alignment = 256;  // as cudaMalloc's
};

}  // namespace

std::shared_ptr<Device> emulated_device() { return std::make_shared<EmulatedDevice>(); }

}  // namespace coldpress::cuda
