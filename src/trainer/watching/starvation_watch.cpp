#include "trainer/watching/starvation_watch.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace trainrt::trainer {

namespace {

using Seconds = std::array<double, data::stage_count>;

std::string advice_for_stage(data::Stage stage, const std::string& name) {
  switch (stage) {
    case data::Stage::storage:
      return fmt::format(
          "set a larger data.{0}.threads to read more files at the same time, "
          "a larger data.{0}.memory to keep files in memory, or data.{0}.block to read blocks of samples",
          name);
    case data::Stage::decode:
      return fmt::format("set a larger data.{}.threads to decode on more threads, or use uncompressed files", name);
    case data::Stage::transform:
      return fmt::format("set a larger data.{}.threads to transform on more threads", name);
    case data::Stage::batch:
      return fmt::format("set a larger data.{}.threads to make more batches at the same time", name);
  }
  return "";
}

/// Returns the share of each reading stage in the total time, in the order `order`: "storage 81 %, batch 19 %".
std::string shares_in_words(const Seconds& seconds, const std::vector<std::size_t>& order) {
  const auto all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  std::string words;
  for (const auto stage : order)
    if (const auto percent = 100 * seconds[stage] / all; percent >= 1)
      words +=
          fmt::format("{}{} {:.0f} %", words.empty() ? "" : ", ", data::name_of(static_cast<data::Stage>(stage)), percent);
  return words;
}

std::string text_of(const std::string& name, double waited, double span_s, const Seconds& seconds) {
  auto text = fmt::format("[data.{}]: training steps waited for this dataset for {:.0f} % of the last {:.0f} s", name,
                          100 * waited, span_s);
  std::vector<std::size_t> order(data::stage_count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](auto a, auto b) { return seconds[a] > seconds[b]; });
  if (seconds[order.front()] <= 0) return text;
  return fmt::format("{}; time of reading: {}; {}", text, shares_in_words(seconds, order),
                     advice_for_stage(static_cast<data::Stage>(order.front()), name));
}

}  // namespace

std::optional<std::string> StarvationWatch::check(const std::string& name, const data::WalkState& walk, double now_s) {
  const auto stages = walk.stages().seconds();
  const auto [found, is_first] = checks_.try_emplace(name, Check{now_s, walk.waited_s(), stages});
  auto& last = found->second;
  const auto span_s = now_s - last.at_s;
  if (is_first || last.has_warned || span_s < min_interval_s) return std::nullopt;
  const auto waited = (walk.waited_s() - last.waited_s) / span_s;
  Seconds seconds{};
  for (std::size_t stage = 0; stage < data::stage_count; ++stage) seconds[stage] = stages[stage] - last.stages[stage];
  last = {now_s, walk.waited_s(), stages, waited > max_waiting};
  if (waited <= max_waiting) return std::nullopt;
  return text_of(name, waited, span_s, seconds);
}

}  // namespace trainrt::trainer
