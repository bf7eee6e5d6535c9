#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>
#include <vector>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/load/candidate_manifest.hpp"
#include "checkpoint/load/contents.hpp"
#include "checkpoint/load/load.hpp"
#include "checkpoint/load/state_filler.hpp"

namespace trainrt::checkpoint {

/// Looks at what a checkpoint holds before anything is read, and throws what keeps it from being loaded. It is collective:
/// it throws on all ranks or on none.
using Accept = std::function<void(const std::string& directory, const Manifest& manifest, const Contents& contents)>;

struct Loaded {
  LoadResult result;
  Manifest manifest;
  Contents contents;
};

/// The candidates that a load has skipped. The same on all ranks.
struct Skipped {
  std::vector<std::string> lines;  ///< "checkpoint_000003: what is wrong with it", the newest first
  bool may_pass = false;           ///< the storage gave errors that may pass, which count as damage like others
};

/// Loads `wanted` from the first intact candidate. Returns nullopt if all are damaged; `skipped` then has the reasons.
/// Each byte of the checkpoint is checked by one rank, and all ranks know of all damage. Collective.
std::optional<Loaded> load_first_whole(const std::vector<Candidate>& candidates, Wanted wanted, const Accept& accept,
                                       Communicator& communicator, Skipped& skipped);

/// Returns the damages of the checkpoint that a run finished with, as load_first_whole() reports them; empty: it is intact.
/// All ranks together check every byte, and nothing is loaded. Collective. Throws Error if the storage gave an error that
/// may pass.
std::vector<std::string> damages_of(const std::string& run_dir, std::int64_t number, Communicator& communicator);

/// These checkpoints of a run, given in ascending order, the newest first.
std::vector<Candidate> candidates_of(const std::string& run_dir, const std::vector<std::int64_t>& numbers);

/// The first few, and how many there are more: what is said of ten thousand damaged checkpoints stays readable.
std::vector<std::string> summed_up(std::vector<std::string> findings);

/// The checkpoints of a run, the newest first, as rank 0 sees them. Collective.
std::vector<Candidate> candidates_in(const std::string& run_dir, Communicator& communicator);

/// Everything of a state.
Wanted all_of(const State& state);

/// What load_latest() and a load_from() without patterns ask of a checkpoint: that it is of the state's model.
Accept same_model(const State& state, Communicator& communicator, Covers covers);

/// Puts the state's files back, and gives what load_latest() returns. Collective.
LoadResult finish_load(const State& state, Loaded loaded, Communicator& communicator);

}  // namespace trainrt::checkpoint
