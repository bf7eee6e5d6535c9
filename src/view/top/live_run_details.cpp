// Functions of LiveRun that compute the resource usage and the events of a run.
#include <algorithm>
#include <filesystem>
#include <span>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "core/host.hpp"
#include "core/text/display_width.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/records/point_words.hpp"
#include "rundir/usage/usage_summary.hpp"
#include "view/top/live_run.hpp"

namespace trainrt::view {

namespace {

constexpr std::size_t max_checkpoints = 3, max_hangs = 5, max_text_bytes = 400;

/// Returns `number`, or 0 if it is negative. A negative number means unknown.
double known(std::int64_t number) { return static_cast<double>(std::max<std::int64_t>(number, 0)); }

std::string brief_line(const std::string& text) { return plain_text(excerpt(first_line(text), max_text_bytes)); }

void add_attempts(std::vector<Event>& events, std::span<const rundir::AttemptRecord> attempts) {
  for (const auto& attempt : attempts) {
    events.push_back(
        {attempt.start, fmt::format("attempt {} started with {} on {}", attempt.number, counted(attempt.ranks, "rank"),
                                    counted(static_cast<std::int64_t>(attempt.nodes.size()), "node"))});
    if (!attempt.end.empty())
      events.push_back({attempt.end, fmt::format("attempt {} ended: {}", attempt.number, brief_line(attempt.why)),
                        rundir::went_wrong(rundir::state_of(attempt))});
  }
}

std::string time_of_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto age = fs::file_time_type::clock::now() - fs::last_write_time(path, error);
  return error ? "" : utc_before(std::chrono::duration<double>(age).count());
}

}  // namespace

/// Adds an event for each of the newest checkpoints. Manifests do not change; each manifest is therefore read only
/// once.
void LiveRun::add_checkpoints(std::vector<Event>& events) {
  auto numbers = checkpoint::numbers_in(run_dir_);
  if (numbers.size() > max_checkpoints) numbers.erase(numbers.begin(), numbers.end() - max_checkpoints);
  std::map<std::int64_t, Event> found;
  for (const auto number : numbers) try {
      const auto known = checkpoints_.find(number);
      const auto name = checkpoint::directory_name(number);
      if (known != checkpoints_.end()) {
        found.insert(*known);
        continue;
      }
      const auto meta = checkpoint::read_manifest(run_dir_ + "/" + name).meta;
      found[number] = {meta.created,
                       fmt::format("{} saved at {}", name, rundir::point_in_words(meta.step, meta.iteration))};
    } catch (const Error&) {
      // the checkpoint is damaged, or was removed in the meantime
    }
  checkpoints_ = std::move(found);
  for (const auto& [number, event] : checkpoints_) events.push_back(event);
}

void LiveRun::add_files(std::vector<Event>& events, const LiveStatus& now) const {
  if (const auto path = run_dir_ + "/error.txt"; io::exists(path)) try {
      const auto text = io::read_file(path);
      const auto time = text.substr(0, text.find(' '));
      if (is_utc(time)) events.push_back({time, "error.txt: " + brief_line(text.substr(time.size() + 1)), true});
    } catch (const Error&) {
      // a new attempt has removed the file in the meantime
    }
  for (const auto& attempt : std::span(now.attempts).last(std::min(now.attempts.size(), max_hangs))) {
    const auto folder = rundir::hang_folder(attempt.number);
    if (const auto time = time_of_file(run_dir_ + "/" + folder); !time.empty())
      events.push_back({time, "the ranks hang; their stack traces are in " + folder, true});
  }
}

std::vector<Event> LiveRun::events_of(const LiveStatus& now) {
  std::vector<Event> events;
  add_attempts(events, now.attempts);
  add_checkpoints(events);
  add_files(events, now);
  events.insert(events.end(), slow_.begin(), slow_.end());
  std::erase_if(events, [](const Event& event) { return !is_utc(event.time); });
  std::ranges::stable_sort(events, {}, &Event::time);
  return events;
}

Usage LiveRun::usage_of(const LiveStatus& now) {
  Usage usage;
  if (ranks_.empty() || now.attempts.empty()) return usage;
  used_before_.resize(ranks_.size(), {.time = now.attempts.back().start});
  rates_.resize(ranks_.size());
  double cpus = 0, read = 0, written = 0, gpu = 0, gpu_memory = 0;
  int gpus = 0;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (!ranks_[i]) continue;
    const auto& rank = *ranks_[i];
    auto& [seconds, rate] = rates_[i];
    auto& before = used_before_[i];
    if (const double since = is_utc(before.time) ? seconds_between(before.time, rank.time) : 0; since > 0) {
      seconds = since;
      rate = {{}, rank.cpu_s - before.cpu_s, known(rank.read) - before.read, known(rank.written) - before.written};
      before = {rank.time, rank.cpu_s, known(rank.read), known(rank.written)};
    }
    usage.memory += known(rank.rss);
    usage.peak_memory += known(rank.peak);
    if (rank.gpu) gpu += *rank.gpu, ++gpus;
    gpu_memory += known(rank.gpu_memory.value_or(0));
    if (seconds <= 0 || rank.ended) continue;
    cpus += std::max(0.0, rate.cpu_s / seconds);
    read += std::max(0.0, rate.read / seconds);
    written += std::max(0.0, rate.written / seconds);
  }
  usage.cpus = cpus;
  usage.cpus_allowed = rundir::allowed_cpus(ranks_);
  usage.read_rate = read;
  usage.write_rate = written;
  if (gpus > 0) usage.gpu = gpu / gpus, usage.gpu_memory = gpu_memory;
  return usage;
}

}  // namespace trainrt::view
