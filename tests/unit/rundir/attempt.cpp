#include "rundir/attempts/attempt.hpp"
#include "rundir/attempts/attempt_files.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include <unistd.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/host.hpp"
#include "core/version.hpp"
#include "io/files/file.hpp"
#include "rundir/attempts/progress.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::rundir;
using Catch::Matchers::Contains;

namespace {

class RunFolder {
 public:
  RunFolder() { std::filesystem::create_directory(folder_ / "attempts"); }
  const std::string& path() const { return folder_.path(); }
  std::string file(const char* name) const { return path() + "/attempts/" + name; }

 private:
  test::Scratch folder_;
};

template <class Condition>
bool comes_true(Condition&& condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

/// Creates the files of a killed attempt: its heartbeat, and a record with a process that does not exist.
void leave_killed(const RunFolder& run, int number, const char* job, int restart) {
  nlohmann::json record = {{"attempt", number},
                           {"start", "2026-11-21T12:00:00Z"},
                           {"end", nullptr},
                           {"owner",
                            {{"job_id", job},
                             {"restart_count", restart},
                             {"step_id", "0"},
                             {"host", host_name()},
                             {"pid_scope", pid_scope()},
                             {"pid", 1},
                             {"pid_start_time", 1}}}};
  nlohmann::json heartbeat = {
      {"attempt", number},
      {"seen", "2026-11-21T12:30:00Z"},
      {"first_step", 100},
      {"last_step", 250},
      {"saved_step", 200},
      {"iteration", 7},
      {"timing", {{"startup_s", 1.5}, {"steps_s", 1700.0}, {"checkpoint_s", 90.0}, {"shutdown_s", 0.0}}}};
  const auto name = run.path() + "/attempts/" + attempt_name(number);
  std::ofstream(name + ".json") << record.dump();
  std::ofstream(name + ".pulse") << heartbeat.dump();
}

void check_heartbeat_taken(const AttemptRecord& record) {
  CHECK(record.first_step == 100);
  CHECK(record.last_step == 250);
  CHECK(record.saved_step == 200);
  CHECK(record.iteration == 7);
  CHECK(record.timing.steps_s == 1700);
  CHECK(record.seen == "2026-11-21T12:30:00Z");
}

}  // namespace

TEST_CASE("a running attempt writes a heartbeat at its first step and after each commit, and its end into its record") {
  RunFolder run;
  Meter meter(monotonic_seconds() - 5);
  Attempt attempt(run.path(), 2, {"a", "b"}, meter);
  const auto now = [&] { return read_attempts(run.path()).back(); };
  meter.restored(40, 3, 5);
  meter.stepped(41);
  CHECK(comes_true([&] { return now().last_step == 41; }));
  CHECK(now().first_step == 40);
  CHECK(now().timing.startup_s >= 5);
  meter.stepped(42);
  meter.stepped(43);
  meter.committed(42, 3, 6);
  CHECK(comes_true([&] { return now().saved_step == 42; }));
  CHECK(now().saved_checkpoint == 6);
  CHECK(now().last_step == 43);
  CHECK(state_of(now()) == RunState::running);
  CHECK(attempt_is_alive(run.path(), now()));

  meter.stepped(44);
  meter.committed(44, 9, 7);
  meter.reported(9);
  meter.training_ended();
  attempt.end("finished", 0, 44);
  CHECK_FALSE(std::filesystem::exists(run.file("000001.pulse")));
  const auto last = now();
  CHECK(state_of(last) == RunState::finished);
  CHECK(last.first_step == 40);
  CHECK(last.saved_step == 44);
  CHECK(last.first_iteration == 3);
  CHECK(last.saved_iteration == 9);
  CHECK(last.iteration == 9);
  CHECK_FALSE(attempt_is_alive(run.path(), last));
}

TEST_CASE("the record of an attempt has the version of trainrt, and older records without it are read") {
  RunFolder run;
  leave_killed(run, 1, "", 0);
  Meter meter(monotonic_seconds());
  Attempt attempt(run.path(), 1, {"a"}, meter);
  CHECK(read_attempts(run.path()).back().trainrt_version == version);
  attempt.end("finished", 0, 0);
  const auto records = read_attempts(run.path());
  REQUIRE(records.size() == 2);
  CHECK(records[0].trainrt_version == "");
  CHECK(records[1].trainrt_version == version);
}

TEST_CASE("a record without an end is read with the numbers of its last heartbeat") {
  RunFolder run;
  leave_killed(run, 1, "", 0);
  const auto records = read_attempts(run.path());
  REQUIRE(records.size() == 1);
  check_heartbeat_taken(records[0]);
  CHECK(records[0].end.empty());
  CHECK_FALSE(attempt_is_alive(run.path(), records[0]));
}

TEST_CASE("a record with a damaged heartbeat is still read") {
  RunFolder run;
  leave_killed(run, 1, "", 0);
  for (const auto* text : {"", "{", R"({"seen": "tomorrow", "last_step": 9})"}) {
    std::ofstream(run.file("000001.pulse")) << text;
    const auto records = read_attempts(run.path());
    REQUIRE(records.size() == 1);
    CHECK(records[0].last_step == 0);
  }
}

TEST_CASE("an invalid record is ignored, and its number is not used again") {
  RunFolder run;
  leave_killed(run, 1, "", 0);
  leave_killed(run, 2, "", 0);
  const auto whole = nlohmann::json::parse(std::ifstream(run.file("000002.json")));
  const auto with = [&](const char* key, const nlohmann::json& value) {
    auto record = whole;
    record[key] = value;
    return record.dump();
  };
  for (const auto& text :
       {std::string(), std::string("{"), std::string("[1]"), with("attempt", 99), with("attempt", "2"),
        with("attempt", 1e300), with("owner", 5), with("start", "99999999-99"), with("ranks", -4), with("nodes", 1),
        with("exit_code", 1e300), with("saved_step", -7), with("last_step", std::uint64_t{1} << 63),
        with("first_iteration", 0.5), with("timing", {{"steps_s", 1e308}}), with("timing", {{"startup_s", -1.0}}),
        with("saved_checkpoint", "five")}) {
    INFO(text);
    std::ofstream(run.file("000002.json"), std::ios::trunc) << text;
    const auto records = read_attempts(run.path());
    REQUIRE(records.size() == 1);
    CHECK(records[0].number == 1);
    CHECK(numbers_of_attempts(run.path()) == std::vector<int>{1, 2});
  }
  Meter meter(monotonic_seconds());
  CHECK(Attempt(run.path(), 1, {"a"}, meter).number() == 3);
}

TEST_CASE("the next attempt writes an end into the records of killed attempts") {
  RunFolder run;
  leave_killed(run, 1, "", 0);  // the next attempt was killed before it wrote the end of this one
  leave_killed(run, 2, "", 0);
  Meter meter(monotonic_seconds());
  Attempt attempt(run.path(), 1, {"a"}, meter);
  CHECK(attempt.number() == 3);
  const auto records = read_attempts(run.path());
  REQUIRE(records.size() == 3);
  for (int i = 0; i < 2; ++i) {
    check_heartbeat_taken(records[i]);
    CHECK(records[i].end == "2026-11-21T12:30:00Z");
    CHECK(records[i].exit_code == -1);
    CHECK(state_of(records[i]) == RunState::killed);
    CHECK_THAT(records[i].why, Contains("killed: it wrote no end"));
  }
  CHECK_FALSE(std::filesystem::exists(run.file("000001.pulse")));
  CHECK_FALSE(std::filesystem::exists(run.file("000002.pulse")));
}

TEST_CASE("an end written by another process is kept, with the numbers of the last heartbeat") {
  RunFolder run;
  leave_killed(run, 1, "17", 0);
  close_attempt(run.path(), 1, "killed: rank 3 ran out of memory", 137);
  close_attempt(run.path(), 1, "something else", 1);
  mark_failed(run.path(), 1, {"something else", 1, 9, 9});
  const auto record = read_attempts(run.path()).at(0);
  check_heartbeat_taken(record);
  CHECK(record.why == "killed: rank 3 ran out of memory");
  CHECK(record.exit_code == 137);
  CHECK(state_of(record) == RunState::killed);
  CHECK_FALSE(std::filesystem::exists(run.file("000001.pulse")));
}

TEST_CASE("the record of a failure has the step and the iteration of the failure, not those of the last heartbeat") {
  RunFolder run;
  Meter meter(monotonic_seconds());
  const Attempt attempt(run.path(), 2, {"a", "b"}, meter);
  meter.stepped(32);
  meter.reported(1);
  REQUIRE(comes_true([&] { return read_attempts(run.path()).at(0).last_step == 32; }));
  mark_failed(run.path(), 1, {"failed: TypeError: no", 70, 352, 11, "", {"exception", "TypeError: no"}});
  const auto record = read_attempts(run.path()).at(0);
  CHECK(record.last_step == 352);
  CHECK(record.iteration == 11);
  CHECK(record.mistake == trainrt::Mistake{"exception", "TypeError: no"});
}

TEST_CASE("the blamed node of an attempt is recorded, and a known node is not replaced") {
  RunFolder run;
  const auto blamed = [&](int number) { return read_record(run.path(), number)->blamed_node; };
  leave_killed(run, 1, "17", 0);
  CHECK(blamed(1).empty());  // as in an older record
  set_blamed_node(run.path(), 1, "n1");
  CHECK(blamed(1).empty());  // it has no end yet
  close_attempt(run.path(), 1, "killed: rank 3 on n2 by SIGKILL", 137, "n2");
  CHECK(blamed(1) == "n2");
  set_blamed_node(run.path(), 1, "n1");
  CHECK(blamed(1) == "n2");
  leave_killed(run, 2, "17", 0);
  close_attempt(run.path(), 2, "failed: rank 0 on n1 failed", 70);
  set_blamed_node(run.path(), 2, "n1");
  CHECK(blamed(2) == "n1");
  set_blamed_node(run.path(), 1, "");
  CHECK(blamed(1).empty());
  Meter meter(monotonic_seconds());
  Attempt attempt(run.path(), 2, {"n1"}, meter);
  attempt.end("stopped: rank 3 (n2) was slow", 75, 6, "n2");
  CHECK(blamed(3) == "n2");
  CHECK(state_of(*read_record(run.path(), 3)) == RunState::stopped);
}

TEST_CASE("the announced start of the next attempt is recorded in an attempt that has ended, and can be removed") {
  RunFolder run;
  const auto announced = [&] { return read_record(run.path(), 1)->next_start; };
  announce_start(run.path(), NextStart{.time = utc_now()});  // there is no attempt
  leave_killed(run, 1, "17", 0);
  announce_start(run.path(), NextStart{.time = utc_now()});
  CHECK_FALSE(announced());  // the attempt has no end yet
  close_attempt(run.path(), 1, "killed: rank 3 by SIGKILL", 137);
  announce_start(run.path(), NextStart{.time = "2026-11-21T12:00:08Z", .restart = 2, .max_restarts = 3});
  REQUIRE(announced());
  CHECK(announced()->time == "2026-11-21T12:00:08Z");
  CHECK_FALSE(announced()->requeued);
  CHECK(announced()->restart == 2);
  CHECK(announced()->max_restarts == 3);
  announce_start(run.path(), NextStart{.time = "2026-11-21T12:00:08Z", .requeued = true});
  CHECK(announced()->requeued);
  announce_start(run.path(), std::nullopt);
  CHECK_FALSE(announced());
}

TEST_CASE("the cause reported by Slurm is kept when the ranks end after it") {
  RunFolder run;
  Meter meter(monotonic_seconds());
  Attempt attempt(run.path(), 2, {"n1"}, meter);
  close_attempt(run.path(), 1, "ended by Slurm: requeued", 143);
  attempt.end("stopped by SIGTERM", 75, 6);
  const auto record = read_attempts(run.path()).at(0);
  CHECK(record.why == "stopped by SIGTERM (requeued)");
  CHECK(record.exit_code == 75);
}

TEST_CASE("an attempt of a program is silent until its first API call, also if it is killed") {
  RunFolder run;
  Meter meter(monotonic_seconds() - 5, true);
  Attempt attempt(run.path(), 2, {"a"}, meter);
  const auto now = [&] { return read_attempts(run.path()).back(); };
  CHECK(read_record(run.path(), 1)->silent);  // also without a heartbeat
  meter.train_function_began();
  CHECK(comes_true(
      [&] { return now().timing.startup_s >= 5 && now().timing.steps_s > 0; }));  // the silent program may be training
  CHECK(now().silent);
  meter.note_api_call();
  CHECK(comes_true([&] { return !now().silent; }));
  CHECK(now().timing.steps_s == 0);  // the program had not made its first step
  meter.stepped(1);
  attempt.end("finished", 0, 1);
  CHECK_FALSE(now().silent);
}

TEST_CASE("a program is not silent in a run that has reported before, even without a call") {
  RunFolder run;
  CHECK_FALSE(has_reporting_attempt(run.path()));
  for (const bool calls : {false, true, false}) {
    INFO("the program calls trainrt in this attempt: " << calls);
    Meter meter(monotonic_seconds(), true);
    if (has_reporting_attempt(run.path())) meter.note_reporting_run();
    Attempt attempt(run.path(), 2, {"a"}, meter);
    if (calls) meter.note_api_call();
    attempt.end("stopped by SIGTERM", 75, 0);
  }
  const auto attempts = read_attempts(run.path());
  REQUIRE(attempts.size() == 3);
  CHECK((attempts[0].silent && !attempts[1].silent && !attempts[2].silent));
}

TEST_CASE("an end written by another process keeps the attempt silent; older records are not silent") {
  RunFolder run;
  leave_killed(run, 1, "17", 0);
  CHECK_FALSE(read_attempts(run.path()).at(0).silent);
  auto heartbeat = nlohmann::json::parse(std::ifstream(run.file("000001.pulse")));
  heartbeat["silent"] = true;
  std::ofstream(run.file("000001.pulse"), std::ios::trunc) << heartbeat.dump();
  close_attempt(run.path(), 1, "killed: rank 3 ran out of memory", 137);
  CHECK(read_attempts(run.path()).at(0).silent);
}

TEST_CASE("the reason for a missing end depends on the attempt that follows") {
  const auto owner = [](const char* job, int restart, const char* step) {
    return Owner{.job_id = job,
                 .restart_count = restart,
                 .step_id = step,
                 .host = "n1",
                 .pid_scope = "",
                 .pid = 4,
                 .pid_start_time = 0};
  };
  struct Row {
    Owner gone, me;
    const char* why;
  };
  const std::vector<Row> table = {
      {owner("", 0, ""), owner("", 0, ""), "killed: it wrote no end (process 4 on n1)"},
      {owner("17", 0, "0"), owner("17", 1, "0"), "killed: it wrote no end (job 17; requeued by Slurm)"},
      {owner("17", 2, "0"), owner("17", 3, "0"), "killed: it wrote no end (job 17, restart 2; requeued by Slurm)"},
      {owner("17", 2, "0"), owner("17", 2, "1"),
       "killed: it wrote no end (job 17, restart 2, step 0; restarted in the same allocation)"},
      {owner("17", 0, "0"), owner("18", 0, "0"), "killed: it wrote no end (job 17; continued by job 18)"},
      {owner("17", 0, "0"), owner("", 0, ""), "killed: it wrote no end (job 17)"},
  };
  for (const auto& row : table) CHECK(why_without_end(row.gone, row.me) == row.why);
}

TEST_CASE("only the requested number of newest records is read") {
  RunFolder run;
  for (int number = 1; number <= 9; ++number) leave_killed(run, number, "", 0);
  const auto records = read_attempts(run.path(), 4);
  REQUIRE(records.size() == 4);
  CHECK(records.front().number == 6);
  CHECK(records.back().number == 9);
}

TEST_CASE("the parts of an attempt's time add up to the total, whenever saves happened") {
  Meter meter(monotonic_seconds() - 10);
  { const Meter::Stall before_the_first_step(meter); }
  meter.stepped(1);
  {
    const Meter::Stall outer(meter);
    const Meter::Stall inner(meter);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(meter.stalled_s() >= 0.02);  // a current save counts
  }
  meter.training_ended();
  const auto before = monotonic_seconds() - meter.started_s();
  const auto timing = meter.read().timing;
  const auto after = monotonic_seconds() - meter.started_s();
  CHECK(timing.total_s() >= before - 1e-9);
  CHECK(timing.total_s() <= after + 1e-9);
  CHECK(timing.checkpoint_s >= 0.02);
  CHECK(timing.checkpoint_s <= after - 10);  // nested saves count once
  CHECK(timing.startup_s >= 10);
  CHECK(timing.steps_s >= 0);
}

TEST_CASE("the time until the first step can begin is start-up time") {
  const auto tenth = [] { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
  SECTION("a function that restores nothing: from its call on, once it has reported") {
    Meter meter(monotonic_seconds() - 5);
    meter.train_function_began();
    tenth();
    CHECK(meter.read().timing.steps_s == 0);  // the train function may still restore a State
    meter.reported(1);
    CHECK(meter.read().timing.steps_s >= 0.1);
    CHECK(meter.read().timing.startup_s >= 5);
  }
  SECTION("a function that restores: from there on, also before its first step is complete") {
    Meter meter(monotonic_seconds() - 5);
    meter.train_function_began();
    tenth();
    meter.state_restored();
    tenth();
    const auto first = meter.read().timing;
    CHECK((first.startup_s >= 5.1 && first.steps_s >= 0.1));
    meter.stepped(1);
    meter.state_restored();  // another checkpoint, loaded during training
    CHECK(meter.read().timing.startup_s == Approx(first.startup_s));
  }
  SECTION("a program: from the moment when it reports that it is ready, but not before the attempt began") {
    double ready_s = -1;
    Meter meter(monotonic_seconds() - 5, true, false, [&] { return ready_s; });
    meter.train_function_began();
    CHECK(meter.read().timing.steps_s == 0);  // the program has not started yet
    ready_s = monotonic_seconds() - 3;
    CHECK(meter.read().timing.startup_s == Approx(2).margin(0.05));
    meter.note_api_call();
    ready_s = monotonic_seconds() - 100;  // it was started for an earlier run
    meter.reported(1);
    CHECK(meter.read().timing.startup_s == Approx(0).margin(0.01));
  }
}

TEST_CASE("an attempt record without a number, or nested too deep, is refused") {
  AttemptRecord record;
  record.number = 3;
  const auto whole = to_text(record);
  const std::string number = "\"attempt\": 3,",
                    deep = "\"nodes\": " + std::string(200'000, '[') + std::string(200'000, ']') + ",";
  const auto with = [&](const std::string& other) {
    auto text = whole;
    return text.replace(text.find(number), number.size(), other);
  };
  CHECK(attempt_record_from(whole).number == 3);
  CHECK_THROWS(attempt_record_from(with("")));
  CHECK_THROWS(attempt_record_from(with("\"attempt\": null,")));
  CHECK_THROWS(attempt_record_from(with(deep)));
}
