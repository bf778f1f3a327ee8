// Options that several subcommands have in common.
#pragma once

#include <coldpress/core/enumerator.hpp>
#include <coldpress/core/shape.hpp>
#include <coldpress/data/dataset.hpp>
#include <coldpress/dynamic/backend.hpp>
#include <coldpress/threads.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

namespace coldpress::command {

/// The largest number of anything that files and shapes count.
inline constexpr Index most = Index{1} << 40;

constexpr char const *file = "FILE", *spec = "SPEC", *number = "N", *name = "NAME";  // the kinds of option arguments

// Validators with empty descriptions, because --help would print them after the option. They are functions because
// global objects would allocate before main, where a failure could not be reported.
inline CLI::Validator at_least_1() { return CLI::Range(Index{1}, most).description(""); }
inline CLI::Validator some_threads() { return CLI::Range(0, most_threads).description(""); }
/// CLI::Range alone lets NaN pass.
inline CLI::Validator between(double least, double most) {
  return {[range = CLI::Range(least, most)](std::string& text) {
            return std::isnan(std::strtod(text.c_str(), nullptr)) ? "must be a number, is " + text : range(text);
          },
          ""};
}
/// A seed, where CLI takes the largest number for all that are larger.
inline CLI::Validator any_seed() {
  return {[](std::string& text) -> std::string {
            if (text.starts_with('-')) return "must not be negative";
            errno = 0;
            std::strtoull(text.c_str(), nullptr, 0);
            return errno == ERANGE ? "must be at most 18446744073709551615, is " + text : "";
          },
          ""};
}
inline CLI::Validator one_of(std::vector<std::string> const& names) { return CLI::IsMember(names).description(""); }

/// The formats of data; the command data explains them.
inline std::string data_help() {
  std::string formats;
  for (data::SpecHelp const& format : data::spec_help()) formats += format.spec + " ";
  return formats + "(see coldpress data --help)";
}
// The groups of options in --help.
constexpr char const *of_run = "Training", *of_files = "Files", *of_monitoring = "Monitoring",
                     *of_computing = "Computing", *of_data = "Data";
constexpr char const* cuda_filters_help = "The file was trained by Juice on CUDA: flip the filters of its convolutions";
constexpr char const* threads_help = "Number of threads, which does not change results; 0: one per core";
constexpr char const* bfloat16_help =
    "Store the weight matrices of dense layers in half the bytes, rounded to 8 bits of precision";
constexpr char const* backend_help =
    "cpu; cpu:v2, cpu:v3 or cpu:v4 for an instruction set level; cpu:reference; cuda:0, cuda:1, ... for a GPU";

/// Where a command computes, and with which options.
struct Computing {
  std::string backend = "cpu";
  dynamic::BackendOptions options = {};
  dynamic::Backend open() const {
    dynamic::BackendOptions chosen = options;
    if (backend == "cpu:reference" && chosen.threads == 0) chosen.threads = 1;  // it has no others
    return dynamic::Backend{backend, chosen};
  }
};
/// `infers` says that the command does not train.
inline void add_computing(CLI::App& command, Computing& computing, bool infers) {
  auto& options = computing.options;
  command.add_option("--backend", computing.backend, backend_help)
      ->type_name(name)
      ->capture_default_str()
      ->group(of_computing);
  if (infers) command.add_flag("--bfloat16", options.bfloat16, bfloat16_help)->group(of_computing);
  auto const spelt = spellings(options.precision);
  std::vector<std::string> const names(spelt.begin(), spelt.end());
  auto const choose = [names, &options](std::string const& chosen) {
    options.precision = static_cast<Precision>(std::ranges::find(names, chosen) - names.begin());
  };
  command
      .add_option_function<std::string>("--precision", choose,
                                        "Precision of matrix products on a GPU: " + joined(names))
      ->type_name(name)
      ->check(one_of(names))
      ->default_str(names[0])
      ->group(of_computing);
  command.add_flag("--libraries", options.libraries, "Use cuDNN and cuBLASLt on a GPU")->group(of_computing);
  command.add_flag("--fused", options.fused, "Run each pass on a GPU as one kernel, compiled by NVRTC")
      ->group(of_computing);
  command.add_option("--threads", options.threads, threads_help)
      ->type_name(number)
      ->check(some_threads())
      ->capture_default_str()
      ->group(of_computing);
}

inline void add_reading(CLI::App& command, data::ReadOptions& options) {
  command
      .add_option("--max-expansion", options.max_expansion,
                  "A gzip-compressed data file may unpack to this many times its size, plus 1 MiB")
      ->type_name(number)
      ->check(at_least_1())
      ->capture_default_str()
      ->group(of_data);
}

}  // namespace coldpress::command
