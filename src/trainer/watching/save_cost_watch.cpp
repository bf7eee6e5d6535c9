#include "trainer/watching/save_cost_watch.hpp"

#include <utility>

#include <fmt/format.h>

namespace trainrt::trainer {

namespace {

using Unit = config::CheckpointInterval::Unit;

/// Returns advice that makes saves rarer. With `off` and `auto`, only calls of the program make more saves than needed.
std::string advice_for(const config::CheckpointInterval& every) {
  if (every.unit == Unit::off || every.unit == Unit::automatic) return "call save() or report checkpoints less often";
  return "set a longer checkpoint.every, such as 600 s, or checkpoint.every=auto";
}

std::string in_words(double seconds) {
  return seconds < 1 ? fmt::format("{:.1f} ms", 1000 * seconds) : fmt::format("{:.1f} s", seconds);
}

}  // namespace

std::optional<std::string> SaveCostWatch::note_save(double now_s, double stalled_s) {
  ++saves_;
  const bool is_first = checked_at_s_ < 0;
  const auto span_s = now_s - checked_at_s_;
  if (has_warned_ || (!is_first && span_s < min_interval_s)) return std::nullopt;
  const auto waited_s = stalled_s - std::exchange(stalled_before_s_, stalled_s);
  const auto saves = std::exchange(saves_, 0);
  checked_at_s_ = now_s;
  if (is_first || waited_s <= max_share * span_s) return std::nullopt;
  has_warned_ = true;
  return fmt::format("training waited for {} saves for {:.0f} % of the last {:.0f} s, {} per save; {}", saves,
                     100 * waited_s / span_s, span_s, in_words(waited_s / static_cast<double>(saves)), advice_for(every_));
}

}  // namespace trainrt::trainer
