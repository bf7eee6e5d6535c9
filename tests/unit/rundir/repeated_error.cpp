// Tests of the decision whether two attempts have failed because of the same mistake in the train function.
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "rundir/attempts/repeated_error.hpp"

using namespace trainrt;
using namespace trainrt::rundir;

namespace {

AttemptRecord failed_at(std::int64_t step, const Mistake& mistake) {
  AttemptRecord record;
  record.mistake = mistake;
  record.exit_code = static_cast<int>(ExitCode::failed);
  record.last_step = step;
  return record;
}

}  // namespace

TEST_CASE("only the same mistake at the same step without a newer checkpoint is repeated") {
  const auto first = failed_at(5, {"exception", "ValueError: bad batch"}), second = first;
  CHECK(repeats_mistake(std::vector{first, second}));
  CHECK_FALSE(repeats_mistake(std::vector{second}));
  CHECK_FALSE(repeats_mistake(std::vector{first, failed_at(5, {"exception", "ValueError: other batch"})}));
  CHECK_FALSE(repeats_mistake(std::vector{first, failed_at(6, second.mistake)}));
  CHECK_FALSE(repeats_mistake(std::vector{first, failed_at(5, {"calls_differ", "ValueError: bad batch"})}));
  CHECK_FALSE(repeats_mistake(std::vector{failed_at(5, {}), failed_at(5, {})}));  // may be temporary, or older records
  auto saved = second;
  saved.saved_checkpoint = 2;
  CHECK_FALSE(repeats_mistake(std::vector{first, saved}));
  auto reported = second;
  reported.iteration = 1;
  CHECK_FALSE(repeats_mistake(std::vector{first, reported}));
}

TEST_CASE("a repeated mistake is described with its number and its point") {
  const Mistake mistake{"exception", "ValueError: bad batch"};
  const auto at_step = failed_at(5, mistake), at_start = failed_at(0, mistake);
  auto after_report = at_start;
  after_report.iteration = 2;
  CHECK(repetition_in_words(std::vector{at_step, at_step}) == "failed twice in the same way at step 5");
  CHECK(repetition_in_words(std::vector{at_step, after_report, after_report, after_report}) ==
        "failed 3 times in the same way after report 2");
  CHECK(repetition_in_words(std::vector{at_start, at_start}) == "failed twice in the same way");
  auto first = at_step, other = at_step;
  first.saved_checkpoint = 0;
  CHECK(repetition_in_words(std::vector{first, other, other}).starts_with("failed 3 times"));
  CHECK(repetition_in_words(std::vector{first, other}).empty());
}

TEST_CASE("ranks that make different calls again repeat the mistake, whichever rank reports it") {
  const auto reported_by = [](const std::string& rank) {
    return failed_at(5, {"calls_differ", "the ranks do not make the same call: rank " + rank + " called barrier()"});
  };
  CHECK(repeats_mistake(std::vector{reported_by("0"), reported_by("1")}));
  auto later = reported_by("1");
  later.last_step = 6;
  CHECK_FALSE(repeats_mistake(std::vector{reported_by("0"), later}));
}

TEST_CASE("a record keeps its mistake; a record without one, and one with an unknown kind, can be read") {
  auto record = failed_at(5, {"a kind of a newer version", "it failed"});
  record.number = 1;
  CHECK(attempt_record_from(to_text(record)).mistake == record.mistake);
  record.mistake = {};
  CHECK(to_text(record).find("mistake") == std::string::npos);
  CHECK(attempt_record_from(to_text(record)).mistake.kind.empty());
}
