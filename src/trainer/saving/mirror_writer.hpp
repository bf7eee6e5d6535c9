#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "checkpoint/mirrored_run.hpp"
#include "config/run_spec.hpp"
#include "trainer/saving/mirrored_artifacts.hpp"

namespace trainrt::trainer {

/// Returns the mirror of the run: the directory named like the run in the folder or storage of config key
/// checkpoint.mirror. A value of this key that is not a URL is the path of a folder. Throws UsageError if the storage
/// cannot be used.
checkpoint::MirroredRun mirror_of(const config::RunSpec& spec);

/// Keeps the mirror of a run equal to the run directory. Copies checkpoints and records to the mirror, and removes
/// checkpoints from the mirror that the run directory no longer has.
///
/// Must be used by one thread at a time, except interrupt(). All functions throw StorageError.
class MirrorWriter {
 public:
  /// `require_newest` is called before unfinished uploads of earlier attempts are aborted. It must throw if a newer attempt
  /// has taken over the run, because the uploads may be those of the newer attempt. If `require_newest` is empty, no
  /// uploads are aborted.
  MirrorWriter(const config::RunSpec& spec, std::function<void()> require_newest);

  std::string url() const { return mirror_.url(); }
  /// Returns the number of the newest checkpoint that the run directory had when this object was constructed; nullopt
  /// if there was none.
  std::optional<std::int64_t> initial_checkpoint() const { return initial_; }

  enum class Copy {
    sent,      ///< copied
    complete,  ///< not copied: the mirror has a complete copy
    deleted,   ///< not copied: the run directory does not have the checkpoint any more
  };
  /// Copies the records of the run, then checkpoint `number`. Calls `on_send` before the first file is sent. Throws Error
  /// if the mirror contains another run.
  Copy copy(std::int64_t number, const std::function<void()>& on_send);
  /// Copies the records of the run: run.json, params.json, result.json and attempts/. Skips files that have the same
  /// content in the mirror.
  void copy_records();
  /// Returns whether the run directory has artifacts.
  bool has_artifacts() const { return artifacts_.exist(); }
  /// Copies the new and changed files in artifacts/. Throws Error if the mirror contains another run.
  void copy_artifacts();
  /// Removes checkpoints from the mirror. Called after checkpoint `newest` is complete in the mirror. Removes
  /// - checkpoints that were deleted in the run directory, or that have different content in it
  /// - incomplete checkpoints
  /// - abandoned checkpoints: the run continued from an earlier checkpoint. They are removed only if `has_committed` is
  ///   true. This attempt has then committed a checkpoint, so its first listing of the run directory was complete.
  ///
  /// Removes nothing if no checkpoint is found in the run directory.
  void prune(std::int64_t newest, bool has_committed);

  /// Interrupts the running call: this call and all later calls of the object throw soon. May be called on any thread.
  void interrupt() { mirror_.interrupt(); }

 private:
  std::optional<checkpoint::HeldCheckpoint> open_checkpoint(std::int64_t number) const;
  void require_this_run();
  void abort_unfinished_uploads();
  bool is_equal(std::int64_t number);

  std::string run_dir_;
  std::function<void()> require_newest_;  // empty after abort_unfinished_uploads()
  checkpoint::MirroredRun mirror_;
  MirroredArtifacts artifacts_;
  std::set<std::int64_t> seen_;   // numbers of checkpoints that were found in the run directory
  std::set<std::int64_t> equal_;  // numbers of checkpoints that are equal in the run directory and the mirror
  std::optional<std::int64_t> initial_;
};

}  // namespace trainrt::trainer
