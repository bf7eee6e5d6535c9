#include "rundir/storage/fence_watch.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include <catch2/catch.hpp>

#include "core/host.hpp"
#include "io/files/file.hpp"
#include "rundir/attempts/attempt.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/storage/run_directory.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using rundir::FenceWatch;

namespace {

constexpr FenceWatch::Times often{.interval_s = 0.002, .recheck_after_s = 0.002};

class Run {
  test::Scratch folder_;

 public:
  Run() { io::make_directory(folder_ / "attempts"); }
  const std::string& path = folder_.path();
};

void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

}  // namespace

TEST_CASE("a fence watch ends its attempt only after a newer one has taken the private directory away") {
  Run run;
  const auto own = rundir::private_directory(run.path, 1);
  io::make_directory(own);
  std::atomic<int> ends = 0;
  FenceWatch watch(
      {run.path, own}, [&] { ++ends; }, often);
  wait_a_little();
  CHECK(ends == 0);
  rundir::fence_off_older(run.path, 2);
  while (ends == 0) wait_a_little();
  watch.stop();
  CHECK(ends == 1);
}

TEST_CASE("a stopped fence watch ends no attempt, and unavailable storage is not taken for a newer attempt") {
  Run run;
  const auto own = rundir::private_directory(run.path, 1);
  io::make_directory(own);
  std::atomic<int> ends = 0;
  {
    FenceWatch watch(
        {run.path, own}, [&] { ++ends; }, often);
    std::filesystem::rename(run.path, run.path + ".away");
    wait_a_little();
    std::filesystem::rename(run.path + ".away", run.path);
    watch.stop();
    rundir::fence_off_older(run.path, 2);
    wait_a_little();
  }
  CHECK(ends == 0);
}

TEST_CASE("an attempt fences off the older ones and leaves a newer one alone") {
  Run run;
  for (const int number : {1, 2, 3, 10}) io::make_directories(rundir::private_directory(run.path, number) + "/below");
  io::make_directories(run.path + "/.attempt_notes");
  rundir::fence_off_older(run.path, 3);
  CHECK(io::list_directory(run.path) ==
        std::vector<std::string>{".attempt_000003", ".attempt_000010", ".attempt_notes", "attempts"});
}

TEST_CASE("a new attempt's number is above those of all records and private directories") {
  Run run;
  rundir::Meter meter(monotonic_seconds());
  { const rundir::Attempt first(run.path, 1, {"n1"}, meter); }
  io::make_directory(rundir::private_directory(run.path, 7));
  std::filesystem::last_write_time(rundir::private_directory(run.path, 7),
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  rundir::close_attempt(run.path, 1, "killed", 137);
  rundir::Meter next_meter(monotonic_seconds());
  const rundir::Attempt next(run.path, 1, {"n1"}, next_meter);
  CHECK(next.number() == 8);
  CHECK(io::exists(next.files().private_dir()));
  CHECK_FALSE(io::exists(rundir::private_directory(run.path, 7)));
  CHECK_FALSE(io::exists(rundir::private_directory(run.path, 1)));
}
