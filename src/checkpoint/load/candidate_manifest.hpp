#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainrt::checkpoint {

/// A checkpoint directory that a load tries.
struct CheckpointCandidate {
  std::string directory;
  std::optional<std::int64_t> number;  ///< number that its manifest must have
};

/// The manifest of a candidate as one rank has read it, which can be sent to other ranks.
struct CandidateManifest {
  std::string finding;        ///< message if it is missing or invalid; "" if it is valid
  bool is_transient = false;  ///< io::is_transient() is true for the finding
  std::string text;           ///< text of a valid manifest

  std::string packed() const;
  static CandidateManifest unpacked(std::string_view bytes);
};

/// Reads and checks the manifest. Damage is returned as a finding; throws only CannotRead.
CandidateManifest read_candidate(const CheckpointCandidate& candidate);

}  // namespace trainrt::checkpoint
