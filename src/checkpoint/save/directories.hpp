#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/directory_checkpoint.hpp>
#include <trainrt/error.hpp>
#include <trainrt/state.hpp>

#include "core/output/error_message.hpp"

namespace trainrt::checkpoint {

/// Thrown if a file in a directory that was passed to report() cannot be read.
class DirectoryFileUnreadable : public Error {
 public:
  using Error::Error;
};

/// Thrown if ranks passed different files of one name to report(), and no rank passed SameFiles::rank0.
class FilesDiffer : public Error {
 public:
  using Error::Error;
};

/// A file that must be copied into a checkpoint, from a directory that the train function passed to report().
struct DirectoryFile {
  std::string name;         ///< path relative to the folder files/ of the checkpoint
  std::string path;         ///< path of the file on this node
  std::uint64_t bytes = 0;  ///< size of the file when its directory was listed
};

/// The files and metadata that the ranks passed to report(), as directories, for one checkpoint.
struct DirectoryFiles {
  std::vector<DirectoryFile> files;  ///< files that this rank writes into the checkpoint
  /// JSON object with the user's metadata, from the lowest rank that passed metadata to report(). The same on all ranks.
  std::string metadata = "{}";
  /// Path of an earlier committed checkpoint, if report() got no directory for this checkpoint: this checkpoint then
  /// gets the files that report() got for the earlier one. Otherwise "".
  std::string carried_from;
  /// JSON object with the parameters of a requested validation (Meta::validation). The same on all ranks.
  std::string validation;
  /// Sentence about a file that differs between ranks, with the ranks and the digests of their files; "" if all files
  /// of the same name are equal. The same on all ranks.
  std::string difference;
};

/// Merges the lists of files of the directories that the ranks passed to report(). If several ranks have the same file, the
/// lowest of these ranks writes it. Links to files count as files. Empty directories are ignored. Collective. Throws the
/// same Error on all ranks, naming paths and ranks, if
/// - a directory or file cannot be read
/// - a directory contains anything except files, links to files and folders
/// - ranks have a file and a folder with the same name
/// - ranks have different files with the same name, and no rank passes SameFiles::rank0
/// - a file has the same name as a file of the State
/// With SameFiles::rank0, each further version of a file is stored below other_ranks_folder, under the lowest rank that has
/// this version. The folder other_ranks_folder of a directory, which is from another checkpoint, is ignored.
DirectoryFiles gather_directories(const DirectoryCheckpoint& mine, const State& state, Communicator& communicator,
                                  const Explain& explain);

}  // namespace trainrt::checkpoint
