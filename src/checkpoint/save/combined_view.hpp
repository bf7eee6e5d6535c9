#pragma once
#include <set>
#include <string>
#include <vector>

#include "checkpoint/layout.hpp"

namespace trainrt::checkpoint {

/// Returns the bytes of a combined view, the file state.h5 of a checkpoint. In this HDF5 file, every tensor and value is a
/// dataset under its own name, for tools such as h5py and h5dump. trainrt itself never loads tensors from the file.
/// - Values, and tensors stored as one piece, are external links into a shard file.
/// - Other tensors are virtual datasets. Elements in missing shard files read as NaN, or as 0 for integers.
/// - Tensors with placement per_rank get an additional first axis, the rank.
/// - Paths of shard files are relative, so that the checkpoint directory can be moved.
///
/// `layout` must be complete (Layout::complete).
std::string combined_view(const Layout& layout, const std::vector<std::string>& value_names);

/// Writes the file state.h5 of a checkpoint: the combined view `view`, followed by its digest. The file is first
/// written under the path `aside`, on the same file system, and then renamed atomically. A state.h5 that exists already
/// is not replaced.
void write_view(const std::string& checkpoint_dir, const std::string& aside, const std::string& view);

/// Returns a path in the private directory for the parameter `aside` of write_view().
std::string view_aside(const std::string& private_dir);

/// Writes a missing state.h5 of a committed checkpoint, from the indices in its shard files. `aside`: see write_view().
/// Does nothing if state.h5 exists, or if `checkpoint_dir` is a symbolic link.
void restore_view(const std::string& checkpoint_dir, const std::string& aside);

/// Writes missing combined views (state.h5) of a run's checkpoints. A view is missing if writing it failed, or if a
/// process was killed before. Such checkpoints are complete and can be loaded. Must be used by one thread at a time.
class MissingViews {
 public:
  /// `run_dir`: directory of the run. `aside`: unused path in the run directory or its subdirectories, under which views
  /// are written before they are renamed (write_view()).
  MissingViews(std::string run_dir, std::string aside);

  /// Adds a checkpoint for which writing the combined view has failed, so that the next write_all() tries again.
  void add(const std::string& checkpoint_dir);

  /// Writes missing combined views. The first call checks the newest 16 checkpoints of the run. Older checkpoints are not
  /// checked, so that the start of a run with many checkpoints is not slow. Returns one message per view that
  /// cannot be written, but only once for the same checkpoint. Does not throw Error.
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
