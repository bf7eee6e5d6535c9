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

#include "core/child_process.hpp"
#include "core/host.hpp"
#include "core/options.hpp"
#include "core/text.hpp"

namespace trainrt::batch {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
}

Lease::Answer from_end_time(const std::string& epoch_seconds) {
  const auto end = parse_integer(epoch_seconds);
  if (!end) return {};
  return {.known = true, .seconds = std::max(0.0, std::difftime(static_cast<std::time_t>(*end), std::time(nullptr)))};
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

Lease::Ask ask_slurm(const Environment& environment) {
  auto job = environment.text("SLURM_JOB_ID").value_or("");
  if (!is_number(job)) return {};
  // One task of an array has the number of the whole, and would get the times of all.
  const auto array = environment.text("SLURM_ARRAY_JOB_ID").value_or("");
  const auto task = environment.text("SLURM_ARRAY_TASK_ID").value_or("");
  if (is_number(array) && is_number(task)) job = array + "_" + task;
  const auto end_time = environment.text("SLURM_JOB_END_TIME").value_or("");
  return [job, end_time](const std::atomic<bool>& cancelled) {
    const auto output = run_child({"squeue", "--noheader", "--job=" + job, "--format=%L"}, 20, cancelled);
    const auto answer = output && output->exit_code == 0 ? parse_time_left(output->text) : Lease::Answer();
    return answer.known ? answer : from_end_time(end_time);
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
  std::atomic<double> ends_at = never;  // on monotonic_seconds()
  std::atomic<double> notice = never;   // never: not known
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
      if (const auto answer = ask(ending); answer.known) ends_at = answer.seconds ? asked_at + *answer.seconds : never;
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
  // Time to end the program that it asks, but not as much as a question may take.
  shared_->changed.wait_for(lock, std::chrono::milliseconds(300), [this] { return !shared_->asking; });
}

std::optional<double> Lease::remaining() const {
  const double end = shared_->ends_at;
  if (end == never) return std::nullopt;
  return end - monotonic_seconds();
}

std::optional<double> Lease::notice() const {
  const double seconds = shared_->notice;
  return seconds == never ? std::nullopt : std::optional(seconds);
}

}  // namespace trainrt::batch
