#include "checkpoint/load/all_damaged.hpp"

#include <set>
#include <utility>

#include "checkpoint/checkpoint_error.hpp"
#include "checkpoint/collective.hpp"
#include "checkpoint/damage.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/load/state_filler.hpp"
#include "core/host.hpp"
#include "core/text/text.hpp"

namespace trainrt::checkpoint {

namespace {

/// Where each rank reads: its host, or its number if all ranks are on one host.
std::vector<std::string> places_of_ranks(Communicator& communicator) {
  auto places = communicator.all_gather(host_name());
  if (std::set<std::string>(places.begin(), places.end()).size() > 1) return places;
  for (std::size_t rank = 0; rank < places.size(); ++rank) places[rank] = "rank " + std::to_string(rank);
  return places;
}

/// What one more reading of a checkpoint finds. The same on all ranks.
struct Reading {
  std::set<std::string> finders;  ///< places at which damage was found; none: it is whole
  bool may_pass = false;          ///< the storage gave errors that may pass
};

/// Each rank reads the share of the rank that is `shift` further, and rank `shift` reads the manifest.
Reading read_again(const Candidate& candidate, int shift, const std::vector<std::string>& places,
                   Communicator& communicator) {
  const auto gathered = try_on_every_rank(
      communicator, [&] { return communicator.rank() == shift ? read_candidate(candidate).packed() : std::string(); });
  const auto& reader_place = places[static_cast<std::size_t>(shift)];
  if (!gathered.failures.empty()) return {.finders = {reader_place}};
  const auto read = CandidateManifest::unpacked(gathered.texts[static_cast<std::size_t>(shift)]);
  if (!read.finding.empty()) return {{reader_place}, read.may_pass};
  const auto manifest = manifest_from(read.text, candidate.directory + "/" + manifest_name);
  Wanted nothing;
  nothing.shares_shifted = shift;
  StateFiller filler(candidate.directory, manifest, nothing, communicator);
  auto findings = filler.survey();
  if (findings.empty()) findings = filler.read();
  if (findings.empty()) return {};
  Reading reading{.may_pass = filler.may_pass()};
  const auto found = communicator.all_gather(filler.has_found() ? "1" : "");
  for (std::size_t rank = 0; rank < found.size(); ++rank)
    if (!found[rank].empty()) reading.finders.insert(places[rank]);
  if (reading.finders.empty()) reading.finders.insert(places.begin(), places.end());  // the parts contradict one another
  return reading;
}

/// Why the damage of this candidate may not last; "" if two more readings find it damaged, at different places if there
/// are several.
std::string doubt_about(const Candidate& candidate, const std::vector<std::string>& places, Communicator& communicator) {
  const auto first = read_again(candidate, 0, places, communicator);
  const auto second = read_again(candidate, communicator.size() / 2, places, communicator);
  const auto name = "'" + candidate.directory + "'";
  if (first.may_pass || second.may_pass) return name + " cannot be read now: the storage gives errors that may pass";
  if (first.finders.empty() || second.finders.empty()) return name + " is whole at another reading";
  auto finders = first.finders;
  finders.insert(second.finders.begin(), second.finders.end());
  const std::set<std::string> all(places.begin(), places.end());
  if (finders.size() > 1 || all.size() == 1) return {};
  return "only " + *finders.begin() + " finds " + name + " damaged, whichever part it reads: its memory may be faulty";
}

}  // namespace

std::string confirm_damaged(const std::string& what, const std::vector<Candidate>& candidates, const Skipped& skipped,
                            Communicator& communicator) {
  const auto text = what + "\n  " + join(summed_up(skipped.lines), "\n  ") + "\n";
  if (skipped.may_pass)
    throw CannotRead(text + "The storage gives errors that may pass: run the same command again when it is well.");
  const auto places = places_of_ranks(communicator);
  for (const auto& candidate : candidates)
    if (const auto doubt = doubt_about(candidate, places, communicator); !doubt.empty())
      throw CannotRead(text + doubt + ". Run the same command again.");
  return text;
}

void refuse_damaged(const std::string& what, const std::string& run_dir, const std::string& remedy,
                    const std::vector<Candidate>& candidates, const Skipped& skipped, Communicator& communicator) {
  const auto text = confirm_damaged(what, candidates, skipped, communicator);
  throw AllDamaged(text + remedy, run_dir, summed_up(skipped.lines));
}

}  // namespace trainrt::checkpoint
