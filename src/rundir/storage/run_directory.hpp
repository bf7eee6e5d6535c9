#pragma once
#include <string>

#include <trainrt/communicator.hpp>

#include "core/output/error_message.hpp"
#include "io/files/fenced_directory.hpp"

namespace trainrt::rundir {

/// Creates `storage_path` and checks that it is writable and that all ranks see the same directory, within `timeout_s`
/// seconds.
///
/// Returns the deepest part of the path that existed before. Throws AgreedError with the message of a PathNotShared,
/// PathNotWritable or StorageError, formatted by `explain`, and removes the directories that it created. Collective.
std::string require_shared_storage(const std::string& storage_path, double timeout_s, Communicator& communicator,
                                   const Explain& explain = message_of);

/// Removes the empty folders of `storage_path` that require_shared_storage() created below `existing`, its result. One rank
/// calls it.
void remove_made_storage(const std::string& storage_path, const std::string& existing);

/// Removes a run directory that contains nothing but this attempt, and the empty folders above it, below `existing`. Files
/// of other attempts and checkpoints are kept. One rank calls it.
void discard_run_directory(const io::FencedDirectory& run_dir, int attempt, const std::string& existing);

/// Creates the run directory and its folders, and waits up to `timeout_s` seconds until all ranks see it. Throws
/// AgreedError as require_shared_storage() does. Collective.
void make_run_directory(const std::string& run_dir, double timeout_s, Communicator& communicator,
                        const Explain& explain = message_of);

/// Returns the path of an attempt's private directory in the run directory. Files in it count only once they are renamed to
/// their final place outside of it.
std::string private_directory(const std::string& run_dir, int attempt);

/// Returns the highest number of an attempt with a private directory; 0 if there is no such attempt.
int newest_private_directory(const std::string& run_dir);

/// Takes away the private directories of all attempts before `attempt`, so that they can no longer change the run directory
/// (io/files/fenced_directory.hpp). Throws StorageError if an attempt cannot be fenced off; prints a warning for files that
/// cannot be removed. One rank calls it.
void fence_off_older(const std::string& run_dir, int attempt);

/// Removes temporary files of killed processes, and files that fence_off_older() could not remove. One rank calls it.
void remove_leftovers(const std::string& run_dir);

}  // namespace trainrt::rundir
