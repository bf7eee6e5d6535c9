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

/// Called with the contents of a checkpoint before its data is read; throws if it must not be loaded. Collective: it must
/// throw on all ranks or on no rank.
using CheckContents = std::function<void(const std::string& directory, const Manifest& manifest, const Contents& contents)>;

/// A checkpoint that was loaded.
struct Loaded {
  LoadResult result;
  Manifest manifest;
  Contents contents;
};

/// The damaged candidates that a load has skipped. The same on all ranks.
struct SkippedCheckpoints {
  std::vector<std::string> lines;  ///< "checkpoint_000003: REASON", newest first
  bool is_transient = false;       ///< a finding was a temporary storage error (io::is_transient())
};

/// Loads `wanted` from the first intact candidate. Returns nullopt if all candidates are damaged; `skipped` then has the
/// reasons. The ranks share the verification: one rank verifies each byte, and all ranks get all findings. Throws the
/// errors of `accept`. Collective.
std::optional<Loaded> load_newest_intact(const std::vector<CheckpointCandidate>& candidates, LoadTargets wanted,
                                         const CheckContents& accept, Communicator& communicator,
                                         SkippedCheckpoints& skipped);

/// Verifies every byte of the checkpoint that a run finished with, without loading it. Returns the findings as in
/// SkippedCheckpoints::lines; empty if it is intact. Throws Error for temporary storage errors. Collective.
std::vector<std::string> find_damage(const std::string& run_dir, std::int64_t number, Communicator& communicator);

/// Returns candidates for checkpoints of a run, newest first. `numbers` are in ascending order.
std::vector<CheckpointCandidate> candidates_of(const std::string& run_dir, const std::vector<std::int64_t>& numbers);

/// Returns the first 8 lines and the number of the others, to keep messages readable.
std::vector<std::string> abbreviated(std::vector<std::string> findings);

/// Returns candidates for all checkpoints of a run that rank 0 lists, newest first. Collective.
std::vector<CheckpointCandidate> candidates_in(const std::string& run_dir, Communicator& communicator);

/// Returns all entries of the state as targets. Everything is verified before it is copied if an entry is optional.
LoadTargets all_entries(const State& state);

/// Returns a check for load_newest_intact() that throws StateDiffers if the checkpoint belongs to another model than the
/// state; for Covers::part, it throws UsageError if the checkpoint lacks an entry or has it with another type or shape.
CheckContents require_same_model(const State& state, Communicator& communicator, Covers covers);

/// Restores the state's files and returns the result of load_latest(). Collective.
LoadResult finish_load(const State& state, Loaded loaded, Communicator& communicator);

}  // namespace trainrt::checkpoint
