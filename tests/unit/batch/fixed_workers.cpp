// Tests of restarts of a run with a fixed number of workers (RestartLimits::fixed_workers) on any number of CPUs.
#include <algorithm>

#include <catch2/catch.hpp>

#include "batch/restart_decision.hpp"

using namespace trainrt::batch;
using Action = RestartDecision::Action;
using Limit = RestartDecision::Limit;
using Catch::Matchers::Contains;

namespace {

constexpr RestartLimits six_workers{.max_failures = 3, .max_requeues = 100, .max_no_progress = 3, .fixed_workers = 6};

std::vector<Node> nodes(int count, const std::vector<std::string>& lost = {}) {
  std::vector<Node> all;
  for (int number = 1; number <= count; ++number) {
    const auto name = "n" + std::to_string(number);
    all.push_back({.name = name, .tasks = 2, .healthy = std::ranges::count(lost, name) == 0, .cpus = 2});
  }
  return all;
}

Situation after(int exit_code, std::vector<Node> nodes) {
  return {.exit_code = exit_code, .how = "attempt 1: its reason", .nodes = std::move(nodes), .failures = 1};
}

void check_step(const RestartDecision& decision, const std::vector<std::string>& on, int tasks) {
  CHECK(decision.action == Action::restart);
  CHECK(decision.nodes == on);
  CHECK(decision.tasks == tasks);
  CHECK(decision.shares_cpus);
}

}  // namespace

TEST_CASE("after the loss of a node, all fixed workers continue on the CPUs of the other nodes") {
  const auto decision = decide(after(137, nodes(3, {"n3"})), six_workers);
  check_step(decision, {"n1", "n2"}, 6);
  CHECK_THAT(decision.why, Contains("n3 of the allocation is lost: continuing with all 6 workers on 4 CPUs of n1,n2"));
}

TEST_CASE("a node that Slurm has taken out of the allocation does not end a run with fixed workers") {
  auto situation = after(143, nodes(3, {"n2"}));
  situation.shrunk = true;
  check_step(decide(situation, six_workers), {"n1", "n3"}, 6);
}

TEST_CASE("fixed workers are requeued if fewer CPUs are left than the minimum") {
  auto limits = six_workers;
  limits.min_cpus = 5;
  const auto decision = decide(after(137, nodes(3, {"n3"})), limits);
  CHECK((decision.action == Action::requeue && decision.limit == Limit::min_workers));
  CHECK_THAT(decision.why, Contains("(4 CPUs are left, at least 5 are needed)"));
}

TEST_CASE("fixed workers are requeued if the memory of the remaining nodes does not suffice") {
  auto limits = six_workers;
  limits.max_workers_per_node = 2;
  const auto decision = decide(after(137, nodes(3, {"n3"})), limits);
  CHECK((decision.action == Action::requeue && decision.limit == Limit::none));
  CHECK_THAT(decision.why,
             Contains("the memory of a node suffices for 2 workers, but 6 workers would have to share 2 nodes"));
  limits.max_workers_per_node = 3;
  check_step(decide(after(137, nodes(3, {"n3"})), limits), {"n1", "n2"}, 6);
}

TEST_CASE("in a smaller allocation, all fixed workers start, also after a failure") {
  const auto first = begin({.nodes = nodes(1)}, six_workers);
  check_step(first, {"n1"}, 6);
  CHECK(first.why == "starting all 6 workers on 2 CPUs of n1");
  auto one_worker = six_workers;
  one_worker.fixed_workers = 1;
  CHECK_THAT(begin({.nodes = nodes(1)}, one_worker).why, Contains("starting the only worker on 2 CPUs of n1"));
  const auto again = decide(after(70, nodes(1)), six_workers);
  check_step(again, {"n1"}, 6);
  CHECK_THAT(again.why, Contains("restart 1 of 3"));
}

TEST_CASE("an allocation with a task for each fixed worker is used as Slurm gave it") {
  for (const auto& decision : {begin({.nodes = nodes(3)}, six_workers), decide(after(70, nodes(3)), six_workers)}) {
    CHECK(decision.action == Action::restart);
    CHECK((decision.nodes.empty() && !decision.shares_cpus));
  }
}

TEST_CASE("a job with as many tasks as fixed workers is used as Slurm gave it, unless a node is lost") {
  auto first = Situation{.nodes = nodes(4), .tasks = 6};
  CHECK(begin(first, six_workers).nodes.empty());
  auto failed = after(70, nodes(4));
  failed.tasks = 6;
  CHECK(decide(failed, six_workers).nodes.empty());
  first.nodes = nodes(4, {"n2"});
  check_step(begin(first, six_workers), {"n1", "n3", "n4"}, 6);
  first.nodes = nodes(3);
  first.tasks = 3;
  check_step(begin(first, six_workers), {"n1", "n2", "n3"}, 6);
}

TEST_CASE("fixed workers use at most one node for each worker") {
  auto limits = six_workers;
  limits.fixed_workers = 2;
  check_step(begin({.nodes = nodes(3)}, limits), {"n1", "n2"}, 2);
}

TEST_CASE("without fixed workers, an allocation of any size is used as Slurm gave it") {
  auto limits = six_workers;
  limits.fixed_workers = 0;
  const auto decision = begin({.nodes = nodes(1)}, limits);
  CHECK((decision.action == Action::restart && decision.nodes.empty() && decision.why.empty()));
}

TEST_CASE("fixed workers by default are requeued to replace an excluded node, and else continue on fewer nodes") {
  auto limits = six_workers;
  limits.prefers_other_nodes = true;
  auto situation = after(137, nodes(3));
  situation.nodes[1].excluded = true;
  CHECK(decide(situation, limits).action == Action::requeue);
  CHECK(begin(situation, limits).action == Action::requeue);
  situation.no_other_nodes = "partition main has no other nodes";
  check_step(decide(situation, limits), {"n1", "n3"}, 6);
  check_step(decide(after(137, nodes(3, {"n3"})), limits), {"n1", "n2"}, 6);
  limits.prefers_other_nodes = false;
  situation.no_other_nodes = "";
  check_step(decide(situation, limits), {"n1", "n3"}, 6);
}
