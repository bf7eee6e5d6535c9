#include "cli/supervise/step_record.hpp"

#include <catch2/catch.hpp>

#include "unit/cli/run_records.hpp"

using namespace trainrt;
using namespace trainrt::test;
using namespace trainrt::cli;
using Catch::Contains;

namespace {

batch::StepEnd step_end(int exit_code, const std::vector<std::string>& lines = {}) {
  batch::StepEnd end{.exit_code = exit_code};
  for (const auto& line : lines) end.lines.take(line);
  return end;
}

const std::string killed_on_n2 = "srun: error: n2: task 1: Killed";
const std::string preempted =
    "slurmstepd-n1: error: *** STEP 5.0 ON n1 CANCELLED AT 2026-11-21T14:28:15 DUE TO PREEMPTION ***";

}  // namespace

TEST_CASE("the end of a killed attempt is recorded with the node that caused it") {
  const RunRecords run;
  run.write_attempt(3);
  const auto how = record_step_end(run.run_dir(), run.newest(), step_end(137, {killed_on_n2}), batch::JobEnding::none);
  CHECK(how == "attempt 3: killed: rank 1 on n2 by SIGKILL (srun exit 137)");
  CHECK(run.newest().why == "killed: rank 1 on n2 by SIGKILL (srun exit 137)");
  CHECK(run.newest().exit_code == 137);
  CHECK(run.newest().blamed_node == "n2");
}

TEST_CASE("an attempt that Slurm ended has Slurm's reason and blames no node") {
  const RunRecords run;
  run.write_attempt(1);
  const auto how =
      record_step_end(run.run_dir(), run.newest(), step_end(137, {preempted, killed_on_n2}), batch::JobEnding::requeued);
  CHECK(how == "attempt 1: ended by Slurm: preemption");
  CHECK(run.newest().why == "ended by Slurm: preemption");
  CHECK(run.newest().blamed_node.empty());
}

TEST_CASE("Slurm's reason is appended to an end that the ranks have recorded") {
  const RunRecords run;
  run.write_attempt(2, "stopped by SIGTERM");
  const auto how = record_step_end(run.run_dir(), run.newest(), step_end(75), batch::JobEnding::time_limit);
  CHECK(how == "attempt 2: stopped by SIGTERM (time limit)");
  CHECK(run.newest().why == "stopped by SIGTERM (time limit)");
}

TEST_CASE("the recorded end of a finished attempt is not changed") {
  const RunRecords run;
  run.write_attempt(2, "finished");
  record_step_end(run.run_dir(), run.newest(), step_end(0), batch::JobEnding::time_limit);
  CHECK(run.newest().why == "finished");
}

TEST_CASE("the end of a step before an attempt changes no record and is described") {
  const RunRecords run;
  run.write_attempt(1, "failed: x");
  const auto how = record_step_end(run.run_dir(), std::nullopt, step_end(137, {killed_on_n2}), batch::JobEnding::none);
  CHECK_THAT(how, Contains("rank 1 on n2") && Contains("before an attempt had begun"));
  CHECK(run.newest().why == "failed: x");
}

TEST_CASE("a step that was refused does not end the running attempt of another start") {
  const RunRecords run;
  run.write_attempt(1);
  const auto how = record_step_end(run.run_dir(), run.newest(), step_end(64), batch::JobEnding::none);
  CHECK_THAT(how, Contains("before an attempt had begun"));
  CHECK(run.newest().end.empty());
}

TEST_CASE("an attempt that was killed when its job was requeued is closed by the next start of the job") {
  const RunRecords run;
  run.write_attempt(1);
  const auto job = [](const char* id, const char* restarts) {
    return batch::SlurmJob::of(Environment({{"SLURM_JOB_ID", id}, {"SLURM_RESTART_COUNT", restarts}}));
  };
  record_end_by_requeue(run.run_dir(), *job("17", "0"));
  record_end_by_requeue(run.run_dir(), *job("18", "1"));
  CHECK(run.newest().end.empty());
  record_end_by_requeue(run.run_dir(), *job("17", "1"));
  CHECK_THAT(run.newest().why, Contains("ended by Slurm: killed with its job, which was requeued"));
}

TEST_CASE("only finished, invalid and stuck runs are final") {
  for (const int code : {0, 64, 76}) CHECK(is_final(code));
  for (const int code : {1, 70, 75, 99, 137}) CHECK_FALSE(is_final(code));
}
