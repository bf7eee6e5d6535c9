#pragma once
#include <functional>
#include <string>

#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"
#include "trainer/datasets/listed_datasets.hpp"
#include "trainer/records/existing_run.hpp"

namespace trainrt::trainer {

/// The situation in which a start finds its run, before it changes anything. The same on all ranks.
struct Preparation {
  Listings datasets;         ///< listings of all [data.NAME]
  std::string there_before;  ///< longest part of the path run.storage_path that existed before
  ExistingRun existing;
};

/// Makes all checks that precede an attempt of a run, and changes nothing. For starts and `trainrt check`.
/// - The run must belong to this user.
/// - `bring_back` is called; it may restore the run directory.
/// - The datasets are listed.
/// - A small file is written to run.storage_path and removed.
/// - find_existing_run() reads the run directory.
/// - If a new run starts from another checkpoint, that checkpoint must exist.
///
/// `ranks`: number of ranks of the run; 0 if unknown. Collective; throws comm::AgreedError.
Preparation prepare_run(const config::RunSpec& spec, const std::string& function, Communicator& communicator, int ranks,
                        const std::function<void()>& bring_back);

/// Writes and removes a small file in run.storage_path, and removes the folders that it has created. For programs that open
/// their run later, before they start. Collective; throws comm::AgreedError.
void try_storage(const config::RunSpec& spec, Communicator& communicator);

}  // namespace trainrt::trainer
