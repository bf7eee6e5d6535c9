// Writes a journal of many trials; prints the time to read it, and the time of a decision.
//   tune_probe FOLDER TRIALS WRITERS
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ranges>

#include <fmt/format.h>
#include <trainrt/random.hpp>

#include "core/host.hpp"
#include "tune/record/decision_log.hpp"
#include "tune/record/history.hpp"
#include "tune/search/scheduler.hpp"

using namespace trainrt;
using namespace trainrt::tune;

namespace {

std::unique_ptr<Scheduler> asha() {
  const auto& kind = find_plugin(scheduler_table(), "asha", "scheduler");
  return kind.open(checked(Options(), kind.options, "[tune.asha]"), {.seed = 1});
}

/// Writes trials, with each writer in turn. A trial has a decision at each rung (a report at which ASHA compares trials)
/// that it reaches.
void write_trials(std::vector<JournalWriter>& writers, std::uint64_t trials) {
  Random random(1, 0);
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    auto& writer = writers[trial % writers.size()];
    writer.append(begin_record(trial, 1, 1));
    for (std::int64_t rung = 1; rung <= (trial % 4 == 0 ? 16 : 1); rung *= 4) {
      const auto verdict = rung == 16 ? Verdict::Kind::stop : Verdict::Kind::go_on;
      writer.append(decision_record({{trial, {1, rung}, random.uniform()}, {verdict}}));
    }
    writer.append(end_record(
        {.trial = trial, .attempt = 1, .state = Trial::State::stopped, .iterations = 1, .last = 0.5, .best = 0.5}));
  }
}

/// Reads new records of the journal, and then asks the scheduler for a verdict, as a trial does at each report.
class Decider {
 public:
  explicit Decider(const std::string& folder) : reader_(folder), scheduler_(asha()) {}
  void catch_up() {
    reader_.read([this](int writer, const std::string& json) { history_.take(writer, json); });
    for (const auto& decision : history_.decisions() | std::views::drop(observed_)) scheduler_->observe(decision.report);
    observed_ = history_.decisions().size();
  }
  Verdict decide(const TrialReport& report) {
    catch_up();
    return scheduler_->verdict(report);
  }

 private:
  JournalReader reader_;
  History history_;
  std::unique_ptr<Scheduler> scheduler_;
  std::size_t observed_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return EXIT_FAILURE;
  const std::string folder = argv[1];
  const auto trials = static_cast<std::uint64_t>(std::atoll(argv[2]));
  std::vector<JournalWriter> writers;
  for (int i = 0; i < std::atoi(argv[3]); ++i) writers.push_back(JournalWriter::claimed(folder));
  write_trials(writers, trials);
  std::uint64_t bytes = 0;
  for (const auto& writer : writers) bytes += std::filesystem::file_size(writer.path());
  Decider decider(folder);
  const auto began_s = monotonic_seconds();
  decider.catch_up();
  const auto read_s = monotonic_seconds() - began_s;
  std::vector<DecisionLog> logs;
  for (const auto& writer : writers) logs.emplace_back(folder, writer.number());
  Positions read;
  std::vector<double> decisions_s;
  for (std::uint64_t trial = trials; trial < trials + 101; ++trial) {
    auto& writer = writers[trial % writers.size()];
    writer.append(begin_record(trial, 1, 1));
    const auto at_s = monotonic_seconds();
    const TrialReport report{trial, {1, 1}, 0.5};
    for (const auto& other : writers) read[other.number()] += 100;  // all writers have written since the last decision
    logs.at(trial % writers.size()).write({report, decider.decide(report)}, read);
    decisions_s.push_back(monotonic_seconds() - at_s);
  }
  std::ranges::sort(decisions_s);
  fmt::print("journal_bytes={} first_read_ms={:.3f} decision_ms={:.3f}\n", bytes, 1e3 * read_s,
             1e3 * decisions_s[decisions_s.size() / 2]);
}
