#pragma once
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

/// Makes the view of a committed checkpoint anew, from the indices of its shards, where a run was killed before it was
/// written. Does nothing if there is one, or if `checkpoint_dir` is a symbolic link: what lies elsewhere stays as it is.
void restore_view(const std::string& checkpoint_dir, const std::string& aside);

}  // namespace trainrt::checkpoint
