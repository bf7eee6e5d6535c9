#pragma once
#include <string>

#include <trainrt/communicator.hpp>

#include "core/output/error_message.hpp"
#include "io/files/fenced_directory.hpp"

namespace trainrt::rundir {

/// Makes sure that `storage_path` can be written and that every rank sees the same one. Collective. AgreedError that names
/// the hosts otherwise, of a PathNotShared, PathNotWritable or StorageError that `explain` words; what this call made is
/// removed again then. Returns the deepest part of the path that was there before.
std::string require_shared_storage(const std::string& storage_path, double timeout_s, Communicator& communicator,
                                   const Explain& explain = message_of);

/// Removes the empty folders of `storage_path` that require_shared_storage() made, down from `there_before`, which it
/// returned. One rank calls.
void remove_made_storage(const std::string& storage_path, const std::string& there_before);

/// Removes a run directory in which nothing has happened yet but this attempt, and the empty folders above it down from
/// `there_before`. What another attempt has brought there stays, and so does any checkpoint. One rank calls.
void discard_run_directory(const io::FencedDirectory& run_dir, int attempt, const std::string& there_before);

/// Makes the run directory and its folders, and waits until every rank sees it. Collective. AgreedError as above.
void make_run_directory(const std::string& run_dir, double timeout_s, Communicator& communicator,
                        const Explain& explain = message_of);

/// Private directory of an attempt inside the run directory; what is in there does not exist until it is renamed out of it.
std::string private_directory(const std::string& run_dir, int attempt);

/// The highest number of a private directory there, 0 = there is none.
int newest_private_directory(const std::string& run_dir);

/// Takes the private directories of all attempts before this one away: from then on nothing that they do changes the run
/// directory (io/files/fenced_directory.hpp). StorageError if one cannot be fenced off; what cannot be removed is warned
/// of. One rank calls.
void fence_off_older(const std::string& run_dir, int attempt);

/// Removes temporary files that killed processes left behind, and what fence_off_older() could not. One rank calls.
void sweep(const std::string& run_dir);

}  // namespace trainrt::rundir
