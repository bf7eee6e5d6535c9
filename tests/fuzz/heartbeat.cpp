// Reads attempts/000003.pulse, the last heartbeat of a running attempt.
#include "rundir/records/attempt_record.hpp"
#include "support/fuzz/fuzz.hpp"

namespace trainrt::fuzz {

std::vector<std::string> seeds() {
  rundir::AttemptRecord record;
  record.number = 1;
  record.last_step = 12;
  record.timing = {0.5, 1.5, 0, 0};
  record.seen = "2026-11-21T02:02:02Z";
  record.expected = 20;
  record.job_end = "2026-11-21T05:02:00Z";
  return {rundir::heartbeat_text(record),
          rundir::heartbeat_text({}),
          with_number(rundir::heartbeat_text(record), "last_step", "1e300"),
          with_number(rundir::heartbeat_text(record), "iteration", "18446744073709551615"),
          with_number(rundir::heartbeat_text(record), "steps_s", "-1e300"),
          std::string(200, '\r') + "l",
          "{}",
          "[]",
          deep_json()};
}

std::vector<std::string> words() {
  return {"\"attempt\"",
          "\"first_step\"",
          "\"last_step\"",
          "\"saved_step\"",
          "\"first_iteration\"",
          "\"saved_iteration\"",
          "\"iteration\"",
          "\"timing\"",
          "\"startup_s\"",
          "\"expected\"",
          "\"job_end\"",
          "\"steps_s\"",
          "\"checkpoint_s\"",
          "\"shutdown_s\"",
          "\"seen\"",
          "2026-11-21T01:02:03Z",
          "1e300",
          "-1",
          "null",
          "18446744073709551615"};
}

void read(const std::string& input) {
  rundir::AttemptRecord record;
  record.number = 1;
  const auto before = rundir::to_text(record);
  const auto taken = unless_refused<AnyException>([&] { return rundir::merge_heartbeat_text(record, input), true; });
  if (!taken) {
    require(rundir::to_text(record) == before, "a heartbeat that cannot be read leaves the record as it was");
    return;
  }
  auto again = record;
  const auto written = rundir::heartbeat_text(record);
  rundir::merge_heartbeat_text(again, written);
  require(rundir::to_text(again) == rundir::to_text(record), "a heartbeat that is read and written again stays the same");
}

}  // namespace trainrt::fuzz
