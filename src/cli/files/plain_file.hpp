#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "checkpoint/format/manifest.hpp"
#include "cli/files/new_file.hpp"

namespace trainrt::cli {

/// The file of the train function's own (files/ of a checkpoint) that an export writes to `path`: the one whose name ends
/// like it, and of several the one of that very name. nullptr: none. UsageError if several might be meant. Pure.
const checkpoint::FileRecord* plain_file_for(const std::string& path, const checkpoint::Manifest& manifest);

/// Their names without files/, with commas, "" for none. Pure.
std::string plain_files_of(const checkpoint::Manifest& manifest);

/// Copies it, without a commit. Error if the checkpoint does not hold it whole, or a signal stops the copy.
void export_plain_file(const std::string& checkpoint_dir, const checkpoint::FileRecord& record, NewFile& file,
                       const std::function<void(std::uint64_t done, std::uint64_t all)>& progress);

}  // namespace trainrt::cli
