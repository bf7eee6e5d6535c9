#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

#include "checkpoint/memory/state_copies.hpp"
#include "config/run_spec.hpp"
#include "core/host.hpp"

namespace trainrt::trainer {

/// Environment variable with the path of the file for copies of the State (checkpoint::CopyFile). The process that
/// starts the ranks sets the variable, and keeps the file open; the path is in /proc.
inline constexpr const char* copies_variable = "TRAINRT_STATE_COPIES";

/// The name with which the starting process creates the file (memfd_create(2)).
inline constexpr const char* copies_name = "trainrt state";

/// Opens the file that copies_variable names, and removes the variable, so that programs of this process do not use the
/// file. Called when a process becomes a rank, before it starts programs. Returns the descriptor, which this process keeps
/// open; -1 if there is no such file on this node, or if it does not belong to this user.
int file_for_copies();

/// Makes copies of the State in memory (config key failure.recovery), and loads the newest copy at the start of an attempt.
/// The interval between copies adapts so that copying takes at most 2 % of the time. Must be used on the train thread.
class MemoryCopies {
 public:
  /// `file` is the result of file_for_copies(). The arguments must outlive the object. `clock` returns the present time
  /// in seconds; the interval between copies is computed from it.
  MemoryCopies(const config::RunSpec& spec, const std::string& run_id, Communicator& communicator, int file,
               double (*clock)() = monotonic_seconds);

  /// Prepares the copies of `state`. Returns the note of the newest copy of an earlier attempt; nullopt if there is
  /// none. Logs a warning if the State cannot be copied. Collective.
  std::optional<checkpoint::CopyNote> begin(const State& state);
  /// Loads the copy into `state`; requires that begin() has returned its note. Not collective.
  void load(const State& state) { copies_->load(state); }
  /// Records how the attempt begins: from the copy that begin() has found if `from_copy` is true, otherwise from
  /// another state. Not collective.
  void begin_training(bool from_copy);

  /// Ends the copies, because report() was given a directory, and copies do not contain such directories. Collective.
  void stop();

  /// Records that a step or report is complete. Returns whether a copy is due. Not collective, with equal results on all
  /// ranks if `may_copy` is equal on all ranks.
  bool is_due(bool may_copy);
  /// Copies `state`, and determines when the next copy is due. Collective.
  void copy(const State& state, const checkpoint::CopyNote& note);

 private:
  bool open(const State& state);
  bool schedule_next(double copy_s, bool is_complete);

  const config::RunSpec& spec_;
  const std::string& run_id_;
  Communicator& communicator_;
  int file_;
  double (*clock_)();
  std::optional<checkpoint::StateCopies> copies_;  // nothing if no copies are made
  std::int64_t point_ = 0;                         // number of steps and reports of this attempt
  std::int64_t due_at_ = 1;                        // value of point_ at which the next copy is due
  std::int64_t copied_at_ = 0;                     // value of point_ at the last copy
  bool was_opened_again_ = false;                  // the last copy did not fit, so that the file was enlarged
  double copied_at_s_ = 0;                         // clock_() after the last copy
};

}  // namespace trainrt::trainer
