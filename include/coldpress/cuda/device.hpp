// A GPU as a network uses it, or an emulation on the host.
#pragma once

// The emulated device runs the same kernels as loops, for tests where there is no GPU.

#include <coldpress/cuda/pass.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace coldpress::cuda {

/// The number of operations on all devices since the program started.
struct Counts {
  std::atomic<Index> allocations = 0;             // of device memory or pinned memory
  std::atomic<Index> uploads = 0, downloads = 0;  // copies between a host and a device
  std::atomic<Index> copies = 0;                  // within devices
  std::atomic<Index> waits = 0;                   // until a device had finished everything
  std::atomic<Index> graphs = 0, launches = 0;    // graphs that were made, and graph launches
  std::atomic<Index> kernels = 0, blocks = 0;     // in all launches
  std::atomic<Index> library_calls = 0;           // in all launches, besides the kernels
  std::atomic<Index> clusters = 0;                // kernels whose blocks form a cluster
  std::atomic<Index> barriers = 0;                // among all blocks of a kernel
  std::atomic<Index> patches = 0;                 // kernels of a graph that got new arguments
};
inline Counts& counts() {
  static Counts all;
  return all;
}

/// A kernel that was compiled while the program runs: for a GPU, or as loops for the emulated device.
struct Compiled {
  void const* kernel = nullptr;
  Loops loops = nullptr;
};

/// A pass that a device has recorded as a graph.
class TakenDown {
 public:
  explicit TakenDown(Pass const& from) : pass(from) {}
  virtual ~TakenDown() = default;
  /// Tells the graph that the arguments of pass.calls()[number] have changed.
  virtual void change(std::size_t number) = 0;
  virtual void start() = 0;
  Pass pass;
};

/// Serves one network, and one thread at a time. Requests are executed in order unless stated otherwise.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string const& name() const = 0;
  /// Whether the host runs the kernels.
  virtual bool emulated() const = 0;
  /// Makes this the calling thread's current device, for code that calls CUDA itself.
  virtual void make_current() const {}
  /// The cudaStream_t in which the device works, which libraries are given once; null on the emulated device.
  virtual void* stream() const { return nullptr; }

  /// Allocates zeroed memory. Throws DeviceError if there is not enough; then nothing has changed.
  void* allocate(std::size_t bytes) { return ++counts().allocations, make(bytes); }
  /// Allocates memory for values that are written before they are read. A GPU leaves it uninitialised, so that tools
  /// can find reads of values that were never written; the emulated device fills it with NaN.
  void* allocate_unset(std::size_t bytes) { return ++counts().allocations, make_unset(bytes); }
  void release(void* memory) noexcept;
  /// Releases memory that no gathered kernel uses, so nothing needs to be started first.
  void discard(void* memory) noexcept { destroy(memory); }
  /// Allocates memory of the host that the device can read by itself.
  void* allocate_pinned(std::size_t bytes) { return ++counts().allocations, make_pinned(bytes); }
  virtual void release_pinned(void* memory) noexcept = 0;

  void upload(void* to, void const* from, std::size_t bytes) { flush(), ++counts().uploads, copy_up(to, from, bytes); }
  /// Waits until everything is done.
  void download(void* to, void const* from, std::size_t bytes) {
    flush(), ++counts().downloads, ++counts().waits, copy_down(to, from, bytes);
  }
  void clear(void* to, std::size_t bytes) { flush(), set_zero(to, bytes); }
  /// Copies from a device of the same name, which may be this one. The copy begins after everything that `other` has
  /// been asked for, and ends before everything that either is asked for next. Nothing that this device was asked for
  /// earlier may use `to`.
  void copy(void* to, Device& other, void const* from, std::size_t bytes) {
    other.flush(), ++counts().copies, copy_over(to, other, from, bytes);
  }

  /// Compiles the kernel of a source text (kernels/cuda/fused); it lives as long as the device. Throws like
  /// cuda::compile.
  virtual Compiled compile(std::string const& source) = 0;

  /// Adds a kernel to the current pass, with as many blocks as it needs and as can run at the same time.
  template <class Body>
  void gather(Call call, grid::LaunchEstimate const& estimate, Grid const& grid, Body const& body) {
    static_assert(std::is_trivially_copyable_v<Arguments<Body>>);
    // Passes are compared byte by byte, so that padding must not be what was there before.
    alignas(Arguments<Body>) std::byte bytes[sizeof(Arguments<Body>)] = {};
    auto* const arguments = new (bytes) Arguments<Body>{grid, body};
    call.body = static_cast<std::size_t>(reinterpret_cast<std::byte*>(&arguments->body) - bytes);
    call.size = sizeof bytes;
    gather(call, estimate, bytes);
  }
  /// Adds a library's call to the current pass, after the kernels before it and before those after it.
  void gather(LibraryCall const& library, LibraryCall::Operands const& operands) {
    Call call{};
    call.library = &library, call.size = sizeof operands;
    gather(call, {}, &operands);
  }
  /// Makes a single call of a library and waits for it. This is done once, on scratch memory, before the call is
  /// captured in a pass: the memory allocations and module loads of a library's first call cannot be captured, and
  /// would be too slow in a pass.
  virtual void call_once(LibraryCall const&, LibraryCall::Operands const&) {}
  /// The launch estimate for one kernel that does the work of all kernels that f gathers; these are not started.
  template <class F>
  grid::LaunchEstimate launch_estimate_of(F f) {
    struct Aside {
      explicit Aside(Device& of)
          : device(of),
            pass(std::exchange(of.pass_, {})),
            asked(std::exchange(of.asked_, {})),
            whole(std::exchange(of.whole_, 0)) {}
      ~Aside() { device.pass_ = std::move(pass), device.asked_ = asked, device.whole_ = whole; }
      Device& device;
      Pass pass;
      grid::LaunchEstimate asked;
      std::size_t whole;
    } const aside{*this};
    f();
    return asked_;
  }
  /// Drops all recorded graphs, because the library calls in them are about to be destroyed.
  void forget() { flush(), taken_down_.clear(), next_ = 0; }
  /// Drops what a failed pass has gathered.
  void abandon() { pass_.cut(whole_); }
  /// Starts everything that has been gathered.
  void flush();
  /// The number of the next start of gathered kernels. has_failed() says whether a start failed; then nothing of it was
  /// executed.
  Index next_start() const { return starts_; }
  bool has_failed(Index start) const { return std::find(failed_.begin(), failed_.end(), start) != failed_.end(); }
  /// submit() ends a pass. start_together() says how many passes are started as a group; fewer are if a result is read.
  void submit();
  void start_together(int passes);
  /// The place in which the inputs of this pass are staged: there are two per pass of a group. Waits until the passes
  /// that last read from this place are done, so that it can be written again.
  int launch_slot();
  /// Says that this pass reads inputs that were brought for an earlier one. Before inputs are brought the next time,
  /// the device waits for all passes.
  void read_again() { again_ = true; }
  /// Copies from pinned memory at once: before the kernels of this pass, and while those of the pass before still run.
  void upload_ahead(void* to, void const* pinned, std::size_t bytes) {
    ++counts().uploads, copy_ahead(to, pinned, bytes);
  }

  /// Whether small passes run in clusters, on devices that have them; the bits are the same. The environment variable
  /// COLDPRESS_CUDA_CLUSTERS=0, which is read when a device is opened, turns them off for tests.
  bool clusters = clusters_are_wanted();

  /// The grid that a kernel is given; all kernels share the same sums, tickets and parts of sums in the device's
  /// memory.
  Grid grid() const {
    Grid grid;
    grid.sums = sums_, grid.tickets = tickets_, grid.partial_sums = partial_sums_;
    return grid;
  }

  static bool clusters_are_wanted();

 protected:
  virtual void* make(std::size_t bytes) = 0;
  virtual void* make_unset(std::size_t bytes) { return make(bytes); }
  virtual void* make_pinned(std::size_t bytes) = 0;
  virtual void destroy(void* memory) noexcept = 0;
  virtual void copy_up(void* to, void const* from, std::size_t bytes) = 0;
  virtual void copy_down(void* to, void const* from, std::size_t bytes) = 0;
  virtual void copy_ahead(void* to, void const* pinned, std::size_t bytes) = 0;
  virtual void copy_over(void* to, Device& other, void const* from, std::size_t bytes) = 0;
  virtual void set_zero(void* to, std::size_t bytes) = 0;
  /// The number of blocks of a call's kernel that can run at the same time, which is needed because they wait for each
  /// other.
  virtual int most_blocks(Call const& call) = 0;
  /// Whether `blocks` blocks of it can form a cluster.
  virtual bool has_cluster(Call const& call, int blocks) = 0;
  virtual std::unique_ptr<TakenDown> take_down(Pass const& pass) = 0;
  /// mark(group) marks the end of everything that was started so far; wait(group) waits until the device gets there.
  virtual void mark(int group) = 0;
  virtual void wait(int group) = 0;

  /// Makes the memory that all kernels share, and destroys it.
  void make_common();
  void destroy_common() noexcept;
  std::vector<std::unique_ptr<TakenDown>> taken_down_;  // the last few recorded graphs

 private:
  void gather(Call call, grid::LaunchEstimate const& estimate, void const* arguments);
  double* sums_ = nullptr;
  std::uint32_t* tickets_ = nullptr;
  float* partial_sums_ = nullptr;
  Pass pass_;
  grid::LaunchEstimate asked_;  // the launch estimate for what has been gathered
  std::size_t next_ = 0;        // the index of the recorded graph that is replaced next
  std::size_t whole_ = 0;       // the number of gathered calls that belong to ended passes
  Index starts_ = 0;
  std::vector<Index> failed_;         // the numbers of the starts that failed
  int together_ = 1, submitted_ = 0;  // the passes per group, and how many of the current group have ended
  int group_ = 0;                     // the number of the current group, 0 and 1 alternately
  bool waited_ = false;               // whether this group has been waited for, so that inputs could be brought
  bool again_ = false;
};

/// Opens "cuda" (the first GPU), "cuda:NUMBER" or "cuda:emulated". Throws UnsupportedError, which says what to do, if
/// there is no such device or it cannot be used.
std::shared_ptr<Device> open_device(std::string const& name);
std::shared_ptr<Device> emulated_device();

/// Memory on a device that grows when needed, then losing its contents, and never shrinks. DeviceMemory is zeroed.
template <class T, auto allocate, auto release>
class MemoryOf {
 public:
  explicit MemoryOf(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  MemoryOf(MemoryOf&& other) noexcept
      : device_(other.device_), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MemoryOf& operator=(MemoryOf&&) = delete;
  ~MemoryOf() {
    if (data_) (*device_.*release)(data_);
  }
  void reserve(Index size) {
    if (size <= size_) return;
    auto* const fresh = static_cast<T*>((*device_.*allocate)(static_cast<std::size_t>(size) * sizeof(T)));
    if (data_) (*device_.*release)(data_);
    data_ = fresh, size_ = size;
  }
  T* data() const { return data_; }
  Index size() const { return size_; }

 private:
  std::shared_ptr<Device> device_;
  T* data_ = nullptr;
  Index size_ = 0;
};
template <class T>
using DeviceMemory = MemoryOf<T, &Device::allocate, &Device::release>;
/// Memory for the values of a pass, which is not zeroed.
template <class T>
using UnsetMemory = MemoryOf<T, &Device::allocate_unset, &Device::release>;
template <class T>
using PinnedMemory = MemoryOf<T, &Device::allocate_pinned, &Device::release_pinned>;

/// launch_by for the bodies in bodies.hpp, defined in .cu files.
template <class Body>
void launch(Device& device, Grid const& grid, Body const& body);

}  // namespace coldpress::cuda
