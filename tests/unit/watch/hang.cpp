// Tests of the detection of hangs. The decisions need no clocks, files or signals.
#include <catch2/catch.hpp>

#include "watch/hang_report.hpp"
#include "watch/stall_meter.hpp"

using namespace trainrt::watch;
using Catch::Matchers::Contains;
using trainrt::config::LimitOption;
using State = StallMeter::State;
using Kind = LimitOption::Kind;

namespace {

constexpr double collective_timeout = 1800;
constexpr LimitOption automatic{Kind::automatic, 0};
constexpr LimitOption ten_seconds{Kind::seconds, 10};

/// A rank in simulated time, observed every second.
class Rank {
 public:
  explicit Rank(const LimitOption& option) : meter_(option, collective_timeout, 1) {}

  void step() { life_.progress(++step_, Phase::training); }
  void enter(Phase phase) { life_.progress(step_, phase); }
  Liveness& life() { return life_; }
  /// Returns the state after `seconds` without progress.
  State after(double seconds, bool waits = true) {
    auto state = State::normal;
    for (double passed = 0; passed < seconds; ++passed) state = meter_.observe(1, life_.snapshot(), waits);
    return state;
  }
  StallMeter& meter() { return meter_; }

 private:
  StallMeter meter_;
  Liveness life_;
  std::int64_t step_ = 0;
};

RankReport waiting(int rank, std::int64_t step, const std::string& in) {
  return {.rank = rank, .host = "n1", .pid = 7, .step = step, .phase = "training", .quiet_s = 20, .waits_in = in};
}

}  // namespace

TEST_CASE("auto: the first step may take as long as a collective, then ten minutes") {
  Rank rank(automatic);
  CHECK(rank.after(600) != State::stalled);
  CHECK(rank.after(60) == State::stalled);
  CHECK(rank.meter().is_excused(false));  // a rank that answers may be busy
  CHECK(!rank.meter().is_excused(true));
  rank.step();
  CHECK(rank.after(1800) != State::stalled);
  rank.step();
  CHECK(rank.after(599) != State::stalled);
}

TEST_CASE("auto: the limit is ten minutes, or twenty times the longest time between steps") {
  Rank quick(automatic);
  for (int i = 0; i < 3; ++i) {
    quick.step();
    quick.after(2);
  }
  CHECK(quick.after(598) != State::stalled);
  CHECK(quick.after(4) == State::stalled);

  Rank slow(automatic);
  for (int i = 0; i < 3; ++i) {
    slow.step();
    slow.after(100);
  }
  slow.step();
  CHECK(slow.after(1999) != State::stalled);
  CHECK(slow.after(60) == State::stalled);
}

TEST_CASE("auto: a rank that computes gets the collective timeout, as for a long evaluation") {
  Rank rank(automatic);
  for (int i = 0; i < 3; ++i) {
    rank.step();
    rank.after(1);
  }
  CHECK(rank.after(1790, false) != State::stalled);
  CHECK(rank.after(20, false) == State::stalled);
}

TEST_CASE("N s restarts at every step, and excuses a busy rank before the first one") {
  Rank rank(ten_seconds);
  CHECK(rank.after(12) == State::stalled);
  CHECK(rank.meter().is_excused(false));
  for (int i = 0; i < 5; ++i) {
    rank.step();
    CHECK(rank.after(9) != State::stalled);
  }
  CHECK(rank.after(3) == State::stalled);
}

TEST_CASE("a rank becomes suspicious after a quarter of its limit") {
  Rank rank(ten_seconds);
  rank.step();
  CHECK(rank.after(2) == State::normal);
  CHECK(rank.after(3) == State::suspicious);
}

TEST_CASE(
    "a rank busy with loading, a checkpoint or the end is excused for the collective timeout, and the limit "
    "applies again afterwards") {
  for (const auto phase : {Phase::loading, Phase::checkpoint, Phase::finishing}) {
    Rank rank(ten_seconds);
    rank.step();
    rank.after(1);
    {
      const InPhase busy(rank.life(), phase);
      rank.after(1820, false);
      CHECK(rank.meter().is_excused(false));
      rank.after(60, false);
      CHECK(!rank.meter().is_excused(false));
    }
    CHECK(rank.after(9) != State::stalled);
    CHECK(rank.after(3) == State::stalled);
  }
}

TEST_CASE("loading before the first step does not count as one") {
  Rank rank(ten_seconds);
  { const InPhase loading(rank.life(), Phase::loading); }
  CHECK(rank.after(12) == State::stalled);
  CHECK(rank.meter().is_excused(false));
}

TEST_CASE("a first step counts if a checkpoint follows it before the next observation") {
  Rank rank(ten_seconds);
  rank.step();
  rank.enter(Phase::checkpoint);
  CHECK(rank.after(9) != State::stalled);
  CHECK(rank.after(3) == State::stalled);
}

TEST_CASE("time in which the process was stopped does not count") {
  Rank rank(ten_seconds);
  rank.step();
  rank.after(1);
  CHECK(rank.meter().observe(5000, rank.life().snapshot(), true) == State::normal);
}

TEST_CASE("a rank that waits in a checkpoint raises the alarm, and again after it was cancelled") {
  Rank rank(ten_seconds);
  rank.step();
  rank.after(1);
  rank.enter(Phase::checkpoint);
  CHECK(rank.after(9) != State::stalled);
  CHECK(rank.after(3) == State::stalled);
  CHECK(!rank.meter().is_excused(true));
  rank.meter().postpone();
  CHECK(rank.after(9) != State::stalled);
  CHECK(rank.after(3) == State::stalled);
}

TEST_CASE("an excused rank cancels the alarm if all ranks have answered") {
  std::vector<std::optional<RankReport>> reports = {waiting(0, 5, "barrier"), waiting(1, 5, "")};
  const std::vector<std::string> hosts = {"n1", "n1"};
  CHECK(judge_hang(reports, hosts).hangs);
  reports[1]->excused = true;
  CHECK(!judge_hang(reports, hosts).hangs);
  CHECK(parse_rank_report(to_text(*reports[1]))->excused);
  reports[0].reset();
  CHECK(judge_hang(reports, hosts).hangs);
}

TEST_CASE("off never raises an alarm") {
  Rank rank({Kind::off, 0});
  rank.step();
  CHECK(rank.after(1'000'000) == State::normal);
}

TEST_CASE("a rank's report is parsed as it was written, and a truncated one is rejected") {
  const auto report = waiting(3, 812, "all_reduce of 'bucket 0' at step 812, for rank 1");
  const auto text = to_text(report) + "stack\n  #0 rank: 99\n";
  const auto read = parse_rank_report(text);
  REQUIRE(read);
  CHECK(read->rank == 3);
  CHECK(read->step == 812);
  CHECK(read->host == "n1");
  CHECK(read->waits_in == report.waits_in);
  CHECK(!parse_rank_report(text.substr(0, 20)));
}

TEST_CASE("a rank that does not answer is named with its host, the step of the others, and their operation") {
  const std::vector<std::optional<RankReport>> reports = {waiting(0, 812, "stop vote"), waiting(1, 812, "stop vote"),
                                                          waiting(2, 812, "stop vote"), std::nullopt};
  const auto verdict = judge_hang(reports, std::vector<std::string>{"n1", "n1", "n2", "n2"});
  CHECK_THAT(verdict.text, Contains("rank 3 on n2 did not answer") && Contains("while others are at step 812") &&
                               Contains("ranks 0-2 wait in stop vote"));
  CHECK(verdict.step == 812);
  CHECK(verdict.node == "n2");
}

TEST_CASE("a node is blamed if it runs all ranks that the others wait for") {
  const std::vector<std::string> hosts = {"n1", "n1", "n2", "n2"};
  std::vector<std::optional<RankReport>> reports = {waiting(0, 5, "barrier"), waiting(1, 5, "barrier"),
                                                    waiting(2, 5, "barrier"), waiting(3, 5, "barrier")};
  CHECK(judge_hang(reports, hosts).node.empty());  // all wait at the same step
  reports[3]->step = 4;
  CHECK(judge_hang(reports, hosts).node == "n2");
  reports[1]->waits_in = "";
  CHECK(judge_hang(reports, hosts).node == "n1");  // others wait for a rank that computes
  reports[2]->waits_in = "";
  CHECK(judge_hang(reports, hosts).node.empty());
  reports[3].reset();
  CHECK(judge_hang(reports, hosts).node == "n2");
  CHECK(judge_hang(reports, {}).node.empty());
}

TEST_CASE("a rank that computes while others wait, and one that waits at an earlier step, are named") {
  std::vector<std::optional<RankReport>> reports = {waiting(0, 5, "barrier"), waiting(1, 5, ""),
                                                    waiting(2, 4, "stop vote")};
  const std::vector<std::string> hosts = {"n1", "n1", "n1"};
  const auto text = judge_hang(reports, hosts).text;
  CHECK_THAT(text, Contains("rank 1 on n1 has been in its own code for 20 s at step 5 (training)"));
  CHECK_THAT(text, Contains("rank 2 on n1 is only at step 4, others at 5"));
  CHECK_THAT(text, Contains("rank 0 waits in barrier") && !Contains("did not answer"));
}

TEST_CASE("the first rank for which the others wait is the late rank, and its stacks are read from its report") {
  std::vector<std::optional<RankReport>> reports = {waiting(0, 5, "barrier"), waiting(1, 5, ""), waiting(2, 5, "barrier")};
  const std::vector<std::string> hosts = {"n1", "n1", "n1"};
  CHECK(judge_hang(reports, hosts).late_rank == 1);
  reports[1] = waiting(1, 5, "barrier");
  CHECK(!judge_hang(reports, hosts).late_rank);
  const auto with_program = report_file(*reports[1], {"  #0 wait", "  #0 poll", "line 7 in step\n"});
  CHECK(stacks_in(with_program) == "line 7 in step\n");
  CHECK(stacks_in(report_file(*reports[1], {"  #0 wait", "  #0 poll", ""})) == "  #0 wait");
  CHECK(stacks_in("rank: 1\n").empty());
}

TEST_CASE("the verdict about thousands of ranks is short") {
  std::vector<std::optional<RankReport>> reports(4096);
  for (int rank = 0; rank < 2000; ++rank) reports[static_cast<std::size_t>(rank)] = waiting(rank, 5, "barrier");
  const std::vector<std::string> hosts(4096, "n1");
  const auto text = judge_hang(reports, hosts).text;
  CHECK(text.size() < 2000);
  CHECK_THAT(text, Contains("ranks 0-1999 wait in barrier") && Contains("and 2088 more"));
  CHECK(ranks_text(std::vector{0, 1, 2, 5, 7, 8}) == "ranks 0-2,5,7-8");
}
