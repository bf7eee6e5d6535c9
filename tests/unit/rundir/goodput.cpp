#include "rundir/usage/goodput.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "rundir/records/attempt_record.hpp"

using namespace trainrt::rundir;

namespace {

struct Steps {
  std::int64_t first, last, saved;
};

/// Returns an attempt. Start and end are minutes after noon; if `end` < 0, the attempt is running. Its last heartbeat is
/// then one minute after the start, otherwise at the end of its recorded times.
AttemptRecord attempt(int start, int end, int exit_code, Steps steps, Timing timing) {
  const auto clock = [](int minutes, int seconds = 0) {
    return fmt::format("2026-11-21T{:02}:{:02}:{:02}Z", 12 + minutes / 60, minutes % 60, seconds);
  };
  const auto counted_s = static_cast<int>(timing.total_s());
  AttemptRecord record;
  record.start = clock(start);
  record.end = end < 0 ? "" : clock(end);
  record.seen = end < 0 ? clock(start + 1) : clock(start + counted_s / 60, counted_s % 60);
  record.exit_code = exit_code;
  record.first_step = steps.first;
  record.last_step = steps.last;
  record.saved_step = steps.saved;
  record.timing = timing;
  return record;
}

/// Returns an attempt of a train function that makes no steps.
AttemptRecord reporting(int start, int end, int exit_code, Steps reports, Timing timing) {
  auto record = attempt(start, end, exit_code, {0, 0, reports.saved < 0 ? -1 : 0}, timing);
  record.first_iteration = reports.first;
  record.iteration = reports.last;
  record.saved_iteration = reports.saved;
  return record;
}

/// Returns an attempt of a program that reports no progress.
AttemptRecord silent(int start, int end, int exit_code, Timing timing) {
  auto record = attempt(start, end, exit_code, {0, 0, -1}, timing);
  record.silent = true;
  return record;
}

struct Row {
  const char* story;
  std::vector<AttemptRecord> attempts;
  std::vector<TimeAccount> accounts;  ///< waiting, startup, productive, checkpoint, lost, shutdown
};

const std::vector<Row> table = {
    {"no attempt, no time", {}, {}},
    {"an undisturbed run: all its steps are productive",
     {attempt(0, 10, 0, {0, 100, 90}, {10, 500, 80, 10})},
     {{0, 10, 500, 80, 0, 10}}},
    {"a running attempt has lost nothing so far, saved or not",
     {attempt(0, -1, -1, {0, 100, 20}, {10, 50, 0, 0})},
     {{0, 10, 50, 0, 0, 0}}},
    {"stopped, in the queue for half an hour, continued: nothing is lost",
     {attempt(0, 10, 75, {0, 100, 100}, {20, 550, 20, 10}), attempt(40, 50, 0, {100, 200, 200}, {30, 560, 0, 10})},
     {{0, 20, 550, 20, 0, 10}, {1800, 30, 560, 0, 0, 10}}},
    {"finished, and extended two hours later: the time between does not count as waiting",
     {attempt(0, 10, 0, {0, 100, 100}, {20, 550, 20, 10}), attempt(130, 140, 0, {100, 200, 200}, {30, 560, 0, 10})},
     {{0, 20, 550, 20, 0, 10}, {0, 30, 560, 0, 0, 10}}},
    {"killed at 100, repeated from 80: a fifth of the time of its steps is lost",
     {attempt(0, 10, -1, {0, 100, 80}, {50, 500, 50, 0}), attempt(11, 21, 0, {80, 200, 200}, {0, 600, 0, 0})},
     {{0, 50, 400, 50, 100, 0}, {60, 0, 600, 0, 0, 0}}},
    {"killed and not resumed yet: steps that no checkpoint holds are lost",
     {attempt(0, 10, -1, {0, 100, 75}, {0, 600, 0, 0})},
     {{0, 0, 450, 0, 150, 0}}},
    {"killed before its first checkpoint: all steps are lost",
     {attempt(0, 10, -1, {0, 100, -1}, {0, 600, 0, 0})},
     {{0, 0, 0, 0, 600, 0}}},
    {"stopped, recorded by a version without saved_step: nothing is lost",
     {attempt(0, 10, 75, {0, 100, -1}, {0, 600, 0, 0})},
     {{0, 0, 600, 0, 0, 0}}},
    {"an attempt killed before its first step does not affect the surviving work",
     {attempt(0, 10, 75, {0, 100, 100}, {0, 600, 0, 0}), attempt(11, 12, -1, {0, 0, -1}, {60, 0, 0, 0}),
      attempt(13, 23, 0, {100, 200, 200}, {0, 600, 0, 0})},
     {{0, 0, 600, 0, 0, 0}, {60, 60, 0, 0, 0, 0}, {60, 0, 600, 0, 0, 0}}},
    {"with a damaged checkpoint the work of an earlier attempt is lost",
     {attempt(0, 10, 75, {0, 100, 100}, {0, 600, 0, 0}), attempt(10, 20, 75, {100, 200, 200}, {0, 600, 0, 0}),
      attempt(20, 30, 0, {50, 200, 200}, {0, 600, 0, 0})},
     {{0, 0, 300, 0, 300, 0}, {0, 0, 0, 0, 600, 0}, {0, 0, 600, 0, 0, 0}}},
    {"the time between the last heartbeat and the recorded end of a killed attempt is lost",
     {attempt(0, 10, 137, {0, 100, 100}, {0, 540, 0, 0}), attempt(10, 20, 0, {100, 200, 200}, {0, 600, 0, 0})},
     {{0, 0, 540, 0, 60, 0}, {0, 0, 600, 0, 0, 0}}},
    {"a train function without steps is measured by its reports",
     {reporting(0, 10, -1, {0, 10, 8}, {0, 600, 0, 0}), reporting(10, 20, -1, {8, 18, 13}, {0, 600, 0, 0})},
     {{0, 0, 480, 0, 120, 0}, {0, 0, 300, 0, 300, 0}}},
    {"killed in its first step after the restore: that step is lost",
     {attempt(0, 10, -1, {100, 100, 100}, {60, 540, 0, 0}), attempt(10, 20, 0, {100, 200, 200}, {0, 600, 0, 0})},
     {{0, 60, 0, 0, 540, 0}, {0, 0, 600, 0, 0, 0}}},
    {"still in its first step: nothing is lost so far",
     {attempt(0, -1, -1, {100, 100, 100}, {10, 50, 0, 0})},
     {{0, 10, 50, 0, 0, 0}}},
    {"finished without a step or report", {attempt(0, 10, 0, {0, 0, -1}, {10, 590, 0, 0})}, {{0, 10, 590, 0, 0, 0}}},
    {"a silent program: all its time is productive, also after its last heartbeat",
     {silent(0, 10, 137, {10, 530, 0, 0}), silent(11, 21, 0, {20, 570, 0, 10})},
     {{0, 10, 590, 0, 0, 0}, {60, 20, 570, 0, 0, 10}}},
    {"the rounding of starts and ends to seconds is not lost time",
     {attempt(0, 10, 0, {0, 100, 100}, {0, 598.5, 0, 0})},
     {{0, 0, 598.5, 0, 0, 0}}},
};

void check_same(const TimeAccount& found, const TimeAccount& expected) {
  CHECK(found.waiting_s == Approx(expected.waiting_s));
  CHECK(found.startup_s == Approx(expected.startup_s));
  CHECK(found.productive_s == Approx(expected.productive_s));
  CHECK(found.checkpoint_s == Approx(expected.checkpoint_s));
  CHECK(found.lost_s == Approx(expected.lost_s));
  CHECK(found.shutdown_s == Approx(expected.shutdown_s));
}

}  // namespace

TEST_CASE("the time of each attempt is accounted for by purpose") {
  for (const auto& row : table) {
    INFO(row.story);
    const auto accounts = accounts_of(row.attempts);
    REQUIRE(accounts.size() == row.accounts.size());
    for (std::size_t i = 0; i < accounts.size(); ++i) {
      INFO("attempt " << i);
      check_same(accounts[i], row.accounts[i]);
    }
  }
}

TEST_CASE("goodput is the productive fraction of all time, including waits") {
  const std::vector<TimeAccount> accounts = {{0, 10, 400, 20, 60, 10}, {100, 20, 350, 20, 0, 10}};
  const auto all = sum_of(accounts);
  CHECK(all.total_s() == Approx(1000));
  REQUIRE(all.goodput());
  CHECK(*all.goodput() == Approx(0.75));
  CHECK(TimeAccount{}.goodput() == 0);
}

TEST_CASE("the goodput of a run is unknown if that of one of its attempts is unknown") {
  const std::vector<AttemptRecord> attempts = {silent(0, 10, 137, {10, 590, 0, 0}),
                                               attempt(10, 20, 0, {0, 100, 100}, {0, 600, 0, 0})};
  const auto accounts = accounts_of(attempts);
  CHECK_FALSE(accounts[0].goodput());
  CHECK(accounts[1].goodput() == 1);
  CHECK_FALSE(sum_of(accounts).goodput());
  CHECK(sum_of(accounts).productive_s == Approx(1190));
}

TEST_CASE("changes of the calendar clock during an attempt do not affect its times") {
  const Timing timing{10, 500, 80, 10};
  const auto noon = attempt(0, 10, 0, {0, 100, 90}, timing);
  for (const int end : {0, 10, 11, 23, 300, 700}) {
    INFO("it began at 12:20 and ended " << end << " minutes after noon");
    auto jumped = attempt(20, end, 0, {0, 100, 90}, timing);
    jumped.seen = jumped.end;  // it wrote its own end
    const auto accounts =
        accounts_of(std::vector<AttemptRecord>{noon, jumped, attempt(30, 40, 0, {100, 200, 200}, timing)});
    for (const auto& account : accounts) {
      for (const double part : {account.waiting_s, account.startup_s, account.productive_s, account.checkpoint_s,
                                account.lost_s, account.shutdown_s})
        CHECK(part >= 0);
      CHECK(account.total_s() - account.waiting_s == Approx(600));
    }
    jumped.seen.clear();  // as written by an older version
    CHECK(accounts_of(std::vector<AttemptRecord>{jumped}).front().lost_s >= 0);
  }
}
