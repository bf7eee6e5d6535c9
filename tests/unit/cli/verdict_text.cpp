#include <catch2/catch.hpp>

#include "cli/verdict_text.hpp"

using namespace trainrt;
using Catch::Contains;
using Limit = batch::Verdict::Limit;

TEST_CASE("what supervise says of a verdict names the config key of the limit that decided") {
  const auto text = [](Limit limit, const std::string& advice) {
    batch::Verdict verdict;
    verdict.why = "attempt 1: failed";
    verdict.advice = advice;
    verdict.limit = limit;
    return cli::text_of(verdict);
  };
  CHECK(text(Limit::none, "") == "attempt 1: failed");
  CHECK(text(Limit::none, "Mend it") == "attempt 1: failed. Mend it");
  CHECK(text(Limit::max_failures, "Mend it") == "attempt 1: failed (failure.max_failures). Mend it");
  CHECK(text(Limit::max_requeues, "") == "attempt 1: failed (failure.max_requeues)");
  CHECK(text(Limit::max_no_progress, "") == "attempt 1: failed (failure.max_no_progress)");
  CHECK(text(Limit::min_workers, "") == "attempt 1: failed (scaling.min_workers)");
  CHECK_THAT(text(Limit::no_min_workers, ""), Contains("scaling.min_workers = N and sbatch --no-kill"));
}
