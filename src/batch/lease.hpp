#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "core/environment.hpp"

namespace trainrt::batch {

/// The time that the job has left. A background thread queries it at once and then every minute, because the limit may
/// change while the job runs (scontrol update); a clock counts down between the queries. Only rank 0 of a job has one.
class Lease {
 public:
  struct Answer {
    bool known = false;                           ///< false if the query failed; the previous answer is kept
    std::optional<double> seconds;                ///< time left; nullopt if the job has no limit
    std::optional<double> length = std::nullopt;  ///< time limit of the job in seconds; nullopt if unlimited or unknown
  };
  /// Queries the time left. Called on the background thread; should return soon after `cancelled` becomes true.
  using Ask = std::function<Answer(const std::atomic<bool>& cancelled)>;

  /// Queries the seconds between SIGTERM and SIGKILL of a preemption; nullopt if unknown. Called once, on that thread.
  using AskNotice = std::function<std::optional<double>(const std::atomic<bool>& cancelled)>;

  explicit Lease(Ask ask, AskNotice ask_notice = {}, double every_seconds = 60);
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  /// Returns the seconds left; nullopt if the job has no limit, or if it is not known yet. Any thread may call it; it only
  /// reads the clock.
  std::optional<double> remaining() const;
  /// Returns the time limit of the job in seconds; nullopt if it has none, or if it is not known. Any thread may call it.
  std::optional<double> length() const;
  /// Returns the seconds that a preempted job has to save; nullopt if not known. Any thread may call it.
  std::optional<double> notice() const;

 private:
  struct Shared;  // shared with the thread, because a query may block longer than this object lives
  std::shared_ptr<Shared> shared_;
};

/// Returns a function that queries the time left of this process's job: by squeue, or by SLURM_JOB_END_TIME if squeue does
/// not answer, as in a container. If squeue does not know the job, or the end time has passed at the first query, this
/// shell has outlived its job: a warning is logged, and no limit is assumed. Returns an empty function outside a job.
Lease::Ask ask_slurm(const Environment& environment);

/// Returns a function that queries KillWait of Slurm's configuration plus GraceTime of the partition (slurm.conf(5)), in
/// seconds. Returns an empty function outside a job.
Lease::AskNotice ask_slurm_notice(const Environment& environment);

/// Returns the number in "KEY = 30 sec" or "KEY=30" of `scontrol show` output; nullopt if the key is missing.
std::optional<double> parse_setting_seconds(std::string_view shown, std::string_view key);

/// Parses the output of `squeue --format=%L` (squeue(1), TimeLeft): "[days-][hours:]minutes:seconds", UNLIMITED, NOT_SET
/// or INVALID.
Lease::Answer parse_time_left(std::string_view text);
/// Parses the output of `squeue --format="%L %l"`: time left, and time limit of the job. Skips lines that do not begin with
/// a time; a missing limit is allowed.
Lease::Answer parse_times(std::string_view text);

}  // namespace trainrt::batch
