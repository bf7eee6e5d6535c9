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

constexpr std::size_t least_window = 50, longest_window = 100000;
constexpr double least_window_s = 0.5, window_s_a_rank = 0.005;  // all ranks get what all ranks tell
constexpr std::int64_t steps_before_it_is_said = 200;
constexpr int windows_before_it_is_said = 2;
constexpr double between_lines_s = 10, seconds_a_byte = 0.01;  // of the kept windows

/// A failure shows when the log is written.
void make_folder_of(const std::string& log) try {
  io::make_directories(std::filesystem::path(log).parent_path().string());
} catch (const Error&) {
}

double milliseconds(double seconds) { return 1000 * seconds; }
double rounded(double ratio) { return std::round(1000 * ratio) / 1000; }

/// As long as the last steps were, it lasts half a second or, with many ranks, longer. The same on all ranks: of what they
/// have told each other.
std::size_t next_window(const std::vector<WindowTimes>& ranks) {
  const auto slowest = std::ranges::max(ranks, {}, &WindowTimes::own);
  const double step_s = std::max<double>(slowest.own + slowest.waits, 1e-9);
  const double window_s = std::max(least_window_s, window_s_a_rank * static_cast<double>(ranks.size()));
  return std::clamp(static_cast<std::size_t>(std::min(window_s / step_s, 1e9)), least_window, longest_window);
}

template <class Field>
Json microseconds(const std::vector<WindowTimes>& ranks, Field field) {
  auto values = Json::array();
  for (const auto& rank : ranks) values.push_back(std::llround(1e6 * static_cast<double>(std::invoke(field, rank))));
  return values;
}

/// Of each kind of work: the median rank's; of reports rank 0's, which writes their files.
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

SpeedWatch::SpeedWatch(comm::TimedCommunicator& communicator, Scene scene)
    : communicator_(communicator),
      scene_(std::move(scene)),
      log_(scene_.log),
      begun_(read()),
      booked_(begun_),
      window_(least_window) {}

SpeedWatch::Reading SpeedWatch::read() const {
  return {monotonic_seconds(), communicator_.times().seconds, scene_.input_s()};
}

SpeedWatch::At::At(SpeedWatch& watch, Work work) : watch_(watch), before_(watch.at_) {
  watch_.book(watch_.read());
  watch_.at_ = work;
  if (before_) return;
  watch_.away_at_s_ = watch_.booked_.now_s;
  watch_.first_call_s_ = watch_.communicator_.times().first_call_s;
}

/// Its own calls are not what the step's backward pass begins with.
SpeedWatch::At::~At() {
  watch_.book(watch_.read());
  watch_.at_ = before_;
  if (before_) return;
  watch_.communicator_.begin_step(watch_.first_call_s_);
  if (watch_.first_call_s_ < 0) watch_.before_first_call_s_ += watch_.booked_.now_s - watch_.away_at_s_;
}

/// The time since the last booking belongs to the report or save under way.
void SpeedWatch::book(const Reading& now) {
  const auto last = std::exchange(booked_, now);
  if (!at_) return;
  const auto waits = now.calls_s - last.calls_s;
  besides_.of(*at_) += static_cast<float>(now.now_s - last.now_s - waits);
  besides_.waits += static_cast<float>(waits);
}

StepTime SpeedWatch::step_time(const Reading& now) const {
  auto time = besides_;
  const double waits = now.calls_s - begun_.calls_s, input = now.input_s - begun_.input_s;
  const double rare = besides_.of(Work::report) + besides_.of(Work::save);
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
  book(now);
  if (skipped_-- <= 0) steps_.push_back(step_time(now));
  const bool ends_window = steps_.size() >= window_;
  if (ends_window) end_window(step);
  begun_ = ends_window ? read() : now;
  booked_ = begun_;
  besides_ = {};
  before_first_call_s_ = 0;
  away_at_s_ = begun_.now_s;
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
  RankZero(communicator_.rank()).run([&] { tell(ranks, step); });
  window_ = next_window(ranks);
}

void SpeedWatch::judge(const std::vector<WindowTimes>& ranks) {
  const auto found = watch::slow_rank_in(ranks);
  const bool lasts = found && finding_ && found->rank == finding_->slow.rank && found->work == finding_->slow.work;
  if (!lasts) {
    windows_ = 0;
    is_said_ = false;
  }
  const auto& slowest = ranks[found ? found->rank : 0];
  if (scene_.judged) scene_.judged(found, slowest.steps, slowest.steps * static_cast<double>(slowest.own + slowest.waits));
  if (!found) return finding_.reset();
  const auto before = lasts ? finding_->steps : 0;
  finding_ = Finding{*found, before + slowest.steps};
  ++windows_;
}

void SpeedWatch::tell(const std::vector<WindowTimes>& ranks, std::int64_t step) {
  keep(ranks, step);
  if (!finding_ || finding_->steps < steps_before_it_is_said || windows_ < windows_before_it_is_said) return;
  if (!std::exchange(is_said_, true)) say(ranks[finding_->slow.rank]);
}

std::string SpeedWatch::text_of(const Finding& finding) const {
  const auto& slow = finding.slow;
  const auto host = slow.rank < scene_.hosts.size() ? fmt::format(" ({})", scene_.hosts[slow.rank]) : "";
  return fmt::format("rank {}{} is {:.0f} % slower than the median in {} for {} steps", slow.rank, host,
                     100 * (slow.ratio - 1), name_of(slow.work), finding.steps);
}

void SpeedWatch::say(const WindowTimes& slow) const {
  log::warning(fmt::format("{}: {:.3g} ms a step, {:.3g} ms the median{}", text_of(*finding_),
                           milliseconds(finding_->slow.own_s), milliseconds(finding_->slow.median_s),
                           reasons_in(slow.facts)));
}

/// A window in which another rank is slow than in the last one is kept at once.
void SpeedWatch::keep(const std::vector<WindowTimes>& ranks, std::int64_t step) {
  const auto now_s = monotonic_seconds();
  const bool is_news = finding_ && windows_ == 1;
  if (now_s - kept_at_s_ < pause_s_ && !is_news) return;
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
  if (!std::exchange(has_folder_, true)) make_folder_of(scene_.log);
  log_.add(text);
  kept_at_s_ = now_s;
  pause_s_ = std::max(between_lines_s, seconds_a_byte * static_cast<double>(text.size()));
}

}  // namespace trainrt::trainer
