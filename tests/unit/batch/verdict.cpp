#include <algorithm>

#include <catch2/catch.hpp>

#include "batch/verdict.hpp"

using namespace trainrt::batch;
using Action = Verdict::Action;
using Limit = Verdict::Limit;

namespace {

constexpr Limits usual{.max_failures = 3, .max_requeues = 100, .max_no_progress = 3};

Limits elastic(int least, int workers = 6) {
  auto limits = usual;
  limits.min_workers = least;
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
  Limits limits;
  Action action;
  int exit_code;
  std::vector<std::string> on;  ///< nodes of a restart
  int tasks;
  const char* says;
  Limit limit = Limit::none;
};

Situation after(int code, Ending ending = Ending::none) {
  return {.exit_code = code, .how = "attempt 1: so it ended", .ending = ending, .nodes = nodes(), .failures = 1};
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

Situation with(Situation situation, int Situation::*what, int value) {
  situation.*what = value;
  return situation;
}

Limits with(Limits limits, int Limits::*what, int value) {
  limits.*what = value;
  return limits;
}

}  // namespace

TEST_CASE("what to do after an attempt follows from how it ended and how the job stands") {
  using S = Situation;
  const std::vector<Row> rows = {
      {"finished", after(0), usual, Action::done, 0, {}, 0, "done"},
      {"finished while it was cancelled", after(0, Ending::for_good), usual, Action::done, 0, {}, 0, "done"},
      {"a config that cannot work", after(64), usual, Action::give_up, 64, {}, 0, "cannot run as it is"},
      {"no progress, seen by the run", after(76), usual, Action::give_up, 76, {}, 0, "forward"},
      {"it failed", after(70), usual, Action::restart, 0, {}, 0, "restart 1 of 3", Limit::max_failures},
      {"a rank was killed", after(137), usual, Action::restart, 0, {}, 0, "so it ended", Limit::max_failures},
      {"a rank crashed", after(139), usual, Action::restart, 0, {}, 0, "in 1 s", Limit::max_failures},
      {"a code of its own", after(3), usual, Action::restart, 0, {}, 0, "in 1 s", Limit::max_failures},
      {"srun failed", after(exit_of_srun), usual, Action::restart, 0, {}, 0, "in 1 s", Limit::max_failures},
      {"it failed for the last time",
       with(after(70), &S::failures, 4),
       usual,
       Action::give_up,
       70,
       {},
       0,
       "3 times",
       Limit::max_failures},
      {"it may not fail at all",
       after(70),
       with(usual, &Limits::max_failures, 0),
       Action::give_up,
       70,
       {},
       0,
       "started again",
       Limit::max_failures},
      {"it fails where it began",
       with(with(after(70), &S::failures, 3), &S::no_progress, 3),
       usual,
       Action::give_up,
       76,
       {},
       0,
       "got no further",
       Limit::max_no_progress},
      {"the same, and any number is allowed",
       with(after(70), &S::no_progress, 30),
       with(usual, &Limits::max_no_progress, 0),
       Action::restart,
       0,
       {},
       0,
       "starting",
       Limit::max_failures},
      {"it stopped by itself", after(75), usual, Action::requeue, 75, {}, 0, "requeueing"},
      {"it stops at once, each time",
       with(after(75), &S::no_progress, 3),
       usual,
       Action::give_up,
       76,
       {},
       0,
       "no further",
       Limit::max_no_progress},
      {"it was requeued too often",
       with(after(75), &S::requeues, 100),
       usual,
       Action::give_up,
       70,
       {},
       0,
       "was requeued 100 times already",
       Limit::max_requeues},
      {"preempted, and saved", after(75, Ending::returns), usual, Action::leave_to_slurm, 143, {}, 0, "Slurm requeues"},
      {"preempted, and killed", after(137, Ending::returns), usual, Action::leave_to_slurm, 143, {}, 0, "Slurm requeues"},
      {"preempted too often for a requeue of its own",
       with(after(75, Ending::returns), &S::requeues, 100),
       usual,
       Action::leave_to_slurm,
       143,
       {},
       0,
       "Slurm requeues"},
      {"scancel", after(75, Ending::for_good), usual, Action::leave_to_slurm, 143, {}, 0, "cancelled"},
      {"the time is over, and it is saved",
       after(75, Ending::time_is_over),
       usual,
       Action::requeue,
       75,
       {},
       0,
       "requeueing"},
      {"the time is over before it was saved",
       after(137, Ending::time_is_over),
       usual,
       Action::requeue,
       75,
       {},
       0,
       "requeueing"},
      {"a stop signal killed a rank that had just begun",
       after(138, Ending::stop_asked),
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
      {"a node is lost, and fewer will do",
       with_lost({"n3"}),
       elastic(4),
       Action::restart,
       0,
       {"n1", "n2"},
       4,
       "going on with 4 of 6 workers, on n1,n2"},
      {"a node is lost that is not needed",
       with_lost({"n3"}),
       elastic(0, 4),
       Action::restart,
       0,
       {"n1", "n2"},
       4,
       "4 of 4"},
      {"too few are left",
       with_lost({"n1", "n3"}),
       elastic(4),
       Action::requeue,
       75,
       {},
       0,
       "2 workers are left, at least 4 are needed",
       Limit::min_workers},
      {"none is left",
       with_lost({"n1", "n2", "n3"}),
       elastic(1),
       Action::requeue,
       75,
       {},
       0,
       "0 workers",
       Limit::min_workers},
      {"a node is lost, and failures are used up",
       with(with_lost({"n3"}), &S::failures, 4),
       elastic(4),
       Action::give_up,
       70,
       {},
       0,
       "started again",
       Limit::max_failures},
      {"a node is lost, and was requeued too often",
       with(with_lost({"n3"}), &S::requeues, 100),
       usual,
       Action::give_up,
       70,
       {},
       0,
       "was requeued 100 times already",
       Limit::max_requeues},
      {"Slurm has taken a node out of the allocation and says not which, and fewer would do",
       with_shrunk(),
       elastic(4),
       Action::requeue,
       75,
       {},
       0,
       "taken a node out of the allocation: requeueing"},
      {"nobody knows the nodes",
       {.exit_code = 137, .how = "so it ended", .failures = 1},
       elastic(4),
       Action::restart,
       0,
       {},
       0,
       "starting",
       Limit::max_failures}};
  for (const auto& row : rows) {
    INFO(row.story);
    const auto verdict = decide(row.situation, row.limits);
    INFO(verdict.why);
    CHECK(verdict.action == row.action);
    CHECK(verdict.exit_code == row.exit_code);
    CHECK(verdict.nodes == row.on);
    CHECK(verdict.tasks == row.tasks);
    CHECK(verdict.why.find(row.says) != std::string::npos);
    CHECK(verdict.limit == row.limit);
    CHECK(verdict.advice.empty() == (verdict.action != Action::give_up));
  }
}

TEST_CASE("a verdict promises no checkpoint to a program that does not report progress") {
  auto failed_for_good = with(after(70), &Situation::failures, 4);
  for (auto situation : {after(75), after(75, Ending::returns), after(75, Ending::for_good), failed_for_good,
                         with(after(75), &Situation::requeues, 100), after(137, Ending::time_is_over)}) {
    const auto spoken = decide(situation, usual);
    situation.silent = true;
    const auto silent = decide(situation, usual);
    const auto text = silent.why + silent.advice;
    INFO(text);
    CHECK(silent.action == spoken.action);
    CHECK_THAT(spoken.why + spoken.advice, Catch::Contains("checkpoint"));
    CHECK_THAT(text, !Catch::Contains("checkpoint") && Catch::Contains("what it saved by itself"));
  }
}

TEST_CASE("the waits between restarts double, from one second to one minute") {
  const auto wait_after = [](int failures) {
    return decide(with(after(70), &Situation::failures, failures), with(usual, &Limits::max_failures, 1000)).wait_s;
  };
  CHECK(wait_after(1) == 1);
  CHECK(wait_after(2) == 2);
  CHECK(wait_after(3) == 4);
  CHECK(wait_after(7) == 60);
  CHECK(wait_after(1000) == 60);
}

TEST_CASE("a run that finishes as Slurm ends its job is done, and the last line says what Slurm will call the job") {
  struct {
    Ending ending;
    const char* says;
  } const rows[] = {{Ending::time_is_over, "Slurm will call the job TIMEOUT"},
                    {Ending::for_good, "Slurm will call the job CANCELLED"},
                    {Ending::returns, "Slurm requeues the job all the same"}};
  for (const auto& row : rows) {
    const auto verdict = decide(after(0, row.ending), usual);
    CHECK(verdict.action == Action::done);
    CHECK(verdict.exit_code == 0);
    CHECK_THAT(verdict.why, Catch::StartsWith("done") && Catch::Contains(row.says));
  }
  for (const auto ending : {Ending::none, Ending::stop_asked})
    CHECK(decide(after(0, ending), usual).why == "done; nothing is left to do");
}

TEST_CASE("nothing but a stop on purpose ends with 75, which a batch script answers with a requeue") {
  for (int code = 0; code < 256; ++code)
    for (const auto ending : {Ending::none, Ending::stop_asked, Ending::returns, Ending::time_is_over, Ending::for_good}) {
      const auto verdict = decide(after(code, ending), usual);
      CHECK((verdict.exit_code == 75) == (verdict.action == Action::requeue));
    }
}
