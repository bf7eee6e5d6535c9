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
  std::int64_t index = 0;                 ///< NNNNNN of checkpoint_NNNNNN
  std::string directory;                  ///< path of the checkpoint's directory
  int ranks = 0;                          ///< number of ranks that wrote it
  std::string created;                    ///< UTC, "2026-11-21T01:02:03Z"
  std::map<std::string, double> metrics;  ///< the metrics passed to save()
  std::string metadata = "{}";            ///< the JSON object passed to save()
};

/// The options of a CheckpointStore. They must be the same on every rank.
struct CheckpointStoreOptions {
  FileLayout files = FileLayout::node;
  std::uint64_t staging_bytes = std::uint64_t{1} << 30;  ///< maximum memory per rank for data that is not yet on disk
  int io_threads = 4;                                    ///< threads per rank that write; at least 1
  bool read_back = false;        ///< verify files by reading them again from disk, past the page cache, before the commit
  std::int64_t num_to_keep = 0;  ///< number of best checkpoints to keep, plus the latest; 0 keeps all
  std::string score_attribute;   ///< metric that ranks checkpoints; "": the newest are the best
  bool maximize = true;          ///< higher scores are better
  /// Receives warnings, such as damaged checkpoints and long waits for the disk. Background threads call it, too. If
  /// empty, warnings are printed on standard error.
  std::function<void(const std::string&)> say;
};

/// Saves and loads a State in directories checkpoint_NNNNNN of one directory, for a program with its own main. Train
/// functions use Context instead.
///
/// Only one program at a time may save into a directory. All functions, the constructor and the destructor are collective,
/// and must be called by the thread that communicates. The communicator must outlive the store.
///
/// A checkpoint is written in the background, into a private directory ".saving-...", which is renamed to
/// checkpoint_NNNNNN when all bytes are on disk. A directory of that name is therefore complete, even if processes are
/// killed at any time.
class TRAINRT_API CheckpointStore {
 public:
  /// Opens `directory`, which must be on a file system that all ranks share. The first save() creates it. Removes files
  /// that killed processes have left in it. Throws UsageError for invalid options.
  CheckpointStore(std::string directory, Communicator& communicator, CheckpointStoreOptions options = {})
      : CheckpointStore(Checked((require_abi(module_abi), 0)), std::move(directory), communicator, std::move(options)) {}
  /// Waits for the last save, as wait() does; if it failed, prints a warning. During the handling of an exception it does
  /// not wait for other ranks, and a save that they have not completed is lost.
  ~CheckpointStore();
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;

  /// Loads the newest undamaged checkpoint, written by any number of ranks, into the memory of `state`.
  ///
  /// Returns its description, or nothing if there is no checkpoint. Damaged checkpoints are skipped with a warning. Throws
  /// Error if all are damaged. Throws UsageError, with all names, and leaves `state` unchanged, if the checkpoint and
  /// `state` have different tensors. Collective.
  std::optional<CheckpointInfo> restore(const State& state);

  /// Starts to save `state`, and returns when its memory has been copied and may change.
  ///
  /// Waits first for the previous save. If that one failed, throws its Error and saves nothing: call again. A failed save
  /// leaves no files and does not affect committed checkpoints. The checkpoint stores rank 0's `metrics`, for
  /// score_attribute, and `metadata`, a JSON object. Collective.
  void save(const State& state, const std::map<std::string, double>& metrics = {}, const std::string& metadata = "{}");

  /// Waits until the last save is complete: committed, with state.h5, and surplus checkpoints deleted (num_to_keep).
  ///
  /// Returns the newest checkpoint that this store has committed, or nothing. Throws the Error of a failed save, once.
  /// Collective.
  std::optional<CheckpointInfo> wait();

 private:
  enum class Checked : int {};
  CheckpointStore(Checked, std::string directory, Communicator& communicator, CheckpointStoreOptions options);
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainrt
