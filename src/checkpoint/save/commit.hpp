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

/// Where a checkpoint is written, and where it goes.
struct SavePaths {
  std::string run_dir;
  std::string private_dir;  ///< inside the run directory, of this attempt alone
  std::string work;         ///< inside the private directory
  std::string final;        ///< inside the run directory
};
SavePaths save_paths(const std::string& run_dir, const std::string& private_dir, std::int64_t number);

/// Makes the directory that all ranks write into, inside the private directory, which is there; on Lustre, with stripes for
/// files of that size. Rank 0 calls.
void prepare_work(const SavePaths& paths, std::uint64_t file_bytes, int files);

/// Makes the folder of the user's files in it, which may stay empty.
void prepare_files(const SavePaths& paths);

/// A directory of that number exists already, or the private directory is gone: another attempt owns the run now.
class LostRun : public Error {
 public:
  using Error::Error;
};

/// "" while the private directory is there, else what to say. For the right words after something failed: what keeps a
/// stale attempt from committing is that it has nothing left to rename.
std::string lost_text(const SavePaths& paths);

/// What rank 0 needs to commit.
struct Commit {
  SavePaths paths;
  Meta meta;
  Layout layout;
  std::vector<std::string> value_names;
  std::vector<std::uint64_t> file_bytes;  ///< of each shard file
  std::vector<Sealed> parts;              ///< one a rank
  std::function<void()> before;           ///< what must be durable first: the log of record
};

/// Writes the manifest and renames the directory to its final name: the only commit point. Returns the checkpoint's bytes.
/// LostRun if that name is taken or the private directory is gone; Error if anything fails: then the checkpoint is
/// dropped, and what it left is removed. A StorageError of a kind that may pass if the storage was away for longer than
/// io::set_storage_timeout().
std::uint64_t commit(const Commit& commit, const Observer& observer);

/// Off the commit path: writes state.h5 into the committed checkpoint.
void add_view(const Commit& commit, const Observer& observer);

}  // namespace trainrt::checkpoint
