#include "trainer/reports/reporter.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "config/value_origin.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "metrics/autofill.hpp"
#include "metrics/result_log.hpp"
#include "metrics/sink.hpp"
#include "rundir/records/run_record.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/reports/host_tensors.hpp"
#include "trainer/reports/time_left.hpp"

namespace trainrt::trainer {

namespace {

class SilentReporter : public Reporter {
 public:
  void begin(const Start&) override {}
  void expect(std::int64_t) override {}
  bool wants_state(std::int64_t) const override { return false; }
  void show(const State&, std::int64_t) override {}
  void write(metrics::Record, std::int64_t, const metrics::TimeSpent&) override {}
  void sync() override {}
  void update_derived() override {}
  void end() override {}
};

std::vector<std::pair<std::string, std::string>> config_of(const config::RunSpec& spec) {
  std::vector<std::pair<std::string, std::string>> config(spec.texts.begin(), spec.texts.end());
  for (const auto& [key, value] : spec.loop.texts()) config.emplace_back("loop." + key, value);
  return config;
}

/// Owns the open metrics sinks of a run. If a sink fails, logs one warning, and no further warning until the sink succeeds
/// again.
class OpenSinks {
 public:
  OpenSinks(const config::RunSpec& spec, const io::FencedDirectory& run_dir, const rundir::Meter& meter) {
    const auto record = rundir::read_run_record(run_dir.path());
    const auto chosen = chosen_sinks(spec);
    for (const auto& [name, options] : spec.sink)
      if (std::ranges::find(chosen, name, &metrics::ChosenSink::name) == chosen.end())
        log::run_warning(fmt::format("[sink.{}] has no effect: metrics.sinks does not contain {}", name, name));
    for (const auto& [name, kind, options] : chosen)
      sinks_.push_back({kind->open({run_dir, spec.run.name, spec.metrics.every_report, options, name,
                                    record ? record->run_id : "", config_of(spec), TimeLeft(run_dir.path(), meter)})});
  }

  template <class Predicate>
  bool any(Predicate&& predicate) const {
    return std::ranges::any_of(sinks_, [&](const OpenSink& open) { return predicate(*open.sink); });
  }

  template <class Action>
  void for_each(Action&& action) {
    for (auto& [sink, has_failed] : sinks_) {
      try {
        action(*sink);
        has_failed = false;
      } catch (const std::exception& error) {
        if (!std::exchange(has_failed, true))
          log::warning("a file that a metrics sink derives from result.json is not up to date: " + with_advice(error));
      }
    }
  }

 private:
  struct OpenSink {
    std::unique_ptr<metrics::Sink> sink;
    bool has_failed = false;
  };
  std::vector<OpenSink> sinks_;
};

/// Logs the number of reports in `run_dir` after `start.iteration`. These reports are removed, and the run repeats them.
void log_dropped_reports(const std::string& run_dir, const Reporter::Start& start) {
  const auto existing = static_cast<std::int64_t>(metrics::read_results(run_dir).size());
  if (existing <= start.iteration) return;
  const auto* reason =
      start.is_silent_program ? "the program continues from an earlier point" : "the run has no later checkpoint";
  const auto text = fmt::format("dropped {} after iteration {}, because {}; the iterations are repeated",
                                counted(existing - start.iteration, "report"), start.iteration, reason);
  start.iteration == 0 ? log::warning(text + ". The run starts again from the beginning") : log::info(text);
}

class FileReporter : public Reporter {
 public:
  FileReporter(const config::RunSpec& spec, io::FencedDirectory run_dir, const Callbacks& callbacks,
               const rundir::Meter& meter)
      : run_dir_(std::move(run_dir)),
        is_detailed_(spec.metrics.detailed),
        callbacks_(callbacks),
        sinks_(spec, run_dir_, meter) {}

  void begin(const Start& start) override {
    log_dropped_reports(run_dir_.path(), start);
    auto opened = metrics::ResultLog::open(run_dir_, start.iteration, start.reports_of);
    log_.emplace(std::move(opened.log));
    auto first = metrics::Moment::now();
    first.monotonic_s -= start.iteration_s;
    autofill_.emplace(is_detailed_, opened.history, first);
    sinks_.for_each([&](metrics::Sink& sink) {
      sink.at_step(start.step);
      sink.begin(opened.history);
    });
  }

  void expect(std::int64_t total) override {
    sinks_.for_each([&](metrics::Sink& sink) { sink.expect_iterations(total); });
  }

  bool wants_state(std::int64_t iteration) const override {
    return sinks_.any([&](const metrics::Sink& sink) { return sink.wants_state(iteration); });
  }

  void show(const State& state, std::int64_t iteration) override {
    HostTensors tensors;
    sinks_.for_each([&](metrics::Sink& sink) {
      if (sink.wants_state(iteration))
        sink.at_state(state, [&](const TensorEntry& entry) { return tensors.bytes_of(entry); });
    });
  }

  void write(metrics::Record record, std::int64_t step, const metrics::TimeSpent& time) override {
    warn_of_nan(record);
    autofill_->fill(record, metrics::Moment::now(), time, step);
    log_->append(record);
    sinks_.for_each([&](metrics::Sink& sink) {
      sink.at_step(step);
      sink.write(record);
    });
    callbacks_.report(record);
  }

  void sync() override { log_->sync(); }

  void update_derived() override {
    sinks_.for_each([](metrics::Sink& sink) { sink.sync(); });
  }

  void end() override {
    sinks_.for_each([](metrics::Sink& sink) { sink.end(); });
  }

 private:
  /// Logs one warning, at the first report in which a metric is NaN.
  void warn_of_nan(const metrics::Record& record) {
    if (has_warned_of_nan_) return;
    for (const auto& [name, value] : record.values) {
      const auto* number = std::get_if<double>(&value);
      if (number == nullptr || !std::isnan(*number)) continue;
      has_warned_of_nan_ = true;
      return log::run_warning(fmt::format(
          "the metric '{}' is NaN in report {}: the training may have diverged, or the data may have missing values, which "
          "`trainrt data inspect` counts. Later NaNs are not reported",
          name, record.iteration));
    }
  }

  io::FencedDirectory run_dir_;
  bool is_detailed_;
  bool has_warned_of_nan_ = false;
  const Callbacks& callbacks_;
  std::optional<metrics::ResultLog> log_;
  std::optional<metrics::Autofill> autofill_;
  OpenSinks sinks_;
};

std::vector<metrics::ChosenSink> sinks_of(const config::RunSpec& spec) try {
  return metrics::choose_sinks(spec.metrics.sinks, spec.sink);
} catch (const UsageError& error) {
  throw UsageError(fmt::format("{}metrics.sinks = {}: {}", config::origin_prefix(spec.given, "metrics.sinks"),
                               join(spec.metrics.sinks), error.what()));
}

}  // namespace

std::vector<metrics::ChosenSink> chosen_sinks(const config::RunSpec& spec) {
  static_cast<void>(metrics::choose_sinks({}, spec.sink));  // throws for an invalid section, before sinks_of()
  return sinks_of(spec);
}

std::unique_ptr<Reporter> make_silent_reporter() { return std::make_unique<SilentReporter>(); }

std::unique_ptr<Reporter> make_reporter(const config::RunSpec& spec, const io::FencedDirectory& run_dir, int rank,
                                        const Callbacks& callbacks, const rundir::Meter& meter) {
  if (rank != 0) return make_silent_reporter();
  return std::make_unique<FileReporter>(spec, run_dir, callbacks, meter);
}

}  // namespace trainrt::trainer
