#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <trainrt/abi.hpp>
#include <trainrt/communicator.hpp>
#include <trainrt/export.hpp>
#include <trainrt/options.hpp>
#include <trainrt/state.hpp>

namespace trainrt {

/// The description of a committed checkpoint.
struct CheckpointInfo {
  std::int64_t index = 0;                 ///< number of the checkpoint: NNNNNN of checkpoint_NNNNNN
  std::string directory;                  ///< path of the checkpoint's directory
  int ranks = 0;                          ///< number of ranks that wrote the checkpoint
  std::string created;                    ///< time of the save in UTC: "2026-11-21T01:02:03Z"
  std::map<std::string, double> metrics;  ///< the metrics that were passed to save()
  std::string metadata = "{}";            ///< the JSON object passed to save()
};

/// The options of a CheckpointStore. They must be the same on every rank.
struct CheckpointStoreOptions {
  FileLayout files = FileLayout::node;
  /// maximum bytes of memory per rank that hold copies of data until it is on disk
  std::uint64_t staging_bytes = std::uint64_t{1} << 30;
  int io_threads = 4;      ///< number of threads per rank that write checkpoint files; at least 1
  bool read_back = false;  ///< before the commit, verify files by reading them back from disk, not from the page cache
  std::int64_t num_to_keep = 0;  ///< number of best checkpoints to keep, plus the latest; 0 keeps all
  std::string score_attribute;   ///< metric by which checkpoints are ranked; "": newest first
  bool maximize = true;          ///< true if higher values of score_attribute are better
  /// Function that gets the text of each warning, such as about damaged checkpoints and long waits for the disk. Background
  /// threads call it, too. If empty, warnings are printed on standard error.
  std::function<void(const std::string&)> say;
};

/// Saves and loads checkpoints of a State, in subdirectories checkpoint_NNNNNN of one directory, for a program with its own
/// main. Train functions use Context instead.
///
/// Only one program at a time may save into a directory. All functions, the constructor and the destructor are collective,
/// and must be called on the thread that uses the communicator. The communicator must outlive the store.
///
/// A checkpoint is written in the background, into a private directory ".saving-...", which is renamed to checkpoint_NNNNNN
/// when all bytes are on disk. A directory of that name is therefore complete, even if processes are killed at any time.
class TRAINRT_API CheckpointStore {
 public:
  /// Opens `directory`, which must be on a file system that all ranks share. The first save() creates the directory.
  /// Removes files that killed processes have left in the directory. Throws UsageError for invalid options.
  CheckpointStore(std::string directory, Communicator& communicator, CheckpointStoreOptions options = {})
      : CheckpointStore(Checked((require_abi(module_abi), 0)), std::move(directory), communicator, std::move(options)) {}
  /// Destructor: waits for the last save, as wait() does; if the save failed, prints a warning. While an exception is being
  /// handled, the destructor does not wait for other ranks, and a save that they have not completed is lost.
  ~CheckpointStore();
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;

  /// Loads the newest undamaged checkpoint, written by any number of ranks, into the memory of `state`.
  ///
  /// Returns the checkpoint's description, or nothing if the directory has no checkpoint. Damaged checkpoints are skipped
  /// with a warning; if all are damaged, throws Error. If the checkpoint and `state` have different tensors, throws
  /// UsageError that names every tensor that differs, and leaves `state` unchanged. Collective.
  std::optional<CheckpointInfo> restore(const State& state);

  /// Starts to save a checkpoint of `state`, and returns when the memory of `state` has been copied and may change.
  ///
  /// First waits for the previous save. If the previous save failed, throws its Error and saves nothing: call save() again.
  /// A failed save leaves no files and does not affect committed checkpoints. The checkpoint stores rank 0's `metrics`, for
  /// score_attribute, and `metadata`, a JSON object. Collective.
  void save(const State& state, const std::map<std::string, double>& metrics = {}, const std::string& metadata = "{}");

  /// Waits until the last save is complete: the checkpoint is committed, state.h5 is written, and checkpoints in excess of
  /// num_to_keep are deleted.
  ///
  /// Returns the newest checkpoint that this store has committed, or nothing. Throws the Error of a failed save, but only
  /// once. Collective.
  std::optional<CheckpointInfo> wait();

 private:
  enum class Checked : int {};
  CheckpointStore(Checked, std::string directory, Communicator& communicator, CheckpointStoreOptions options);
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainrt
