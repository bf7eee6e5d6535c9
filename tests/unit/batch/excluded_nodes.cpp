// Tests of restart decisions in allocations with excluded nodes.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "batch/restart_decision.hpp"

using namespace trainrt::batch;
using Action = RestartDecision::Action;
using Catch::Matchers::Contains;

namespace {

using Names = std::vector<std::string>;

const char* const scarce = "partition main has 0 other nodes of this kind, but the job needs 3";

struct Row {
  const char* story;
  int exit_code;
  bool slow;
  Names excluded, lost;
  std::string no_other_nodes;
  int requeues;
  int min_workers;  ///< scaling.min_workers
  int workers;      ///< scaling.num_workers
  Action action;
  Names on;
  int tasks;
  const char* expected;
};

/// Returns the situation of an allocation of three nodes with two tasks each.
Situation situation_of(const Row& row) {
  Situation situation{.exit_code = row.exit_code, .how = "its reason", .failures = 1, .requeues = row.requeues};
  const auto is_in = [](const Names& names, const char* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const auto* name : {"n1", "n2", "n3"})
    situation.nodes.push_back({name, 2, !is_in(row.lost, name), is_in(row.excluded, name)});
  situation.slow = row.slow;
  situation.no_other_nodes = row.no_other_nodes;
  return situation;
}

RestartLimits limits_of(const Row& row) {
  return {
      .max_failures = 3, .max_requeues = 100, .max_no_progress = 3, .min_workers = row.min_workers, .workers = row.workers};
}

void check(const Row& row, const RestartDecision& decision) {
  INFO(row.story);
  INFO(decision.why);
  CHECK(decision.action == row.action);
  CHECK(decision.nodes == row.on);
  CHECK(decision.tasks == row.tasks);
  CHECK_THAT(decision.why, Contains(row.expected));
}

}  // namespace

TEST_CASE("a restart avoids excluded nodes if it can, and uses them otherwise") {
  const std::vector<Row> rows = {
      {"fewer workers are allowed",
       137,
       false,
       {"n2"},
       {},
       "",
       0,
       4,
       6,
       Action::restart,
       {"n1", "n3"},
       4,
       "its reason; n2 is left out: continuing with 4 of 6 workers, on n1,n3"},
      {"the other nodes have room for all workers",
       137,
       false,
       {"n2"},
       {},
       "",
       0,
       0,
       4,
       Action::restart,
       {"n1", "n3"},
       4,
       "4 of 4 workers"},
      {"all nodes are needed", 137, false, {"n2"}, {}, "", 0, 0, 6, Action::requeue, {}, 0, "n2 is left out: requeueing"},
      {"fewer workers than the minimum would be left",
       137,
       false,
       {"n2"},
       {},
       "",
       0,
       5,
       6,
       Action::requeue,
       {},
       0,
       "n2 is left out: requeueing"},
      {"more than half would be left out",
       137,
       false,
       {"n2", "n3"},
       {},
       "",
       0,
       2,
       6,
       Action::requeue,
       {},
       0,
       "n2,n3 are left out: requeueing"},
      {"the partition has no other nodes",
       137,
       false,
       {"n2"},
       {},
       scarce,
       0,
       0,
       6,
       Action::restart,
       {},
       0,
       "restart 1 of 3; n2 should be left out, but is used: partition main has 0 other nodes"},
      {"all requeues are used",
       137,
       false,
       {"n2"},
       {},
       "",
       100,
       0,
       6,
       Action::restart,
       {},
       0,
       "is used: the job was already requeued 100 times"},
      {"another node is lost, and fewer workers are allowed",
       137,
       false,
       {"n2"},
       {"n3"},
       "",
       0,
       2,
       6,
       Action::restart,
       {"n1"},
       2,
       "n3 of the allocation is lost: continuing with 2 of 6 workers, on n1"},
      {"another node is lost, and both remaining nodes are needed",
       137,
       false,
       {"n2"},
       {"n3"},
       "",
       0,
       4,
       6,
       Action::restart,
       {"n1", "n2"},
       4,
       "n3 of the allocation is lost: continuing with 4 of 6 workers, on n1,n2"},
      {"another node is lost, and all nodes are needed",
       137,
       false,
       {"n2"},
       {"n3"},
       scarce,
       0,
       0,
       6,
       Action::requeue,
       {},
       0,
       "n3 of the allocation is lost: requeueing"},
      {"a slow node, and fewer workers are allowed",
       75,
       true,
       {"n2"},
       {},
       "",
       0,
       4,
       6,
       Action::restart,
       {"n1", "n3"},
       4,
       "its reason; n2 is left out: continuing with 4 of 6 workers, on n1,n3"},
      {"a slow node, and all nodes are needed", 75, true, {"n2"}, {}, "", 0, 0, 6, Action::requeue, {}, 0, "requeueing"},
      {"a slow node that cannot be left out any more",
       75,
       true,
       {"n2"},
       {},
       scarce,
       0,
       0,
       6,
       Action::restart,
       {},
       0,
       "restarting the run; n2 should be left out, but is used"},
      {"a slow node that was not excluded", 75, true, {}, {}, "", 0, 0, 6, Action::restart, {}, 0, "restarting the run"},
      {"a stop for another reason", 75, false, {"n2"}, {}, "", 0, 4, 6, Action::requeue, {}, 0, "requeueing"},
      {"the run has finished", 0, false, {"n2"}, {}, "", 0, 4, 6, Action::done, {}, 0, "done"}};
  for (const auto& row : rows) check(row, decide(situation_of(row), limits_of(row)));
}

TEST_CASE("the limits of failures and of attempts without progress also apply with excluded nodes") {
  auto situation = situation_of({.story = "", .exit_code = 137, .excluded = {"n2"}});
  situation.failures = 4;
  CHECK(decide(situation, {.max_failures = 3, .max_requeues = 100}).action == Action::give_up);
  for (const int code : {137, 75}) {
    situation = situation_of({.story = "", .exit_code = code, .slow = code == 75, .excluded = {"n2"}});
    situation.no_progress = 3;
    const auto decision =
        decide(situation, {.max_failures = 3, .max_requeues = 100, .max_no_progress = 3, .min_workers = 1});
    CHECK(decision.action == Action::give_up);
    CHECK(decision.exit_code == 76);
  }
}

TEST_CASE("the first attempt in an allocation avoids excluded nodes if it can") {
  const std::vector<Row> rows = {
      {"no node is excluded", 0, false, {}, {}, "", 0, 0, 6, Action::restart, {}, 0, ""},
      {"fewer workers are allowed",
       0,
       false,
       {"n2"},
       {},
       "",
       1,
       4,
       6,
       Action::restart,
       {"n1", "n3"},
       4,
       "before the first attempt in this allocation; n2 is left out: continuing with 4 of 6 workers, on n1,n3"},
      {"all nodes are needed", 0, false, {"n2"}, {}, "", 0, 0, 6, Action::requeue, {}, 0, "n2 is left out: requeueing"},
      {"all nodes are needed, and the job was already requeued for this reason",
       0,
       false,
       {"n2"},
       {},
       "",
       1,
       0,
       6,
       Action::restart,
       {},
       0,
       "n2 should be left out, but is used: Slurm has allocated it to the job again"},
      {"the partition has no other nodes", 0, false, {"n2"}, {}, scarce, 0, 0, 6, Action::restart, {}, 0, "is used"}};
  for (const auto& row : rows) check(row, begin(situation_of(row), limits_of(row)));
}

TEST_CASE("whether the run can do without a node is known before the attempt ends") {
  const auto ask = [](std::string no_other_nodes, int min_workers, int requeues = 0) {
    const Row row{.story = "",
                  .excluded = {"n2"},
                  .no_other_nodes = std::move(no_other_nodes),
                  .requeues = requeues,
                  .min_workers = min_workers,
                  .workers = 6};
    return why_not_without_excluded(situation_of(row), limits_of(row));
  };
  CHECK(ask("", 0).empty());
  CHECK(ask(scarce, 4).empty());
  CHECK(ask(scarce, 0) == scarce);
  CHECK(ask("", 0, 100) == "the job was already requeued 100 times");
}
