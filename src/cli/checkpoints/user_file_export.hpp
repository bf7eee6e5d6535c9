#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "checkpoint/format/manifest.hpp"
#include "cli/files/atomic_file.hpp"

namespace trainrt::cli {

// Export of the files that a train function has written itself into a checkpoint (its folder files/), such as a model
// in the format of a framework. Files in files/.other_ranks/ are not exported; each of them has the name of a file in
// files/, which is exported instead.

/// Returns the user file of the checkpoint that an export to `path` copies: the only file with the extension of `path`.
/// If several files have this extension, returns the one with the name of `path`, and throws UsageError if there is
/// none. Returns nullptr if no file has the extension. Pure function.
const checkpoint::FileRecord* find_user_file(const std::string& path, const checkpoint::Manifest& manifest);

/// Returns the names of all user files, without the folder files/, separated by commas. Pure function.
std::string user_file_names(const checkpoint::Manifest& manifest);

/// Copies a user file into `file`, but does not call commit(). Throws Error if the user file is damaged, or if a stop
/// signal arrives.
void export_user_file(const std::string& checkpoint_dir, const checkpoint::FileRecord& record, AtomicFile& file,
                      const std::function<void(std::uint64_t done, std::uint64_t all)>& progress);

}  // namespace trainrt::cli
