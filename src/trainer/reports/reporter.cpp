#include "trainer/reports/reporter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "checkpoint/collective.hpp"
#include "comm/agreement.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "metrics/aggregate.hpp"
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

class FileReporter : public Reporter {
 public:
  FileReporter(const config::RunSpec& spec, io::FencedDirectory run_dir, const Callbacks& callbacks,
               const rundir::Meter& meter)
      : run_dir_(std::move(run_dir)), detailed_(spec.metrics.detailed), callbacks_(callbacks) {
    const auto record = rundir::read_run_record(run_dir_.path());
    for (const auto& [name, kind, options] : chosen_sinks(spec))
      sinks_.push_back({kind->open({run_dir_, spec.run.name, spec.metrics.every_report, options, name,
                                    record ? record->run_id : "", config_of(spec), TimeLeft(run_dir_.path(), meter)})});
  }

  void begin(const Start& start) override {
    say_what_is_repeated(start);
    auto opened = metrics::ResultLog::open(run_dir_, start.iteration, start.other_run);
    log_.emplace(std::move(opened.log));
    auto first = metrics::Moment::now();
    first.monotonic_s -= start.iteration_s;
    autofill_.emplace(detailed_, opened.history, first);
    for_sinks([&](metrics::Sink& sink) {
      sink.at_step(start.step);
      sink.begin(opened.history);
    });
  }

  void expect(std::int64_t total) override {
    for_sinks([&](metrics::Sink& sink) { sink.expect_iterations(total); });
  }

  void show(const State& state, std::int64_t iteration) override {
    const auto wants = [&](const OpenSink& open) { return open.sink->wants_state(iteration); };
    if (std::ranges::none_of(sinks_, wants)) return;
    state.bring_up_to_date();
    HostTensors tensors;
    for_sinks([&](metrics::Sink& sink) {
      if (sink.wants_state(iteration))
        sink.at_state(state, [&](const TensorEntry& entry) { return tensors.bytes_of(entry); });
    });
  }

  void write(metrics::Record record, std::int64_t step, const metrics::TimeSpent& time) override {
    autofill_->fill(record, metrics::Moment::now(), time, step);
    log_->append(record);
    for_sinks([&](metrics::Sink& sink) {
      sink.at_step(step);
      sink.write(record);
    });
    callbacks_.report(record);
  }

  void sync() override { log_->sync(); }

  void update_derived() override {
    for_sinks([](metrics::Sink& sink) { sink.sync(); });
  }

  void end() override {
    for_sinks([](metrics::Sink& sink) { sink.end(); });
  }

 private:
  void say_what_is_repeated(const Start& start) const {
    const auto iteration = start.iteration;
    const auto there = static_cast<std::int64_t>(metrics::read_results(run_dir_.path()).size());
    if (there <= iteration) return;
    const auto text =
        fmt::format("dropped, and made again, since {}: {} after iteration {}",
                    start.of_silent_program ? "the program has gone back to before it" : "no checkpoint includes it",
                    counted(there - iteration, "report"), iteration);
    iteration == 0 ? log::warning(text + ". The run begins anew") : log::info(text);
  }

  template <class Action>
  void for_sinks(Action&& action) {
    for (auto& [sink, is_behind] : sinks_) {
      try {
        action(*sink);
        is_behind = false;
      } catch (const std::exception& error) {
        if (!std::exchange(is_behind, true))  // once, however long it lasts
          log::warning("a file derived from result.json is not up to date: " + with_advice(error));
      }
    }
  }

  struct OpenSink {
    std::unique_ptr<metrics::Sink> sink;
    bool is_behind = false;
  };

  io::FencedDirectory run_dir_;
  bool detailed_;
  const Callbacks& callbacks_;
  std::optional<metrics::ResultLog> log_;
  std::optional<metrics::Autofill> autofill_;
  std::vector<OpenSink> sinks_;
};

}  // namespace

std::vector<metrics::ChosenSink> chosen_sinks(const config::RunSpec& spec) try {
  return metrics::choose_sinks(spec.metrics.sinks, spec.sink);
} catch (const UsageError& error) {
  throw UsageError(fmt::format("metrics.sinks = {}: {}", join(spec.metrics.sinks), error.what()));
}

std::unique_ptr<Reporter> make_silent_reporter() { return std::make_unique<SilentReporter>(); }

std::unique_ptr<Reporter> make_reporter(const config::RunSpec& spec, const io::FencedDirectory& run_dir, int rank,
                                        const Callbacks& callbacks, const rundir::Meter& meter) {
  if (rank != 0) return make_silent_reporter();
  return std::make_unique<FileReporter>(spec, run_dir, callbacks, meter);
}

metrics::Record aggregate_report(const Metrics& metrics, std::int64_t iteration, Communicator& communicator) {
  auto encoded = metrics::encode(metrics);
  const auto hash = static_cast<std::int64_t>(encoded.schema_hash >> 1);
  if (!comm::agree_min_max(communicator, hash).alike())
    throw comm::AgreedError("report(): " +
                            metrics::first_difference(communicator.all_gather(metrics::describe_keys(metrics))));
  communicator.all_reduce(encoded.sums, Op::sum);
  communicator.all_reduce(encoded.maxima, Op::max);
  return metrics::decode(metrics, encoded, iteration);
}

namespace {

std::string packed(const metrics::Record& record) {
  checkpoint::Packer packer;
  for (const auto& [key, value] : record.values) {
    packer.put(key).put(value.index());
    if (const auto* number = std::get_if<double>(&value)) packer.put(std::bit_cast<std::int64_t>(*number));
    if (const auto* whole = std::get_if<std::int64_t>(&value)) packer.put(*whole);
    if (const auto* text = std::get_if<std::string>(&value)) packer.put(*text);
  }
  return packer.bytes();
}

metrics::Record unpacked(std::string_view bytes, std::int64_t iteration) {
  metrics::Record record{iteration, {}};
  for (checkpoint::Unpacker unpacker(bytes); !unpacker.done();) {
    auto key = unpacker.text();
    const auto kind = unpacker.number();
    if (kind == 0)
      record.values.emplace_back(std::move(key), std::bit_cast<double>(unpacker.number()));
    else if (kind == 1)
      record.values.emplace_back(std::move(key), unpacker.number());
    else
      record.values.emplace_back(std::move(key), unpacker.text());
  }
  return record;
}

}  // namespace

metrics::Record first_rank_report(const Metrics& metrics, std::int64_t iteration, Communicator& communicator) {
  std::string mine;
  comm::collectively_on_first(communicator, [&] { mine = packed(metrics::unreduced_record(metrics, iteration)); });
  return unpacked(communicator.broadcast_text(std::move(mine), 0), iteration);
}

std::vector<metrics::Record> reports_of_ranks(const Metrics& metrics, std::int64_t iteration, Communicator& communicator) {
  std::string mine;
  try {
    mine = packed(metrics::unreduced_record(metrics, iteration));
  } catch (const Error&) {
    // If it counts it has been refused already.
  }
  std::vector<metrics::Record> records;
  for (const auto& bytes : communicator.all_gather(mine)) records.push_back(unpacked(bytes, iteration));
  return records;
}

}  // namespace trainrt::trainer
