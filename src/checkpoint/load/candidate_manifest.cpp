#include "checkpoint/load/candidate_manifest.hpp"

#include <exception>

#include <trainrt/error.hpp>

#include "checkpoint/collective.hpp"
#include "checkpoint/damage.hpp"
#include "checkpoint/format/manifest.hpp"
#include "io/storage_error.hpp"

namespace trainrt::checkpoint {

std::string CandidateManifest::packed() const { return Packer().put(finding).put(may_pass).put(text).bytes(); }

CandidateManifest CandidateManifest::unpacked(std::string_view bytes) {
  Unpacker unpacker(bytes);
  CandidateManifest read;
  read.finding = unpacker.text();
  read.may_pass = unpacker.number() != 0;
  read.text = unpacker.text();
  return read;
}

CandidateManifest read_candidate(const Candidate& candidate) try {
  const auto manifest = read_manifest(candidate.directory);
  if (candidate.number && manifest.meta.number != *candidate.number)
    throw Error("'" + candidate.directory + "' holds the checkpoint of index " + std::to_string(manifest.meta.number));
  return {.text = to_text(manifest)};
} catch (const std::exception& error) {
  rethrow_if_no_damage(error);
  return {.finding = error.what(), .may_pass = io::is_transient(error)};
}

}  // namespace trainrt::checkpoint
