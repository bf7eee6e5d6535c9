#pragma once
#include <span>
#include <string>
#include <vector>

#include "cli/words/arguments.hpp"
#include "config/run_spec.hpp"

namespace trainrt::cli {

/// Trusts the users that --trust-owner names (rundir/storage/trust.hpp). Throws UsageError.
void take_trust(const Arguments& arguments);

/// Returns the words of train.program, split as a shell splits them. Throws UsageError if a quote is not closed.
std::vector<std::string> program_words(const OptionValue& program);

/// `[--config FILE] [--section.key=value ...] [--trust-owner=USER] [-- COMMAND ARGS]` as a RunSpec: a file or a program
/// there must be. Throws UsageError.
config::RunSpec load_spec(std::span<const std::string> words, const std::string& usage);
/// The same, of words that a command with other options too has parsed.
config::RunSpec load_spec(const Arguments& arguments, const std::string& usage);

// The same in two steps, for a command that looks at the values between them.

/// The values that --config FILE and --section.key=value give, as they were written. Trusts the users of --trust-owner.
/// Throws UsageError.
Options given_values(const Arguments& arguments, const std::string& usage);
config::RunSpec spec_of(Options given, const Arguments& arguments, const std::string& usage);

}  // namespace trainrt::cli
