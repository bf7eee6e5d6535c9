#include "checkpoint/load/all_damaged.hpp"

#include <set>

#include "checkpoint/checkpoint_error.hpp"
#include "checkpoint/collective.hpp"
#include "checkpoint/damage.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/load/state_filler.hpp"
#include "core/host.hpp"
#include "core/text/text.hpp"

namespace trainrt::checkpoint {

namespace {

/// Returns the names with which messages name the ranks that find damage: the host of each rank, or "rank N" if all
/// ranks are on one host. Collective.
std::vector<std::string> readers_of_ranks(Communicator& communicator) {
  auto readers = communicator.all_gather(host_name());
  if (std::set<std::string>(readers.begin(), readers.end()).size() > 1) return readers;
  for (std::size_t rank = 0; rank < readers.size(); ++rank) readers[rank] = "rank " + std::to_string(rank);
  return readers;
}

/// The result of reading a checkpoint again after it was found damaged; the same on all ranks.
struct RereadResult {
  std::set<std::string> finders;  ///< hosts or ranks that found damage; empty if the checkpoint is intact
  bool is_transient = false;      ///< true if an error was a temporary storage error
};

/// Reads and verifies a checkpoint again in which damage was found. `shift` gives the work to other ranks than in a
/// normal load, so that a host with faulty memory does not verify the same bytes twice: rank `shift` reads the
/// manifest, and rank r verifies the bytes that rank r + `shift` verifies in a normal load. Collective.
RereadResult read_again(const CheckpointCandidate& candidate, int shift, const std::vector<std::string>& readers,
                        Communicator& communicator) {
  const auto gathered = try_on_every_rank(
      communicator, [&] { return communicator.rank() == shift ? read_candidate(candidate).packed() : std::string(); });
  const auto& manifest_reader = readers[static_cast<std::size_t>(shift)];
  if (!gathered.failures.empty()) return {.finders = {manifest_reader}};
  const auto read = CandidateManifest::unpacked(gathered.texts[static_cast<std::size_t>(shift)]);
  if (!read.finding.empty()) return {{manifest_reader}, read.is_transient};
  const auto manifest = manifest_from(read.text, candidate.directory + "/" + manifest_name);
  LoadTargets nothing;
  nothing.shares_shifted = shift;
  StateFiller filler(candidate.directory, manifest, nothing, communicator);
  auto findings = filler.fetch_indices();
  if (findings.empty()) findings = filler.read();
  if (findings.empty()) return {};
  RereadResult reading{.is_transient = filler.is_transient()};
  const auto found = communicator.all_gather(filler.has_found() ? "1" : "");
  for (std::size_t rank = 0; rank < found.size(); ++rank)
    if (!found[rank].empty()) reading.finders.insert(readers[rank]);
  // There is damage, but no rank found it in the bytes that it verified: bytes of several ranks contradict each other.
  // All readers then count as finders.
  if (reading.finders.empty()) reading.finders.insert(readers.begin(), readers.end());
  return reading;
}

/// Reads a damaged checkpoint twice more and returns the reason why its damage may be temporary. Returns "" if both
/// readings find damage, on different hosts or ranks if there are several. Collective.
std::string doubt_about(const CheckpointCandidate& candidate, const std::vector<std::string>& readers,
                        Communicator& communicator) {
  const auto first = read_again(candidate, 0, readers, communicator);
  const auto second = read_again(candidate, communicator.size() / 2, readers, communicator);
  const auto name = "'" + candidate.directory + "'";
  if (first.is_transient || second.is_transient)
    return name + " cannot be read at present: the storage reports temporary errors";
  if (first.finders.empty() || second.finders.empty()) return name + " is intact when it is read again";
  auto finders = first.finders;
  finders.insert(second.finders.begin(), second.finders.end());
  const std::set<std::string> all(readers.begin(), readers.end());
  if (finders.size() > 1 || all.size() == 1) return {};
  return "only " + *finders.begin() + " finds damage in " + name +
         ", whichever part of the checkpoint it reads; the memory of its node may be faulty";
}

}  // namespace

std::string confirm_damaged(const std::string& what, const std::vector<CheckpointCandidate>& candidates,
                            const SkippedCheckpoints& skipped, Communicator& communicator) {
  const auto text = what + "\n  " + join(abbreviated(skipped.lines), "\n  ") + "\n";
  if (skipped.is_transient)
    throw CannotRead(text + "The storage reports temporary errors. Run the same command again when the storage works.");
  const auto readers = readers_of_ranks(communicator);
  for (const auto& candidate : candidates)
    if (const auto doubt = doubt_about(candidate, readers, communicator); !doubt.empty())
      throw CannotRead(text + doubt + ". Run the same command again.");
  return text;
}

void refuse_damaged(const std::string& what, const std::string& run_dir, const std::string& remedy,
                    const std::vector<CheckpointCandidate>& candidates, const SkippedCheckpoints& skipped,
                    Communicator& communicator) {
  const auto text = confirm_damaged(what, candidates, skipped, communicator);
  throw AllDamaged(text + remedy, run_dir, abbreviated(skipped.lines));
}

}  // namespace trainrt::checkpoint
