#include "tune/record/journal.hpp"

#include <algorithm>
#include <fstream>

#include <catch2/catch.hpp>

#include "support/cpp/scratch.hpp"
#include "tune/record/decision_log.hpp"
#include "tune/record/history.hpp"

using namespace trainrt;
using namespace trainrt::tune;
using test::Scratch;

namespace {

std::vector<std::string> all_of(JournalReader& reader) {
  std::vector<std::string> found;
  reader.read([&](int, const std::string& json) { found.push_back(json); });
  return found;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace

TEST_CASE("a journal returns each record of every writer once, as it is written") {
  const Scratch dir;
  auto one = JournalWriter::claimed(dir.path());
  auto other = JournalWriter::claimed(dir.path());
  CHECK(one.number() != other.number());
  JournalReader reader(dir.path());
  one.append(R"({"a":1})");
  CHECK(all_of(reader) == std::vector<std::string>{R"({"a":1})"});
  CHECK(all_of(reader).empty());
  other.append(R"({"b":2})", true);
  one.append(R"({"a":3})");
  CHECK(all_of(reader) == std::vector<std::string>{R"({"a":3})", R"({"b":2})"});
}

TEST_CASE("a journal that is cut at any byte opens with all complete records and can be continued") {
  const Scratch dir;
  auto writer = JournalWriter::claimed(dir.path());
  const std::vector<std::string> records{R"({"a":1})", R"({"b":"two"})", R"({"c":[3]})"};
  std::vector<std::size_t> ends;
  for (const auto& record : records) {
    writer.append(record);
    ends.push_back(bytes_of(writer.path()).size());
  }
  const auto whole = bytes_of(writer.path());
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    INFO("cut at " << cut);
    write(writer.path(), whole.substr(0, cut));
    std::vector<std::string> expected;
    for (std::size_t i = 0; i < records.size() && ends[i] <= cut; ++i) expected.push_back(records[i]);
    JournalReader before(dir.path());
    CHECK(all_of(before) == expected);
    JournalWriter(dir.path(), writer.number()).append(R"({"d":4})");
    if (cut + 1 == ends[0] || cut + 1 == ends[1] || cut + 1 == ends[2])
      expected.push_back(records[expected.size()]);  // only its line end was cut
    expected.emplace_back(R"({"d":4})");
    JournalReader after(dir.path());
    CHECK(all_of(after) == expected);
    CHECK(all_of(before).size() ==
          expected.size() - static_cast<std::size_t>(std::ranges::count_if(ends, [&](auto end) { return end <= cut; })));
  }
}

TEST_CASE("an incomplete record of a killed process does not damage the next record of the file") {
  const Scratch dir;
  auto group = JournalWriter::claimed(dir.path());
  group.append(R"({"a":1})");
  std::ofstream(group.path(), std::ios::binary | std::ios::app) << "0123456789abcdef {\"half";
  group.append(R"({"b":2})");
  JournalReader reader(dir.path());
  CHECK(all_of(reader) == std::vector<std::string>{R"({"a":1})", R"({"b":2})"});
  CHECK(reader.damaged().size() == 1);
}

TEST_CASE("a record with changed bytes is ignored, and the others are read") {
  const Scratch dir;
  auto writer = JournalWriter::claimed(dir.path());
  for (const auto* record : {R"({"a":1})", R"({"b":2})", R"({"c":3})"}) writer.append(record);
  auto bytes = bytes_of(writer.path());
  bytes.at(bytes.find("\"b\":2") + 4) = '7';
  write(writer.path(), bytes);
  JournalReader reader(dir.path());
  CHECK(all_of(reader) == std::vector<std::string>{R"({"a":1})", R"({"c":3})"});
  CHECK(reader.damaged().size() == 1);
}

TEST_CASE("a history does not depend on the order in which the writers' files are read") {
  const std::vector<std::string> one{begin_record(7, 1, 1), decision_record({{7, {1, 1}, 0.5}, {}}),
                                     end_record({.trial = 7, .attempt = 1, .state = Trial::State::failed, .why = "fell"})};
  const std::vector<std::string> other{
      begin_record(7, 2, 1), decision_record({{7, {1, 3}, 0.75}, {Verdict::Kind::stop}}),
      end_record({.trial = 7, .attempt = 2, .state = Trial::State::stopped, .iterations = 3, .last = 0.75, .best = 0.8})};
  for (const bool turned : {false, true}) {
    History history;
    for (const auto& json : turned ? other : one) history.take(turned ? 2 : 1, json);
    for (const auto& json : turned ? one : other) history.take(turned ? 1 : 2, json);
    const auto& trial = history.trials().at(7);
    CHECK(trial.state == Trial::State::stopped);
    CHECK(trial.attempt == 2);
    CHECK(trial.failures == 1);
    CHECK(trial.best == 0.8);
    CHECK(trial.reports == std::map<ReportPosition, double>{{{1, 1}, 0.5}, {{1, 3}, 0.75}});
    CHECK(history.decisions().size() == 2);
  }
}

TEST_CASE("a trial that a restart cannot fix is done until more failures are allowed") {
  History history;
  history.take(1,
               end_record({.trial = 3, .attempt = 1, .state = Trial::State::failed, .why = "damaged", .final_up_to = 2}));
  CHECK(history.trial(3).is_done(2));
  CHECK(history.trial(3).is_done(0));
  CHECK_FALSE(history.trial(3).is_done(3));
  history.take(1, end_record({.trial = 3, .attempt = 2, .state = Trial::State::failed, .why = "killed"}));
  CHECK_FALSE(history.trial(3).is_done(2));
}

TEST_CASE("a journal that was truncated below the read position is an error that names it") {
  const Scratch dir;
  auto writer = JournalWriter::claimed(dir.path());
  writer.append(R"({"a":1})");
  JournalReader reader(dir.path());
  CHECK(all_of(reader).size() == 1);
  write(writer.path(), "");
  CHECK_THROWS_WITH(all_of(reader), Catch::Contains(writer.path()) && Catch::Contains("was truncated"));
}

TEST_CASE("infinite numbers of a trial are kept, and a decision about one is read") {
  History history;
  history.take(1, end_record({.trial = 3, .attempt = 1, .last = INFINITY, .best = -INFINITY}));
  CHECK(history.trial(3).last == INFINITY);
  CHECK(history.trial(3).best == -INFINITY);
  // A decision as older versions wrote it.
  history.take(1, R"({"record":"decision","trial":3,"generation":1,"iteration":2,"score":null,"verdict":"stop"})");
  REQUIRE(history.decisions().size() == 1);
  CHECK(history.decisions()[0].report.score == worst_score);
}

TEST_CASE("invalid records are ignored") {
  History history;
  for (const auto* json : {"", "[]", "{}", R"({"record":"end","trial":"x"})", R"({"record":"later","trial":1})",
                           R"({"record":"begin","trial":-1})"})
    CHECK_NOTHROW(history.take(1, json));
  CHECK(history.decisions().empty());
}

TEST_CASE("the reports that a decision was based on are stored in a separate file") {
  const Scratch dir;
  auto writer = JournalWriter::claimed(dir.path());
  DecisionLog log(dir.path(), writer.number());
  log.write({{7, {1, 2}, 0.5}, {}}, {{1, 10}, {2, 20}});
  log.write({{7, {1, 4}, 0.5}, {Verdict::Kind::stop}}, {{1, 10}, {2, 25}, {3, 5}});
  JournalReader reader(dir.path());
  CHECK(all_of(reader).size() == 2);
  const auto reads = bytes_of(dir.path() + "/000001.reads");
  CHECK(reads.find(R"("iteration":2,"from_start":true,"moved":[[1,10],[2,20]]})") != std::string::npos);
  CHECK(reads.find(R"("iteration":4,"from_start":false,"moved":[[2,5],[3,5]]})") != std::string::npos);
}

TEST_CASE("failures before a retry no longer count, in any order of the records") {
  const auto failed = [](int attempt) {
    return end_record({.trial = 3, .attempt = attempt, .state = Trial::State::failed, .final_up_to = 2});
  };
  std::vector<std::string> records{begin_record(3, 1, 1, {{"loop.lr", "1"}}),
                                   failed(1),
                                   begin_record(3, 2, 1),
                                   failed(2),
                                   retry_record(3, 2),
                                   retry_record(3, 2),
                                   begin_record(3, 3, 1, {{"loop.lr", "2"}})};
  std::ranges::sort(records);
  do {
    History history;
    for (const auto& record : records) history.take(0, record);
    const auto& trial = history.trial(3);
    CHECK(trial.failures == 0);
    CHECK(trial.attempt == 3);
    CHECK_FALSE(trial.is_done(0));
    CHECK(trial.params.at("loop.lr") == "2");
  } while (std::ranges::next_permutation(records).found);
  History history;
  for (const auto& record : records) history.take(0, record);
  history.take(0, failed(3));
  CHECK(history.trial(3).failures == 1);
  CHECK(history.trial(3).is_done(2));
}
