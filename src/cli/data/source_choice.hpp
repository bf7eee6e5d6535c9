#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "cli/command_line/arguments.hpp"
#include "config/renamed_keys.hpp"
#include "core/options.hpp"

namespace trainrt::cli::datasets {

// Options of all tools that read a dataset.
inline constexpr CommandOption config_source_option{
    "config", "FILE", "read the section [data.NAME] of this config, where NAME is the argument"};
inline constexpr CommandOption key_option{"--KEY=VALUE", "",
                                          "set a key of the dataset, such as --format=csv; may be repeated"};
inline constexpr CommandOption threads_option_help{"threads", "N", "threads that read; default: one per core"};

/// The dataset that a tool reads, and the tool's command line. The dataset is given in one of two forms:
/// - SOURCE..., with keys of a [data.NAME] as --KEY=VALUE
/// - --config FILE NAME, a section of a config; --KEY=VALUE overrides its keys
///
/// If a key has the name of an option of the tool, it is given as --data.KEY=VALUE.
struct SourceChoice {
  Arguments arguments;                    ///< the tool's own options
  std::string name = "SOURCE";            ///< name of the dataset
  Options keys;                           ///< keys of its section
  std::map<std::string, Options> others;  ///< other sections of the config
  std::uint64_t seed = 1;                 ///< --seed; default: run.seed of the config, or 1
};

/// Parses the command line of a tool with the options `own`. Throws UsageError that names the invalid word. For a
/// renamed key, the message contains the new name.
SourceChoice choose_source(std::span<const std::string> words, ArgumentSpec own);

/// Throws UsageError if `keys`, the keys of a [data.NAME] without their section, contain a key that was renamed
/// according to `table`. The message contains the new name.
void require_current_keys(const Options& keys, std::span<const config::RenamedKey> table = config::renamed_keys());

/// Returns the integer in the option `name`, or `default_value` if it is not given. Throws UsageError if it is below `min`.
std::int64_t number_option(const Arguments& arguments, const std::string& name, std::int64_t default_value,
                           std::int64_t min = 1);

}  // namespace trainrt::cli::datasets
