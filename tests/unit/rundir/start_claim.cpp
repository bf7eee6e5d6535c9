#include "rundir/attempts/start_claim.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include <catch2/catch.hpp>

#include "core/host.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/records/run_error.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::rundir;
using Catch::Matchers::Contains;

namespace {

/// Writes the claim of a process that does not exist, or of this process.
void write_claim(const std::string& path, bool is_alive) {
  AttemptRecord claim;
  claim.number = 1;
  claim.owner = this_owner();
  if (!is_alive) claim.owner.pid_start_time = 1;
  claim.start = utc_now();
  io::replace_file(path, to_text(claim));
}

}  // namespace

TEST_CASE("a run that a process starts cannot be started by another process") {
  const test::Scratch folder;
  const std::string storage = folder / "new/runs";
  {
    const StartClaim claim(storage + "/dup");
    CHECK_THROWS_WITH(StartClaim(storage + "/dup"), Contains("the run in " + storage + "/dup is already being started by"));
    CHECK_THROWS_AS(StartClaim(storage + "/dup"), RunIsOwned);
    const StartClaim other(storage + "/other");
    CHECK_FALSE(io::exists(storage + "/dup"));
  }
  CHECK_FALSE(io::exists(folder / "new"));
  const StartClaim again(storage + "/dup");
  CHECK(io::exists(storage + "/.starting-dup"));
}

TEST_CASE("a claim of a process that no longer runs, or an invalid claim, is replaced") {
  const test::Scratch folder;
  const std::string file = folder / ".starting-dup";
  write_claim(file, true);
  CHECK_THROWS_AS(StartClaim(folder / "dup"), RunIsOwned);
  write_claim(file, false);
  CHECK_NOTHROW(StartClaim(folder / "dup"));
  io::replace_file(file, "{");
  CHECK_NOTHROW(StartClaim(folder / "dup"));
  CHECK_FALSE(io::exists(file));
}

TEST_CASE("a claim that cannot be read is not replaced") {
  const test::Scratch folder;
  const std::string file = folder / ".starting-dup";
  std::filesystem::create_symlink(".starting-dup", file);
  CHECK_THROWS_AS(StartClaim(folder / "dup"), io::StorageError);
  CHECK(io::exists(file));
  CHECK_FALSE(is_being_started(folder / "dup"));
}

TEST_CASE("a viewer asks for the job of a claim of another host, and writes nothing") {
  const test::Scratch folder;
  AttemptRecord claim;
  claim.number = 1;
  claim.owner = {.job_id = "987654321", .host = "elsewhere", .pid_scope = "elsewhere", .pid = 1};
  const std::string file = folder / ".starting-dup";
  io::replace_file(file, to_text(claim));
  const auto before = std::filesystem::last_write_time(folder.path());
  std::optional<bool> answer;
  int calls = 0;
  const auto ask = [&](const std::string& job) {
    calls += job == "987654321" ? 1 : 0;
    return answer;
  };
  CHECK(is_being_started(folder / "dup", ask));  // the heartbeat is recent
  answer = false;
  CHECK_FALSE(is_being_started(folder / "dup", ask));
  answer = std::nullopt;
  std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(2));
  CHECK_FALSE(is_being_started(folder / "dup", ask));
  CHECK(calls == 3);
  CHECK(std::filesystem::last_write_time(folder.path()) == before);
}

TEST_CASE("a run whose last attempt is running cannot be claimed") {
  const test::Scratch folder;
  io::make_directories(folder / "dup/attempts");
  write_claim(folder / "dup/attempts/000001.json", true);
  CHECK_THROWS_WITH(StartClaim(folder / "dup"), Contains("is already running: attempt 1"));
  CHECK_FALSE(io::exists(folder / ".starting-dup"));
}
