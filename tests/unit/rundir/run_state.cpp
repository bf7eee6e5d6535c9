#include "rundir/records/run_state.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "rundir/records/attempt_record.hpp"
#include "rundir/records/point_words.hpp"
#include "rundir/records/run_record.hpp"

using namespace trainrt::rundir;
using trainrt::UsageError;

namespace {

AttemptRecord attempt(const char* end, int exit_code, const char* why) {
  AttemptRecord record;
  record.end = end;
  record.exit_code = exit_code;
  record.why = why;
  return record;
}

const auto open_attempt = attempt("", -1, ""), killed_attempt = attempt("x", 137, "killed: requeued"),
           stopped_attempt = attempt("x", 75, "stopped by SIGUSR1"),
           lost_attempt = attempt("x", 70, "stopped by SIGTERM, not saved"), finished_attempt = attempt("x", 0, "finished");

struct Row {
  const char* story;
  RunFacts facts;
  RunState state;
};

const Row table[] = {
    {"no attempt has written a record", {.recorded = RunState::running}, RunState::starting},
    {"the processes are running", {RunState::running, &open_attempt, true, false}, RunState::running},
    {"the processes have exited", {RunState::running, &open_attempt, false, false}, RunState::killed},
    {"a finished run that is continued", {RunState::finished, &open_attempt, true, false}, RunState::running},
    {"a supervisor noticed the kill, and wrote no state",
     {RunState::running, &killed_attempt, false, false},
     RunState::killed},
    {"a supervisor has asked for a requeue", {RunState::stopped, &killed_attempt, false, false}, RunState::stopped},
    {"a supervisor has given up", {RunState::failed, &killed_attempt, false, false}, RunState::failed},
    {"after the end of the attempt was recorded, before run.json",
     {RunState::running, &stopped_attempt, false, false},
     RunState::stopped},
    {"a stop that could not be saved", {RunState::stopped, &lost_attempt, false, false}, RunState::stopped},
    {"finished", {RunState::finished, &finished_attempt, false, false}, RunState::finished},
    {"finished, and the last checkpoint is missing",
     {RunState::finished, &finished_attempt, false, true},
     RunState::stopped},
    {"a program waits to open its run again",
     {RunState::stopped, &stopped_attempt, false, false, true},
     RunState::starting},
    {"a program waits to open a run whose last attempt was killed",
     {RunState::running, &open_attempt, false, false, true},
     RunState::starting},
    {"a program has opened its run", {RunState::running, &open_attempt, true, false, true}, RunState::running},
};

}  // namespace

TEST_CASE("the state of a run follows from run.json and its newest attempt") {
  for (const auto& row : table) {
    INFO(row.story);
    CHECK(word_of(state_of(row.facts)) == word_of(row.state));
  }
}

TEST_CASE("each state has one name, and only that name is read as the state") {
  for (const auto word : state_words) CHECK(word_of(*state_from(word)) == word);
  for (const auto* word : {"", "Finished", "done", "stopped "}) CHECK_FALSE(state_from(word));
  CHECK((is_over(RunState::finished) && is_over(RunState::stopped) && is_over(RunState::killed)));
  CHECK_FALSE((is_over(RunState::paused) || is_over(RunState::running) || is_over(RunState::starting)));
}

TEST_CASE("an unknown state in run.json is an error that names the valid states") {
  auto json = nlohmann::json::parse(to_text(new_run_record("r", "f", {})));
  CHECK(json["state"] == "running");
  for (const auto word : state_words) {
    json["state"] = word;
    CHECK(run_record_from(json.dump(), "run.json").state == *state_from(word));
  }
  json["state"] = "done";
  CHECK_THROWS_WITH(run_record_from(json.dump(), "run.json"),
                    Catch::Contains("'state' is 'done'") && Catch::Contains("finished, stopped, failed, killed"));
  json["state"] = 7;
  CHECK_THROWS_AS(run_record_from(json.dump(), "run.json"), UsageError);
}

TEST_CASE("a point of a run leaves out counts of 0") {
  CHECK(point_in_words(20, 2) == "step 20, iteration 2");
  CHECK(point_in_words(20, 0) == "step 20, iteration 0");
  CHECK(point_in_words(0, 2) == "iteration 2");
  CHECK(point_in_words(0, 0) == "step 0");
  CHECK(short_point(20, 2) == "step 20");
  CHECK(short_point(0, 2) == "iteration 2");
  CHECK(progress_in_words(1, 2) == "2 iterations, 1 step");
  CHECK(progress_in_words(0, 1) == "1 iteration");
}
