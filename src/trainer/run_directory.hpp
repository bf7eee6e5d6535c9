#pragma once
#include <string>

#include <trainrt/communicator.hpp>

namespace trainrt::trainer {

/// Makes sure that `storage_path` can be written and that every rank sees the same one. Collective. AgreedError that names
/// the hosts otherwise; what this call made is removed again then. Returns the deepest part of the path that was there
/// before.
std::string require_shared_storage(const std::string& storage_path, double timeout_s, Communicator& communicator);

/// Removes a run directory in which nothing has happened yet, and the empty folders above it down from `there_before`. One
/// rank calls.
void discard_run_directory(const std::string& run_dir, const std::string& there_before);

/// Makes the run directory and its folders, and waits until every rank sees it. Collective.
void make_run_directory(const std::string& run_dir, double timeout_s, Communicator& communicator);

/// Private directory of an attempt inside the run directory; what is in there does not exist until it is renamed out of it.
std::string private_directory(const std::string& run_dir, int attempt);

/// Removes what earlier attempts left behind when they were killed: private directories and temporary files. One rank
/// calls.
void sweep(const std::string& run_dir, int attempt);

}  // namespace trainrt::trainer
