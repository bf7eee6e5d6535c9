#include "rundir/attempts/recorded_memory.hpp"

#include <filesystem>

#include <catch2/catch.hpp>

#include "core/host.hpp"
#include "io/files/file.hpp"
#include "rundir/attempts/attempt.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/records/rank_status.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::rundir;

namespace {

void begin_and_fail(const std::string& run_dir) {
  Meter meter(monotonic_seconds());
  Attempt attempt(run_dir, 1, {"a"}, meter);
  attempt.end("failed: x", 70, 0);
}

}  // namespace

TEST_CASE("the attempt with the newest recorded memory is found after any number of attempts without it") {
  const test::Scratch run;
  std::filesystem::create_directory(run / "attempts");
  std::filesystem::create_directory(run / "logs");
  begin_and_fail(run.path());
  const auto newest = [&] { return read_attempts(run.path(), 1).back(); };
  CHECK(attempt_with_memory(run.path(), newest()) == 0);
  io::write_file(run / rank_statuses_name(1), rank_status_line({.rank = 0, .peak = 5}));
  CHECK(attempt_with_memory(run.path(), newest()) == 1);
  for (int number = 2; number <= 30; ++number) begin_and_fail(run.path());
  CHECK(newest().number == 30);
  CHECK(newest().memory_attempt == 1);
  CHECK(attempt_with_memory(run.path(), newest()) == 1);
  io::write_file(run / rank_statuses_name(30), rank_status_line({.rank = 0, .peak = 7}));
  CHECK(attempt_with_memory(run.path(), newest()) == 30);
}
