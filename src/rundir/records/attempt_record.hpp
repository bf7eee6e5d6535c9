#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rundir/records/owner.hpp"
#include "rundir/records/run_state.hpp"

namespace trainrt::rundir {

/// Where the time of one attempt went, by rank 0's clock, from the start of its process on. Seconds.
struct Timing {
  double startup_s = 0;     ///< until the first step can have begun (Meter::steps_begin_s()): launch, restore
  double steps_s = 0;       ///< from there to the end of the train function, without the saves
  double checkpoint_s = 0;  ///< the train thread stood still for a save
  double shutdown_s = 0;    ///< after the train function

  double total_s() const { return startup_s + steps_s + checkpoint_s + shutdown_s; }
};

/// How the reason of an attempt begins that Slurm killed before it could save and say so itself.
inline constexpr std::string_view ended_by_slurm = "ended by Slurm";

/// One line of a run's history: attempts/000003.json. While it runs, attempts/000003.pulse beside it holds the numbers of
/// its last sign of life: readers see them here.
struct AttemptRecord {
  int number = 0;
  Owner owner;
  int ranks = 0;
  std::vector<std::string> nodes;
  std::string start;   ///< UTC; of rank 0's process
  std::string end;     ///< UTC; "" while it runs, or if it was killed and nobody has noticed yet
  std::string why;     ///< why it ended: "finished", "stopped by SIGUSR1", "failed: ...", "killed: ..."
  int exit_code = -1;  ///< -1 = nobody saw one
  /// The node at which it ended: it died, its ranks were killed, crashed or hung, or it held the others up; "" if none is
  /// to blame, or that is not known (an older record).
  std::string blamed_node = {};
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::int64_t saved_step = -1;        ///< of its newest committed checkpoint, or of the one that it began from; -1 = none
  std::int64_t saved_checkpoint = -1;  ///< that checkpoint's number; -1 = none, or not known (an older record)
  std::int64_t first_iteration = 0;    ///< the same in reports: a train function may make no steps
  std::int64_t saved_iteration = -1;
  std::int64_t iteration = 0;
  Timing timing;
  std::string seen;  ///< UTC; its last sign of life with these numbers; "" if it has left none
  /// Of a program that has not restored, stepped or reported so far: how far it came is not known.
  bool silent = false;
  /// Of such a program whose output is looked at: the step, iteration or epoch that it showed last; -1: none so far.
  std::optional<double> position;
  double expected = 0;      ///< where the run will be done: an iteration, or such a position; 0: nobody has told
  double unreported_s = 0;  ///< of timing.steps_s: since the last report
  std::string job_start;    ///< UTC; when the job began, as Slurm tells it; "" if it does not
  std::string job_end;      ///< UTC; when its time limit will end it; "" if there is none, or it is not known
  /// The user let it begin all the same: what earlier attempts say they had saved counts no more.
  bool accepted_missing = false;

  /// Its steps and iterations are known.
  bool shows_progress() const { return !silent || (position && *position >= 0); }
};

/// "000003"
std::string attempt_name(int number);

/// Returns running (it has no end), finished, stopped, failed or killed.
RunState state_of(const AttemptRecord& attempt);

/// Why an attempt of `gone` wrote no end, as far as `me`, its successor, knows: "killed: it wrote no end (...)".
std::string why_without_end(const Owner& gone, const Owner& me);

/// The record as JSON, and back. Reading throws a std::exception that says what is wrong, a number that no attempt can
/// have included.
std::string to_text(const AttemptRecord& record);
AttemptRecord attempt_record_from(const std::string& text);

/// The numbers of a sign of life as JSON, and back into a record, which stays as it was if reading throws a
/// std::exception.
std::string heartbeat_text(const AttemptRecord& record);
void take_heartbeat_text(AttemptRecord& record, const std::string& text);

}  // namespace trainrt::rundir
