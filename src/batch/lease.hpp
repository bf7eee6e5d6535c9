#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "core/environment.hpp"

namespace trainrt::batch {

/// The time that the Slurm job has left. A background thread queries it at once and then every minute, because the time
/// limit may change while the job runs (scontrol update). Between the queries the remaining time is computed from the
/// clock. Only rank 0 of a run creates a Lease.
class Lease {
 public:
  struct Answer {
    bool known = false;                           ///< false if the query failed; the Lease then keeps the previous answer
    std::optional<double> seconds;                ///< time left in seconds; nullopt if the job has no time limit
    std::optional<double> length = std::nullopt;  ///< time limit of the job in seconds; nullopt if unlimited or unknown
  };
  /// Function that queries the time left of the job. It is called on the background thread, and should return soon after
  /// `cancelled` becomes true.
  using Ask = std::function<Answer(const std::atomic<bool>& cancelled)>;

  /// Function that queries the number of seconds between SIGTERM and SIGKILL when Slurm preempts the job; returns nullopt
  /// if unknown. Called once, on the background thread of the Lease.
  using AskNotice = std::function<std::optional<double>(const std::atomic<bool>& cancelled)>;

  explicit Lease(Ask ask, AskNotice ask_notice = {}, double every_seconds = 60);
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  /// Returns the number of seconds until the job's time limit; nullopt if the job has no limit, or if the limit is not
  /// known yet. Thread-safe; does not block, because it only reads the clock.
  std::optional<double> remaining() const;
  /// Returns the time limit of the job in seconds; nullopt if the job has no limit, or if it is not known. Thread-safe.
  std::optional<double> length() const;
  /// Returns the number of seconds between SIGTERM and SIGKILL of a preemption, in which the job can save; nullopt if not
  /// known. Thread-safe.
  std::optional<double> notice() const;

 private:
  struct Shared;  // shared with the background thread, which may still block in a query after the Lease is destroyed
  std::shared_ptr<Shared> shared_;
};

/// Returns a function that queries the time left of the Slurm job of this process; an empty function outside a job.
/// - The function runs squeue. If squeue does not answer, for example in a container, SLURM_JOB_END_TIME is used.
/// - If squeue does not know the job, or SLURM_JOB_END_TIME has passed at the first query, the job has ended and only its
///   environment variables remain. The function then logs a warning and reports no time limit.
Lease::Ask ask_slurm(const Environment& environment);

/// Returns a function that queries the seconds between SIGTERM and SIGKILL of a preemption: KillWait of Slurm's
/// configuration plus GraceTime of the job's partition (slurm.conf(5)). Returns an empty function outside a job.
Lease::AskNotice ask_slurm_notice(const Environment& environment);

/// Parses the output of `scontrol show`; returns the number in "KEY = 30 sec" or "KEY=30", or nullopt if the key is
/// missing. Pure function.
std::optional<double> parse_setting_seconds(std::string_view shown, std::string_view key);

/// Parses the output of `squeue --format=%L`, the time left of a job (squeue(1), TimeLeft):
/// "[days-][hours:]minutes:seconds", UNLIMITED, NOT_SET or INVALID. Pure function.
Lease::Answer parse_time_left(std::string_view text);
/// Parses the output of `squeue --format="%L %l"`: the time left and the time limit of a job. Skips lines that do not begin
/// with a time, such as warnings; the time limit may be missing. Pure function.
Lease::Answer parse_times(std::string_view text);

}  // namespace trainrt::batch
