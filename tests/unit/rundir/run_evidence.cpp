#include "rundir/attempts/run_evidence.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "rundir/records/attempt_record.hpp"
#include "rundir/records/run_error.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::rundir;
using Catch::Matchers::Contains;

namespace {

struct Row {
  const char* story;
  bool has_run_record;
  bool has_attempts;
  std::optional<SavedPoint> saved;
  std::vector<std::int64_t> checkpoints;
  std::optional<SavedPoint> newest;
  const char* contradiction;  ///< text of the contradiction; "" = no contradiction
};

const SavedPoint fifth{.attempt = 2, .checkpoint = 5, .step = 56, .iteration = 5};
const SavedPoint untold{.attempt = 2, .checkpoint = -1, .step = 56, .iteration = 5};  // of a record of an older version

const std::vector<Row> table = {
    {"no files: a new run", false, false, {}, {}, {}, ""},
    {"killed before run.json was written", false, true, {}, {}, {}, ""},
    {"killed before the first commit", true, true, {}, {}, {}, ""},
    {"killed between a commit and its heartbeat", true, true, {}, {0}, {}, ""},
    {"the saved checkpoint exists", true, true, fifth, {3, 5}, {}, ""},
    {"a newer checkpoint than the last heartbeat reported", true, true, fifth, {5, 6}, {}, ""},
    {"no checkpoint exists",
     true,
     true,
     fifth,
     {},
     {},
     "attempt 2 had saved checkpoint_000005 (step 56), but DIR shows no "
     "checkpoint"},
    {"only older checkpoints exist", true, true, fifth, {2, 4}, {}, "the newest that DIR shows is checkpoint_000004"},
    {"the records are missing", true, false, {}, {4, 5}, {}, "DIR has a run.json, but DIR/attempts shows no record"},
    {"run.json is missing", false, true, fifth, {4, 5}, {}, "but DIR shows no run.json"},
    {"an older record, and its checkpoint exists", true, true, untold, {5}, SavedPoint{2, 5, 56, 5}, ""},
    {"an older record, and only an older checkpoint exists",
     true,
     true,
     untold,
     {4},
     SavedPoint{1, 4, 40, 4},
     "attempt 2 had saved a checkpoint (step 56), but the newest that DIR shows is checkpoint_000004"},
    {"an older record of a function without steps",
     true,
     true,
     SavedPoint{2, -1, 0, 5},
     {4},
     SavedPoint{1, 4, 0, 4},
     "the newest that DIR shows is checkpoint_000004"},
    {"an older record and a damaged newest checkpoint, which the load reports", true, true, untold, {4}, {}, ""},
};

class Folder {
 public:
  Folder() {
    std::filesystem::create_directory(folder_ / "attempts");
    std::ofstream(folder_ / "run.json") << "{}";
  }
  const std::string& path() const { return folder_.path(); }

  void add_attempt(int number, std::int64_t saved, bool accepted = false) const {
    AttemptRecord record;
    record.number = number;
    record.start = record.end = "2026-11-21T12:00:00Z";
    record.saved_step = saved < 0 ? -1 : 10 * saved;
    record.saved_checkpoint = saved;
    record.accepted_missing = accepted;
    std::ofstream(path() + "/attempts/" + attempt_name(number) + ".json") << to_text(record);
  }
  void add_checkpoint(int number) const {
    std::filesystem::create_directory(path() + "/checkpoint_00000" + std::to_string(number));
  }

 private:
  test::Scratch folder_;
};

}  // namespace

TEST_CASE("contradictions between records and checkpoints are found") {
  for (const auto& row : table) {
    INFO(row.story);
    RunEvidence evidence;
    evidence.run_dir = "DIR";
    evidence.has_run_record = row.has_run_record;
    evidence.has_attempts = row.has_attempts;
    evidence.saved = row.saved;
    evidence.checkpoints = row.checkpoints;
    evidence.newest = row.newest;
    const std::string expected = row.contradiction;
    const auto found = contradiction_in(evidence);
    if (expected.empty())
      CHECK(found.empty());
    else
      CHECK_THAT(found, Contains(expected));
  }
}

TEST_CASE("the newest attempt that restored or saved determines the expected checkpoint; invalid records are ignored") {
  const Folder folder;
  folder.add_attempt(1, 7);
  folder.add_attempt(2, 5);   // 6 and 7 were damaged, and removed by the user
  folder.add_attempt(3, -1);  // killed before it restored
  std::ofstream(folder.path() + "/attempts/000004.json") << "{";
  folder.add_checkpoint(5);
  const auto evidence = gather_evidence(folder.path());
  REQUIRE(evidence.saved);
  CHECK(evidence.saved->attempt == 2);
  CHECK(evidence.saved->checkpoint == 5);
  CHECK(evidence.saved->step == 50);
  CHECK(contradiction_in(evidence).empty());
}

TEST_CASE("a contradiction is an error that names the progress that a start would lose") {
  const Folder folder;
  folder.add_attempt(1, 5);
  folder.add_checkpoint(4);
  CHECK_THROWS_WITH(
      checked_evidence(folder.path(), false, 0),
      Contains("attempt 1 had saved checkpoint_000005 (step 50)") && Contains("resume from checkpoint_000004"));
  CHECK_THROWS_AS(checked_evidence(folder.path(), false, 0), CheckpointsMissing);
  CHECK_THAT(checked_evidence(folder.path(), true, 0).accepted, Contains("checkpoint_000005"));
}

TEST_CASE("a contradiction that disappears when the files are read again is ignored") {
  const Folder folder;
  folder.add_attempt(1, 5);
  std::thread storage([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    folder.add_checkpoint(5);
  });
  CHECK(checked_evidence(folder.path(), false, 60).evidence.newest_checkpoint() == 5);
  storage.join();
}

TEST_CASE("after missing checkpoints were accepted, earlier records no longer count, but their numbers stay used") {
  const Folder folder;
  folder.add_attempt(1, 5);
  folder.add_attempt(2, -1, true);
  const auto evidence = gather_evidence(folder.path());
  CHECK(contradiction_in(evidence).empty());
  CHECK(evidence.newest_known == 5);
  folder.add_attempt(3, 6);
  CHECK_THAT(contradiction_in(gather_evidence(folder.path())), Contains("attempt 3 had saved checkpoint_000006"));
}
