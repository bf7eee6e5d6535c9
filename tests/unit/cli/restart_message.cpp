#include <catch2/catch.hpp>

#include "cli/supervise/restart_message.hpp"

using namespace trainrt;
using Catch::Contains;
using Limit = batch::RestartDecision::Limit;

TEST_CASE("the message of a decision names the config key of its limit") {
  const auto text = [](Limit limit, const std::string& advice) {
    batch::RestartDecision decision;
    decision.why = "attempt 1: failed";
    decision.advice = advice;
    decision.limit = limit;
    return cli::restart_message(decision);
  };
  CHECK(text(Limit::none, "") == "attempt 1: failed");
  CHECK(text(Limit::none, "Fix it") == "attempt 1: failed. Fix it");
  CHECK(text(Limit::max_failures, "Fix it") == "attempt 1: failed (failure.max_failures). Fix it");
  CHECK(text(Limit::max_requeues, "") == "attempt 1: failed (failure.max_requeues)");
  CHECK(text(Limit::max_no_progress, "") == "attempt 1: failed (failure.max_no_progress)");
  CHECK(text(Limit::min_workers, "") == "attempt 1: failed (scaling.min_workers)");
  CHECK_THAT(text(Limit::no_min_workers, ""), Contains("scaling.min_workers = N and sbatch --no-kill"));
}
