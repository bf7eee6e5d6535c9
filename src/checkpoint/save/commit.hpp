#pragma once
#include <functional>
#include <string>
#include <trainrt/error.hpp>
#include <vector>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/layout.hpp"
#include "checkpoint/save/phases.hpp"
#include "checkpoint/save/results.hpp"

namespace trainrt::checkpoint {

/// Paths of the directories that are used to save one checkpoint.
struct SavePaths {
  std::string run_dir;
  std::string private_dir;  ///< directory in the run directory that only this attempt of the run writes into
  std::string work;         ///< directory in the private directory that the files of the checkpoint are written into
  std::string final;        ///< path of the committed checkpoint in the run directory; commit() renames `work` to `final`
};
/// Returns the paths for saving checkpoint `number`.
SavePaths save_paths(const std::string& run_dir, const std::string& private_dir, std::int64_t number);

/// Creates the directory SavePaths::work, which all ranks write into. The private directory must exist. On Lustre, sets the
/// striping of the directory for `files` files of `file_bytes` bytes each. Must be called on rank 0 only.
void prepare_work(const SavePaths& paths, std::uint64_t file_bytes, int files);

/// Creates the folder files/ in the directory SavePaths::work. Must be called on rank 0 only.
void prepare_files(const SavePaths& paths);

/// Thrown if this attempt cannot commit a checkpoint because another attempt owns the run now. Detected if a checkpoint
/// with the same number exists already, or if the private directory of this attempt was removed.
class LostRun : public Error {
 public:
  using Error::Error;
};

/// Returns the message of a LostRun if the private directory was removed, otherwise "". Must be used only to choose the
/// message after a failed operation. No check is necessary before a commit: if another attempt has removed the private
/// directory, the rename of the commit fails.
std::string lost_text(const SavePaths& paths);

/// The argument of commit(), which is called only on rank 0.
struct Commit {
  SavePaths paths;
  Meta meta;
  Layout layout;
  std::vector<std::string> value_names;
  std::vector<std::uint64_t> file_bytes;  ///< size in bytes of each shard file
  std::vector<Sealed> parts;              ///< result of each rank's writes, in rank order
  std::function<void()> before;  ///< called before the commit, to make the run's log of reports durable; may be empty
};

/// Commits a checkpoint: writes the manifest and renames the directory to its final name. Returns the size of the
/// checkpoint in bytes.
///
/// Throws LostRun if another attempt owns the run. Throws Error if the commit fails for another reason; the checkpoint is
/// then dropped and its files are removed. If the storage was unavailable for longer than the timeout of
/// io::set_storage_timeout(), the Error is an io::StorageError for which io::is_transient() returns true.
std::uint64_t commit(const Commit& commit, const Observer& observer);

/// Writes the combined view, state.h5, into the checkpoint that commit() has committed. Must be called on rank 0 only.
void add_view(const Commit& commit, const Observer& observer);

}  // namespace trainrt::checkpoint
