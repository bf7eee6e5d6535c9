#include "trainer/watching/speed_watch.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/rank_zero.hpp"
#include "io/files/file.hpp"

namespace trainrt::trainer {

using watch::StepTime;
using watch::WindowTimes;
using watch::Work;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t min_window = 50, max_window = 100000;
constexpr double min_window_s = 0.5,
                 window_s_per_rank = 0.005;  // windows are longer with more ranks, since exchanging times then costs more
constexpr std::int64_t min_steps_to_warn = 200;
constexpr int min_windows_to_warn = 2;
constexpr double min_write_interval_s = 10, write_interval_s_per_byte = 0.01;

/// Creates the folder of the file `log`. Errors are ignored, since the first write of the file reports them.
void make_folder_of(const std::string& log) try {
  io::make_directories(std::filesystem::path(log).parent_path().string());
} catch (const Error&) {
}

double milliseconds(double seconds) { return 1000 * seconds; }
double rounded(double ratio) { return std::round(1000 * ratio) / 1000; }

/// Returns the length of the next window in steps, computed from the step durations in the last window. All ranks return
/// the same length.
std::size_t next_window(const std::vector<WindowTimes>& ranks) {
  const auto slowest = std::ranges::max(ranks, {}, &WindowTimes::own);
  const double step_s = std::max<double>(slowest.own + slowest.waits, 1e-9);
  const double window_s = std::max(min_window_s, window_s_per_rank * static_cast<double>(ranks.size()));
  return std::clamp(static_cast<std::size_t>(std::min(window_s / step_s, 1e9)), min_window, max_window);
}

template <class Field>
Json microseconds(const std::vector<WindowTimes>& ranks, Field field) {
  auto values = Json::array();
  for (const auto& rank : ranks) values.push_back(std::llround(1e6 * static_cast<double>(std::invoke(field, rank))));
  return values;
}

/// Returns the time for each kind of work in microseconds: the median over the ranks. For reports, returns the time of rank
/// 0, which writes the files.
Json work_of(const std::vector<WindowTimes>& ranks) {
  auto works = Json::object();
  for (const auto work : {Work::input, Work::forward, Work::backward, Work::report, Work::save}) {
    std::vector<float> seconds;
    for (const auto& rank : ranks) seconds.push_back(rank.of(work));
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>((seconds.size() - 1) / 2);
    if (work != Work::report) std::ranges::nth_element(seconds, middle);
    const double shown = work == Work::report ? seconds.front() : *middle;
    works[std::string(name_of(work))] = std::llround(1e6 * shown);
  }
  return works;
}

}  // namespace

SpeedWatch::SpeedWatch(comm::TimedCommunicator& communicator, Setup setup)
    : communicator_(communicator),
      setup_(std::move(setup)),
      log_(setup_.log),
      begun_(read()),
      added_(begun_),
      window_(min_window) {}

SpeedWatch::Reading SpeedWatch::read() const {
  return {monotonic_seconds(), communicator_.times().seconds, setup_.input_s()};
}

SpeedWatch::InWork::InWork(SpeedWatch& watch, Work work) : watch_(watch), outer_(watch.rare_work_) {
  watch_.add_rare_work(watch_.read());
  watch_.rare_work_ = work;
  if (outer_) return;
  watch_.rare_since_s_ = watch_.added_.now_s;
  watch_.first_call_s_ = watch_.communicator_.times().first_call_s;
}

/// Restores the time of the step's first collective, which marks the beginning of the backward pass. Collectives in reports
/// and saves must not set this time.
SpeedWatch::InWork::~InWork() {
  watch_.add_rare_work(watch_.read());
  watch_.rare_work_ = outer_;
  if (outer_) return;
  watch_.communicator_.begin_step(watch_.first_call_s_);
  if (watch_.first_call_s_ < 0) watch_.before_first_call_s_ += watch_.added_.now_s - watch_.rare_since_s_;
}

/// Adds the time since the last call of this function to the time of the running report or save, if there is one.
void SpeedWatch::add_rare_work(const Reading& now) {
  const auto last = std::exchange(added_, now);
  if (!rare_work_) return;
  const auto waits = now.calls_s - last.calls_s;
  rare_times_.of(*rare_work_) += static_cast<float>(now.now_s - last.now_s - waits);
  rare_times_.waits += static_cast<float>(waits);
}

StepTime SpeedWatch::step_time(const Reading& now) const {
  auto time = rare_times_;
  const double waits = now.calls_s - begun_.calls_s, input = now.input_s - begun_.input_s;
  const double rare = rare_times_.of(Work::report) + rare_times_.of(Work::save);
  const double compute = std::max(now.now_s - begun_.now_s - waits - input - rare, 0.0);
  const double first_call_s = communicator_.times().first_call_s;
  const double before =
      first_call_s < 0 ? compute : std::clamp(first_call_s - begun_.now_s - before_first_call_s_ - input, 0.0, compute);
  time.waits = static_cast<float>(waits);
  time.of(Work::input) = static_cast<float>(input);
  time.of(Work::forward) = static_cast<float>(before);
  time.of(Work::backward) = static_cast<float>(compute - before);
  return time;
}

void SpeedWatch::end_step(std::int64_t step) {
  const auto now = read();
  add_rare_work(now);
  if (skipped_-- <= 0) steps_.push_back(step_time(now));
  const bool ends_window = steps_.size() >= window_;
  if (ends_window) end_window(step);
  begun_ = ends_window ? read() : now;
  added_ = begun_;
  rare_times_ = {};
  before_first_call_s_ = 0;
  rare_since_s_ = begun_.now_s;
  first_call_s_ = -1;
  communicator_.begin_step();
}

void SpeedWatch::end_window(std::int64_t step) {
  auto mine = maker_.window_of(steps_);
  steps_.clear();
  const bool is_slow = finding_ && finding_->slow.rank == static_cast<std::size_t>(communicator_.rank());
  mine.facts = node_.sample(is_slow);
  std::vector<WindowTimes> ranks(static_cast<std::size_t>(communicator_.size()));
  const std::vector<std::size_t> counts(ranks.size(), sizeof mine);
  communicator_.all_gather(&mine, counts, Buffer{ranks.data(), ranks.size() * sizeof mine, DType::u8}, "times of steps");
  judge(ranks);
  RankZero(communicator_.rank()).run([&] { publish(ranks, step); });
  window_ = next_window(ranks);
}

void SpeedWatch::judge(const std::vector<WindowTimes>& ranks) {
  const auto found = watch::slow_rank_in(ranks);
  const bool lasts = found && finding_ && found->rank == finding_->slow.rank && found->work == finding_->slow.work;
  if (!lasts) {
    windows_ = 0;
    has_warned_ = false;
  }
  const auto& slowest = ranks[found ? found->rank : 0];
  if (setup_.judged) setup_.judged(found, slowest.steps, slowest.steps * static_cast<double>(slowest.own + slowest.waits));
  if (!found) return finding_.reset();
  const auto before = lasts ? finding_->steps : 0;
  finding_ = Finding{*found, before + slowest.steps};
  ++windows_;
}

void SpeedWatch::publish(const std::vector<WindowTimes>& ranks, std::int64_t step) {
  write_window(ranks, step);
  if (!finding_ || finding_->steps < min_steps_to_warn || windows_ < min_windows_to_warn) return;
  if (!std::exchange(has_warned_, true)) warn(ranks[finding_->slow.rank]);
}

std::string SpeedWatch::text_of(const Finding& finding) const {
  const auto& slow = finding.slow;
  const auto host = slow.rank < setup_.hosts.size() ? fmt::format(" ({})", setup_.hosts[slow.rank]) : "";
  return fmt::format("rank {}{} is {:.0f} % slower than the median in {} for {} steps", slow.rank, host,
                     100 * (slow.ratio - 1), name_of(slow.work), finding.steps);
}

void SpeedWatch::warn(const WindowTimes& slow) const {
  log::warning(fmt::format("{}: {:.3g} ms per step, median {:.3g} ms{}", text_of(*finding_),
                           milliseconds(finding_->slow.own_s), milliseconds(finding_->slow.median_s),
                           reasons_in(slow.facts)));
}

/// Writes a window to the log. Skips the window if the previous one was written a short time ago and no new slow rank was
/// found.
void SpeedWatch::write_window(const std::vector<WindowTimes>& ranks, std::int64_t step) {
  const auto now_s = monotonic_seconds();
  const bool is_new_finding = finding_ && windows_ == 1;
  if (now_s - written_at_s_ < pause_s_ && !is_new_finding) return;
  Json line{{"time", utc_now()},
            {"step", step},
            {"steps", ranks[0].steps},
            {"own_us", microseconds(ranks, &WindowTimes::own)},
            {"waits_us", microseconds(ranks, &WindowTimes::waits)},
            {"work_us", work_of(ranks)}};
  if (finding_) {
    const auto& slow = finding_->slow;
    auto why = reasons_in(ranks[slow.rank].facts);
    if (!why.empty()) why.erase(0, 2);
    line["slow"] = {{"rank", slow.rank}, {"work", name_of(slow.work)}, {"ratio", rounded(slow.ratio)}, {"why", why}};
  }
  const auto text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  if (!std::exchange(has_folder_, true)) make_folder_of(setup_.log);
  log_.add(text);
  written_at_s_ = now_s;
  pause_s_ = std::max(min_write_interval_s, write_interval_s_per_byte * static_cast<double>(text.size()));
}

}  // namespace trainrt::trainer
