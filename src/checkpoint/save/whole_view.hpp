#pragma once
#include <set>
#include <string>
#include <vector>

#include "checkpoint/layout.hpp"

namespace trainrt::checkpoint {

/// The bytes of state.h5, which shows every tensor and value of a checkpoint as a dataset under its own name, for h5py and
/// h5dump: external links to what lies whole in one shard; virtual datasets for what is split (a missing shard shows as
/// NaN, or 0 for integers) and, with a first axis over the ranks, for per_rank tensors. It names the shards beside it,
/// wherever the directory is. trainrt itself never reads it.
/// The layout is complete.
std::string whole_view(const Layout& layout, const std::vector<std::string>& value_names);

/// Puts a view, sealed with its digest, into a checkpoint: written to the file `aside` of the same file system, then
/// renamed.
void write_view(const std::string& checkpoint_dir, const std::string& aside, const std::string& view);

/// Where a view is written that goes out of this private directory.
std::string view_aside(const std::string& private_dir);

/// Makes the view of a committed checkpoint anew, from the indices of its shards, if a run was killed before it was
/// written. Does nothing if there is one, or if `checkpoint_dir` is a symbolic link: what lies elsewhere stays as it is.
void restore_view(const std::string& checkpoint_dir, const std::string& aside);

/// The whole views (state.h5) that checkpoints of a run lack: those that could not be written, and those that a killed
/// attempt had no time for. A checkpoint is whole without its view; nothing waits for it. Used by one thread at a time.
class OwedViews {
 public:
  /// `aside`: a file that is nobody else's, in the run directory or below it, in which a view is written first.
  OwedViews(std::string run_dir, std::string aside);

  /// The view of that checkpoint could not be written.
  void owe(const std::string& checkpoint_dir);

  /// Makes what is owed, as far as that goes. The first call looks at the newest 16 checkpoints of the run: a start must
  /// not take longer for every old one. Returns a line for each view that cannot be made, each checkpoint once. Does not
  /// throw Error.
  std::vector<std::string> settle();

  bool is_settled() const { return has_looked_ && owed_.empty(); }

 private:
  void look();

  std::string run_dir_;
  std::string aside_;
  bool has_looked_ = false;
  std::set<std::string> owed_;
  std::set<std::string> reported_;
};

}  // namespace trainrt::checkpoint
