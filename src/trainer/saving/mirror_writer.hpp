#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "checkpoint/mirrored_run.hpp"
#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// Opens the mirror of the run: the folder or storage of config key checkpoint.mirror, below the name of the run. A value
/// that is no URL is the path of a folder. Throws UsageError if the storage cannot be used.
checkpoint::MirroredRun mirror_of(const config::RunSpec& spec);

/// Keeps the mirror of a run equal to the run directory: copies checkpoints and records to it, and removes checkpoints that
/// the run does not have any more.
///
/// Used by one thread at a time, except interrupt(). Functions throw the errors of the storage.
class MirrorWriter {
 public:
  /// `require_newest` throws if a newer attempt has taken over the run. Without it, unfinished uploads of killed processes
  /// are not aborted.
  MirrorWriter(const config::RunSpec& spec, std::function<void()> require_newest);

  std::string url() const { return mirror_.url(); }
  /// Returns the newest checkpoint that the run directory had when this object was constructed, or nothing.
  std::optional<std::int64_t> initial_checkpoint() const { return initial_; }

  enum class Copy {
    sent,      ///< copied
    complete,  ///< not copied: the mirror has a complete copy
    deleted,   ///< not copied: the run directory does not have the checkpoint any more
  };
  /// Copies checkpoint `number`, after the records of the run. Calls `on_send` before the first file is sent. Throws Error
  /// if the mirror contains another run.
  Copy copy(std::int64_t number, const std::function<void()>& on_send);
  /// Copies the records of the run: run.json, params.json, result.json and attempts/. Files with the
  /// same content in the mirror are skipped.
  void copy_records();
  /// Removes checkpoints from the mirror, after checkpoint `newest` is complete there:
  /// - those that the run directory does not have any more, or has with another content
  /// - incomplete ones
  /// - those that the run has abandoned, because it continued from an earlier checkpoint; only if `has_committed`: this
  ///   attempt has committed a checkpoint, so the listing of the run directory at its start was complete
  ///
  /// Removes nothing if the run directory shows no checkpoint at all.
  void prune(std::int64_t newest, bool has_committed);

  /// Makes running and later calls fail soon. Thread-safe.
  void interrupt() { mirror_.interrupt(); }

 private:
  std::optional<checkpoint::HeldCheckpoint> open_checkpoint(std::int64_t number) const;
  void require_this_run();
  void abort_unfinished_uploads();
  bool is_equal(std::int64_t number);

  std::string run_dir_;
  std::function<void()> require_newest_;  // empty after abort_unfinished_uploads()
  checkpoint::MirroredRun mirror_;
  std::set<std::int64_t> seen_;   // checkpoints that were seen in the run directory
  std::set<std::int64_t> equal_;  // checkpoints that are equal in the mirror
  std::optional<std::int64_t> initial_;
};

}  // namespace trainrt::trainer
