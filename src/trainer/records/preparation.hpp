#pragma once
#include <functional>
#include <string>

#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"
#include "trainer/datasets/listed_datasets.hpp"
#include "trainer/records/existing_run.hpp"

namespace trainrt::trainer {

/// The datasets, the storage and the run as a start finds them, before it changes files. All ranks have equal values.
struct Preparation {
  Listings datasets;         ///< listings of all [data.NAME] sections
  std::string there_before;  ///< longest prefix of the path run.storage_path that existed before the start
  ExistingRun existing;
};

/// Makes all checks that precede an attempt of a run. Called by starts and by `trainrt check`.
/// - The run must belong to this user.
/// - `bring_back` is called, which may restore the run directory.
/// - The files of datasets are listed.
/// - A small file is written to run.storage_path and removed.
/// - find_existing_run() reads the run directory.
/// - If the config has run.resume_from_checkpoint and the run has no checkpoint, that other checkpoint must exist.
///
/// `ranks` is the number of ranks of the run; 0 if unknown. Collective. Throws comm::AgreedError.
Preparation prepare_run(const config::RunSpec& spec, const std::string& function, Communicator& communicator, int ranks,
                        const std::function<void()>& bring_back);

/// Checks that run.storage_path is writable: writes and removes a small file, and removes the folders that were created for
/// this check. Called before the start of a program that opens its run later. Collective. Throws comm::AgreedError.
void try_storage(const config::RunSpec& spec, Communicator& communicator);

}  // namespace trainrt::trainer
