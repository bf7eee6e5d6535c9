#include "batch/lease.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include <catch2/catch.hpp>

#include "core/environment.hpp"

using trainrt::Environment;
using trainrt::batch::ask_slurm;
using trainrt::batch::Lease;
using trainrt::batch::parse_time_left;
using trainrt::batch::parse_times;

namespace {

void wait_until(const std::function<bool()>& reached) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!reached() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  REQUIRE(reached());
}

}  // namespace

TEST_CASE("all forms of squeue's time left are parsed") {
  CHECK(parse_time_left("0:42\n").seconds == 42);
  CHECK(parse_time_left("59:31").seconds == 59 * 60 + 31);
  CHECK(parse_time_left(" 1:00:05 ").seconds == 3605);
  CHECK(parse_time_left("1-02:03:04").seconds == 86400 + 2 * 3600 + 3 * 60 + 4);
  CHECK(parse_time_left("UNLIMITED").known);
  CHECK_FALSE(parse_time_left("UNLIMITED").seconds);
  CHECK_FALSE(parse_time_left("NOT_SET").seconds);
}

TEST_CASE("the time left and the time limit are parsed from one of several lines") {
  const auto times = parse_times("squeue: warning: old\n  0:42 1:00:00 \n");
  CHECK((times.known && times.seconds == 42 && times.length == 3600));
  CHECK_FALSE(parse_times("0:42").length);
  CHECK_FALSE(parse_times("UNLIMITED UNLIMITED\n").length);
  CHECK(parse_times("UNLIMITED UNLIMITED\n").known);
  CHECK_FALSE(parse_times("").known);
  CHECK_FALSE(parse_times("INVALID 1:00").known);
}

TEST_CASE("a text that is not a time is an unknown answer") {
  for (const auto* text : {"", "INVALID", "slurm_load_jobs error: Invalid job id specified", "12", "1:2:3:4", "-1:00",
                           "1:x", "1-", "99999999999999999999:00", ":", "1::2"})
    CHECK_FALSE(parse_time_left(text).known);
}

TEST_CASE("the time left counts down between two answers") {
  const Lease lease([](const auto&) { return Lease::Answer{.known = true, .seconds = 100}; }, {}, 1000);
  wait_until([&] { return lease.remaining().has_value(); });
  const auto first = *lease.remaining();
  CHECK(first <= 100);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(*lease.remaining() < first);
}

TEST_CASE("a changed limit is adopted, and kept if later queries fail") {
  std::atomic<int> asked = 0;
  const Lease lease(
      [&](const auto&) {
        switch (asked++) {
          case 0:
            return Lease::Answer{.known = true, .seconds = 50};
          case 1:
            return Lease::Answer{.known = true, .seconds = 5000};
          default:
            return Lease::Answer{};
        }
      },
      {}, 0.001);
  wait_until([&] { return asked > 3; });
  REQUIRE(lease.remaining());
  CHECK(*lease.remaining() > 4000);
}

TEST_CASE("no query is made outside a job, or for an invalid job id") {
  CHECK_FALSE(ask_slurm(Environment()));
  CHECK_FALSE(ask_slurm(Environment(std::map<std::string, std::string>{{"SLURM_JOB_ID", "1; touch /tmp/x"}})));
  const Lease lease(ask_slurm(Environment()));
  CHECK_FALSE(lease.remaining());
}

TEST_CASE("destroying a lease cancels its query") {
  const auto asked = std::make_shared<std::atomic<bool>>(false);  // the thread may outlive the lease
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  {
    const Lease lease([asked, cancelled](const auto& cancel) {
      *asked = true;
      while (!cancel) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      *cancelled = true;
      return Lease::Answer{};
    });
    wait_until([&] { return asked->load(); });
  }
  wait_until([&] { return cancelled->load(); });
  CHECK(*cancelled);
}

TEST_CASE("a setting in seconds is parsed from the output of scontrol") {
  const auto* config =
      "KeepAliveTime           = SYSTEM_DEFAULT\nKillOnBadExit           = 0\nKillWait                = 30 sec\nLaunchType "
      "= x\n";
  CHECK(trainrt::batch::parse_setting_seconds(config, "KillWait") == 30);
  CHECK(trainrt::batch::parse_setting_seconds("   DisableRootJobs=NO GraceTime=120 Hidden=NO", "GraceTime") == 120);
  CHECK_FALSE(trainrt::batch::parse_setting_seconds("KillWaitX = 3\nXKillWait = 4\nKillWait = many", "KillWait"));
  CHECK_FALSE(trainrt::batch::parse_setting_seconds("", "KillWait"));
}
