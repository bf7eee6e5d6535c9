#pragma once
#include <set>
#include <string>
#include <vector>

#include "checkpoint/layout.hpp"

namespace trainrt::checkpoint {

/// Returns the bytes of state.h5, an HDF5 file that presents every tensor and value of a checkpoint as a dataset under its
/// own name, for tools such as h5py and h5dump. Undivided entries are external links into a shard. Divided tensors are
/// virtual datasets; elements of missing shards read as NaN, or 0 for integers. Per_rank tensors get a first axis over the
/// ranks. Paths to shards are relative, so the directory can be moved. trainrt never reads the file. `layout` must be
/// complete.
std::string combined_view(const Layout& layout, const std::vector<std::string>& value_names);

/// Writes a combined view and its digest to state.h5 of a checkpoint. Writes to the file `aside` on the same file system
/// first, and renames it.
void write_view(const std::string& checkpoint_dir, const std::string& aside, const std::string& view);

/// Returns the path for `aside` in a private directory.
std::string view_aside(const std::string& private_dir);

/// Writes state.h5 of a committed checkpoint from the indices of its shards. Does nothing if the file exists, or if
/// `checkpoint_dir` is a symbolic link.
void restore_view(const std::string& checkpoint_dir, const std::string& aside);

/// Writes combined views (state.h5) that are missing in checkpoints of a run, because they could not be written or the
/// attempt was killed. A checkpoint can be loaded without its view. Must be used by one thread at a time.
class MissingViews {
 public:
  /// `aside` is a path in or below the run directory that nothing else uses, for write_view().
  MissingViews(std::string run_dir, std::string aside);

  /// Adds a checkpoint without a view, because the view could not be written.
  void add(const std::string& checkpoint_dir);

  /// Writes missing views. The first call checks the newest 16 checkpoints of the run; older ones are ignored, so that a
  /// start does not become slower with every checkpoint. Returns one message per view that cannot be written, only once per
  /// checkpoint. Does not throw Error.
  std::vector<std::string> write_all();

  bool are_all_written() const { return has_scanned_ && missing_.empty(); }

 private:
  void scan();

  std::string run_dir_;
  std::string aside_;
  bool has_scanned_ = false;
  std::set<std::string> missing_;
  std::set<std::string> reported_;
};

}  // namespace trainrt::checkpoint
