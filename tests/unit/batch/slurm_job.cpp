#include <catch2/catch.hpp>

#include <csignal>

#include <trainrt/error.hpp>

#include "batch/slurm_job.hpp"

using namespace trainrt::batch;
using trainrt::UsageError;

namespace {

// Output of Slurm 22.05.8 for a job of 3 nodes that lost n2 (sbatch --no-kill).
constexpr const char* resized =
    "JobId=15 JobName=job.sh UserId=root(0) GroupId=root(0) MCS_label=N/A Priority=4294901747 Nice=0 Account=(null) "
    "QOS=(null) "
    "JobState=RUNNING Reason=None Dependency=(null) Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0 "
    "RunTime=00:01:02 "
    "TimeLimit=UNLIMITED TimeMin=N/A SubmitTime=2026-11-21T14:37:22 EligibleTime=2026-11-21T14:37:22 "
    "AccrueTime=2026-11-21T14:37:22 ResizeTime=2026-11-21T14:38:05 StartTime=2026-11-21T14:37:22 EndTime=Unknown "
    "Deadline=N/A "
    "PreemptEligibleTime=2026-11-21T14:37:22 PreemptTime=None SuspendTime=None SecsPreSuspend=0 "
    "LastSchedEval=2026-11-21T14:37:22 Scheduler=Backfill Partition=main AllocNode:Sid=localhost:28848 ReqNodeList=(null) "
    "ExcNodeList=(null) NodeList=n[1,3] BatchHost=n1 NumNodes=2 NumCPUs=2 NumTasks=3 CPUs/Task=1 ReqB:S:C:T=0:0:*:* \n";
constexpr const char* requeued =
    "JobId=10 ArrayJobId=8 ArrayTaskId=2 JobName=job2.sh UserId=root(0) JobState=COMPLETING Reason=None Dependency=(null) "
    "Requeue=1 Restarts=1 BatchFlag=1 Reboot=0 ExitCode=0:0 RunTime=00:00:00 ReqNodeList=(null) ExcNodeList=(null) "
    "NodeList=n1 "
    "BatchHost=n1 NumNodes=1\n\n";

JobFacts job(const char* state, int restarts = 0, const char* reason = "None") {
  return {.state = state, .reason = reason, .restarts = restarts, .nodes = "n[1-2]"};
}

struct Row {
  const char* story;
  JobEndingFacts facts;
  JobEnding ending;
};

}  // namespace

TEST_CASE("only steps that srun started are listed") {
  CHECK(parse_steps("12.0\n12.31\n") == std::vector<std::string>{"12.0", "12.31"});
  CHECK(parse_steps("8_3.1\n12.batch\n12.extern\n\n") == std::vector<std::string>{"8_3.1"});
  CHECK(parse_steps("squeue: error: $(reboot).0").empty());
}

TEST_CASE("the output of scontrol show job is parsed") {
  const auto facts = parse_job(resized);
  REQUIRE(facts);
  CHECK(facts->state == "RUNNING");
  CHECK(facts->reason == "None");
  CHECK(facts->restarts == 0);
  CHECK(facts->nodes == "n[1,3]");
  CHECK(facts->node_count == 2);
  CHECK(facts->partition == "main");
  CHECK(facts->requested_nodes.empty());
  CHECK(facts->excluded_nodes.empty());
  CHECK(facts->may_requeue);
  REQUIRE(parse_job(requeued));
  CHECK(parse_job(requeued)->restarts == 1);
  CHECK(parse_job(requeued)->nodes == "n1");
  CHECK(parse_job("JobState=PENDING Restarts=2 NodeList=(null)")->nodes.empty());
  const auto choosy = parse_job("JobState=PENDING Requeue=0 Restarts=2 ReqNodeList=n1 ExcNodeList=n[2-3] NodeList=(null)");
  CHECK(choosy->requested_nodes == "n1");
  CHECK(choosy->excluded_nodes == "n[2-3]");
  CHECK_FALSE(choosy->may_requeue);
}

TEST_CASE("the id and the working directory of a job are parsed, also if the directory contains blanks") {
  const auto location = parse_job_location(
      "JobId=13 ArrayJobId=12 ArrayTaskId=3 JobName=x\n   JobState=RUNNING\n   WorkDir=/home/a b/c\n   "
      "StdErr=/home/a b/c/x.out\n");
  REQUIRE(location);
  CHECK(location->id == "13");
  CHECK(location->work_dir == "/home/a b/c");
  CHECK_FALSE(parse_job_location("slurm_load_jobs error: Invalid job id specified"));
  for (const auto* job : {"", "x", "12_", "_3", "12_x", "1;2", "-1"}) CHECK_THROWS_AS(locate_job(job), UsageError);
}

TEST_CASE("an error of scontrol is not parsed as a job") {
  for (const auto* text :
       {"", "slurm_load_jobs error: Invalid job id specified", "scontrol: error: fetch_config: DNS SRV lookup failed",
        "JobState=RUNNING", "JobState= Restarts=1", "JobState=RUNNING Restarts=", "JobState=RUNNING Restarts=many",
        "XJobState=RUNNING Restarts=1", "JobState", "JobState="})
    CHECK_FALSE(parse_job(text));
}

TEST_CASE("a node is usable unless it is down or does not answer") {
  const auto* text =
      "n1 mixed\nn1 mixed\nn2 mixed*\nn3 down*\nn4 down\nn5 drained\nn6 idle~\nn7 allocated\n"
      "n8 completing\nn9 draining\nodd line of words\n\nn10\n";
  const auto states = parse_node_states(text);
  for (const auto* name : {"n1", "n5", "n7", "n8", "n9"}) CHECK(states.at(name));
  for (const auto* name : {"n2", "n3", "n4", "n6"}) CHECK_FALSE(states.at(name));
  CHECK(states.size() == 9);
  const auto at_start = parse_node_states(text, UnreadyNodes::usable);
  for (const auto* name : {"n1", "n2", "n6", "n7"}) CHECK(at_start.at(name));
  for (const auto* name : {"n3", "n4"}) CHECK_FALSE(at_start.at(name));
}

TEST_CASE("SLURM_TASKS_PER_NODE is parsed into the tasks of each node") {
  CHECK(parse_tasks_per_node("2(x3),1") == std::vector{2, 2, 2, 1});
  CHECK(parse_tasks_per_node("4") == std::vector{4});
  for (const auto* text : {"", "2(x", "2(x)", "(x2)", "2(x3", "a", "0", "-1", "2(x99999999999)"})
    CHECK(parse_tasks_per_node(text).empty());
}

TEST_CASE("the way in which a job ends is derived from signal, state and reason") {
  const std::vector<Row> rows = {
      {"it continues", {.job = job("RUNNING")}, JobEnding::none},
      {"it continues after a requeue", {.job = job("RUNNING", 2), .restart_count = 2}, JobEnding::none},
      {"it continues, and Slurm does not answer", {}, JobEnding::none},
      {"preempted or requeued by hand", {.signal = SIGTERM, .job = job("COMPLETING", 1)}, JobEnding::requeued},
      {"requeued by hand for the second time",
       {.signal = SIGTERM, .job = job("COMPLETING", 2), .restart_count = 1},
       JobEnding::requeued},
      {"a requeue by hand before its signal arrived", {.job = job("COMPLETING", 1)}, JobEnding::requeued},
      {"scancel", {.signal = SIGTERM, .job = job("COMPLETING")}, JobEnding::cancelled},
      {"scancel after a requeue",
       {.signal = SIGTERM, .job = job("COMPLETING", 1), .restart_count = 1},
       JobEnding::cancelled},
      {"preempted with PreemptMode=CANCEL",
       {.signal = SIGTERM, .cancel_reason = "PREEMPTION", .job = job("COMPLETING")},
       JobEnding::cancelled},
      {"time limit, by the reason",
       {.signal = SIGTERM, .job = job("COMPLETING", 1, "TimeLimit"), .restart_count = 1},
       JobEnding::time_limit},
      {"time limit, by slurmstepd", {.signal = SIGTERM, .cancel_reason = "TIME LIMIT"}, JobEnding::time_limit},
      {"TERM to the batch script alone", {.signal = SIGTERM, .job = job("RUNNING")}, JobEnding::stop_requested},
      {"--signal=B:USR1@60", {.signal = SIGUSR1, .job = job("RUNNING")}, JobEnding::stop_requested},
      {"--signal=B:USR1@60 in a container", {.signal = SIGUSR1}, JobEnding::stop_requested},
      {"Ctrl-C", {.signal = SIGINT, .job = job("RUNNING")}, JobEnding::cancelled},
      {"TERM, and Slurm does not answer", {.signal = SIGTERM}, JobEnding::cancelled},
      {"preempted, and Slurm does not answer", {.signal = SIGTERM, .cancel_reason = "PREEMPTION"}, JobEnding::requeued}};
  for (const auto& row : rows) {
    INFO(row.story);
    CHECK(job_ending(row.facts) == row.ending);
  }
}

TEST_CASE("a requeue of a job that is requeued already counts as success") {
  CHECK(requeue_succeeded(0, ""));
  CHECK(requeue_succeeded(1, "Job is pending execution for job 14\n"));
  CHECK(requeue_succeeded(1, "18_2: Job is pending execution\n"));
  CHECK_FALSE(requeue_succeeded(1, "Invalid job id specified for job 99999\n"));
  CHECK_FALSE(requeue_succeeded(127, "No such file or directory"));
}

TEST_CASE("a task of an array is identified by its task id") {
  const auto task = SlurmJob::of(trainrt::Environment(
      {{"SLURM_JOB_ID", "8"}, {"SLURM_ARRAY_JOB_ID", "8"}, {"SLURM_ARRAY_TASK_ID", "3"}, {"SLURM_RESTART_COUNT", "2"}}));
  REQUIRE(task);
  CHECK(task->task_id() == "8_3");
  CHECK(task->restart_count() == 2);
  CHECK(task->nodes({}).empty());
  CHECK_FALSE(SlurmJob::of(trainrt::Environment()));
  CHECK_FALSE(SlurmJob::of(trainrt::Environment(std::map<std::string, std::string>{{"SLURM_JOB_ID", "8; rm -rf /"}})));
}
