#pragma once
#include <string>
#include <vector>

#include "checkpoint/load/read_blocks.hpp"

namespace trainrt::checkpoint {

/// Checks every byte of a checkpoint, the user's files and the whole view included, by so many threads; when all that is
/// whole, the HDF5 structure against hdf5_schemas. Returns what is wrong, one line each, with the file's name; empty = it
/// is whole. A whole view that was not written yet (has_view()) is none: the checkpoint loads without it.
std::vector<std::string> verify(const std::string& checkpoint_dir, int threads, const Progress& progress);

/// By two threads, without progress.
std::vector<std::string> verify(const std::string& checkpoint_dir);

/// Files in the directory that do not belong to the checkpoint, and a validation.json that is damaged, one line each: no
/// damage of the checkpoint. Error if its manifest cannot
/// be trusted.
std::vector<std::string> unlisted_files(const std::string& checkpoint_dir);

}  // namespace trainrt::checkpoint
