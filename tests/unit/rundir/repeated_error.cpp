// When two attempts have failed by the same mistake of the train function.
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "rundir/attempts/repeated_error.hpp"

using namespace trainrt;
using namespace trainrt::rundir;

namespace {

AttemptRecord failed_at(std::int64_t step, const std::string& why) {
  AttemptRecord record;
  record.why = why;
  record.exit_code = static_cast<int>(ExitCode::failed);
  record.last_step = step;
  return record;
}

std::string by_program(int rank, int process, const std::string& how) {
  return "failed: the program of rank " + std::to_string(rank) + " on n1 (train.program, process " +
         std::to_string(process) + ") " + how;
}

}  // namespace

TEST_CASE("a Python exception or a wrong call is a mistake, whichever rank and process had it") {
  CHECK(mistake_in(by_program(1, 7, "failed: KeyError: 'x'; the program of 1 other rank failed afterwards\nTraceback")) ==
        "KeyError: 'x'");
  CHECK(mistake_in(by_program(0, 8, "failed: TypeError: no; rank 1 had already exited with 0")) == "TypeError: no");
  CHECK(mistake_in("failed: rank 0 on n1 failed at step 3 (attempt 1): the ranks do not make the same call: rank 0") ==
        "the ranks do not make the same call: rank 0");
  CHECK(mistake_in("failed: report(): the metric 'x' is in the report of rank 0") ==
        "report(): the metric 'x' is in the report of rank 0");
}

TEST_CASE("a failure that may be temporary is not a mistake") {
  for (const auto& why : {by_program(0, 7, "was ended by SIGKILL"), by_program(0, 7, "exited with 1"),
                          by_program(0, 7, "failed: OSError: [Errno 28] No space left on device"),
                          by_program(0, 7, "failed: RuntimeError: CUDA error: unspecified launch failure"),
                          by_program(0, 7, "failed: MemoryError"),
                          by_program(0, 7, "failed: torch.cuda.OutOfMemoryError: CUDA out of memory"),
                          std::string("failed: the checkpoint at step 3 could not be written and is dropped: disk full"),
                          std::string("killed: signal 9 ended rank 1"), std::string("stopped by SIGTERM"), std::string()})
    CHECK(mistake_in(why).empty());
}

TEST_CASE("only the same mistake at the same step without a newer checkpoint is repeated") {
  const auto first = failed_at(5, by_program(1, 7, "failed: ValueError: bad batch"));
  const auto second = failed_at(5, by_program(0, 9, "failed: ValueError: bad batch"));
  CHECK(repeats_mistake(std::vector{first, second}));
  CHECK_FALSE(repeats_mistake(std::vector{second}));
  CHECK_FALSE(repeats_mistake(std::vector{first, failed_at(5, by_program(0, 9, "failed: ValueError: other batch"))}));
  CHECK_FALSE(repeats_mistake(std::vector{first, failed_at(6, second.why)}));
  auto saved = second;
  saved.saved_checkpoint = 2;
  CHECK_FALSE(repeats_mistake(std::vector{first, saved}));
  auto reported = second;
  reported.iteration = 1;
  CHECK_FALSE(repeats_mistake(std::vector{first, reported}));
}
