// What options of several subcommands have in common.
#pragma once

#include <coldpress/core/shape.hpp>
#include <coldpress/data/read_options.hpp>
#include <coldpress/dynamic/backend.hpp>

#include <CLI/CLI.hpp>

#include <map>

namespace coldpress::command {

/// The most of anything that files and shapes count.
inline constexpr Index most = Index{1} << 40;

constexpr char const *file = "FILE", *spec = "SPEC", *number = "N", *name = "NAME";  // what an option takes

inline auto const at_least_1 = CLI::Range(Index{1}, most, "1 or more");

inline auto const some_threads = CLI::Range(0, 4096, "0 or more");

inline CLI::Validator const not_negative{
    [](std::string& text) { return std::string{text.starts_with('-') ? "must not be negative" : ""}; }, ""};

constexpr char const* data_help = "mnist:DIR, mnist-test:DIR, csv:FILE (the first column is the target) or npy:X,Y";
constexpr char const* cuda_filters_help = "The file is from Juice on CUDA: turn the filters of convolutions";
constexpr char const* threads_help = "Threads that compute, with the same results; 0: one for each core";
constexpr char const* bfloat16_help =
    "Keep the matrices of dense layers in half the bytes, rounded to 8 bits of precision";
constexpr char const* backend_help =
    "cpu; cpu:v2, cpu:v3 or cpu:v4 for an instruction set level; cpu:reference; cuda:0, cuda:1, ... for a GPU";

/// Where a command computes, and how.
struct Computing {
  std::string backend = "cpu";
  dynamic::BackendOptions options = {};
  dynamic::Backend open() const { return dynamic::Backend{backend, options}; }
};
/// `infers`: it trains nothing.
inline void add_computing(CLI::App& command, Computing& computing, bool infers) {
  auto& options = computing.options;
  command.add_option("--backend", computing.backend, backend_help)->type_name(name)->capture_default_str();
  if (infers) command.add_flag("--bfloat16", options.bfloat16, bfloat16_help);
  std::map<std::string, Precision> names;
  for (std::string_view const one : spellings(options.precision))
    names.emplace(one, static_cast<Precision>(names.size()));
  command.add_option("--precision", options.precision, "Of products on a GPU: fp32, tf32 or bf16")
      ->type_name(name)
      ->transform(CLI::CheckedTransformer(names));
  command.add_flag("--libraries", options.libraries, "Products on a GPU by cuDNN and cuBLASLt");
  command.add_flag("--fused", options.fused, "A pass on a GPU is one kernel, which NVRTC compiles");
  command.add_option("--threads", options.threads, threads_help)
      ->type_name(number)
      ->check(some_threads)
      ->capture_default_str();
}

inline void add_reading(CLI::App& command, data::ReadOptions& options) {
  command
      .add_option("--max-expansion", options.max_expansion,
                  "A gzip-compressed file of data may unpack to so many times its size, and 1 MiB")
      ->type_name(number)
      ->check(at_least_1)
      ->capture_default_str();
}

/// Throws CLI::ValidationError where one of the files to be written is also one of the others.
inline void check_distinct(std::vector<std::string> const& written, std::vector<std::string> const& read) {
  auto const place = [](std::string const& path) {
    std::error_code ignored;
    auto const canonical = std::filesystem::weakly_canonical(path, ignored);
    return ignored ? std::filesystem::path{path} : canonical;
  };
  for (std::size_t i = 0; i < written.size(); ++i) {
    auto others = read;
    others.insert(others.end(), written.begin(), written.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::string const& other : others) {
      if (!written[i].empty() && !other.empty() && place(written[i]) == place(other)) {
        throw CLI::ValidationError(written[i], "is given twice, and would be overwritten");
      }
    }
  }
}

}  // namespace coldpress::command
