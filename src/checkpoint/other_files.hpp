#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <trainrt/state.hpp>

#include "checkpoint/format/manifest.hpp"

namespace trainrt::checkpoint {

/// Reads a file and returns its size and digest; the name stays empty. Passes the bytes to `take`, block by block.
FileRecord digest_file(const std::string& path, const std::function<void(std::span<const std::byte>)>& take = {});

/// Returns the path of a file of the State inside a checkpoint: "files/NAME", or "files/rank-00003/NAME" if each rank has
/// its own.
std::string file_name(const FileEntry& entry, int rank);

/// Called with an exception before only its message is kept as a finding.
using FailedRead = std::function<void(const std::exception& error)>;

/// Returns "" if the file of the checkpoint exists and matches its record, otherwise a message with its path. Calls `read`
/// with the number of bytes after each block. Throws CannotRead.
std::string file_damage(const std::string& checkpoint_dir, const FileRecord& file,
                        const std::function<void(std::uint64_t bytes)>& read = {}, const FailedRead& failed = {});

/// Returns the record of the file that `rank` restores for an entry; nullptr if the checkpoint has no such file.
const FileRecord* find_file(const Manifest& manifest, const FileEntry& entry, int rank);

/// Returns one line for each required file of the state that the checkpoint lacks. Pure function.
std::vector<std::string> file_differences(const State& state, const Manifest& manifest, int rank);

/// Restores every file of the state that the checkpoint has, to the path of its entry. A file is replaced atomically and
/// durably, and verified while it is copied. A file that already matches its record is not written.
void restore_files(const State& state, const std::string& checkpoint_dir, const Manifest& manifest, int rank);

/// Returns whether state.h5 exists. A committed checkpoint may lack it, as it is written after the commit.
bool has_view(const std::string& checkpoint_dir);

/// Returns "" if state.h5 ends with the digest of all bytes before, otherwise a message. Calls `read` with the number of
/// bytes after each block. Throws CannotRead.
std::string view_damage(const std::string& checkpoint_dir, const std::function<void(std::uint64_t bytes)>& read = {},
                        const FailedRead& failed = {});

}  // namespace trainrt::checkpoint
