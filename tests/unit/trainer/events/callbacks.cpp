// Tests of callbacks: the order of calls, failed runs, and callbacks that throw.
#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include <catch2/catch.hpp>
#include <trainrt/trainrt.hpp>

#include "comm/agreement.hpp"
#include "rundir/records/run_record.hpp"
#include "unit/trainer/runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;

namespace {

/// A callback that records its calls as lines.
class Witness : public Callback {
 public:
  explicit Witness(bool all_ranks = false) : all_ranks_(all_ranks) {}
  bool wants_all_ranks() const override { return all_ranks_; }
  void on_start(const RunInfo& info) override {
    lines.push_back("start of attempt " + std::to_string(info.attempt) + " on " + std::to_string(info.world_size));
  }
  void on_report(const ReportedMetrics& metrics, std::span<const ReportedMetrics> of_ranks) override {
    auto line = "report " + shown(metrics);
    for (const auto& mine : of_ranks) line += " " + shown(mine);
    lines.push_back(line);
  }
  void on_checkpoint(const ResultCheckpoint& checkpoint) override {
    lines.push_back("checkpoint " + std::to_string(checkpoint.index) + " of " + std::to_string(checkpoint.metrics.at("x")));
  }
  void on_failure(const RunFailure& failure) override {
    lines.push_back("failure " + std::to_string(failure.rank) + " on " + std::to_string(failure.told_rank) + " at " +
                    std::to_string(failure.step) + ": " + failure.error);
  }
  void on_finish(const Result& result) override {
    lines.push_back(result.state + " with " + std::to_string(result.columns.at("x").index()) + " " +
                    std::to_string(result.best_checkpoints.size()));
  }
  std::vector<std::string> lines;

 private:
  static std::string shown(const ReportedMetrics& metrics) {
    return std::to_string(static_cast<int>(as_real(metrics.at("x"))));
  }
  bool all_ranks_;
};

class Thrower : public Callback {
 public:
  explicit Thrower(std::string where) : where_(std::move(where)) {}
  std::string name() const override { return "thrower"; }
  void on_start(const RunInfo&) override { maybe("on_start"); }
  void on_report(const ReportedMetrics&, std::span<const ReportedMetrics>) override { maybe("on_report"); }
  void on_checkpoint(const ResultCheckpoint&) override { maybe("on_checkpoint"); }
  void on_finish(const Result&) override { maybe("on_finish"); }

 private:
  void maybe(const std::string& here) const {
    if (here == where_) throw std::runtime_error("out of paper");
  }
  std::string where_;
};

/// Reports twice: 1 and 3 on the two ranks, then 11 and 13.
void two_reports(Context& ctx) {
  double x = 0;
  State state;
  state.value("x", x);
  ctx.restore(state);
  for (const int tens : {0, 10}) {
    ctx.step();
    ctx.report({{"x", tens + 1 + 2 * ctx.world_rank()}});
  }
}

/// Runs with the callbacks on rank 0 only.
trainer::RunOutcome run_with(int size, const config::RunSpec& spec, std::vector<std::shared_ptr<Callback>> callbacks,
                             void (*train)(Context&) = two_reports) {
  trainer::RunOutcome outcome;
  run_launched(size, [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    trainer::TrainCall call{"test", train};
    if (launch.world().rank == 0) call.callbacks = callbacks;
    const auto mine = trainer::run(spec, call, launch, *communicator);
    if (launch.world().rank == 0) outcome = mine;
  });
  return outcome;
}

config::RunSpec synchronous(const std::string& folder) { return spec_in(folder, {{"checkpoint.async", "false"}}); }

}  // namespace

TEST_CASE("a callback is notified of start, reports, checkpoints and end, in that order") {
  Scratch folder;
  const auto witness = std::make_shared<Witness>();
  REQUIRE(run_with(2, synchronous(folder.path()), {witness}).code == ExitCode::finished);
  CHECK(witness->lines == std::vector<std::string>{"start of attempt 1 on 2", "report 2", "checkpoint 0 of 2.000000",
                                                   "report 12", "checkpoint 1 of 12.000000", "finished with 0 2"});
}

TEST_CASE("a callback that wants all ranks gets the metrics of each rank, in rank order") {
  Scratch folder;
  const auto witness = std::make_shared<Witness>(true);
  REQUIRE(run_with(2, synchronous(folder.path()), {witness}).code == ExitCode::finished);
  CHECK(witness->lines.at(1) == "report 2 1 3");
  CHECK(witness->lines.at(3) == "report 12 11 13");
}

TEST_CASE("a callback that throws fails the run on all ranks with an error that names it") {
  for (const auto* where : {"on_start", "on_report", "on_checkpoint", "on_finish"}) {
    Scratch folder;
    const auto witness = std::make_shared<Witness>();
    const auto run = [&] { run_with(2, synchronous(folder.path()), {witness, std::make_shared<Thrower>(where)}); };
    CHECK_THROWS_WITH(run(),
                      Contains("the callback 'thrower' failed in " + std::string(where)) && Contains("out of paper"));
    CHECK_THAT(witness->lines.back(), Contains("failure ") && Contains("out of paper"));
    CHECK(rundir::read_run_record(folder.path() + "/r")->state == rundir::RunState::failed);
  }
}

TEST_CASE("a callback is notified of the failure of the train function") {
  Scratch folder;
  const auto witness = std::make_shared<Witness>();
  const auto fails = [](Context& ctx) {
    ctx.step();
    throw std::runtime_error("no more data");
  };
  CHECK_THROWS(run_with(1, synchronous(folder.path()), {witness}, fails));
  CHECK_THAT(witness->lines.back(), Contains("failure 0 on 0 at 1: rank 0 on ") && Contains("no more data"));
}

namespace {

/// Runs a failing train function with one Witness per rank.
template <std::size_t size>
std::array<std::shared_ptr<Witness>, size> witnesses_of_failure(void (*train)(Context&)) {
  Scratch folder;
  const auto spec = synchronous(folder.path());
  std::array<std::shared_ptr<Witness>, size> witnesses;
  for (auto& witness : witnesses) witness = std::make_shared<Witness>();
  const auto run = [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    trainer::TrainCall call{"test", train};
    call.callbacks = {witnesses.at(static_cast<std::size_t>(launch.world().rank))};
    trainer::run(spec, call, launch, *communicator);
  };
  CHECK_THROWS(run_launched(size, run));
  return witnesses;
}

}  // namespace

TEST_CASE("the failure of one rank is passed once to its callbacks and to those of rank 0") {
  const auto fails = [](Context& ctx) {
    ctx.step();
    if (ctx.world_rank() == 1) throw std::runtime_error("no more data");
    while (true) ctx.step();
  };
  const auto [first, other] = witnesses_of_failure<2>(fails);
  CHECK_THAT(first->lines.back(), Contains("failure 1 on 0 at 1: rank 1 on ") && Contains("no more data"));
  CHECK(std::ranges::count_if(first->lines, [](const auto& line) { return line.starts_with("failure"); }) == 1);
  REQUIRE(other->lines.size() == 1);
  CHECK_THAT(other->lines.front(), Contains("failure 1 on 1 at 1: rank 1 on ") && Contains("no more data"));
}

TEST_CASE("a failure on all ranks together is passed to the callbacks of each rank") {
  const auto fails = [](Context& ctx) {
    ctx.step();
    throw comm::AgreedError("no rank can continue");
  };
  const auto [first, other] = witnesses_of_failure<2>(fails);
  CHECK(first->lines.back() == "failure -1 on 0 at 1: no rank can continue");
  CHECK(other->lines == std::vector<std::string>{"failure -1 on 1 at 1: no rank can continue"});
}

TEST_CASE("an unknown callback, or an unknown option of one, is an error before the run begins") {
  const auto spec = spec_in("/tmp", {{"run.callbacks", "comand"}});
  CHECK_THROWS_WITH(trainer::check_spec(spec), Contains("run.callbacks") && Contains("command"));
  const auto other = spec_in("/tmp", {{"run.callbacks", "command"}, {"callback.command.on_en", "true"}});
  CHECK_THROWS_WITH(trainer::check_spec(other), Contains("on_en") && Contains("on_checkpoint"));
}

TEST_CASE("the callback command runs the commands of the config, and their failure does not fail the run") {
  Scratch folder;
  const auto said = folder.path() + "/said";
  const auto command = "echo $0 $(basename $1) $(basename $2) >> " + said + "; exit 3";
  const auto spec = spec_in(folder.path(), {{"checkpoint.async", "false"},
                                            {"run.callbacks", "command"},
                                            {"callback.command.on_checkpoint", command.c_str()},
                                            {"callback.command.on_finish", command.c_str()}});
  REQUIRE(run_with(2, spec, {}).code == ExitCode::finished);
  std::ifstream in(said);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  CHECK(text == "on_checkpoint r checkpoint_000000\non_checkpoint r checkpoint_000001\non_finish r finished\n");
}
