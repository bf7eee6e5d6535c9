#include "tune/trials/trial_end.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>
#include <trainrt/result.hpp>

#include "core/files/guarded_tree.hpp"
#include "core/restart_help.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "tune/trials/missing_metric.hpp"

namespace trainrt::tune {

namespace {

/// Returns the values of the metric in all reports; empty if they are not numbers, or if there are no reports.
std::vector<double> numbers_of(const Result& result, const std::string& metric) {
  const auto column = result.columns.find(metric);
  if (column == result.columns.end()) return {};
  if (const auto* reals = std::get_if<std::vector<double>>(&column->second)) return *reals;
  const auto* whole = std::get_if<std::vector<std::int64_t>>(&column->second);
  return whole == nullptr ? std::vector<double>() : std::vector<double>(whole->begin(), whole->end());
}

/// Returns the missing metric if the trial failed because its last report has no number for tune.metric.
std::optional<MissingMetric> missing_metric(const Result& result, const Sweep& sweep, const std::string& error) {
  if (sweep.metric().empty() || result.metrics.empty()) return std::nullopt;
  const auto missing = missing_metric_in(result.metrics, sweep.metric());
  return missing && error.find(trial_error(*missing)) != std::string::npos ? missing : std::nullopt;
}

void take_result(const Result& result, const Sweep& sweep, TrialEnd& end) {
  end.why = first_line(result.error);
  end.missing_metric = missing_metric(result, sweep, end.why);
  const auto numbers = numbers_of(result, sweep.metric());
  if (const auto found = result.metrics.find("_training_iteration"); found != result.metrics.end())
    end.iterations = static_cast<std::int64_t>(as_real(found->second));
  if (numbers.empty()) return;
  end.last = numbers.back();
  end.best = *std::ranges::max_element(numbers, {}, [&](double number) { return sweep.score_of(number); });
}

bool was_stopped(const History& history, std::uint64_t trial) {
  return std::ranges::any_of(history.decisions(), [&](const auto& decision) {
    return decision.report.trial == trial && decision.verdict.kind == Verdict::Kind::stop;
  });
}

/// Returns the last 64 KiB of a file; "" if it cannot be read.
std::string end_of_file(const std::string& path) {
  constexpr off_t max_bytes = 65536;
  const io::Descriptor file(open_guarded(path, O_RDONLY));
  const auto size = lseek(file.get(), 0, SEEK_END);
  if (size <= 0) return {};
  std::string text(static_cast<std::size_t>(std::min(size, max_bytes)), '\0');
  const auto count = pread(file.get(), text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return text;
}

/// Returns the text of the last error line of trainrt, or "".
std::string last_error_in(const std::string& output) {
  constexpr std::string_view mark = "error: ";
  std::istringstream lines(output);
  std::string error;
  for (std::string line; std::getline(lines, line);)
    if (const auto at = line.find(mark); line.starts_with("trainrt: ") && at != std::string::npos)
      error = line.substr(at + mark.size());
  return error;
}

}  // namespace

TrialEnd end_of(const Sweep& sweep, const History& history, const Claim& claim, int exit_code, bool was_signalled) {
  constexpr int signalled = 128;
  TrialEnd end{.trial = claim.trial, .attempt = claim.attempt};
  const auto log = fmt::format("{}/{}.log", sweep.directory(), sweep.name_of(claim.trial));
  bool has_run = true, is_permanent = false;
  try {
    const auto run = sweep.directory() + "/" + sweep.name_of(claim.trial, history.trial(claim.trial).generation);
    take_result(Result::from_path(run), sweep, end);
    const auto attempts = rundir::read_attempts(run);
    is_permanent = !attempts.empty() && attempts.back().is_permanent;
  } catch (const Error&) {  // no run directory was created
    has_run = false;
    end.why = fmt::format("exited with {}; see {}", exit_code, log);
  }
  if (exit_code != static_cast<int>(ExitCode::usage))
    end.missing_metric.reset();  // an error of an earlier attempt
  else if (end.missing_metric)
    end.why = trial_error(*end.missing_metric);
  else if (const auto error = last_error_in(end_of_file(log)); !error.empty())
    end.why = error;  // the run directory of a refused config is removed again
  if (exit_code == static_cast<int>(ExitCode::finished)) {
    const bool early = was_stopped(history, claim.trial);
    end.state = early ? Trial::State::stopped : Trial::State::finished;
    // The journal stores this text; StopReason replaces it by a more exact one before the user sees it.
    end.why = early ? fmt::format("stopped early by the scheduler at report {}", end.iterations) : "";
  } else if (exit_code == static_cast<int>(ExitCode::stopped) || (was_signalled && exit_code == signalled + SIGUSR1)) {
    end.state = Trial::State::paused;  // if SIGUSR1 killed it, the handler was not installed yet
    if (!has_run) end.why = "stopped before its run began; the next start of the sweep continues it";
  } else {
    end.state = Trial::State::failed;
    if (end.why.empty()) end.why = fmt::format("exited with {}; see {}", exit_code, log);
    if (!restart_may_help(exit_code) || is_permanent) end.final_up_to = sweep.max_failures();
  }
  return end;
}

}  // namespace trainrt::tune
