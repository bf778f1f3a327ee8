#include <coldpress/backend/cuda/compiler.hpp>

#include "headers.hpp"

#include <coldpress/core/error.hpp>
#include <coldpress/core/fingerprint.hpp>
#include <coldpress/data/atomic_file.hpp>

#include <cuda_runtime_api.h>
#include <nvrtc.h>

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>

namespace coldpress::cuda {
namespace {

/// NVRTC, loaded when it is first needed: programs do not link it.
class Nvrtc {
 public:
  static Nvrtc const& get() {
    static Nvrtc const library;
    return library;
  }
  template <auto F>
  using Function = decltype(F);
  Function<&nvrtcCreateProgram> create;
  Function<&nvrtcDestroyProgram> destroy;
  Function<&nvrtcCompileProgram> compile;
  Function<&nvrtcGetProgramLogSize> log_size;
  Function<&nvrtcGetProgramLog> log;
  Function<&nvrtcGetCUBINSize> cubin_size;
  Function<&nvrtcGetCUBIN> cubin;
  Function<&nvrtcGetErrorString> error;

 private:
  Nvrtc() {
    static std::string const name = "libnvrtc.so." + std::to_string(CUDART_VERSION / 1000);
    void* library = dlopen(name.c_str(), RTLD_NOW);
    if (!library) {
      std::string const why = dlerror();
      throw UnsupportedError{"passes of configs are fused by NVRTC, which is not here (" + why +
                             "); install it with the CUDA toolkit, or do without `fused`"};
    }
    auto const find = [&](auto& function, char const* symbol) {
      void* const address = dlsym(library, symbol);
      if (!address) throw UnsupportedError{name + " has no " + symbol + "; install that of the CUDA toolkit"};
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
    };
    find(create, "nvrtcCreateProgram"), find(destroy, "nvrtcDestroyProgram"), find(compile, "nvrtcCompileProgram");
    find(log_size, "nvrtcGetProgramLogSize"), find(log, "nvrtcGetProgramLog");
    find(cubin_size, "nvrtcGetCUBINSize"), find(cubin, "nvrtcGetCUBIN"), find(error, "nvrtcGetErrorString");
  }
};

/// The flags of nvcc (kernels/cuda/CMakeLists.txt), in NVRTC's words. What is not said to be the host's is the
/// device's.
std::vector<std::string> options_for(int architecture) {
  return {"--gpu-architecture=sm_" + std::to_string(architecture),
          "--std=c++20",
          "--fmad=false",
          "--device-as-default-execution-space",
          "--builtin-move-forward=false",
          "--diag-suppress=554,1675"};
}

class Compilation {
 public:
  Compilation(std::string const& source, std::span<char const* const> names, std::span<char const* const> texts) {
    check(
        nvrtc.create(&program_, source.c_str(), "pass.cu", static_cast<int>(names.size()), texts.data(), names.data()),
        "");
  }
  Compilation(Compilation const&) = delete;
  ~Compilation() { nvrtc.destroy(&program_); }

  std::vector<std::byte> run(std::vector<std::string> const& options) {
    std::vector<char const*> arguments;
    for (auto const& option : options) arguments.push_back(option.c_str());
    nvrtcResult const result = nvrtc.compile(program_, static_cast<int>(arguments.size()), arguments.data());
    std::size_t size = 0;
    std::string log;
    if (nvrtc.log_size(program_, &size) == NVRTC_SUCCESS && size > 1) {
      log.resize(size);
      nvrtc.log(program_, log.data());
    }
    check(result, log.substr(0, 2000));
    check(nvrtc.cubin_size(program_, &size), "");
    std::vector<std::byte> code(size);
    check(nvrtc.cubin(program_, reinterpret_cast<char*>(code.data())), "");
    return code;
  }

 private:
  static void check(nvrtcResult result, std::string const& log) {
    if (result != NVRTC_SUCCESS)
      throw DeviceError{std::string{"NVRTC: "} + Nvrtc::get().error(result) + (log.empty() ? "" : ":\n" + log)};
  }
  Nvrtc const& nvrtc = Nvrtc::get();
  nvrtcProgram program_ = nullptr;
};

/// Of all that the machine code depends on, in 128 bits.
std::string name_of(std::string const& source, int architecture) {
  Fingerprint prints[2];
  prints[1].word(1);
  std::string name;
  for (Fingerprint& print : prints) {
    print.add(std::string_view{source}).word(CUDART_VERSION);
    for (auto const& option : options_for(architecture)) print.add(std::string_view{option});
    for (Header const& header : headers()) print.add(std::string_view{header.text});
    for (int digit = 60; digit >= 0; digit -= 4) name += "0123456789abcdef"[print.number >> digit & 15];
  }
  return name + ".cubin";
}

std::optional<std::filesystem::path> kept(std::string const& source, int architecture) {
  auto const variable = [](char const* name) -> std::optional<std::filesystem::path> {
    char const* const value = std::getenv(name);
    return value && *value ? std::optional{std::filesystem::path{value}} : std::nullopt;
  };
  auto folder = variable("COLDPRESS_CACHE");
  if (!folder) {
    if (auto const cache = variable("XDG_CACHE_HOME")) folder = *cache / "coldpress";
  }
  if (!folder) {
    if (auto const home = variable("HOME")) folder = *home / ".cache" / "coldpress";
  }
  if (folder) *folder /= name_of(source, architecture);
  return folder;
}

}  // namespace

std::vector<std::byte> compile(std::string const& source, int architecture) {
  constexpr std::size_t most = std::size_t{1} << 28;
  auto const file = kept(source, architecture);
  std::error_code none;
  if (file && std::filesystem::exists(*file, none)) {
    try {
      return read_file(file->string(), most);
    } catch (Error const&) {  // as if it were not there
    }
  }
  std::vector<char const*> names, texts;
  for (Header const& header : headers()) names.push_back(header.name), texts.push_back(header.text);
  std::vector<std::byte> code = Compilation{source, names, texts}.run(options_for(architecture));
  if (file) {
    try {
      std::filesystem::create_directories(file->parent_path(), none);
      write_atomically(file->string(), code);
    } catch (Error const&) {  // a folder that cannot be written: the next program compiles, too
    }
  }
  return code;
}

void forget(std::string const& source, int architecture) {
  std::error_code none;
  if (auto const file = kept(source, architecture)) std::filesystem::remove(*file, none);
}

HostCompiler& host_compiler() {
  static HostCompiler compiler;
  return compiler;
}

}  // namespace coldpress::cuda
