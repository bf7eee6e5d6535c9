#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainrt::checkpoint {

/// A directory that may hold a checkpoint that can be loaded.
struct Candidate {
  std::string directory;
  std::optional<std::int64_t> number;  ///< that it must be of
};

/// A candidate's manifest as one rank has read it, in a form that can be sent to the others.
struct CandidateManifest {
  std::string finding;    ///< what is wrong with it; "" if it is valid
  bool may_pass = false;  ///< the finding is an error of the storage that may pass (io::is_transient())
  std::string text;       ///< of a valid one

  std::string packed() const;
  static CandidateManifest unpacked(std::string_view bytes);
};

/// Reads and checks the manifest. Throws CannotRead.
CandidateManifest read_candidate(const Candidate& candidate);

}  // namespace trainrt::checkpoint
