#pragma once
#include <span>
#include <string>
#include <vector>

#include "cli/command_line/arguments.hpp"
#include "config/run_spec.hpp"

namespace trainrt::cli {

// The options of commands that start or check a run.
inline constexpr CommandOption config_option{"config", "FILE",
                                             "config of the run, an INI file; `trainrt help config` shows all keys"};
inline constexpr CommandOption trust_owner_option{"trust-owner", "USER", "resume a run that belongs to the user USER"};
inline constexpr CommandOption verbose_option{"verbose", "",
                                              "print how long each part of the start took, after the first step"};
inline constexpr CommandOption override_option{"--section.key=value", "",
                                               "set a key, in place of its value in the config; may be repeated"};
inline constexpr CommandOption program_option{"-- PROGRAM ARGS", "",
                                              "run this program instead of a train function; needs no config"};

// All functions throw UsageError if the command line or the config is invalid. `usage` is shown in error messages.

/// Trusts the users that the option --trust-owner names, if it is given (rundir/storage/trust.hpp).
void trust_given_owner(const Arguments& arguments);

/// Splits the value of train.program into words as a shell does.
std::vector<std::string> split_program(const OptionValue& program);

/// Returns the specification of the run that `[--config FILE] [--section.key=value ...] [--trust-owner=USER] [--
/// PROGRAM ARGS]` describes. A config file or a program is required.
config::RunSpec load_run_spec(std::span<const std::string> words, const std::string& usage);
/// Returns the specification of the run from `arguments`, for a command that has parsed them together with its own
/// options.
config::RunSpec load_run_spec(const Arguments& arguments, const std::string& usage);

// The two steps of load_run_spec(), for a command that needs the values before they are expanded and checked:

/// Returns the values of --config FILE and --section.key=value as they are written. Trusts the users of --trust-owner.
Options read_given_options(const Arguments& arguments, const std::string& usage);
/// Returns the specification of a run. `given` are the values that read_given_options() returned.
config::RunSpec run_spec_from(Options given, const Arguments& arguments, const std::string& usage);

}  // namespace trainrt::cli
