// Loads NVRTC, compiles source text with it, and keeps the machine code in files for later programs.
#include <coldpress/cuda/compiler.hpp>

#include "headers.hpp"

#include <coldpress/core/error.hpp>
#include <coldpress/core/fingerprint.hpp>
#include <coldpress/data/atomic_file.hpp>

#include <cuda_runtime_api.h>
#include <nvrtc.h>

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>

namespace coldpress::cuda {
namespace {

/// NVRTC, loaded when it is first needed, so that programs do not link it.
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
  Function<&nvrtcGetPTXSize> ptx_size;
  Function<&nvrtcGetPTX> ptx;
  Function<&nvrtcGetNumSupportedArchs> architecture_count;
  Function<&nvrtcGetSupportedArchs> architectures;
  Function<&nvrtcGetErrorString> error;

 private:
  Nvrtc() {
    static std::string const name = "libnvrtc.so." + std::to_string(CUDART_VERSION / 1000);
    void* library = dlopen(name.c_str(), RTLD_NOW);
    if (!library) {
      std::string const why = dlerror();
      throw UnsupportedError{"passes of configs are fused by NVRTC, which cannot be loaded (" + why +
                             "); install it with the CUDA toolkit, or do without `fused`"};
    }
    auto const find = [&](auto& function, char const* symbol) {
      void* const address = dlsym(library, symbol);
      if (!address) throw UnsupportedError{name + " has no " + symbol + "; install the one of the CUDA toolkit"};
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
    };
    find(create, "nvrtcCreateProgram"), find(destroy, "nvrtcDestroyProgram"), find(compile, "nvrtcCompileProgram");
    find(log_size, "nvrtcGetProgramLogSize"), find(log, "nvrtcGetProgramLog");
    find(cubin_size, "nvrtcGetCUBINSize"), find(cubin, "nvrtcGetCUBIN"), find(error, "nvrtcGetErrorString");
    find(ptx_size, "nvrtcGetPTXSize"), find(ptx, "nvrtcGetPTX");
    find(architecture_count, "nvrtcGetNumSupportedArchs"), find(architectures, "nvrtcGetSupportedArchs");
  }
};

/// The flags of nvcc (kernels/cuda/CMakeLists.txt) as NVRTC names them. Functions without an execution space are the
/// device's.
constexpr char const* options[] = {"--std=c++20", "--fmad=false", "--device-as-default-execution-space",
                                   "--builtin-move-forward=false", "--diag-suppress=554,1675"};

class Compilation {
 public:
  Compilation(std::string const& source, std::span<char const* const> names, std::span<char const* const> texts) {
    check(
        nvrtc.create(&program_, source.c_str(), "pass.cu", static_cast<int>(names.size()), texts.data(), names.data()),
        "");
  }
  Compilation(Compilation const&) = delete;
  ~Compilation() { nvrtc.destroy(&program_); }

  std::vector<std::byte> run(int architecture) {
    int const known = newest_before(architecture);
    bool const binary = known == architecture;
    std::string const wanted =
        std::string{"--gpu-architecture="} + (binary ? "sm_" : "compute_") + std::to_string(known);
    std::vector<char const*> arguments(std::begin(options), std::end(options));
    arguments.push_back(wanted.c_str());
    nvrtcResult const result = nvrtc.compile(program_, static_cast<int>(arguments.size()), arguments.data());
    std::size_t size = 0;
    std::string log;
    if (nvrtc.log_size(program_, &size) == NVRTC_SUCCESS && size > 1) {
      log.resize(size);
      nvrtc.log(program_, log.data());
    }
    check(result, log.substr(0, 2000));
    check((binary ? nvrtc.cubin_size : nvrtc.ptx_size)(program_, &size), "");
    std::vector<std::byte> code(size);
    check((binary ? nvrtc.cubin : nvrtc.ptx)(program_, reinterpret_cast<char*>(code.data())), "");
    return code;
  }

 private:
  int newest_before(int architecture) const {
    int count = 0;
    check(nvrtc.architecture_count(&count), "");
    std::vector<int> known(static_cast<std::size_t>(count));
    check(nvrtc.architectures(known.data()), "");
    int newest = 0;
    for (int one : known) newest = one <= architecture ? std::max(newest, one) : newest;
    if (newest == 0) throw UnsupportedError{"NVRTC knows no GPU of sm_" + std::to_string(architecture)};
    return newest;
  }
  static void check(nvrtcResult result, std::string const& log) {
    if (result != NVRTC_SUCCESS)
      throw DeviceError{std::string{"NVRTC: "} + Nvrtc::get().error(result) + (log.empty() ? "" : ":\n" + log)};
  }
  Nvrtc const& nvrtc = Nvrtc::get();
  nvrtcProgram program_ = nullptr;
};

/// A name for the machine code: 128 bits computed from everything that it depends on.
std::string name_of(std::string const& source, int architecture) {
  Fingerprint prints[2];
  prints[1].word(1);
  std::string name;
  for (Fingerprint& print : prints) {
    print.add(std::string_view{source}).word(CUDART_VERSION).word(static_cast<std::uint64_t>(architecture));
    for (char const* option : options) print.add(std::string_view{option});
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

/// The checksum that precedes the code in a file, so that a damaged file is not loaded.
std::array<std::byte, 8> checksum(std::span<std::byte const> code) {
  Fingerprint print;
  for (std::byte b : code) print.number = (print.number ^ static_cast<std::uint64_t>(b)) * 0x100000001b3;
  return std::bit_cast<std::array<std::byte, 8>>(print.number);
}

}  // namespace

std::vector<std::byte> compile(std::string const& source, int architecture) {
  constexpr std::size_t most = std::size_t{1} << 28;
  auto const file = kept(source, architecture);
  std::error_code none;
  if (file && std::filesystem::exists(*file, none)) {
    try {
      std::vector<std::byte> const kept = read_file(file->string(), most);
      if (kept.size() > 8) {
        std::array<std::byte, 8> const sum = checksum(std::span{kept}.subspan(8));
        if (std::equal(sum.begin(), sum.end(), kept.begin())) return {kept.begin() + 8, kept.end()};
      }
    } catch (Error const&) {  // the file is treated as if it were missing
    }
  }
  std::vector<char const*> names, texts;
  for (Header const& header : headers()) names.push_back(header.name), texts.push_back(header.text);
  std::vector<std::byte> code = Compilation{source, names, texts}.run(architecture);
  if (file) {
    try {
      std::filesystem::create_directories(file->parent_path(), none);
      std::array<std::byte, 8> const sum = checksum(code);
      std::vector<std::byte> bytes(sum.begin(), sum.end());
      bytes.insert(bytes.end(), code.begin(), code.end());
      write_atomically(file->string(), bytes);
    } catch (Error const&) {  // if the folder is not writable, the next program compiles, too
    }
  }
  return code;
}

HostCompiler& host_compiler() {
  static HostCompiler compiler;
  return compiler;
}

}  // namespace coldpress::cuda
