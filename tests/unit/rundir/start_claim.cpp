#include "rundir/attempts/start_claim.hpp"

#include <filesystem>
#include <memory>

#include <catch2/catch.hpp>

#include "core/host.hpp"
#include "io/files/file.hpp"
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

TEST_CASE("a run whose last attempt is running cannot be claimed") {
  const test::Scratch folder;
  io::make_directories(folder / "dup/attempts");
  write_claim(folder / "dup/attempts/000001.json", true);
  CHECK_THROWS_WITH(StartClaim(folder / "dup"), Contains("is already running: attempt 1"));
  CHECK_FALSE(io::exists(folder / ".starting-dup"));
}
