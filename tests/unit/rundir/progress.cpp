#include <catch2/catch.hpp>

#include "rundir/attempts/progress.hpp"

using namespace trainrt::rundir;

namespace {

/// Returns an attempt of job 7 that began at step `first` and saved its last checkpoint at step `saved`.
AttemptRecord attempt(int exit_code, const char* why, std::int64_t first, std::int64_t saved, const char* job = "7") {
  AttemptRecord record;
  record.owner.job_id = job;
  record.exit_code = exit_code;
  record.why = why;
  record.end = why[0] == '\0' ? "" : "2026-11-21T15:00:00Z";
  record.first_step = first;
  record.saved_step = saved;
  return record;
}

struct Row {
  const char* story;
  std::vector<AttemptRecord> attempts;
  int count;
};

}  // namespace

TEST_CASE("the last attempts in a row that failed or stopped without progress are counted") {
  const auto failed = attempt(70, "failed: no such luck", 24, 24);
  const auto killed = attempt(137, "killed: rank 1 on n2 by SIGKILL", 24, 24);
  const auto no_word = attempt(-1, "", 0, -1);
  const auto stopped = attempt(75, "stopped by SIGUSR1", 24, 24);
  const auto cancelled = attempt(75, "stopped by SIGTERM (preemption)", 24, 24);
  const auto preempted = attempt(137, "ended by Slurm: preemption", 24, 24);
  const auto misused = attempt(64, "failed: optimizer is 'none'", 24, 24);
  const auto moved = attempt(137, "killed: rank 1 on n2 by SIGKILL", 12, 24);
  const auto finished = attempt(0, "finished", 24, 24);
  auto reports_only = attempt(75, "stopped by the end of the job's time", 0, 0);
  reports_only.first_iteration = 5;
  auto reports_moved = reports_only;
  reports_only.saved_iteration = 5;
  reports_moved.saved_iteration = 9;
  auto silent = killed;
  silent.silent = true;
  const auto seen_at = [&](double position) {
    auto seen = silent;
    seen.position = position;
    return seen;
  };
  const auto of_another_job = attempt(70, "failed: no such luck", 24, 24, "6");
  const std::vector<Row> rows = {
      {"nothing yet", {}, 0},
      {"failures", {failed, killed, no_word}, 3},
      {"each attempt stops at once", {stopped, stopped}, 2},
      {"the last attempt made progress", {failed, failed, moved}, 0},
      {"an earlier attempt made progress", {failed, moved, failed, failed}, 2},
      {"attempts ended by Slurm, or that could not begin, are ignored", {failed, cancelled, preempted, misused}, 1},
      {"reports are the progress of a train function without steps", {failed, reports_moved, reports_only}, 1},
      {"silent programs without read output", {silent, silent, silent}, 0},
      {"silent attempts are skipped", {failed, moved, failed, silent, failed, silent}, 2},
      {"the output of silent programs shows no progress", {seen_at(-1), seen_at(-1)}, 2},
      {"each attempt shows more than the previous ones", {seen_at(3), seen_at(3.5)}, 0},
      {"later attempts show no more than an earlier one", {seen_at(2), seen_at(9), seen_at(5), seen_at(9)}, 2},
      {"the position 0 is progress at first", {seen_at(0), seen_at(0)}, 1},
      {"attempts of another job", {of_another_job, of_another_job, failed}, 1},
      {"more epochs after the end", {failed, finished, failed}, 1}};
  for (const auto& row : rows) {
    INFO(row.story);
    CHECK(attempts_without_progress(row.attempts, "7") == row.count);
  }
}
