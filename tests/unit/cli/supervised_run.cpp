#include "cli/supervise/supervised_run.hpp"

#include <cstdlib>

#include <catch2/catch.hpp>

#include "core/host.hpp"
#include "rundir/attempts/attempt.hpp"
#include "rundir/records/rank_status.hpp"
#include "rundir/storage/opened_run.hpp"
#include "unit/cli/run_records.hpp"

using namespace trainrt;
using namespace trainrt::test;
using cli::SupervisedRun;

namespace {

config::RunSpec spec_of(const RunRecords& runs) {
  config::RunSpec spec;
  spec.run.name = "run";
  spec.run_dir = runs.run_dir();
  spec.failure.max_failures = 3;
  return spec;
}

rundir::RunRecord a_run_record(const std::string& name) {
  rundir::RunRecord record;
  record.name = name;
  record.run_id = "0123456789abcdef";
  record.created = "2026-11-21T12:00:00Z";
  record.function = "linear";
  return record;
}

}  // namespace

TEST_CASE("only an attempt that began after the start is the begun attempt") {
  const RunRecords runs;
  runs.write_attempt(1, "failed: x");
  SupervisedRun run(spec_of(runs));
  run.begin_start(2);
  CHECK(std::string(std::getenv("TRAINRT_FAILURES")) == "2");
  run.end_start();
  CHECK_FALSE(run.begun_attempt());
  CHECK(run.restarts_by_ranks() == 0);
  runs.write_attempt(2);
  REQUIRE(run.begun_attempt());
  CHECK(run.begun_attempt()->number == 2);
  CHECK(run.restarts_by_ranks() == 0);
  runs.write_attempt(4);
  CHECK(run.restarts_by_ranks() == 2);
}

TEST_CASE("the run that the program opens is supervised with its own limits") {
  const RunRecords runs;
  SupervisedRun run(spec_of(runs));
  run.begin_start(0);
  auto opened = a_run_record("opened");
  opened.spec["failure.max_failures"] = "7";
  runs.write_run(opened, "opened");
  runs.write_attempt(5, "", "opened");
  rundir::record_opened_run(runs.run_dir("opened"));
  run.end_start();
  CHECK(run.spec().run_dir == runs.run_dir("opened"));
  CHECK(run.spec().run.name == "opened");
  CHECK(run.spec().failure.max_failures == 7);
  CHECK(run.config().failure.max_failures == 3);
  REQUIRE(run.begun_attempt());
  CHECK(run.begun_attempt()->number == 5);
  rundir::forget_opened_run(runs.run_dir());
  run.end_start();
  CHECK(run.spec().run_dir == runs.run_dir());
}

TEST_CASE("a run of the config that the program opens is supervised with the limits that the program requests") {
  const RunRecords runs;
  auto opened = a_run_record("run");
  opened.spec["failure.max_failures"] = "0";
  opened.opened_by_program = true;
  runs.write_run(opened);
  SupervisedRun run(spec_of(runs));
  CHECK(run.spec().failure.max_failures == 3);  // the record is that of an earlier start
  run.begin_start(0);
  rundir::record_opened_run(runs.run_dir());
  run.end_start();
  CHECK(run.spec().run_dir == runs.run_dir());
  CHECK(run.spec().failure.max_failures == 0);
}

TEST_CASE("the end of a start does not change the state of a run whose newest attempt is alive") {
  const RunRecords runs;
  runs.write_run(a_run_record("run"));
  rundir::Meter meter(monotonic_seconds());
  const rundir::Attempt other_job(runs.run_dir(), 1, {"a"}, meter);
  const SupervisedRun run(spec_of(runs));
  run.record_end(rundir::RunState::failed);
  CHECK(rundir::read_run_record(runs.run_dir())->state == rundir::RunState::running);
}

TEST_CASE("a run has finished only if a readable run.json states it") {
  const RunRecords runs;
  const SupervisedRun run(spec_of(runs));
  CHECK_FALSE(run.has_finished());
  auto record = a_run_record("run");
  runs.write_run(record);
  CHECK_FALSE(run.has_finished());
  record.state = rundir::RunState::finished;
  runs.write_run(record);
  CHECK(run.has_finished());
  io::replace_file(runs.run_dir() + "/run.json", "{");
  CHECK_FALSE(run.has_finished());
}

TEST_CASE("the state of a run is not changed while an attempt of another start is running") {
  const RunRecords runs;
  runs.write_run(a_run_record("run"));
  rundir::AttemptRecord attempt;
  attempt.number = 1;
  attempt.start = "2026-11-21T12:00:00Z";
  const auto write_attempt = [&] { io::replace_file(runs.run_dir() + "/attempts/000001.json", rundir::to_text(attempt)); };
  io::make_directories(runs.run_dir() + "/.attempt_000001");
  const SupervisedRun run(spec_of(runs));
  attempt.owner = rundir::this_owner();
  write_attempt();
  CHECK(run.is_of_other_start());
  run.record_end(rundir::RunState::failed);
  CHECK(rundir::read_run_record(runs.run_dir())->state == rundir::RunState::running);
  attempt.owner.pid_start_time = 1;  // the pid now belongs to another process, so the owner has ended
  write_attempt();
  CHECK_FALSE(run.is_of_other_start());
  run.record_end(rundir::RunState::failed);
  CHECK(rundir::read_run_record(runs.run_dir())->state == rundir::RunState::failed);
}

TEST_CASE("by default, the number of workers is that of the attempts in the same job, and not fixed for a job with GPUs") {
  const RunRecords runs;
  runs.write_run(a_run_record("run"));
  rundir::AttemptRecord attempt;
  attempt.number = 1;
  attempt.start = "2026-11-21T12:00:00Z";
  attempt.ranks = 4;
  attempt.owner = rundir::this_owner();
  attempt.owner.job_id = "17";
  io::replace_file(runs.run_dir() + "/attempts/000001.json", rundir::to_text(attempt));
  auto spec = spec_of(runs);
  CHECK(SupervisedRun(spec).fixed_workers("17") == 4);
  CHECK(SupervisedRun(spec).fixed_workers("18") == 0);  // the run has no checkpoint
  setenv("SLURM_JOB_GPUS", "0", 1);
  CHECK(SupervisedRun(spec).fixed_workers("17") == 0);
  spec.scaling.gpus_per_worker = "0";
  CHECK(SupervisedRun(spec).fixed_workers("17") == 4);
  unsetenv("SLURM_JOB_GPUS");
  spec.scaling.gpus_per_worker = "1";
  CHECK(SupervisedRun(spec).fixed_workers("17") == 0);
  spec.scaling.gpus_per_worker = "auto";
  io::make_directories(runs.run_dir() + "/logs");
  const auto statuses = runs.run_dir() + "/" + rundir::rank_statuses_name(1);
  io::replace_file(statuses, rundir::rank_status_line({.host = "n1"}));
  CHECK(SupervisedRun(spec).fixed_workers("17") == 4);
  io::replace_file(statuses, rundir::rank_status_line({.host = "n1", .gpu = 0.5}));
  CHECK(SupervisedRun(spec).fixed_workers("17") == 0);  // the earlier attempt used GPUs
  spec.scaling.gpus_per_worker = "0";
  setenv("SLURM_HET_SIZE", "2", 1);
  CHECK(SupervisedRun(spec).fixed_workers("17") == 0);
  unsetenv("SLURM_HET_SIZE");
  setenv("TRAINRT_SRUN_ARGS", "--het-group=0,1", 1);
  CHECK(SupervisedRun(spec).fixed_workers("17") == 0);
  setenv("TRAINRT_SRUN_ARGS", "--ntasks=2", 1);
  CHECK(SupervisedRun(spec).fixed_workers("17") == 0);
  unsetenv("TRAINRT_SRUN_ARGS");
  spec.scaling.num_workers = 6;
  CHECK(SupervisedRun(spec).fixed_workers("17") == 0);  // contradicts the earlier attempt
  spec.scaling.num_workers = 4;
  CHECK(SupervisedRun(spec).fixed_workers("17") == 4);
  spec.scaling.num_workers = 0;
  spec.scaling.on_resize_key = config::OnResize::refuse;
  CHECK(SupervisedRun(spec).fixed_workers("17") == 0);
  spec.scaling.on_resize_key = config::OnResize::same_bits;
  CHECK(SupervisedRun(spec).fixed_workers("18") == 4);
  spec.scaling.num_workers = 6;
  CHECK(SupervisedRun(spec).fixed_workers("18") == 6);
}
