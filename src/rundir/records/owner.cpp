#include "rundir/records/owner.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include <unistd.h>

#include "core/environment.hpp"
#include "core/host.hpp"
#include "core/process/child_process.hpp"
#include "core/process/processes.hpp"
#include "core/text/text.hpp"

namespace trainrt::rundir {

Owner this_owner() {
  const auto environment = Environment::of_process();
  return {.job_id = environment.text("SLURM_JOB_ID").value_or(""),
          .restart_count = environment.number("SLURM_RESTART_COUNT").value_or(0),
          .step_id = environment.text("SLURM_STEP_ID").value_or(""),
          .host = host_name(),
          .pid_scope = pid_scope(),
          .pid = static_cast<int>(getpid()),
          .pid_start_time = process_start_time(static_cast<int>(getpid()))};
}

bool is_alive(const Owner& other, const Owner& me, const OwnerFacts& facts) {
  constexpr double fresh_s = 30;
  const bool same_job = !me.job_id.empty() && other.job_id == me.job_id;
  if (same_job && other.restart_count != me.restart_count) return other.restart_count > me.restart_count;
  if (other.pid_scope == me.pid_scope && other.host == me.host)
    return facts.start_time_of(other.pid) == other.pid_start_time;
  if (!other.job_id.empty() && !same_job)
    if (const auto alive = facts.job_is_alive(other.job_id)) return *alive;
  return facts.heartbeat_age_s() < fresh_s;
}

std::optional<bool> slurm_job_is_alive(const std::string& job_id) {
  if (job_id.empty() || !std::ranges::all_of(job_id, [](unsigned char c) { return std::isdigit(c); })) return std::nullopt;
  const auto squeue = run_child({"squeue", "--noheader", "--job=" + job_id, "--format=%T"}, 20, ChildErrors::with_output);
  if (!squeue) return std::nullopt;
  const auto& text = squeue->text;
  const auto state = trim(text);
  if (state.empty() || state.find("Invalid job id") != std::string::npos) return false;
  for (const auto* alive : {"RUNNING", "SUSPENDED", "COMPLETING", "STOPPED", "SIGNALING", "RESIZING"})
    if (state == alive) return true;
  for (const auto* ended : {"PENDING", "CANCELLED", "COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED",
                            "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE", "REQUEUED"})
    if (state == ended) return false;
  return std::nullopt;
}

JobCheck reusing_answers(JobCheck check, double seconds) {
  struct Answer {
    std::optional<bool> is_alive;
    double time_s = 0;  // monotonic_seconds()
  };
  return [check = std::move(check), seconds, answers = std::map<std::string, Answer>()](const std::string& job) mutable {
    const auto known = answers.find(job);
    if (known != answers.end() && monotonic_seconds() - known->second.time_s <= seconds) return known->second.is_alive;
    const auto is_alive = check(job);
    answers[job] = {is_alive, monotonic_seconds()};
    return is_alive;
  };
}

}  // namespace trainrt::rundir
