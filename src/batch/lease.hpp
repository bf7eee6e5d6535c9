#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "core/environment.hpp"

namespace trainrt::batch {

/// How long the job may go on. It is asked for in a thread of its own, at once and then once a minute, because a limit may
/// be changed while the job runs (scontrol update); between the answers a clock counts down. One for a job: rank 0 holds
/// it.
class Lease {
 public:
  struct Answer {
    bool known = false;                           ///< false: nobody could tell; the last answer stays
    std::optional<double> seconds;                ///< left; nullopt: no limit
    std::optional<double> length = std::nullopt;  ///< of the job in seconds; nullopt: no limit, or not known
  };
  /// Asked in that thread; should return soon once `cancelled` is true.
  using Ask = std::function<Answer(const std::atomic<bool>& cancelled)>;

  /// Seconds from SIGTERM to SIGKILL; nullopt if nobody can tell. Asked once.
  using AskNotice = std::function<std::optional<double>(const std::atomic<bool>& cancelled)>;

  explicit Lease(Ask ask, AskNotice ask_notice = {}, double every_seconds = 60);
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  /// Seconds; nullopt if there is no limit, or none is known yet. From any thread; costs a look at the clock.
  std::optional<double> remaining() const;
  /// The length of the job in seconds; nullopt if there is no limit, or if it is not known (yet). From any thread.
  std::optional<double> length() const;
  /// The time that a preempted job has to save, in seconds; nullopt if it is not known (yet). From any thread.
  std::optional<double> notice() const;

 private:
  struct Shared;  // with the thread, which may hang in a question longer than this lives
  std::shared_ptr<Shared> shared_;
};

/// Asks Slurm for the job of this process: squeue, and if that does not answer (a container), SLURM_JOB_END_TIME. There is
/// no limit if squeue does not know the job, or if that time is past at the first question: this shell has outlived its
/// job, and a warning is printed. Empty outside of a job.
Lease::Ask ask_slurm(const Environment& environment);

/// Asks Slurm: KillWait of its configuration, and the partition's GraceTime (slurm.conf(5)). Empty outside of a job.
Lease::AskNotice ask_slurm_notice(const Environment& environment);

/// The number of seconds behind "KEY = 30 sec" or "KEY=30" of `scontrol show`; nullopt if there is none.
std::optional<double> parse_setting_seconds(std::string_view shown, std::string_view key);

/// Parses what `squeue --format=%L` prints (squeue(1), TimeLeft): "[days-][hours:]minutes:seconds", UNLIMITED, NOT_SET,
/// INVALID.
Lease::Answer parse_time_left(std::string_view text);
/// Parses what `squeue --format="%L %l"` prints: the time left, and the length of the job. Lines that begin otherwise, and
/// a missing length, are skipped.
Lease::Answer parse_times(std::string_view text);

}  // namespace trainrt::batch
