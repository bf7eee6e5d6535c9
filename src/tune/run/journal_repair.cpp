#include "tune/run/journal_repair.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "metrics/result_log.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/records/run_record.hpp"
#include "tune/record/claims.hpp"
#include "tune/record/history.hpp"
#include "tune/trials/trial_callback.hpp"

namespace trainrt::tune {

namespace {

struct RunName {
  std::uint64_t trial = 0;
  int generation = 1;
};

/// Parses the name of a trial's run, "trial_00003" or "trial_00003-2". Returns nullopt for other names.
std::optional<RunName> run_in(const std::string& name) {
  const std::string prefix = "trial_";
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto dash = name.find('-');
  const auto trial = parse_integer(name.substr(prefix.size(), dash - prefix.size()));
  const auto generation = dash == std::string::npos ? std::optional<std::int64_t>(1) : parse_integer(name.substr(dash + 1));
  if (!trial || !generation || *trial < 0 || *generation < 1) return std::nullopt;
  return RunName{static_cast<std::uint64_t>(*trial), static_cast<int>(*generation)};
}

/// Returns the newest generation of each trial that has a run directory; each cloning of a trial begins a new
/// generation.
std::map<std::uint64_t, int> generations_of(const Sweep& sweep) {
  std::map<std::uint64_t, int> newest;
  for (const auto& name : io::list_if_exists(sweep.directory()))
    if (const auto run = run_in(name); run && io::exists(sweep.directory() + "/" + name + "/run.json"))
      newest[run->trial] = std::max(newest[run->trial], run->generation);
  return newest;
}

class JournalRepair {
 public:
  enum class Mode : std::uint8_t { compare, write };
  JournalRepair(const Sweep& sweep, Mode mode)
      : sweep_(sweep), mode_(mode), scheduler_(sweep.scheduler()), reader_(sweep.journal()) {
    reader_.read([this](int writer, const std::string& json) { history_.take(writer, json); });
  }

  /// Compares the records of all trials with their runs. In mode `write`, writes the missing records. Returns whether
  /// any record was missing.
  bool run() {
    for (const auto& [trial, generation] : generations_of(sweep_))
      if (trial < sweep_.trials()) compare(trial, generation);
    if (records_ > 0 && mode_ == Mode::write) warn();
    return records_ > 0;
  }

 private:
  void warn() const {
    if (reader_.positions().empty())
      return log::info(fmt::format("wrote the journal in {} from the run directories of {}", sweep_.journal(),
                                   counted(static_cast<std::int64_t>(trials_.size()), "trial")));
    log::warning(fmt::format("the journal in {} lacked {} of {}; restored from their run directories. Damaged files: {}",
                             sweep_.journal(), counted(static_cast<std::int64_t>(records_), "record"),
                             counted(static_cast<std::int64_t>(trials_.size()), "trial"), join(places_)));
  }

  void compare(std::uint64_t trial, int generation) {
    const auto& known = history_.trial(trial);
    const auto run_dir = sweep_.directory() + "/" + sweep_.name_of(trial, generation);
    if (run_is_alive(run_dir)) return;
    if (generation > known.generation) return refuse(trial, "by which it became " + sweep_.name_of(trial, generation));
    if (const auto params = lost_params(known, run_dir); known.attempt == 0 || !params.empty())
      write(begin_record(trial, std::max(known.attempt, newest_claim(trial)), generation, params), trial);
    if (generation == 1) compare_reports(trial, run_dir, known);  // a clone's reports begin with its donor's
  }

  /// Returns the values that a searcher program chose for a trial. Because their record in the journal is missing, they
  /// are read from the run.
  Params lost_params(const Trial& known, const std::string& run_dir) const {
    Params params;
    if (sweep_.searcher_program().empty() || !known.params.empty()) return params;
    const auto record = rundir::read_seen_run_record(run_dir);
    for (const auto& dimension : sweep_.space().dimensions()) {
      const bool is_loop = dimension.key.starts_with("loop.");
      const auto& texts = is_loop ? record.loop : record.spec;
      const auto found = texts.find(is_loop ? dimension.key.substr(5) : dimension.key);
      if (found != texts.end()) params[dimension.key] = found->second;
    }
    return params;
  }

  int newest_claim(std::uint64_t trial) const {
    int attempt = 1;
    while (io::exists(claim_file(sweep_, trial, attempt + 1))) ++attempt;
    return attempt;
  }

  /// Restores missing reports up to the newest checkpoint. The journal must have contained them, because each report is
  /// recorded before such a checkpoint is committed.
  void compare_reports(std::uint64_t trial, const std::string& run_dir, const Trial& known) {
    const auto newest = checkpoint::newest(run_dir);
    if (!newest) return;
    for (const auto& report : metrics::read_results(run_dir)) {
      const ReportPosition at{1, report.iteration};
      const auto metric = report.number(sweep_.metric());
      if (report.iteration > newest->iteration || !scheduler_->wants(trial, report.iteration) || !metric) continue;
      if (known.reports.contains(at)) continue;
      const auto kind = verdict_of(run_dir, report.iteration);
      if (kind == Verdict::Kind::pause && scheduler_->takes_turns() && report.iteration == newest->iteration)
        return refuse(trial, fmt::format("of the decision at report {} (continue or become a clone)", report.iteration));
      write(decision_record({{trial, at, sweep_.score_of(*metric)}, {kind}}), trial);
    }
  }

  /// Returns the scheduler's decision about the trial at report `iteration`: stop or pause if an attempt in `run_dir`
  /// recorded it as the reason for its end, otherwise go_on.
  static Verdict::Kind verdict_of(const std::string& run_dir, std::int64_t iteration) {
    using Kind = Verdict::Kind;
    for (const auto& attempt : rundir::read_attempts(run_dir))
      for (const auto kind : {Kind::stop, Kind::pause})
        if (attempt.why.ends_with(reason_of_stop(kind, iteration))) return kind;
    return Kind::go_on;
  }

  void write(const std::string& record, std::uint64_t trial) {
    ++records_;
    if (mode_ == Mode::compare) return;
    if (!writer_) {
      writer_.emplace(JournalWriter::claimed(sweep_.journal(), newest_claimer()));
      writer_->append(writer_record(rundir::this_owner()), true);
    }
    writer_->append(record, true);
    if (trials_.insert(trial).second)
      if (const auto place = place_of(trial); std::ranges::find(places_, place) == places_.end()) places_.push_back(place);
  }

  /// Returns the highest number of a journal file in the claims. A new journal file must get a higher number, even if
  /// old files were removed: with the number of a removed file, its trials would seem to be running.
  int newest_claimer() const {
    int newest = 0;
    for (const auto& name : io::list_if_exists(sweep_.claims()))
      if (const auto writer = parse_integer(io::read_file(sweep_.claims() + "/" + name)))
        newest = std::max(newest, static_cast<int>(*writer));
    return newest;
  }

  /// Returns, for an error message, the journal file that should contain the records of the trial's newest attempt,
  /// with the line of the damage if it is known.
  std::string place_of(std::uint64_t trial) const {
    const auto claim = claim_file(sweep_, trial, newest_claim(trial));
    const auto writer = io::exists(claim) ? parse_integer(io::read_file(claim)) : std::nullopt;
    if (!writer) return fmt::format("an unknown file ({} cannot be read)", claim);
    const auto number = static_cast<int>(*writer);
    const auto path = journal_file(sweep_.journal(), number);
    const auto& damaged = reader_.damaged();
    const auto line = std::ranges::find(damaged, number, &JournalReader::Line::writer);
    if (line != damaged.end()) return fmt::format("{}:{} (damaged)", path, line->number);
    if (!io::exists(path)) return path + " (missing)";
    return fmt::format("{}:{} (ends there)", path, reader_.lines_of(number) + 1);
  }

  void refuse(std::uint64_t trial, const std::string& record) {
    ++records_;
    if (mode_ == Mode::compare) return;
    throw UsageError(
        fmt::format("{}: the record {} is missing, and the run of trial {} does not contain it. Restore the journal "
                    "from a backup, or start a new sweep with --run.name=NAME",
                    place_of(trial), record, trial));
  }

  const Sweep& sweep_;
  Mode mode_;
  std::unique_ptr<Scheduler> scheduler_;
  JournalReader reader_;
  History history_;
  std::optional<JournalWriter> writer_;
  std::uint64_t records_ = 0;
  std::set<std::uint64_t> trials_;
  std::vector<std::string> places_;
};

}  // namespace

void repair_journal(const Sweep& sweep) {
  using Mode = JournalRepair::Mode;
  if (!JournalRepair(sweep, Mode::compare).run()) return;
  std::this_thread::sleep_for(std::chrono::seconds(1));  // the first listing may have been incomplete
  JournalRepair(sweep, Mode::write).run();
}

}  // namespace trainrt::tune
