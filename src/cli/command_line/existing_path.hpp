#pragma once
#include <string>

namespace trainrt::cli {

/// Throws UsageError if `path`, an argument of a command, does not exist. The message suggests runs/PATH if that is a run,
/// or the run, sweep or checkpoint with the most similar path. If the run of this directory is being started, the message
/// says so.
void require_existing(const std::string& path);

}  // namespace trainrt::cli
