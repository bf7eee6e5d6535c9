#include "trainer/speed_watch.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/first_rank.hpp"
#include "core/host.hpp"
#include "core/log.hpp"

namespace trainrt::trainer {

using watch::SlowRank;
using watch::StepTime;
using watch::WindowTimes;
using watch::Work;

namespace {

constexpr std::size_t least_window = 50, longest_window = 5000;
constexpr double window_s = 0.5;
constexpr std::int64_t steps_before_it_is_said = 200;
constexpr double between_lines_s = 10, seconds_a_byte = 0.01;  // of the kept windows

double milliseconds(double seconds) { return 1000 * seconds; }

/// What the node knows of it.
std::string reasons_in(const WindowTimes& window) {
  std::string text;
  if (window.preempted >= 20) text += fmt::format("; other processes took its CPU {:.0f} times a second", window.preempted);
  if (window.stolen >= 0.05F)
    text += fmt::format("; the hypervisor took {:.0f} % of the node's CPU time", 100 * window.stolen);
  if (window.major_faults >= 5)
    text += fmt::format("; {:.0f} page faults a second were read from the disk", window.major_faults);
  if (window.clock_ghz > 0 && window.full_clock_ghz > 0)
    text += fmt::format("; clock {:.1f} GHz of {:.1f}", window.clock_ghz, window.full_clock_ghz);
  return text;
}

/// As long as the last steps were, it lasts half a second. The same on all ranks: of what they have told each other.
std::size_t next_window(const std::vector<WindowTimes>& ranks) {
  const auto slowest = std::ranges::max(ranks, {}, &WindowTimes::own);
  const double step_s = std::max<double>(slowest.own + slowest.waits, 1e-9);
  return std::clamp(static_cast<std::size_t>(std::min(window_s / step_s, 1e6)), least_window, longest_window);
}

}  // namespace

SpeedWatch::SpeedWatch(comm::TimedCommunicator& communicator, const RunDatasets& datasets, Scene scene)
    : communicator_(communicator),
      datasets_(datasets),
      scene_(std::move(scene)),
      log_(scene_.log),
      begun_(read()),
      window_(least_window) {}

SpeedWatch::Reading SpeedWatch::read() const {
  return {monotonic_seconds(), communicator_.seconds(), datasets_.waited_s()};
}

SpeedWatch::At::At(SpeedWatch& watch, Work work) : watch_(watch), before_(watch.at_) {
  const auto now = watch_.read();
  watch_.book(now);
  watch_.at_ = work;
}

SpeedWatch::At::~At() {
  watch_.book(watch_.read());
  watch_.at_ = before_;
}

/// The time since the last booking belongs to the report or save under way.
void SpeedWatch::book(const Reading& now) {
  const auto last = std::exchange(booked_, now);
  if (!at_) return;
  const auto waits = now.calls_s - last.calls_s;
  besides_.work[static_cast<std::size_t>(*at_)] += static_cast<float>(now.now_s - last.now_s - waits);
  besides_.waits += static_cast<float>(waits);
}

StepTime SpeedWatch::step_time(const Reading& now) const {
  auto time = besides_;
  const double waits = now.calls_s - begun_.calls_s, input = now.input_s - begun_.input_s;
  const double compute = now.now_s - begun_.now_s - waits - input - besides_.own();
  const double first_call_s = communicator_.first_call_s();
  const double before =
      first_call_s < 0 ? compute : std::clamp(first_call_s - begun_.now_s - input, 0.0, std::max(compute, 0.0));
  time.waits = static_cast<float>(waits);
  time.work[static_cast<std::size_t>(Work::input)] = static_cast<float>(input);
  time.work[static_cast<std::size_t>(Work::forward)] = static_cast<float>(before);
  time.work[static_cast<std::size_t>(Work::backward)] = static_cast<float>(std::max(compute - before, 0.0));
  return time;
}

void SpeedWatch::end_step(std::int64_t step) {
  if (communicator_.size() == 1) return;
  const auto now = read();
  book(now);
  if (skipped_-- <= 0) steps_.push_back(step_time(now));
  if (steps_.size() >= window_) end_window(step);
  begun_ = steps_.empty() ? read() : now;
  besides_ = {};
  communicator_.begin_step();
}

void SpeedWatch::end_window(std::int64_t step) {
  auto mine = watch::window_of(steps_);
  steps_.clear();
  const bool is_slow = slow_ && slow_->rank == static_cast<std::size_t>(communicator_.rank());
  facts_.look(mine, is_slow);
  std::vector<WindowTimes> ranks(static_cast<std::size_t>(communicator_.size()));
  const std::vector<std::size_t> counts(ranks.size(), sizeof mine);
  communicator_.all_gather(&mine, counts, Buffer{ranks.data(), ranks.size() * sizeof mine, DType::u8}, "times of steps");
  judge(ranks, step);
  window_ = next_window(ranks);
}

void SpeedWatch::judge(const std::vector<WindowTimes>& ranks, std::int64_t step) {
  const auto found = watch::slow_rank_in(ranks);
  const bool lasts = found && slow_ && found->rank == slow_->rank && found->work == slow_->work;
  if (!lasts) {
    slow_steps_ = 0;
    is_said_ = false;
  }
  slow_ = found;
  if (found) slow_steps_ += ranks[found->rank].steps;
  FirstRank(communicator_.rank()).does([&] {
    keep(ranks, found, step);
    if (found && slow_steps_ >= steps_before_it_is_said && !std::exchange(is_said_, true)) say(*found, ranks[found->rank]);
  });
}

void SpeedWatch::say(const SlowRank& slow, const WindowTimes& window) const {
  const auto host = slow.rank < scene_.hosts.size() ? fmt::format(" ({})", scene_.hosts[slow.rank]) : "";
  log::warning(fmt::format(
      "rank {}{} is {:.0f} % slower than the median in {} for {} steps: {:.3g} ms a step, {:.3g} ms the median{}",
      slow.rank, host, 100 * (slow.ratio - 1), name_of(slow.work), slow_steps_, milliseconds(slow.own_s),
      milliseconds(slow.median_s), reasons_in(window)));
}

void SpeedWatch::keep(const std::vector<WindowTimes>& ranks, const std::optional<SlowRank>& slow, std::int64_t step) {
  const auto now_s = monotonic_seconds();
  if (now_s - kept_at_s_ < pause_s_) return;
  using Json = nlohmann::ordered_json;
  const auto microseconds = [&](auto field) {
    auto values = Json::array();
    for (const auto& rank : ranks) values.push_back(std::llround(1e6 * static_cast<double>(rank.*field)));
    return values;
  };
  Json line{{"time", utc_now()},
            {"step", step},
            {"steps", ranks[0].steps},
            {"own_us", microseconds(&WindowTimes::own)},
            {"waits_us", microseconds(&WindowTimes::waits)}};
  if (slow)
    line["slow"] = {{"rank", slow->rank}, {"work", name_of(slow->work)}, {"ratio", std::round(1000 * slow->ratio) / 1000}};
  const auto text = line.dump() + '\n';
  std::error_code none;
  std::filesystem::create_directory(std::filesystem::path(scene_.log).parent_path(), none);  // add() says what is wrong
  log_.add(text);
  kept_at_s_ = now_s;
  pause_s_ = std::max(between_lines_s, seconds_a_byte * static_cast<double>(text.size()));
}

}  // namespace trainrt::trainer
