#pragma once
#include <functional>
#include <string>

#include <trainrt/communicator.hpp>

#include "config/run_spec.hpp"
#include "trainer/datasets/listed_datasets.hpp"
#include "trainer/records/existing_run.hpp"

namespace trainrt::trainer {

/// What a start finds before it makes anything of its run. The same on all ranks.
struct Preparation {
  Listings datasets;         ///< of all [data.NAME]
  std::string there_before;  ///< deepest part of run.storage_path that existed before
  ExistingRun existing;
};

/// Does what precedes an attempt of a run: requires that the run is this user's, lists the datasets, writes and removes a
/// small file in run.storage_path, finds what there is of the run, and requires that the checkpoint exists that a new run
/// is to start from. `ranks`: those that the run is to have; 0: not known. `bring_back` is called before the datasets are
/// listed, and may restore the run directory. A start and `trainrt check` call it. Collective: throws comm::AgreedError on
/// all ranks.
Preparation prepare_run(const config::RunSpec& spec, const std::string& function, Communicator& communicator, int ranks,
                        const std::function<void()>& bring_back);

/// Writes and removes a small file in run.storage_path, and leaves no folder that did not exist before: to be called before
/// programs start, which open their run later. Collective: throws comm::AgreedError on all ranks.
void try_storage(const config::RunSpec& spec, Communicator& communicator);

}  // namespace trainrt::trainer
