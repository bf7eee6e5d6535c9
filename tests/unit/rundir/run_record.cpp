#include "rundir/records/run_record.hpp"

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

using namespace trainrt;
using namespace trainrt::rundir;
using Catch::Contains;

namespace {

RunRecord a_record() {
  RunRecord record;
  record.name = "fashion";
  record.state = RunState::stopped;
  record.workers = 4;
  record.loop = {{"lr", "0.1"}};
  record.changes = {{2, "loop.lr", "0.2", "0.1"}};
  return record;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  REQUIRE(text.find(from) != std::string::npos);
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("a run record is read back as it was written") {
  const auto read = run_record_from(to_text(a_record()), "run.json");
  CHECK(read.workers == 4);
  CHECK(read.changes.front().attempt == 2);
  CHECK(to_text(read) == to_text(a_record()));
}

TEST_CASE("the record of a finished run names its last checkpoint, and older records do not") {
  auto record = a_record();
  record.state = RunState::finished;
  record.completed_by = RunRecord::Completion{5, 48, 6};
  CHECK(run_record_from(to_text(record), "run.json").completed_by == record.completed_by);
  CHECK_FALSE(run_record_from(to_text(a_record()), "run.json").completed_by);
  const auto older = replaced(to_text(a_record()), "\"completed_by\": null,", "");
  CHECK_FALSE(run_record_from(older, "run.json").completed_by);
  for (const auto* wrong : {"-1", "1.5", "\"5\"", "[]", "1e300"})
    CHECK_THROWS_WITH(
        run_record_from(replaced(to_text(record), "\"checkpoint\": 5", fmt::format("\"checkpoint\": {}", wrong)),
                        "r/run.json"),
        Contains("r/run.json is not a run record") && Contains("completed_by.checkpoint"));
}

TEST_CASE("a run record of another version is an error that names both versions") {
  for (const auto* format : {"\"trainrt run 2\"", "7", "null"})
    CHECK_THROWS_WITH(
        run_record_from(fmt::format(R"({{"format": {}, "name": []}})", format), "r/run.json"),
        Contains("r/run.json was written by another version") && Contains(format) && Contains("'trainrt run 1'"));
}

TEST_CASE("an invalid number in a run record is an error that names file and key") {
  const auto refused = [](const std::string& from, const std::string& to, const std::string& why) {
    CHECK_THROWS_AS(run_record_from(replaced(to_text(a_record()), from, to), "r/run.json"), UsageError);
    CHECK_THROWS_WITH(run_record_from(replaced(to_text(a_record()), from, to), "r/run.json"),
                      Contains("r/run.json is not a run record") && Contains(why));
  };
  refused("\"workers\": 4", "\"workers\": 1e300", "'workers' is 1e+300");
  refused("\"workers\": 4", "\"workers\": -1", "'workers' is -1");
  refused("\"workers\": 4", "\"workers\": [[]]", "'workers' is [[]]");
  refused("\"attempt\": 2", "\"attempt\": 9999999999", "'attempt' is 9999999999");
}

TEST_CASE("only the beginning of an invalid run record is quoted") {
  try {
    run_record_from("{\"" + std::string(100'000, 'x'), "run.json");
    FAIL("it was read");
  } catch (const UsageError& error) {
    CHECK(std::string(error.what()).size() < 1000);
  }
}

TEST_CASE("a run record that is nested too deep is refused") {
  const std::string open(200'000, '['), close(200'000, ']');
  CHECK_THROWS_WITH(
      run_record_from(replaced(to_text(a_record()), "\"workers\": 4", "\"workers\": " + open + close), "run.json"),
      Contains("nested too deep"));
}
