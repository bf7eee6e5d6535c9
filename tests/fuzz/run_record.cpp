// Reads run.json, the record of a run and its status.
#include "rundir/records/run_record.hpp"

#include "support/fuzz/fuzz.hpp"

namespace trainrt::fuzz {

namespace {

const std::string path = "run/run.json";

rundir::RunRecord a_record() {
  return {.name = "fashion",
          .run_id = "0123456789abcdef",
          .created = "2026-11-21T01:02:03Z",
          .function = "linear",
          .state = rundir::RunState::stopped,
          .workers = 2,
          .loop = {{"lr", "0.1"}, {"note", "an \u00e9 \"b\"\n"}},
          .spec = {{"run.seed", "1"}, {"stop.loss", "<= 0.1"}},
          .changes = {{2, "loop.lr", "0.2", "0.1"}}};
}

}  // namespace

std::vector<std::string> seeds() {
  const auto record = rundir::to_text(a_record());
  return {
      record, rundir::to_text({}), with_number(record, "workers", "1e300"), with_number(record, "attempt", "9999999999"),
      "{}",   deep_json()};
}

std::vector<std::string> words() {
  return {"\"name\"",   "\"run_id\"",  "\"created\"", "\"train_function\"",
          "\"state\"",  "\"workers\"", "\"loop\"",    "\"changes\"",
          "\"config\"", "\"attempt\"", "\"key\"",     "\"from\"",
          "\"to\"",     "1e300",       "9999999999",  "null",
          "[]",         "{}"};
}

void read(const std::string& input) {
  const auto record = unless_refused<UsageError>([&] { return rundir::run_record_from(input, path); });
  if (!record) return;
  const auto written = rundir::to_text(*record);
  require(rundir::to_text(rundir::run_record_from(written, path)) == written,
          "a run's record that is read and written again stays the same");
}

}  // namespace trainrt::fuzz
