// Tests of complete runs, with ranks as threads. Their train functions pass directories of files to reports.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <mutex>

#include <catch2/catch.hpp>

#include "batch/signals.hpp"
#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/manifest.hpp"
#include "metrics/result_log.hpp"
#include "unit/trainer/runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

std::atomic<int> stop_at_report{-1};
std::mutex mutex;
std::vector<int> begun_at;  // the report at which each attempt of rank 0 began

/// A train function that saves the number of its report in a file. Rank 1 (or a single rank) passes the file to every third
/// report.
void in_a_file(Context& ctx) {
  ctx.restore();
  int report = 0;
  if (const auto place = ctx.checkpoint()) std::ifstream(place->path + "/files/report") >> report;
  if (ctx.world_rank() == 0) {
    const std::lock_guard lock(mutex);
    begun_at.push_back(report);
  }
  const bool gives = ctx.world_rank() == std::min(1, ctx.world_size() - 1);
  const auto folder = ctx.run_dir() + "-given";
  while (report < 10) {
    ++report;
    ctx.step();
    if (report == stop_at_report && ctx.world_rank() == 0) raise(SIGUSR1);
    const Metrics metrics{{"report", report}};
    if (!gives || report % 3 != 0) {
      ctx.report(metrics);
      continue;
    }
    fs::create_directories(folder);
    std::ofstream(folder + "/report") << report;
    ctx.report(metrics, DirectoryCheckpoint{folder, R"({"by": "rank )" + std::to_string(ctx.world_rank()) + R"("})"});
    fs::remove_all(folder);
  }
  ctx.wait_for_checkpoint();
  if (ctx.is_checkpoint_on_its_way() || ctx.checkpoint()->path != ctx.run_dir() + "/checkpoint_000002")
    throw Error("wait_for_checkpoint() has not waited");
}

/// A train function that passes directories to reports, but does not restore: each attempt starts again at step 0.
void gives_only(Context& ctx) {
  const auto folder = ctx.run_dir() + "-" + std::to_string(ctx.world_rank());
  fs::create_directories(folder);
  std::ofstream(folder + "/" + std::to_string(ctx.world_rank())) << "here";
  for (int report = 1; report <= 3; ++report)
    ctx.report({{"rank", ctx.world_rank()}}, DirectoryCheckpoint{folder}, {.of_first_rank = true});
}

/// The State of 4 rows, distributed over the ranks. A row holds [10 n, 10 n + 1] after report n.
struct Rows {
  explicit Rows(const Context& ctx) {
    for (int row = ctx.world_rank(); row < 4; row += ctx.world_size()) first.push_back(row);
    values.resize(2 * first.size());
    for (std::size_t i = 0; i < first.size(); ++i)
      state.slab("rows", {values.data() + 2 * i, DType::f64, {1, 2}}, {first[i], 0}, {4, 2});
    state.value("report", report);
  }
  std::vector<std::int64_t> first;
  std::vector<double> values;
  std::int64_t report = 0;
  State state;
};

/// A train function that passes a State to each report instead of attaching one. Restores the last one, and stops after the
/// second report.
void with_a_state_each(Context& ctx) {
  Rows rows(ctx);
  if (ctx.restore()) {
    ctx.load(rows.state, ctx.checkpoint()->path);
    for (const auto value : rows.values)
      if (static_cast<std::int64_t>(value) / 10 != rows.report) throw Error("other values than were saved");
  }
  const auto folder = ctx.run_dir() + "-given";
  fs::create_directories(folder);
  while (rows.report < 4) {
    ++rows.report;
    for (std::size_t i = 0; i < rows.values.size(); ++i)
      rows.values[i] = static_cast<double>(10 * rows.report) + double(i % 2);
    ctx.report({}, DirectoryCheckpoint{.path = ctx.world_rank() == 0 ? folder : "", .state = &rows.state});
    std::fill(rows.values.begin(), rows.values.end(), 0);  // the report has copied it
    if (rows.report == 2) {
      if (ctx.world_rank() == 0) raise(SIGUSR1);
      ctx.stop_point();
      ctx.stop_point();
    }
  }
}

void attached_and_given(Context& ctx) {
  std::int64_t number = 1;
  State state;
  state.value("number", number);
  ctx.restore(state);
  State other;
  other.value("other", number);
  ctx.report({}, DirectoryCheckpoint{.path = ctx.run_dir() + "/attempts", .state = &other});
}

void with_other_options(Context& ctx) { ctx.report({}, ReportOptions{.of_first_rank = ctx.world_rank() == 0}); }

}  // namespace

TEST_CASE("a run that saves by directories continues from the last one, and a stop between two is no failure") {
  batch::install_stop_signals();
  for (const int size : {1, 3}) {
    Scratch scratch;
    begun_at.clear();
    for (const auto& [stop_at, message] :
         {std::pair{2, "the run resumes from its beginning, since no report has passed a directory"},
          std::pair{5, "the run resumes from checkpoint_000000 (iteration 3), and later work is repeated"},
          std::pair{6, "at step 6; everything up to there is saved"}}) {
      stop_at_report = stop_at;
      batch::forget_stop_signal();
      const auto outcome = run_on(size, spec_in(scratch.path()), in_a_file);
      CHECK(outcome.code == ExitCode::stopped);
      CHECK_THAT(outcome.message, Contains(message));
    }
    stop_at_report = -1;
    batch::forget_stop_signal();
    CHECK(run_on(size, spec_in(scratch.path()), in_a_file).code == ExitCode::finished);
    CHECK(begun_at == std::vector<int>{0, 0, 3, 6});
    const auto run = scratch / "r";
    const auto records = metrics::read_results(run);
    REQUIRE(records.size() == 10);
    for (std::size_t i = 0; i < 10; ++i) CHECK(std::get<double>(*records[i].find("report")) == double(i + 1));
    CHECK(checkpoint::numbers_in(run) == std::vector<std::int64_t>{0, 1, 2});
    for (const auto number : {0, 1, 2}) {
      const auto meta = checkpoint::read_manifest(run + "/checkpoint_00000" + std::to_string(number)).meta;
      CHECK(meta.has_directory);
      CHECK(meta.iteration == 3 * (number + 1));
      CHECK(meta.metadata == (size > 1 ? R"({"by":"rank 1"})" : R"({"by":"rank 0"})"));
    }
  }
}

TEST_CASE("a train function without restore() may report directories and rank 0's metrics alone") {
  Scratch scratch;
  for (const auto* more : {"1", "2"})
    CHECK(run_on(2, spec_in(scratch.path(), {{"loop.num_epochs", more}}), gives_only).code == ExitCode::finished);
  const auto records = metrics::read_results(scratch / "r");
  REQUIRE(records.size() == 3);
  for (const auto& record : records) CHECK(*record.find("rank") == metrics::Record::Value(std::int64_t{0}));
  const auto newest = checkpoint::read_manifest(scratch / "r/checkpoint_000005");
  CHECK(newest.files.size() == 2);
  CHECK(newest.meta.iteration == 3);
}

TEST_CASE("a State that is passed to a report can be loaded on another number of ranks") {
  batch::install_stop_signals();
  Scratch scratch;
  batch::forget_stop_signal();
  CHECK(run_on(3, spec_in(scratch.path()), with_a_state_each).code == ExitCode::stopped);
  batch::forget_stop_signal();
  CHECK(run_on(2, spec_in(scratch.path(), {{"scaling.on_resize", "keep_batch"}}), with_a_state_each).code ==
        ExitCode::finished);
  CHECK(checkpoint::numbers_in(scratch / "r") == std::vector<std::int64_t>{0, 1, 2, 3});
}

TEST_CASE("a State passed to a report is refused if restore() has attached one") {
  Scratch scratch;
  CHECK_THROWS_WITH(run_on(2, spec_in(scratch.path()), attached_and_given), Contains("Use only one of the two"));
}

TEST_CASE("reports with different options on the ranks are refused") {
  Scratch scratch;
  CHECK_THROWS_WITH(run_on(2, spec_in(scratch.path()), with_other_options),
                    Contains("report() with of_first_rank where others do not"));
}
