#pragma once
#include <string>

#include <trainrt/communicator.hpp>

#include "core/output/error_message.hpp"
#include "io/files/fenced_directory.hpp"

namespace trainrt::rundir {

/// Creates the folder `storage_path`, and checks that it is writable and that within `timeout_s` seconds all ranks see the
/// same folder.
///
/// Returns the longest leading part of the path that existed before. On an error, removes the folders that were created and
/// throws AgreedError on all ranks, with the message of a PathNotShared, PathNotWritable or StorageError, formatted by
/// `explain`. Collective.
std::string require_shared_storage(const std::string& storage_path, double timeout_s, Communicator& communicator,
                                   const Explain& explain = message_of);

/// Removes those folders of the path `storage_path` that require_shared_storage() created and that are empty. `existing` is
/// the result of that call. Called by one rank.
void remove_made_storage(const std::string& storage_path, const std::string& existing);

/// Removes a run directory that contains only files of attempt `attempt`, and then those parent folders below `existing`
/// that are empty. Files of other attempts and checkpoints are kept. Called by one rank.
void discard_run_directory(const io::FencedDirectory& run_dir, int attempt, const std::string& existing);

/// Creates the run directory and its subfolders, and waits up to `timeout_s` seconds until all ranks see them. Throws
/// AgreedError as require_shared_storage() does. Collective.
void make_run_directory(const std::string& run_dir, double timeout_s, Communicator& communicator,
                        const Explain& explain = message_of);

/// Returns the path of an attempt's private directory in the run directory. The attempt writes each file in its private
/// directory first; the file becomes part of the run when it is renamed to its final path outside of that directory.
std::string private_directory(const std::string& run_dir, int attempt);

/// Returns the highest number of an attempt that has a private directory; 0 if no attempt has one.
int newest_private_directory(const std::string& run_dir);

/// Fences off all attempts before `attempt`: takes away their private directories, so that their processes can no longer
/// change the run directory (io/files/fenced_directory.hpp). Throws StorageError if an attempt cannot be fenced off; prints
/// a warning for files that cannot be removed. Called by one rank.
void fence_off_older(const std::string& run_dir, int attempt);

/// Removes temporary files that killed processes left in the run directory, and files that fence_off_older() could not
/// remove. Called by one rank.
void remove_leftovers(const std::string& run_dir);

}  // namespace trainrt::rundir
