// The part of the session that takes checkpoints of directories that the train function has written, and tells where they
// lie.
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/names.hpp"
#include "checkpoint/save/directories.hpp"
#include "comm/agreement.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/session/session.hpp"

namespace trainrt {

using comm::AgreedError;

bool Session::restore_place() {
  if (has_progress()) throw UsageError("restore() comes before the first step() and report()");
  attach({});
  saves_by_directory_ = true;
  return load();
}

/// What an empty State was attached for shows here.
void Session::take_files_of(const trainer::CommittedCheckpoint& checkpoint) {
  if (checkpoint.has_files && attached_empty_) saves_by_directory_ = true;
}

/// The files of all ranks for one checkpoint. Collective.
Session::Given Session::gather(const DirectoryCheckpoint* mine) try {
  const rundir::Meter::Stall stall(attempt_.meter);
  const watch::InPhase saving(life_, watch::Phase::checkpoint);
  if (!attached_) {  // the run begins anew: nobody has asked for what an earlier attempt saved
    attach({});
    attached_empty_ = true;
    replicas_.begin(state_, progress_.step);
  }
  if (attached_empty_) saves_by_directory_ = true;
  const auto given = mine != nullptr ? *mine : DirectoryCheckpoint{};
  std::optional<State> with_state;
  comm::collectively(communicator_, [&] { with_state = with_state_of(given); });  // a rank may give one that others do not
  return {checkpoint::gather_directories(given, state_, communicator_, trainer::with_advice), std::move(with_state)};
} catch (const Error& error) {
  throw AgreedError(error.what(), error.code());
}

/// The State that comes with a report, and what the run keeps itself.
std::optional<State> Session::with_state_of(const DirectoryCheckpoint& given) const {
  if (given.state == nullptr) return std::nullopt;
  if (!saves_by_directory_)
    throw UsageError(
        "report() was given the State of one checkpoint, but restore() has attached the State of all: checkpoints of a run "
        "hold the one or the other");
  std::optional<State> both(state_);
  both->append(*given.state);
  return both;
}

std::optional<CheckpointPlace> Session::checkpoint() const {
  const auto& newest = saves_.newest_committed();
  if (!newest) return std::nullopt;
  return CheckpointPlace{newest->number, newest->directory, newest->has_files};
}

/// What a run whose checkpoints are its directories goes on from.
std::string Session::place() const {
  const auto& newest = saves_.newest_committed();
  if (!newest) return "its beginning, since it has given none so far";
  return fmt::format("{} (iteration {})", checkpoint::directory_name(newest->number), newest->point.iteration);
}

}  // namespace trainrt
