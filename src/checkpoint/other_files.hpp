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

/// Reads the file `path` and returns its size and digest; FileRecord::name stays empty. Passes the bytes to `take`, block
/// by block.
FileRecord digest_file(const std::string& path, const std::function<void(std::span<const std::byte>)>& take = {});

/// Returns the path of a State's file inside a checkpoint directory: "files/NAME", or "files/rank-00003/NAME" if each
/// rank has its own file.
std::string file_name(const FileEntry& entry, int rank);

/// Callback that gets the exception of a failed read, for example to find out whether the error is temporary. The functions
/// with this parameter return only the message of the exception.
using FailedRead = std::function<void(const std::exception& error)>;

/// Verifies a file of a checkpoint against its record (size and digest) in the manifest. Returns "" if the file is intact,
/// otherwise a message with its path. Calls `read` after each block with the size of the block in bytes. Calls `failed`
/// with the exception if the file cannot be read. Throws CannotRead.
std::string file_damage(const std::string& checkpoint_dir, const FileRecord& file,
                        const std::function<void(std::uint64_t bytes)>& read = {}, const FailedRead& failed = {});

/// Returns the manifest's record of the file that `rank` restores for `entry`, a file of the State; nullptr if the
/// checkpoint has no such file.
const FileRecord* find_file(const Manifest& manifest, const FileEntry& entry, int rank);

/// Returns one line for each file that the State requires and the checkpoint lacks; empty if the checkpoint has all. Pure
/// function.
std::vector<std::string> file_differences(const State& state, const Manifest& manifest, int rank);

/// Copies the State's files from the checkpoint to the paths in their FileEntries. Files that the checkpoint lacks are
/// skipped. Each file is verified while it is copied, and replaced atomically and durably. A file that already matches its
/// record is not written. Throws Error if a file is damaged or cannot be copied.
void restore_files(const State& state, const std::string& checkpoint_dir, const Manifest& manifest, int rank);

/// Returns whether the checkpoint has state.h5. A committed checkpoint may lack it, because state.h5 is written after the
/// commit.
bool has_view(const std::string& checkpoint_dir);

/// Verifies state.h5 of a checkpoint. This file ends with a digest of all bytes before the digest. Returns "" if the
/// digest matches, otherwise a message. Calls `read` after each block with its size in bytes. Calls `failed` with the
/// exception if the file cannot be read. Throws CannotRead.
std::string view_damage(const std::string& checkpoint_dir, const std::function<void(std::uint64_t bytes)>& read = {},
                        const FailedRead& failed = {});

}  // namespace trainrt::checkpoint
