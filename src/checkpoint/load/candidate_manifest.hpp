#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainrt::checkpoint {

/// A checkpoint directory that a load tries, and the checkpoint number that its manifest must have.
struct CheckpointCandidate {
  std::string directory;
  std::optional<std::int64_t> number;  ///< checkpoint number; nullopt: any number
};

/// The result of reading a checkpoint's manifest on one rank, in a form that can be sent to other ranks.
struct CandidateManifest {
  std::string finding;        ///< error message if the manifest is missing or invalid; "" if the manifest is valid
  bool is_transient = false;  ///< true if `finding` is a temporary storage error (io::is_transient())
  std::string text;           ///< text of the manifest, if it is valid

  std::string packed() const;
  static CandidateManifest unpacked(std::string_view bytes);
};

/// Reads and checks the manifest of a checkpoint. A missing or damaged manifest is reported in CandidateManifest::finding.
/// Throws only CannotRead.
CandidateManifest read_candidate(const CheckpointCandidate& candidate);

}  // namespace trainrt::checkpoint
