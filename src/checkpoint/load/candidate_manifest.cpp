#include "checkpoint/load/candidate_manifest.hpp"

#include <exception>

#include <trainrt/error.hpp>

#include "checkpoint/collective.hpp"
#include "checkpoint/damage.hpp"
#include "checkpoint/format/manifest.hpp"
#include "io/storage_error.hpp"

namespace trainrt::checkpoint {

std::string CandidateManifest::packed() const { return Packer().all(finding, is_transient, text).bytes(); }

CandidateManifest CandidateManifest::unpacked(std::string_view bytes) {
  CandidateManifest read;
  Unpacker(bytes).all(read.finding, read.is_transient, read.text);
  return read;
}

CandidateManifest read_candidate(const CheckpointCandidate& candidate) try {
  const auto manifest = read_manifest(candidate.directory);
  if (candidate.number && manifest.meta.number != *candidate.number)
    throw Error("'" + candidate.directory + "' contains checkpoint number " + std::to_string(manifest.meta.number));
  return {.text = to_text(manifest)};
} catch (const std::exception& error) {
  rethrow_if_no_damage(error);
  return {.finding = error.what(), .is_transient = io::is_transient(error)};
}

}  // namespace trainrt::checkpoint
