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

/// The directories of a checkpoint that is being saved.
struct SavePaths {
  std::string run_dir;
  std::string private_dir;  ///< in the run directory; only this attempt writes into it
  std::string work;         ///< in the private directory; the checkpoint is written here
  std::string final;        ///< in the run directory; the name of the committed checkpoint
};
/// Returns the paths of checkpoint `number`.
SavePaths save_paths(const std::string& run_dir, const std::string& private_dir, std::int64_t number);

/// Creates the directory that all ranks write into. The private directory must exist. On Lustre, sets stripes for `files`
/// files of `file_bytes` bytes. Must be called on rank 0 only.
void prepare_work(const SavePaths& paths, std::uint64_t file_bytes, int files);

/// Creates the folder files/ in it. Must be called on rank 0 only.
void prepare_files(const SavePaths& paths);

/// Thrown if a checkpoint directory of that number exists already, or the private directory is gone, because another
/// attempt owns the run now.
class LostRun : public Error {
 public:
  using Error::Error;
};

/// Returns "" if the private directory exists, otherwise the message of a LostRun. It only chooses the message after a
/// failure: a stale attempt cannot commit because the directory that it would rename is gone.
std::string lost_text(const SavePaths& paths);

/// The input of commit(), on rank 0.
struct Commit {
  SavePaths paths;
  Meta meta;
  Layout layout;
  std::vector<std::string> value_names;
  std::vector<std::uint64_t> file_bytes;  ///< size of each shard file
  std::vector<Sealed> parts;              ///< one per rank
  std::function<void()> before;           ///< called before the commit, to make the log of record durable
};

/// Writes the manifest and renames the directory to its final name, which commits the checkpoint. Returns the size of the
/// checkpoint in bytes. Throws LostRun if the final name exists or the private directory is gone. Throws Error if anything
/// else fails; the checkpoint is then dropped and its files are removed. That is an io::StorageError for which
/// io::is_transient() is true if the storage was unavailable for longer than io::set_storage_timeout().
std::uint64_t commit(const Commit& commit, const Observer& observer);

/// Writes state.h5 into the committed checkpoint.
void add_view(const Commit& commit, const Observer& observer);

}  // namespace trainrt::checkpoint
