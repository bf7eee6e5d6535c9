#include "view/summary/purge.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#include <catch2/catch.hpp>

#include "support/cpp/scratch.hpp"

using namespace trainrt;
using Catch::Contains;
using trainrt::test::Scratch;

namespace {

constexpr std::int64_t day = 86400;

void make_checkpoint(const std::string& run_dir, const std::string& name, std::int64_t age_days) {
  const auto folder = run_dir + "/" + name;
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/manifest.json") << "{}";
  const timespec at{.tv_sec = std::time(nullptr) - age_days * day - 60, .tv_nsec = 0};
  const timespec times[] = {at, at};
  REQUIRE(utimensat(AT_FDCWD, (folder + "/manifest.json").c_str(), times, 0) == 0);
}

}  // namespace

TEST_CASE("a newest checkpoint that storage removes within a week causes a warning that names it, its age and the key") {
  Scratch at;
  make_checkpoint(at.path(), "checkpoint_000001", 80);
  make_checkpoint(at.path(), "checkpoint_000002", 53);
  const auto warning = view::purge_warning(at.path(), 60);
  CHECK_THAT(warning, Contains("checkpoint_000002") && Contains("53 days old") && Contains("60 days old") &&
                          Contains("storage.purge_days"));
  CHECK(view::purge_warning(at.path(), 62).empty());
  CHECK(view::purge_warning(at.path(), 0).empty());
}

TEST_CASE("limits of less than two weeks warn after half of their time") {
  Scratch at;
  make_checkpoint(at.path(), "checkpoint_000001", 3);
  CHECK(view::purge_warning(at.path(), 7).empty());
  CHECK_FALSE(view::purge_warning(at.path(), 6).empty());
}

TEST_CASE("the limit is that of the run's record, and a run without a checkpoint or such a record has no warning") {
  Scratch at;
  rundir::RunRecord record;
  CHECK(view::purge_warning(at.path(), 1).empty());
  make_checkpoint(at.path(), "checkpoint_000001", 100);
  CHECK(view::purge_warning(at.path(), record).empty());
  record.spec["storage.purge_days"] = "90";
  CHECK_FALSE(view::purge_warning(at.path(), record).empty());
}
