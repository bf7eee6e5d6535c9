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

/// A file in a directory that was passed to report(), to be copied into a checkpoint.
struct DirectoryFile {
  std::string name;         ///< path below files/
  std::string path;         ///< path on this node
  std::uint64_t bytes = 0;  ///< size when the directory was listed
};

/// The contents of the directories that the ranks passed to report() for one checkpoint.
struct DirectoryFiles {
  std::vector<DirectoryFile> files;  ///< files that this rank writes
  std::string metadata = "{}";       ///< the same on all ranks
  std::string carried_from;          ///< committed checkpoint that provides directory files for the new one; "" if none
  std::string validation;            ///< Meta::validation, the same on all ranks
};

/// Lists the directories of all ranks and merges them. The lowest rank writes a file that several ranks have. Links to
/// files count as files; empty directories are ignored. Throws one Error on all ranks, naming path, rank and host, if a
/// directory or file cannot be read, if it contains anything except files, links to files and folders, if ranks have
/// different files of one name, or if a file of the State has the same name. Collective.
DirectoryFiles gather_directories(const DirectoryCheckpoint& mine, const State& state, Communicator& communicator,
                                  const Explain& explain);

}  // namespace trainrt::checkpoint
