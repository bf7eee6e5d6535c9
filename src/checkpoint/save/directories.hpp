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

/// A file that a rank gave for a checkpoint cannot be read.
class GivenUnreadable : public Error {
 public:
  using Error::Error;
};

/// A file that goes into a checkpoint beside those of the State.
struct GivenFile {
  std::string name;         ///< below files/
  std::string path;         ///< on this node
  std::uint64_t bytes = 0;  ///< when it was listed
};

/// What the ranks give for one checkpoint.
struct Given {
  std::vector<GivenFile> files;  ///< that this rank writes
  std::string metadata = "{}";   ///< the same on all ranks
  std::string carried_from;      ///< a committed checkpoint whose files of this kind are in the new one too; "": none
  std::string validation;        ///< Meta::validation, the same on all ranks
};

/// Lists the ranks' directories, whose files become one checkpoint; a file that several ranks have is the lowest's to
/// write. Links to files count as those; empty directories are left out. Collective. Throws one Error, on all ranks, that
/// names path, rank and host, if a directory or a file cannot be read, if there is anything but files, links to files and
/// folders, if ranks have different files of one name, or if a name is one of the State's.
Given gather_directories(const DirectoryCheckpoint& mine, const State& state, Communicator& communicator,
                         const Explain& explain);

}  // namespace trainrt::checkpoint
