#include <algorithm>

#include <catch2/catch.hpp>

#include "batch/restart_decision.hpp"

using namespace trainrt::batch;
using Action = RestartDecision::Action;
using Limit = RestartDecision::Limit;

namespace {

constexpr RestartLimits usual{.max_failures = 3, .max_requeues = 100, .max_no_progress = 3};

RestartLimits elastic(int min_workers, int workers = 6) {
  auto limits = usual;
  limits.min_workers = min_workers;
  limits.workers = workers;
  return limits;
}

std::vector<Node> nodes(std::vector<std::string> lost = {}) {
  std::vector<Node> all;
  for (const auto* name : {"n1", "n2", "n3"})
    all.push_back({name, 2, std::find(lost.begin(), lost.end(), name) == lost.end()});
  return all;
}

struct Row {
  const char* story;
  Situation situation;
  RestartLimits limits;
  Action action;
  int exit_code;
  std::vector<std::string> on;  ///< expected nodes of a restart
  int tasks;
  const char* expected;
  Limit limit = Limit::none;
};

Situation after(int code, JobEnding ending = JobEnding::none) {
  return {.exit_code = code, .how = "attempt 1: its reason", .ending = ending, .nodes = nodes(), .failures = 1};
}

Situation with_lost(std::vector<std::string> lost) {
  auto situation = after(137);
  situation.nodes = nodes(std::move(lost));
  situation.failures = 0;
  return situation;
}

Situation with_shrunk() {
  auto situation = after(143);
  situation.shrunk = true;
  return situation;
}

Situation with(Situation situation, int Situation::*field, int value) {
  situation.*field = value;
  return situation;
}

RestartLimits with(RestartLimits limits, int RestartLimits::*field, int value) {
  limits.*field = value;
  return limits;
}

}  // namespace

TEST_CASE("each way in which an attempt and its job can end leads to the right action") {
  using S = Situation;
  const std::vector<Row> rows = {
      {"finished", after(0), usual, Action::done, 0, {}, 0, "done"},
      {"finished during a cancellation", after(0, JobEnding::cancelled), usual, Action::done, 0, {}, 0, "done"},
      {"a config that cannot work", after(64), usual, Action::give_up, 64, {}, 0, "the same error"},
      {"no progress, detected by the run", after(76), usual, Action::give_up, 76, {}, 0, "no progress"},
      {"it failed", after(70), usual, Action::restart, 0, {}, 0, "restart 1 of 3", Limit::max_failures},
      {"a rank was killed", after(137), usual, Action::restart, 0, {}, 0, "its reason", Limit::max_failures},
      {"a rank crashed", after(139), usual, Action::restart, 0, {}, 0, "in 1 s", Limit::max_failures},
      {"an exit code without a meaning to trainrt",
       after(3),
       usual,
       Action::restart,
       0,
       {},
       0,
       "in 1 s",
       Limit::max_failures},
      {"srun failed", after(exit_of_srun), usual, Action::restart, 0, {}, 0, "in 1 s", Limit::max_failures},
      {"more failures than allowed",
       with(after(70), &S::failures, 4),
       usual,
       Action::give_up,
       70,
       {},
       0,
       "3 times",
       Limit::max_failures},
      {"no failure is allowed",
       after(70),
       with(usual, &RestartLimits::max_failures, 0),
       Action::give_up,
       70,
       {},
       0,
       "restarted",
       Limit::max_failures},
      {"failures without progress",
       with(with(after(70), &S::failures, 3), &S::no_progress, 3),
       usual,
       Action::give_up,
       76,
       {},
       0,
       "got no further",
       Limit::max_no_progress},
      {"failures without progress, without a limit",
       with(after(70), &S::no_progress, 30),
       with(usual, &RestartLimits::max_no_progress, 0),
       Action::restart,
       0,
       {},
       0,
       "restarting",
       Limit::max_failures},
      {"stopped and saved", after(75), usual, Action::requeue, 75, {}, 0, "requeueing"},
      {"stopped without progress",
       with(after(75), &S::no_progress, 3),
       usual,
       Action::give_up,
       76,
       {},
       0,
       "no further",
       Limit::max_no_progress},
      {"all requeues are used",
       with(after(75), &S::requeues, 100),
       usual,
       Action::give_up,
       70,
       {},
       0,
       "was already requeued 100 times",
       Limit::max_requeues},
      {"preempted, and saved", after(75, JobEnding::requeued), usual, Action::leave_to_slurm, 143, {}, 0, "Slurm requeues"},
      {"preempted, and killed",
       after(137, JobEnding::requeued),
       usual,
       Action::leave_to_slurm,
       143,
       {},
       0,
       "Slurm requeues"},
      {"preempted too often for another requeue by trainrt",
       with(after(75, JobEnding::requeued), &S::requeues, 100),
       usual,
       Action::leave_to_slurm,
       143,
       {},
       0,
       "Slurm requeues"},
      {"scancel", after(75, JobEnding::cancelled), usual, Action::leave_to_slurm, 143, {}, 0, "cancelled"},
      {"time limit, and saved", after(75, JobEnding::time_limit), usual, Action::requeue, 75, {}, 0, "requeueing"},
      {"time limit, and killed before it saved",
       after(137, JobEnding::time_limit),
       usual,
       Action::requeue,
       75,
       {},
       0,
       "requeueing"},
      {"a stop signal killed a rank that had just begun",
       after(138, JobEnding::stop_requested),
       usual,
       Action::requeue,
       75,
       {},
       0,
       "requeueing"},
      {"a node is lost",
       with_lost({"n3"}),
       usual,
       Action::requeue,
       75,
       {},
       0,
       "n3 of the allocation is lost: requeueing",
       Limit::no_min_workers},
      {"a node is lost, and fewer workers are allowed",
       with_lost({"n3"}),
       elastic(4),
       Action::restart,
       0,
       {"n1", "n2"},
       4,
       "continuing with 4 of 6 workers, on n1,n2"},
      {"a node is lost that is not needed",
       with_lost({"n3"}),
       elastic(0, 4),
       Action::restart,
       0,
       {"n1", "n2"},
       4,
       "4 of 4"},
      {"fewer workers than the minimum are left",
       with_lost({"n1", "n3"}),
       elastic(4),
       Action::requeue,
       75,
       {},
       0,
       "2 workers are left, at least 4 are needed",
       Limit::min_workers},
      {"no node is left",
       with_lost({"n1", "n2", "n3"}),
       elastic(1),
       Action::requeue,
       75,
       {},
       0,
       "0 workers",
       Limit::min_workers},
      {"a node is lost, and all failures are used",
       with(with_lost({"n3"}), &S::failures, 4),
       elastic(4),
       Action::give_up,
       70,
       {},
       0,
       "restarted",
       Limit::max_failures},
      {"a node is lost, and all requeues are used",
       with(with_lost({"n3"}), &S::requeues, 100),
       usual,
       Action::give_up,
       70,
       {},
       0,
       "was already requeued 100 times",
       Limit::max_requeues},
      {"Slurm has removed an unknown node, and fewer workers are allowed",
       with_shrunk(),
       elastic(4),
       Action::requeue,
       75,
       {},
       0,
       "taken a node out of the allocation: requeueing"},
      {"the nodes are unknown",
       {.exit_code = 137, .how = "its reason", .failures = 1},
       elastic(4),
       Action::restart,
       0,
       {},
       0,
       "restarting",
       Limit::max_failures}};
  for (const auto& row : rows) {
    INFO(row.story);
    const auto decision = decide(row.situation, row.limits);
    INFO(decision.why);
    CHECK(decision.action == row.action);
    CHECK(decision.exit_code == row.exit_code);
    CHECK(decision.nodes == row.on);
    CHECK(decision.tasks == row.tasks);
    CHECK(decision.why.find(row.expected) != std::string::npos);
    CHECK(decision.limit == row.limit);
    CHECK(decision.advice.empty() == (decision.action != Action::give_up));
  }
}

TEST_CASE("the advice after exit code 64 does not blame the config, since the run may be running in another job") {
  Situation situation;
  situation.exit_code = static_cast<int>(trainrt::ExitCode::usage);
  const auto decision = decide(situation, usual);
  CHECK(decision.action == Action::give_up);
  CHECK(decision.why == "a restart would end with the same error");
  CHECK(decision.advice == "Do what the error above advises, and submit the job again");
}

TEST_CASE("a decision mentions no checkpoint if the program does not report progress") {
  auto failed_for_good = with(after(70), &Situation::failures, 4);
  for (auto situation : {after(75), after(75, JobEnding::requeued), after(75, JobEnding::cancelled), failed_for_good,
                         with(after(75), &Situation::requeues, 100), after(137, JobEnding::time_limit)}) {
    const auto reporting = decide(situation, usual);
    situation.silent = true;
    const auto silent = decide(situation, usual);
    const auto text = silent.why + silent.advice;
    INFO(text);
    CHECK(silent.action == reporting.action);
    CHECK_THAT(reporting.why + reporting.advice, Catch::Contains("checkpoint"));
    CHECK_THAT(text, !Catch::Contains("checkpoint") && (Catch::Contains("the files that it has saved") ||
                                                        Catch::Contains("must itself continue from files that it saved")));
  }
}

TEST_CASE("the messages after a run without a checkpoint do not mention a last checkpoint") {
  for (const auto ending : {JobEnding::requeued, JobEnding::cancelled, JobEnding::time_limit, JobEnding::none}) {
    auto situation = with(after(70, ending), &Situation::failures, 4);
    situation.has_checkpoint = false;
    const auto decision = decide(situation, usual);
    CHECK_THAT(decision.why + decision.advice,
               Catch::Contains("the run starts from the beginning") && !Catch::Contains("last checkpoint"));
  }
}

TEST_CASE("the delay before a restart doubles from one second to one minute") {
  const auto wait_after = [](int failures) {
    return decide(with(after(70), &Situation::failures, failures), with(usual, &RestartLimits::max_failures, 1000)).wait_s;
  };
  CHECK(wait_after(1) == 1);
  CHECK(wait_after(2) == 2);
  CHECK(wait_after(3) == 4);
  CHECK(wait_after(7) == 60);
  CHECK(wait_after(1000) == 60);
}

TEST_CASE("a run that finishes as Slurm ends its job is done, and its message names the state of the job") {
  struct {
    JobEnding ending;
    const char* expected;
  } const rows[] = {{JobEnding::time_limit, "Slurm will report the job as TIMEOUT"},
                    {JobEnding::cancelled, "Slurm will report the job as CANCELLED"},
                    {JobEnding::requeued, "Slurm requeues the job"}};
  for (const auto& row : rows) {
    const auto decision = decide(after(0, row.ending), usual);
    CHECK(decision.action == Action::done);
    CHECK(decision.exit_code == 0);
    CHECK_THAT(decision.why, Catch::StartsWith("done") && Catch::Contains(row.expected));
  }
  for (const auto ending : {JobEnding::none, JobEnding::stop_requested})
    CHECK(decide(after(0, ending), usual).why == "done; nothing is left to do");
}

TEST_CASE("only a decision to requeue has exit code 75") {
  for (int code = 0; code < 256; ++code)
    for (const auto ending :
         {JobEnding::none, JobEnding::stop_requested, JobEnding::requeued, JobEnding::time_limit, JobEnding::cancelled}) {
      const auto decision = decide(after(code, ending), usual);
      CHECK((decision.exit_code == 75) == (decision.action == Action::requeue));
    }
}

TEST_CASE("a failure that every restart would repeat ends the job, unless Slurm ends or requeues it") {
  auto situation = after(70);
  situation.permanent = true;
  const auto decision = decide(situation, usual);
  CHECK(decision.action == Action::give_up);
  CHECK(decision.exit_code == 70);
  CHECK(decision.why == "attempt 1: its reason; not restarted, since it would fail again");
  CHECK(decision.advice == "Fix the error above and submit the job again");
  situation.ending = JobEnding::requeued;
  CHECK(decide(situation, usual).action == Action::leave_to_slurm);
}

TEST_CASE("the advice after the end of a job has the option that continues a run with a generated name") {
  auto cancelled = after(75, JobEnding::cancelled);
  cancelled.again_with = " with --run.name=a (before --)";
  CHECK(decide(cancelled, usual).why ==
        "attempt 1: its reason; the job was cancelled and will not be requeued. Submit it again with --run.name=a (before "
        "--); the run continues from its last checkpoint");
  auto requeued = cancelled;
  requeued.ending = JobEnding::requeued;
  CHECK(decide(requeued, usual).why.find("--run.name") == std::string::npos);
  auto failed = with(after(70), &Situation::failures, 4);
  failed.again_with = cancelled.again_with;
  CHECK(decide(failed, usual).advice ==
        "Fix the errors above and submit the job again with --run.name=a (before --); the run continues from its last "
        "checkpoint");
}
