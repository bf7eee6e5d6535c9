// Reads attempts/000003.json, the record of one attempt.
#include "rundir/records/attempt_record.hpp"

#include "support/fuzz/fuzz.hpp"

namespace trainrt::fuzz {

namespace {

using rundir::AttemptRecord;

AttemptRecord a_record() {
  AttemptRecord record;
  record.number = 3;
  record.owner = {"4711", 2, "0", "node7", "5e0c/pid:[4026531836]", 1234, 987654321};
  record.ranks = 2;
  record.nodes = {"node7", "node8"};
  record.start = "2026-11-21T01:02:03Z";
  record.end = "2026-11-21T02:02:03Z";
  record.why = "stopped by SIGUSR1";
  record.exit_code = 75;
  record.last_step = 940;
  record.saved_step = 938;
  record.iteration = 2;
  record.saved_iteration = 1;
  record.timing = {0.25, 3600.5, 12, 0.125};
  record.seen = "2026-11-21T02:02:02Z";
  record.expected = 20;
  record.unreported_s = 1.5;
  record.trainrt_version = "0.1.0";
  record.job_start = "2026-11-21T01:02:00Z";
  record.job_end = "2026-11-21T05:02:00Z";
  return record;
}

}  // namespace

std::vector<std::string> seeds() {
  return {rundir::to_text(a_record()),
          rundir::to_text({}),
          with_number(rundir::to_text(a_record()), "attempt", "1e300"),
          with_number(rundir::to_text(a_record()), "last_step", "-1e300"),
          with_number(rundir::to_text(a_record()), "ranks", "9999999999"),
          with_number(rundir::to_text(a_record()), "pid", "1e300"),
          with_number(rundir::to_text(a_record()), "steps_s", "-1e300"),
          with_number(rundir::to_text(a_record()), "expected", "-1e300"),
          R"({"attempt":1,"owner":{}})",
          deep_json()};
}

std::vector<std::string> words() {
  return {"\"attempt\"",
          "\"start\"",
          "\"trainrt_version\"",
          "\"end\"",
          "\"why\"",
          "\"exit_code\"",
          "\"first_step\"",
          "\"last_step\"",
          "\"saved_step\"",
          "\"first_iteration\"",
          "\"saved_iteration\"",
          "\"iteration\"",
          "\"timing\"",
          "\"seen\"",
          "\"ranks\"",
          "\"nodes\"",
          "\"owner\"",
          "\"job_id\"",
          "\"restart_count\"",
          "\"pid\"",
          "\"pid_start_time\"",
          "\"startup_s\"",
          "\"expected\"",
          "\"unreported_s\"",
          "\"job_start\"",
          "\"job_end\"",
          "2026-11-21T01:02:03Z",
          "9999999999",
          "1e300",
          "-1",
          "true",
          "null",
          "18446744073709551615"};
}

void read(const std::string& input) {
  const auto record = unless_refused<AnyException>([&] { return rundir::attempt_record_from(input); });
  if (!record) return;
  rundir::state_of(*record);
  require(!rundir::why_without_end(record->owner, record->owner).empty(), "an attempt without an end is reported");
  const auto written = rundir::to_text(*record);
  require(rundir::to_text(rundir::attempt_record_from(written)) == written,
          "an attempt's record that is read and written again stays the same");
}

}  // namespace trainrt::fuzz
