#pragma once
#include <string>
#include <vector>

#include "checkpoint/load/read_blocks.hpp"

namespace trainrt::checkpoint {

/// Verifies every byte of a checkpoint, including files of the user and state.h5, with `threads` threads. If all bytes are
/// intact, also checks the HDF5 structure of the files against hdf5_schemas. Returns one line with the file's name for each
/// problem; empty if the checkpoint is intact. A missing state.h5 is not a problem. Throws CannotRead. Not collective.
std::vector<std::string> verify(const std::string& checkpoint_dir, int threads, const OnProgress& progress);

/// Calls verify() with two threads and without a progress callback.
std::vector<std::string> verify(const std::string& checkpoint_dir);

/// Returns one line for each file in the checkpoint directory that the manifest does not list. A damaged
/// validation.json also gives a line, although the checkpoint is still valid. Throws Error if the manifest is missing
/// or damaged.
std::vector<std::string> unlisted_files(const std::string& checkpoint_dir);

}  // namespace trainrt::checkpoint
