#include "batch/lease.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "batch/slurm_job.hpp"
#include "core/host.hpp"
#include "core/options.hpp"
#include "core/output/log.hpp"
#include "core/process/child_process.hpp"
#include "core/text/text.hpp"

namespace trainrt::batch {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

std::optional<double> if_known(double value) { return value == never ? std::nullopt : std::optional(value); }

double seconds_until(std::int64_t epoch_s) { return std::difftime(static_cast<std::time_t>(epoch_s), std::time(nullptr)); }

/// The start time and end time of the Slurm job according to its environment variables. Used if squeue does not answer.
class EnvironmentTimes {
 public:
  explicit EnvironmentTimes(const Environment& environment)
      : end_(parse_integer(environment.text("SLURM_JOB_END_TIME").value_or(""))),
        begin_(parse_integer(environment.text("SLURM_JOB_START_TIME").value_or(""))) {}

  Lease::Answer answer() {
    const bool is_first = !std::exchange(was_asked_, true);
    if (is_first && end_ && seconds_until(*end_) <= 0) discard("is in the past");
    if (!end_) return {};
    Lease::Answer answer{.known = true, .seconds = std::max(0.0, seconds_until(*end_))};
    if (begin_ && *begin_ < *end_) answer.length = static_cast<double>(*end_ - *begin_);
    return answer;
  }
  /// Discards the end time of the Slurm job, so that the job has no known time limit. Logs a warning with the reason
  /// `why`.
  void discard(const std::string& why) {
    if (!end_) return;
    log::warning(
        fmt::format("SLURM_JOB_END_TIME is ignored, because it {}: the run has no time limit. "
                    "If the job of this shell has ended, unset SLURM_JOB_ID and SLURM_JOB_END_TIME",
                    why));
    end_.reset();
  }

 private:
  std::optional<std::int64_t> end_;
  std::optional<std::int64_t> begin_;
  bool was_asked_ = false;
};

/// Returns whether the answer of squeue means that the job does not exist.
bool is_unknown_job(const ChildOutput& answer) {
  return answer.exit_code == 0 ? trim(answer.text).empty() : answer.text.find("Invalid job id") != std::string::npos;
}

}  // namespace

Lease::Answer parse_time_left(std::string_view text) {
  auto rest = trim(text);
  if (rest == "UNLIMITED" || rest == "NOT_SET") return {.known = true, .seconds = std::nullopt};
  double days = 0;
  if (const auto dash = rest.find('-'); dash != std::string::npos) {
    if (!is_number(rest.substr(0, dash))) return {};
    days = static_cast<double>(*parse_integer(rest.substr(0, dash)));
    rest = rest.substr(dash + 1);
  }
  double seconds = 0;
  int parts = 0;
  for (std::size_t at = 0; at <= rest.size(); ++parts) {
    const auto colon = std::min(rest.find(':', at), rest.size());
    const auto part = rest.substr(at, colon - at);
    if (!is_number(part) || part.size() > 9) return {};
    seconds = 60 * seconds + static_cast<double>(*parse_integer(part));
    at = colon + 1;
  }
  if (parts < 2 || parts > 3) return {};
  return {.known = true, .seconds = 86400 * days + seconds};
}

Lease::Answer parse_times(std::string_view text) {
  while (!text.empty()) {
    const auto line = trim(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    const auto blank = std::min(line.find(' '), line.size());
    auto answer = parse_time_left(line.substr(0, blank));
    if (!answer.known) continue;
    answer.length = parse_time_left(line.substr(blank)).seconds;
    return answer;
  }
  return {};
}

Lease::Ask ask_slurm(const Environment& environment) {
  if (!is_number(environment.text("SLURM_JOB_ID").value_or(""))) return {};
  const auto job = task_id_of(environment);
  return [job, times = EnvironmentTimes(environment)](const std::atomic<bool>& cancelled) mutable {
    const auto output =
        run_child({"squeue", "--noheader", "--job=" + job, "--format=%L %l"}, 20, cancelled, ChildErrors::with_output);
    const auto answer = output && output->exit_code == 0 ? parse_times(output->text) : Lease::Answer();
    if (answer.known || cancelled) return answer;
    if (!output || !is_unknown_job(*output)) return times.answer();
    times.discard(fmt::format("belongs to job {}, which Slurm does not know (any more)", job));
    return Lease::Answer{.known = true, .seconds = std::nullopt};
  };
}

std::optional<double> parse_setting_seconds(std::string_view shown, std::string_view key) {
  for (auto at = shown.find(key); at != std::string_view::npos; at = shown.find(key, at + 1)) {
    const bool whole_word = at == 0 || std::isspace(static_cast<unsigned char>(shown[at - 1])) != 0;
    auto rest = shown.substr(at + key.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (!whole_word || !rest.starts_with('=')) continue;
    rest.remove_prefix(1);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const auto digits = rest.substr(0, rest.find_first_not_of("0123456789"));
    if (is_number(digits) && digits.size() < 10) return static_cast<double>(*parse_integer(digits));
  }
  return std::nullopt;
}

Lease::AskNotice ask_slurm_notice(const Environment& environment) {
  const auto partition = environment.text("SLURM_JOB_PARTITION").value_or("");
  if (!environment.has("SLURM_JOB_ID")) return {};
  return [partition](const std::atomic<bool>& cancelled) -> std::optional<double> {
    const auto shown = [&](const std::vector<std::string>& command) {
      const auto output = run_child(command, 20, cancelled);
      return output && output->exit_code == 0 ? output->text : std::string();
    };
    const auto wait = parse_setting_seconds(shown({"scontrol", "show", "config"}), "KillWait");
    if (!wait || partition.empty()) return wait;
    return *wait + parse_setting_seconds(shown({"scontrol", "show", "partition", partition}), "GraceTime").value_or(0);
  };
}

struct Lease::Shared {
  Ask ask;
  AskNotice ask_notice;
  double every_seconds;
  std::atomic<double> ends_at = never;  // end of the job on the monotonic clock; `never` without a limit
  std::atomic<double> length = never;   // time limit of the job; `never` if it has no limit or the limit is unknown
  std::atomic<double> notice = never;   // seconds between SIGTERM and SIGKILL of a preemption; `never` if unknown
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> ending = false;
  bool asking = false;

  void keep_asking() {
    std::unique_lock lock(mutex);
    do {
      asking = true;
      lock.unlock();
      const auto asked_at = monotonic_seconds();
      if (const auto answer = ask(ending); answer.known) {
        length = answer.length.value_or(never);
        ends_at = answer.seconds ? asked_at + *answer.seconds : never;
      }
      if (const auto once = std::exchange(ask_notice, {})) notice = once(ending).value_or(never);
      lock.lock();
      asking = false;
      changed.notify_all();
    } while (!changed.wait_for(lock, std::chrono::duration<double>(every_seconds), [this] { return ending.load(); }));
  }
};

Lease::Lease(Ask ask, AskNotice ask_notice, double every_seconds) : shared_(std::make_shared<Shared>()) {
  shared_->ask = std::move(ask);
  shared_->ask_notice = std::move(ask_notice);
  shared_->every_seconds = every_seconds;
  if (shared_->ask) std::thread([shared = shared_] { shared->keep_asking(); }).detach();
}

Lease::~Lease() {
  std::unique_lock lock(shared_->mutex);
  shared_->ending = true;
  shared_->changed.notify_all();
  // The destructor waits 0.3 s for the background thread to end its squeue process, and no longer if the query blocks.
  shared_->changed.wait_for(lock, std::chrono::milliseconds(300), [this] { return !shared_->asking; });
}

std::optional<double> Lease::remaining() const {
  const auto end = if_known(shared_->ends_at);
  return end ? std::optional(*end - monotonic_seconds()) : std::nullopt;
}

std::optional<double> Lease::length() const { return if_known(shared_->length); }

std::optional<double> Lease::notice() const { return if_known(shared_->notice); }

}  // namespace trainrt::batch
