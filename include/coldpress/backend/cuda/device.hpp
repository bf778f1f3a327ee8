// A GPU as a network uses it, or the host in the place of one, which runs the same kernels as loops: for tests where
// there is no GPU.
#pragma once

#include <coldpress/backend/cuda/pass.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace coldpress::cuda {

/// What devices have been asked for since the program started.
struct Counts {
  std::atomic<Index> allocations = 0;             // of memory, theirs or pinned
  std::atomic<Index> uploads = 0, downloads = 0;  // copies between a host and a device
  std::atomic<Index> copies = 0;                  // and on a device
  std::atomic<Index> waits = 0;                   // until a device had nothing left to do
  std::atomic<Index> graphs = 0, launches = 0;    // graphs made, and started
  std::atomic<Index> kernels = 0, blocks = 0;     // in those started
  std::atomic<Index> library_calls = 0;           // beside these kernels
  std::atomic<Index> clusters = 0;                // kernels whose blocks are one,
  std::atomic<Index> barriers = 0;                // and how often those of all wait for each other
  std::atomic<Index> patches = 0;                 // kernels of a graph that got other arguments
};
inline Counts& counts() {
  static Counts all;
  return all;
}

/// A kernel whose text was made while the program runs: a GPU's, or its loops.
struct Compiled {
  void const* kernel = nullptr;
  Loops loops = nullptr;
};

/// A pass that a device has taken down.
class TakenDown {
 public:
  explicit TakenDown(Pass const& from) : pass(from) {}
  virtual ~TakenDown() = default;
  /// The arguments of pass.calls()[number] are others now.
  virtual void change(std::size_t number) = 0;
  virtual void start() = 0;
  Pass pass;
};

/// For one network, and one thread at a time. What it is asked for happens in this order, unless it is said otherwise.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string const& name() const = 0;
  /// The host runs the kernels.
  virtual bool emulated() const = 0;
  /// The calling thread's current device, for what asks CUDA itself.
  virtual void make_current() const {}
  /// Where it does one thing after another, a cudaStream_t, which libraries are told once.
  virtual void* stream() const { return nullptr; }

  /// Zeroed. Throws DeviceError where there is not enough; then nothing has changed.
  void* allocate(std::size_t bytes) { return ++counts().allocations, make(bytes); }
  /// The same, for what is written before it is read: a GPU leaves it unset, so that tools can find reads of what
  /// nobody has written, and the emulated device makes it NaN.
  void* allocate_unset(std::size_t bytes) { return ++counts().allocations, make_unset(bytes); }
  void release(void* memory) noexcept;
  /// The same of memory that no kernel uses that was gathered.
  void discard(void* memory) noexcept { destroy(memory); }
  /// Memory of the host that the device reads by itself.
  void* allocate_pinned(std::size_t bytes) { return ++counts().allocations, make_pinned(bytes); }
  virtual void release_pinned(void* memory) noexcept = 0;

  void upload(void* to, void const* from, std::size_t bytes) { flush(), ++counts().uploads, copy_up(to, from, bytes); }
  /// Waits until all is done.
  void download(void* to, void const* from, std::size_t bytes) {
    flush(), ++counts().downloads, ++counts().waits, copy_down(to, from, bytes);
  }
  void clear(void* to, std::size_t bytes) { flush(), set_zero(to, bytes); }
  /// From a device of the same name, which may be this one, once what that has been asked for is done; and done before
  /// what either is asked for next. Nothing that this one was asked for before may use `to`.
  void copy(void* to, Device& other, void const* from, std::size_t bytes) {
    other.flush(), ++counts().copies, copy_over(to, other, from, bytes);
  }

  /// The kernel of a text (kernels/cuda/fused), while the device lives. Throws what compile does.
  virtual Compiled compile(std::string const& source) = 0;

  /// Gathers a kernel for the pass that is under way, with the blocks that it asks for and that there is room for.
  template <class Body>
  void gather(Call call, grid::Demand const& demand, Grid const& grid, Body const& body) {
    static_assert(std::is_trivially_copyable_v<Arguments<Body>>);
    Arguments<Body> arguments{grid, body};
    call.body =
        static_cast<std::size_t>(reinterpret_cast<char*>(&arguments.body) - reinterpret_cast<char*>(&arguments));
    call.size = sizeof arguments;
    gather(call, demand, &arguments);
  }
  /// A library's call, which begins after the kernels before it and ends before those after it.
  void gather(LibraryCall const& library, LibraryCall::Operands const& operands) {
    Call call{};
    call.library = &library, call.size = sizeof operands;
    gather(call, {}, &operands);
  }
  /// Makes a library's call by itself, and waits for it. Before it is captured in a pass it is made once on memory that
  /// nobody reads: what a library loads and allocates in its first call may not be captured, nor be in time.
  virtual void call_once(LibraryCall const&, LibraryCall::Operands const&) {}
  /// What the kernels that f gathers, which are not started, would ask for as one.
  template <class F>
  grid::Demand demand_of(F f) {
    struct Aside {
      explicit Aside(Device& of)
          : device(of),
            pass(std::exchange(of.pass_, {})),
            asked(std::exchange(of.asked_, {})),
            whole(std::exchange(of.whole_, 0)) {}
      ~Aside() { device.pass_ = std::move(pass), device.asked_ = asked, device.whole_ = whole; }
      Device& device;
      Pass pass;
      grid::Demand asked;
      std::size_t whole;
    } const aside{*this};
    f();
    return asked_;
  }
  /// Drops the passes that it has taken down, whose library's calls are about to go.
  void forget() { flush(), taken_down_.clear(), next_ = 0; }
  /// Drops what a pass that failed has gathered.
  void abandon() { pass_.cut(whole_); }
  /// Starts what has been gathered.
  void flush();
  /// The number of the next start of what is gathered until then, and whether one failed: then none of it was done.
  Index next_start() const { return starts_; }
  bool has_failed(Index start) const { return std::find(failed_.begin(), failed_.end(), start) != failed_.end(); }
  /// Ends a pass. So many are started together, or fewer where somebody reads what one has made.
  void submit();
  void start_together(int passes);
  /// The number of this pass among those that are started together and those before. What passes of the same number
  /// read may be written again: waits until the last of these is done.
  int turn();
  /// This pass reads what was brought for an earlier one: the next that something is brought for waits for all.
  void read_again() { again_ = true; }
  /// From pinned memory, at once: before the kernels of this pass, and beside those of the one before.
  void upload_ahead(void* to, void const* pinned, std::size_t bytes) {
    ++counts().uploads, copy_ahead(to, pinned, bytes);
  }

  /// Whether small passes are clusters, where the device has such. The bits are the same. For tests also the
  /// environment variable COLDPRESS_CUDA_CLUSTERS, which is read when a device is opened: 0 for none.
  bool clusters = clusters_are_wanted();

  /// The grid of a kernel, whose threads share some memory of the device.
  Grid grid() const {
    Grid grid;
    grid.sums = sums_, grid.tickets = tickets_;
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
  /// How many blocks of a call's kernel are there at the same time: they wait for each other.
  virtual int most_blocks(Call const& call) = 0;
  /// Whether so many of them can be a cluster.
  virtual bool has_cluster(Call const& call, int blocks) = 0;
  virtual std::unique_ptr<TakenDown> take_down(Pass const& pass) = 0;
  /// What was started so far is done when this turn comes again, which wait is for.
  virtual void mark(int turn) = 0;
  virtual void wait(int turn) = 0;

  double* sums_ = nullptr;
  std::uint32_t* tickets_ = nullptr;
  std::vector<std::unique_ptr<TakenDown>> taken_down_;  // the last few

 private:
  void gather(Call call, grid::Demand const& demand, void const* arguments);
  Pass pass_;
  grid::Demand asked_;     // of what has been gathered
  std::size_t next_ = 0;   // of those taken down, to give way to another
  std::size_t whole_ = 0;  // calls of passes that have ended
  Index starts_ = 0;
  std::vector<Index> failed_;         // of these
  int together_ = 1, submitted_ = 0;  // passes that are started together, and how many of these have ended
  int turn_ = 0;                      // of those that are started together: 0 and 1
  bool waited_ = false;               // for this turn, in which something was brought
  bool again_ = false;
};

/// "cuda", which is the first GPU, "cuda:NUMBER", or "cuda:emulated". Throws UnsupportedError where there is no such
/// device, or none that can be used, and says what to do.
std::shared_ptr<Device> open_device(std::string const& name);
std::shared_ptr<Device> emulated_device();

/// Memory as HeapMemory is: zeroed where it is a DeviceMemory; grows, losing what it held; never shrinks.
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
/// For values of a pass: not zeroed.
template <class T>
using UnsetMemory = MemoryOf<T, &Device::allocate_unset, &Device::release>;
template <class T>
using PinnedMemory = MemoryOf<T, &Device::allocate_pinned, &Device::release_pinned>;

/// launch_by for the bodies of bodies.hpp, which .cu files define.
template <class Body>
void launch(Device& device, Grid const& grid, Body const& body);

}  // namespace coldpress::cuda
