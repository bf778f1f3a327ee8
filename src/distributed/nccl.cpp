// Loads CUDA and NCCL when they are needed, and moves the bytes of ranks through the memory of their GPUs.
#include <coldpress/distributed/nccl.hpp>

#include "peers.hpp"

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <nccl.h>

namespace coldpress::distributed {
namespace {

using Clock = std::chrono::steady_clock;

/// CUDA's runtime and NCCL, which are loaded, so that a program starts without them.
struct Api {
  cudaError_t (*device_count)(int*);
  cudaError_t (*set_device)(int);
  cudaError_t (*allocate)(void**, std::size_t);
  cudaError_t (*release)(void*);
  cudaError_t (*copy)(void*, void const*, std::size_t, cudaMemcpyKind, cudaStream_t);
  cudaError_t (*create_stream)(cudaStream_t*, unsigned);
  cudaError_t (*destroy_stream)(cudaStream_t);
  cudaError_t (*query_stream)(cudaStream_t);
  char const* (*text_of_cuda)(cudaError_t);
  decltype(&ncclGetUniqueId) unique_id;
  decltype(&ncclCommInitRank) begin;
  decltype(&ncclCommDestroy) end;
  decltype(&ncclCommAbort) abort;
  decltype(&ncclCommGetAsyncError) async_error;
  decltype(&ncclGroupStart) group;
  decltype(&ncclGroupEnd) end_group;
  decltype(&ncclSend) send;
  decltype(&ncclRecv) receive;
  decltype(&ncclGetErrorString) text_of;

  static Api const& get() {
    static Api const api;
    return api;
  }

 private:
  Api() {
    Library const cuda{"libcudart.so." + std::to_string(CUDART_VERSION / 1000)}, nccl{"libnccl.so.2"};
    cuda.find(device_count, "cudaGetDeviceCount"), cuda.find(set_device, "cudaSetDevice");
    cuda.find(allocate, "cudaMalloc"), cuda.find(release, "cudaFree"), cuda.find(copy, "cudaMemcpyAsync");
    cuda.find(create_stream, "cudaStreamCreateWithFlags"), cuda.find(destroy_stream, "cudaStreamDestroy");
    cuda.find(query_stream, "cudaStreamQuery"), cuda.find(text_of_cuda, "cudaGetErrorString");
    nccl.find(unique_id, "ncclGetUniqueId"), nccl.find(begin, "ncclCommInitRank");
    nccl.find(end, "ncclCommDestroy"), nccl.find(abort, "ncclCommAbort");
    nccl.find(async_error, "ncclCommGetAsyncError"), nccl.find(text_of, "ncclGetErrorString");
    nccl.find(group, "ncclGroupStart"), nccl.find(end_group, "ncclGroupEnd");
    nccl.find(send, "ncclSend"), nccl.find(receive, "ncclRecv");
  }
  struct Library {
    explicit Library(std::string file) : name(std::move(file)), handle(dlopen(name.c_str(), RTLD_NOW)) {
      if (!handle)
        throw UnsupportedError{std::string{"ranks with NCCL need a library that cannot be loaded: "} + dlerror()};
    }
    void find(auto& function, char const* symbol) const {
      void* const address = dlsym(handle, symbol);
      if (!address) throw UnsupportedError{name + " has no " + symbol};
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
    }
    std::string name;
    void* handle;
  };
};

void check_device(Api const& api, int device) {
  int count = 0;
  cudaError_t const code = api.device_count(&count);
  if (code != cudaSuccess || count == 0)
    throw UnsupportedError{std::string{"ranks with NCCL need a GPU, and there is none"} +
                           (code != cudaSuccess ? std::string{" ("} + api.text_of_cuda(code) + ")" : "")};
  if (device < 0 || device >= count)
    throw UnsupportedError{"there is no GPU " + std::to_string(device) + ", only " + std::to_string(count) +
                           ", counted from 0"};
}

/// Throws on all ranks what one of them has thrown, or that it has.
void check_all(Communicator& ranks, auto const& check) {
  std::vector<unsigned char> failed(static_cast<std::size_t>(ranks.size()));
  std::exception_ptr error;
  try {
    check();
  } catch (Error const&) {
    error = std::current_exception();
  }
  failed[static_cast<std::size_t>(ranks.rank())] = error != nullptr;
  ranks.share(failed.data(), [](int rank) { return static_cast<std::size_t>(rank); });
  if (error) std::rethrow_exception(error);
  auto const first = std::ranges::find(failed, 1);
  if (first != failed.end())
    throw UnsupportedError{"rank " + std::to_string(first - failed.begin()) + " has no NCCL or no GPU for it"};
}

}  // namespace

struct Nccl::Library {
  Api const* api = nullptr;
  Seconds limit{};
  int rank = 0, size = 1;
  bool failed = false;
  ncclComm_t ranks = nullptr;
  cudaStream_t stream = nullptr;
  struct Buffer {
    void* values = nullptr;
    std::size_t bytes = 0;
  } out{}, in{};

  ~Library() {
    if (ranks) failed ? api->abort(ranks) : api->end(ranks);
    if (stream) api->destroy_stream(stream);
    for (Buffer const& buffer : {out, in}) {
      if (buffer.values) api->release(buffer.values);
    }
  }
  void check(cudaError_t code) const {
    if (code != cudaSuccess) throw DeviceError{std::string{"CUDA: "} + api->text_of_cuda(code)};
  }
  void check(ncclResult_t code) const {
    if (code != ncclSuccess) throw DeviceError{std::string{"NCCL: "} + api->text_of(code)};
  }
  void reserve(Buffer& buffer, std::size_t bytes) const {
    if (bytes <= buffer.bytes) return;
    if (buffer.values) check(api->release(std::exchange(buffer, {}).values));
    check(api->allocate(&buffer.values, bytes));
    buffer.bytes = bytes;
  }
  [[noreturn]] void fail(int peer, std::string const& how) {
    failed = true;
    api->abort(std::exchange(ranks, nullptr));
    throw PeerError{"rank " + std::to_string(peer) + " " + how + " (seen by rank " + std::to_string(rank) + ")", peer};
  }
  void check(ncclResult_t code, int peer) {
    if (code != ncclSuccess) fail(peer, std::string{"cannot be reached: "} + api->text_of(code));
  }
  void wait(int peer) {
    auto const start = Clock::now();
    for (;;) {
      cudaError_t const code = api->query_stream(stream);
      if (code == cudaSuccess) return;
      if (code != cudaErrorNotReady) fail(peer, std::string{"cannot be reached: "} + api->text_of_cuda(code));
      ncclResult_t state = ncclSuccess;
      check(api->async_error(ranks, &state), peer);
      check(state, peer);
      if (Seconds{Clock::now() - start} > limit)
        fail(peer, "has not answered for " + std::to_string(limit.count()) + " s");
      std::this_thread::yield();
    }
  }
};

Nccl::Nccl(Communicator& ranks, int device, Seconds limit)
    : library_(std::make_unique<Library>()), rank_(ranks.rank()), size_(ranks.size()) {
  if (!(limit.count() > 0))
    throw ConfigError{"Nccl: the time limit must be positive, is " + std::to_string(limit.count()) + " s"};
  Library& library = *library_;
  library.limit = limit, library.rank = rank_, library.size = size_;
  ncclUniqueId id{};
  check_all(ranks, [&] {
    library.api = &Api::get();
    check_device(*library.api, device);
    library.check(library.api->set_device(device));
    library.check(library.api->create_stream(&library.stream, cudaStreamNonBlocking));
    if (rank_ == 0) library.check(library.api->unique_id(&id));
  });
  ranks.broadcast(&id, sizeof id);
  library.check(library.api->begin(&library.ranks, size_, id, rank_));
}

Nccl::~Nccl() = default;

void Nccl::send(void const* bytes, std::size_t count, int to) { exchange(bytes, count, nullptr, 0, to); }
void Nccl::receive(void* bytes, std::size_t count, int from) { exchange(nullptr, 0, bytes, count, from); }

void Nccl::exchange(void const* sent, std::size_t sent_count, void* received, std::size_t received_count, int with) {
  Library& library = *library_;
  Api const& api = *library.api;
  check_peer(with, rank_, size_);
  if (library.failed) throw lost_before(with, rank_);
  library.reserve(library.out, sent_count), library.reserve(library.in, received_count);
  if (sent_count > 0)
    library.check(api.copy(library.out.values, sent, sent_count, cudaMemcpyHostToDevice, library.stream));
  library.check(api.group(), with);
  if (sent_count > 0)
    library.check(api.send(library.out.values, sent_count, ncclUint8, with, library.ranks, library.stream), with);
  if (received_count > 0)
    library.check(api.receive(library.in.values, received_count, ncclUint8, with, library.ranks, library.stream), with);
  library.check(api.end_group(), with);
  if (received_count > 0)
    library.check(api.copy(received, library.in.values, received_count, cudaMemcpyDeviceToHost, library.stream));
  library.wait(with);
}

void Nccl::give_up() noexcept {
  Library& library = *library_;
  if (library.failed) return;
  library.failed = true;
  library.api->abort(std::exchange(library.ranks, nullptr));
}

}  // namespace coldpress::distributed
