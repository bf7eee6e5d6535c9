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

/// Size and digest of a file, as a manifest has them, without a name; `take` gets its bytes, piece by piece.
FileRecord read_through(const std::string& path, const std::function<void(std::span<const std::byte>)>& take = {});

/// What a rank's file is called in a checkpoint: "files/NAME", or "files/rank-00003/NAME" if every rank has its own.
std::string file_name(const FileEntry& entry, int rank);

/// Receives an error that becomes the text of a finding, while its type is still known.
using FailedRead = std::function<void(const std::exception& error)>;

/// "" if the file is in the checkpoint whole; else what is wrong, with its path. `read` hears of bytes that were read.
std::string damage_of(const std::string& checkpoint_dir, const FileRecord& file,
                      const std::function<void(std::uint64_t bytes)>& read = {}, const FailedRead& failed = {});

/// The file that this rank gets for an entry; nullptr if the checkpoint has none.
const FileRecord* find_file(const Manifest& manifest, const FileEntry& entry, int rank);

/// Files that the state needs and the checkpoint lacks, one line each. Pure.
std::vector<std::string> file_differences(const State& state, const Manifest& manifest, int rank);

/// Puts back every file of the state that the checkpoint has: atomic and durable, and checked on the way. One that lies
/// there as it should be is left alone.
void restore_files(const State& state, const std::string& checkpoint_dir, const Manifest& manifest, int rank);

/// The whole view is derived, and written when the checkpoint is whole already: one may lack it.
bool has_view(const std::string& checkpoint_dir);

/// "" if state.h5 ends with the digest of all before; else what is wrong. `read` hears of bytes that were read.
std::string view_damage(const std::string& checkpoint_dir, const std::function<void(std::uint64_t bytes)>& read = {},
                        const FailedRead& failed = {});

}  // namespace trainrt::checkpoint
