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

/// What is on record of a checkpoint.
struct CheckpointInfo {
  std::int64_t index = 0;                 ///< NNNNNN of checkpoint_NNNNNN
  std::string directory;                  ///< where it lies
  int ranks = 0;                          ///< that wrote it
  std::string created;                    ///< UTC, "2026-11-21T01:02:03Z"
  std::map<std::string, double> metrics;  ///< as save() got them
  std::string metadata = "{}";            ///< a JSON object of the program's
};

/// The same on every rank.
struct CheckpointStoreOptions {
  FileLayout files = FileLayout::node;
  std::uint64_t staging_bytes = std::uint64_t{1} << 30;  ///< of memory a rank, for what is copied and not yet on disk
  int io_threads = 4;                                    ///< that write, a rank
  bool read_back = false;        ///< read everything again, past the page cache, before it counts as written
  std::int64_t num_to_keep = 0;  ///< the best so many, and the latest; 0 = all
  std::string score_attribute;   ///< the metric that says which are best; "" = the newest are
  bool maximize = true;          ///< more of it is better
  /// Is told what the user should know: damaged checkpoints that were passed over, waits for the disk. Also called from
  /// background threads. Empty: lines on standard error.
  std::function<void(const std::string&)> say;
};

/// Saves and restores a State in checkpoint_NNNNNN directories inside one directory, for a program with its own main: what
/// the trainer does for train functions. One program at a time saves into a directory.
///
/// All calls are collective, made by the thread that communicates; the communicator outlives the store. A checkpoint is
/// written in the background in a private directory, ".saving-...", and renamed to its name when every byte is on disk:
/// what has that name is whole, whatever is killed when.
class TRAINRT_API CheckpointStore {
 public:
  /// `directory` lies on a file system that all ranks share; the first save() makes it. What killed processes left in it is
  /// removed. Bad options throw UsageError.
  CheckpointStore(std::string directory, Communicator& communicator, CheckpointStoreOptions options = {})
      : CheckpointStore(Checked((require_abi(module_abi), 0)), std::move(directory), communicator, std::move(options)) {}
  /// Waits for the last save, as wait() does; its failure is only said. While an exception flies the other ranks are not
  /// there, and what they have not all written is lost.
  ~CheckpointStore();
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;

  /// Loads the newest checkpoint that is whole, of any number of ranks, into the state's memory; damaged ones are passed
  /// over and said. nullopt if there is none. Error if all are damaged; UsageError, with every name, if the
  /// checkpoint holds other tensors than the state, which stays as it is then.
  std::optional<CheckpointInfo> restore(const State& state);

  /// Takes a checkpoint: copies the state, and returns when it may change. Waits for the save before this one; if that
  /// failed, throws its Error and takes none: call again. A failed save leaves nothing and harms no committed checkpoint.
  /// `metrics` and `metadata` (a JSON object): rank 0's are kept.
  void save(const State& state, const std::map<std::string, double>& metrics = {}, const std::string& metadata = "{}");

  /// Waits until the last save is committed, state.h5 written and what num_to_keep does not keep deleted. Throws the Error
  /// of a save that failed, once. Returns the newest checkpoint that this store committed, nullopt if there is none.
  std::optional<CheckpointInfo> wait();

 private:
  enum class Checked : int {};
  CheckpointStore(Checked, std::string directory, Communicator& communicator, CheckpointStoreOptions options);
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainrt
