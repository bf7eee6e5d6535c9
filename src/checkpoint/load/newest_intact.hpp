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

/// Callback that throws if a checkpoint must not be loaded. It gets the list of the checkpoint's tensors and values
/// before their data is read. Collective: it must throw on all ranks or on no rank.
using CheckContents = std::function<void(const std::string& directory, const Manifest& manifest, const Contents& contents)>;

/// A checkpoint that was loaded, with its manifest and its list of tensors and values.
struct Loaded {
  LoadResult result;
  Manifest manifest;
  Contents contents;
};

/// The checkpoints that a load has skipped as damaged; the same on all ranks.
struct SkippedCheckpoints {
  std::vector<std::string> lines;  ///< one line per skipped checkpoint, newest first: "checkpoint_000003: REASON"
  bool is_transient = false;       ///< true if an error was a temporary storage error (io::is_transient())
};

/// Loads the tensors and values in `wanted` from the first intact checkpoint of `candidates`. Returns nullopt if all are
/// damaged; `skipped` then has the reasons. The ranks share the verification: each byte is verified by one rank, and all
/// ranks get all errors. Throws the errors of `accept`. Collective.
std::optional<Loaded> load_newest_intact(const std::vector<CheckpointCandidate>& candidates, LoadTargets wanted,
                                         const CheckContents& accept, Communicator& communicator,
                                         SkippedCheckpoints& skipped);

/// Verifies every byte of checkpoint `number`, with which a finished run ended, without loading it. Returns one line with
/// the damage, as in SkippedCheckpoints::lines; empty if the checkpoint is intact. Throws Error for temporary storage
/// errors. Collective.
std::vector<std::string> find_damage(const std::string& run_dir, std::int64_t number, Communicator& communicator);

/// Returns the directories of the checkpoints with the given `numbers` in a run directory, newest first, as candidates
/// for a load. `numbers` must be ascending.
std::vector<CheckpointCandidate> candidates_of(const std::string& run_dir, const std::vector<std::int64_t>& numbers);

/// Shortens a list of error lines for a message: returns the first 8 lines. If there are more, a last line has their
/// number.
std::vector<std::string> abbreviated(std::vector<std::string> findings);

/// Returns all checkpoints that rank 0 finds in the run directory, newest first, as candidates for a load. Collective.
std::vector<CheckpointCandidate> candidates_in(const std::string& run_dir, Communicator& communicator);

/// Returns all tensors and values of the State as targets of a load. If a tensor is optional, the targets request that the
/// complete checkpoint is verified before anything is copied.
LoadTargets all_entries(const State& state);

/// Returns a callback for load_newest_intact() that compares a checkpoint's tensors, values and files with the State. For
/// Covers::all it throws StateDiffers if the checkpoint belongs to another model. For Covers::part it throws UsageError if
/// the checkpoint lacks an entry of the State or has it with another dtype or shape. The state and the communicator must
/// outlive the callback.
CheckContents require_same_model(const State& state, Communicator& communicator, Covers covers);

/// Completes a load after the tensors and values were loaded: restores the State's files from the checkpoint, and returns
/// the result of load_latest(). Collective.
LoadResult finish_load(const State& state, Loaded loaded, Communicator& communicator);

}  // namespace trainrt::checkpoint
