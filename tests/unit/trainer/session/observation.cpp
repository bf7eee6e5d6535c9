// Tests of Observation: the records of reports and of observed progress, and stops that callbacks request.
#include "trainer/session/observation.hpp"

#include <atomic>

#include <catch2/catch.hpp>

#include "metrics/result_log.hpp"
#include "support/cpp/captured_errors.hpp"
#include "trainer/events/stopping_callback.hpp"
#include "unit/trainer/session/attempt_parts.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;

namespace {

void report(AttemptParts& parts, const Metrics& metrics, const ReportOptions& options = {}) {
  auto record = parts.observation.combine(metrics, options);
  parts.observation.complete_iteration(record);
  parts.observation.write(std::move(record), metrics, nullptr);
}

class StopsAtOnce : public trainer::StoppingCallback {
 public:
  explicit StopsAtOnce(bool pauses) : pauses_(pauses) {}
  Stop stop() override { return {"enough", pauses_}; }

 private:
  bool pauses_;
};

std::vector<double> positions_in(const std::string& run_dir) {
  std::vector<double> positions;
  for (const auto& record : metrics::read_results(run_dir)) positions.push_back(record.number("step").value());
  return positions;
}

/// Observes these steps in an attempt of two ranks.
void observe(const config::RunSpec& spec, const std::vector<double>& steps) {
  with_attempt_parts(2, spec, [&](AttemptParts& parts) {
    for (const double step : steps) parts.observation.observe("step", {{"step", step}});
    if (steps.empty()) parts.observation.begin_without_progress();
    parts.observation.end();
  });
}

}  // namespace

TEST_CASE("a record combines the metrics of all ranks, and its numbers become the last metrics") {
  const Scratch folder;
  const auto spec = spec_in(folder.path());
  std::atomic<int> right = 0;
  with_attempt_parts(3, spec, [&](AttemptParts& parts) {
    parts.observation.begin({});
    report(parts, {{"mean", parts.communicator.rank()}, {"text", "a"}});
    report(parts, {{"mean", parts.communicator.rank() + 10}, {"text", "a"}});
    const auto& last = parts.observation.last_metrics();
    right += last.at("mean") == 11 && !last.contains("text") && parts.progress.iteration() == 2 ? 1 : 0;
    parts.observation.end();
  });
  CHECK(right == 3);
  CHECK(metrics::read_results(spec.run_dir).size() == 2);
}

TEST_CASE("a score attribute that the report lacks is a warning with the nearest name") {
  const Scratch folder;
  const auto log_of_report = [&](const std::string& attribute, const Metrics& metrics) {
    auto spec = spec_in(folder.path());
    spec.checkpoint.score_attribute = attribute;
    const CapturedErrors log;
    with_attempt_parts(2, spec, [&](AttemptParts& parts) {
      parts.observation.complete_iteration(parts.observation.combine(metrics, {}));
      parts.observation.check_score();
    });
    return log.text();
  };
  CHECK_THAT(log_of_report("losss", {{"acc", 1}, {"loss", 1}}),
             Contains("checkpoint.score_attribute is 'losss', but the report has no number of that name; its numbers: acc, "
                      "loss (did you mean 'loss'?); checkpoints without this number rank last"));
  CHECK_THAT(log_of_report("val_accuracy", {{"train_accuracy", 1}}), Contains("its numbers: train_accuracy"));
  CHECK_THAT(log_of_report("loss", {{"loss", 1}}), !Contains("score_attribute"));
}

TEST_CASE("a report of the first rank has rank 0's metrics unchanged") {
  const Scratch folder;
  std::atomic<int> right = 0;
  with_attempt_parts(2, spec_in(folder.path()), [&](AttemptParts& parts) {
    parts.observation.begin({});
    report(parts, {{"x", parts.communicator.rank() + 1}}, {.of_first_rank = true});
    right += parts.observation.last_metrics().at("x") == 1 ? 1 : 0;
  });
  CHECK(right == 2);
}

TEST_CASE("records after the iteration with which an attempt begins are removed") {
  const Scratch folder;
  const auto spec = spec_in(folder.path());
  with_attempt_parts(1, spec, [](AttemptParts& parts) {
    parts.observation.begin({});
    for (int i = 0; i < 4; ++i) report(parts, {{"x", i}});
    parts.observation.end();
  });
  with_attempt_parts(1, spec, [](AttemptParts& parts) {
    parts.observation.begin({.iteration = 2});
    parts.observation.end();
  });
  CHECK(metrics::read_results(spec.run_dir).size() == 2);
}

TEST_CASE("observed records continue at the position that the output shows again") {
  const Scratch folder;
  const auto spec = spec_in(folder.path());
  observe(spec, {1, 2, 3});
  CHECK(positions_in(spec.run_dir) == std::vector<double>{1, 2, 3});
  observe(spec, {2, 4});
  CHECK(positions_in(spec.run_dir) == std::vector<double>{1, 2, 4});
  observe(spec, {});
  CHECK(positions_in(spec.run_dir) == std::vector<double>{1, 2, 4});
}

TEST_CASE("observed metrics without the position are refused") {
  const Scratch folder;
  CHECK_THROWS_WITH(with_attempt_parts(1, spec_in(folder.path()),
                                       [](AttemptParts& parts) {
                                         parts.observation.observe("step", {{"loss", 1.0}});
                                       }),
                    Contains("no number 'step'"));
}

TEST_CASE("the stop of rank 0's callback is the same on all ranks, and an end is requested unless it pauses") {
  for (const bool pauses : {false, true}) {
    const Scratch folder;
    std::atomic<int> right = 0;
    const auto expected = pauses ? batch::paused : batch::ended_early;
    with_attempt_parts(
        2, spec_in(folder.path()),
        [&](AttemptParts& parts) {
          const bool is_first = parts.communicator.rank() == 0;
          const bool is_right = parts.observation.stop_by_callback() == expected &&
                                parts.stops.cause() == (is_first && !pauses ? batch::ended_early : batch::no_stop);
          right += is_right ? 1 : 0;
        },
        std::make_shared<StopsAtOnce>(pauses));
    CHECK(right == 2);
  }
}
