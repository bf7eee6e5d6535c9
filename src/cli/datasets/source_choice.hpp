#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "cli/arguments.hpp"
#include "core/options.hpp"

namespace trainrt::cli::datasets {

/// Which dataset a tool is for, as its words say: SOURCE... with the keys of a [data.NAME] as --KEY=VALUE, or --config FILE
/// NAME, a section of a config, whose keys others on the command line beat. A key whose name is an option of the tool
/// itself is --data.KEY=VALUE.
struct SourceChoice {
  Arguments arguments;                    ///< what is left: the tool's own options
  std::string name = "SOURCE";            ///< of the dataset
  Options keys;                           ///< of its section
  std::map<std::string, Options> others;  ///< the other sections of the config
  std::uint64_t seed = 1;                 ///< --seed, or run.seed of the config, or its default
};

/// `own`: the tool's options; --config and --seed are added. UsageError that names the word.
SourceChoice choose_source(std::span<const std::string> words, ArgumentSpec own);

/// The whole number of an option, `least` or more; `otherwise` if it is not given.
std::int64_t number_option(const Arguments& arguments, const std::string& name, std::int64_t otherwise,
                           std::int64_t least = 1);

}  // namespace trainrt::cli::datasets
