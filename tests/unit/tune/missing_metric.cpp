// Tests that a sweep with trials that do not report tune.metric ends with one message, and continues after the key is
// corrected.
#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "support/cpp/scratch.hpp"
#include "tune/record/metric_direction.hpp"
#include "tune/record/sweep_history.hpp"
#include "tune/run/sweep_run.hpp"
#include "tune/trials/common_error.hpp"
#include "tune/trials/missing_metric.hpp"

using namespace trainrt;
using namespace trainrt::tune;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

Sweep sweep_in(const std::string& storage_path, const std::string& metric, const std::string& mode = "min",
               const std::string& seed = "1") {
  Options config;
  for (const auto& [key, value] : std::map<std::string, std::string>{{"run.name", "sweep"},
                                                                     {"run.storage_path", storage_path},
                                                                     {"train.function", "linear"},
                                                                     {"tune.metric", metric},
                                                                     {"tune.mode", mode},
                                                                     {"tune.seed", seed},
                                                                     {"tune.num_samples", "4"},
                                                                     {"tune.space.lr", "uniform(0, 1)"}})
    if (!value.empty()) config.set(key, {value, "sweep.ini:7"});
  return Sweep(config);
}

/// Writes records of a process that runs trials of the sweep.
class Trials {
 public:
  explicit Trials(const Sweep& sweep) : writer_(JournalWriter::claimed(sweep.journal())) {}

  void fail(std::uint64_t trial, int attempt, const std::optional<std::string>& missing) {
    TrialEnd end{.trial = trial, .attempt = attempt, .state = Trial::State::failed, .iterations = 1};
    if (missing) end.missing_metric = {*missing, {"epoch", "loss"}};
    end.final_up_to = 2;
    write(end);
  }
  void fail_in_old_version(std::uint64_t trial) {
    write({.trial = trial,
           .attempt = 1,
           .state = Trial::State::failed,
           .iterations = 1,
           .why = "the callback 'tune' failed in on_report(): tune.metric is 'acc', but the report has no number of that "
                  "name; it has: epoch, loss",
           .final_up_to = 2});
  }
  void finish(std::uint64_t trial, int attempt, double value) {
    write({.trial = trial,
           .attempt = attempt,
           .state = Trial::State::finished,
           .iterations = 1,
           .last = value,
           .best = value});
  }

 private:
  void write(const TrialEnd& end) {
    writer_.append(begin_record(end.trial, end.attempt, 1));
    writer_.append(end_record(end));
  }

  JournalWriter writer_;
};

}  // namespace

TEST_CASE("a report without the metric names the numbers that it has") {
  const ReportedMetrics report{{"epoch", std::int64_t{1}}, {"loss", 0.5}, {"note", "text"}, {"_step", std::int64_t{3}}};
  CHECK_FALSE(missing_metric_in(report, "loss"));
  CHECK(missing_metric_in(report, "note"));  // not a number
  const auto missing = missing_metric_in(report, "los");
  REQUIRE(missing);
  CHECK(trial_error(*missing) ==
        "[tune] metric = los: the trial does not report it; it reports: epoch, loss (did you mean 'loss'?)");
  CHECK(sweep_error(*missing_metric_in(report, "acc"), "sweep.ini:7") ==
        "sweep.ini:7: [tune] metric = acc: the trials do not report it; they report: epoch, loss");
  CHECK_THAT(sweep_error(*missing, "the Tuner in t.py"), StartsWith("the Tuner in t.py: TuneConfig(metric='"));
  CHECK_THAT(metric_advice("the Tuner in t.py"),
             Contains("TuneConfig(metric=...)") && EndsWith("run the same script again"));
  CHECK_THAT(trial_error(*missing_metric_in({}, "acc")), Contains("it reports: no numbers"));
}

TEST_CASE("the first trial without the metric ends the sweep, unless another trial has reported it") {
  const test::Scratch dir;
  const auto sweep = sweep_in(dir.path(), "acc");
  sweep.begin("");
  const CommonError error(sweep, history_of(sweep));
  Trials trials(sweep);
  trials.fail(0, 1, std::nullopt);
  CHECK(error.of_any(history_of(sweep)).empty());
  trials.fail(1, 1, "acc");
  CHECK(error.of_trial(history_of(sweep), 0).empty());
  CHECK(error.of_trial(history_of(sweep), 1) ==
        "sweep.ini:7: [tune] metric = acc: the trials do not report it; they report: epoch, loss");
  CHECK(error.of_any(history_of(sweep)) == error.of_trial(history_of(sweep), 1));
  CHECK(lacks_metric(sweep, history_of(sweep)));
  trials.finish(2, 1, 0.5);
  CHECK(error.of_any(history_of(sweep)).empty());
  CHECK_FALSE(lacks_metric(sweep, history_of(sweep)));
}

TEST_CASE("a trial without the metric is retried by the next start, and only another trial ends the sweep again") {
  const test::Scratch dir;
  const auto sweep = sweep_in(dir.path(), "acc");
  sweep.begin("");
  Trials trials(sweep);
  trials.fail(0, 1, "acc");
  trials.fail(1, 1, std::nullopt);
  CHECK(trials_done(sweep, history_of(sweep)) == 2);
  CHECK(retry_failed(sweep) == "1 trial that did not report the metric is retried");
  CHECK(trials_done(sweep, history_of(sweep)) == 1);
  const CommonError error(sweep, history_of(sweep));
  trials.fail(0, 2, "acc");
  CHECK(error.of_any(history_of(sweep)).empty());
  trials.fail(2, 1, "acc");
  CHECK_THAT(error.of_any(history_of(sweep)), Contains("[tune] metric = acc"));
}

TEST_CASE("a trial that lacked the metric in an older version is retried, too") {
  const test::Scratch dir;
  const auto sweep = sweep_in(dir.path(), "acc");
  sweep.begin("");
  Trials(sweep).fail_in_old_version(0);
  CHECK(retry_failed(sweep) == "1 trial that did not report the metric is retried");
}

TEST_CASE("a sweep whose trials all lack the metric ends with its name, also if they lacked it before") {
  const test::Scratch dir;
  const auto sweep = sweep_in(dir.path(), "acc");
  sweep.begin("");
  Trials trials(sweep);
  for (std::uint64_t trial = 0; trial < 4; ++trial) trials.fail(trial, 1, "acc");
  CHECK_THAT(retry_failed(sweep), Contains("all trials"));
  const CommonError error(sweep, history_of(sweep));
  CHECK(error.of_any(history_of(sweep)).empty());
  for (std::uint64_t trial = 0; trial < 4; ++trial) trials.fail(trial, 2, "acc");
  CHECK_THAT(error.of_any(history_of(sweep)), Contains("[tune] metric = acc"));
}

TEST_CASE("the metric of a sweep may change while no trial has reported it") {
  const test::Scratch dir;
  const auto sweep = sweep_in(dir.path(), "acc", "max");
  sweep.begin("");
  Trials trials(sweep);
  trials.fail(0, 1, "acc");
  CHECK_THROWS_WITH(sweep_in(dir.path(), "loss", "min", "2").begin(""), Contains("tune.seed was '1', now '2'"));
  const auto fixed = sweep_in(dir.path(), "loss", "min");
  CHECK(fixed.begin("") ==
        "no trial has reported the metric; the sweep continues with: tune.metric was 'acc', now 'loss', "
        "tune.mode was 'max', now 'min'");
  CHECK(Sweep::opened(fixed.directory()).metric() == "loss");
  CHECK(retry_failed(fixed) == "1 trial that did not report the metric is retried");
  trials.finish(0, 2, 0.5);
  CHECK(retry_failed(fixed).empty());
  CHECK_THROWS_WITH(sweep.begin(""), Contains("tune.metric was 'loss', now 'acc'"));
  CHECK_THROWS_WITH(sweep_in(dir.path(), "loss", "max").begin(""), Contains("tune.mode was 'min', now 'max'"));
}

TEST_CASE("a missing or doubtful tune.mode gives a notice with the best values and the other mode") {
  const test::Scratch folder;
  const auto notice = [&](const std::string& metric, const std::string& mode) {
    return direction_notice(sweep_in(folder.path(), metric, mode));
  };
  CHECK(notice("loss", "").text ==
        "sweep.ini:7: tune.metric = loss without mode, whose default is max: the trial with the highest loss is the best; "
        "set mode = min in [tune] if lower values are better");
  CHECK(notice("loss", "").is_warning);
  CHECK_THAT(notice("score", "").text, Contains("the trial with the highest score is the best"));
  CHECK_FALSE(notice("score", "").is_warning);
  CHECK_THAT(notice("accuracy", "min").text, Contains("with mode = min") && Contains("set mode = max in [tune]"));
  CHECK(notice("accuracy", "min").is_warning);
  for (const auto& [metric, mode] : {std::pair{"loss", "min"}, {"accuracy", "max"}, {"score", "min"}, {"", ""}})
    CHECK(notice(metric, mode).text.empty());
}
