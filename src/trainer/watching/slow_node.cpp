#include "trainer/watching/slow_node.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/environment.hpp"
#include "core/output/log.hpp"

namespace trainrt::trainer {

SlowNodeWatch::SlowNodeWatch(const Limits& limits, std::vector<std::string> hosts, std::string refusal)
    : limits_(limits), hosts_(std::move(hosts)), refusal_(std::move(refusal)) {}

void SlowNodeWatch::add_window(const std::optional<watch::SlowRank>& slow, std::int64_t steps, double seconds) {
  if (limits_.ratio <= 0 || found_) return;
  if (!slow || slow->ratio < limits_.ratio) {
    rank_.reset();
    return;
  }
  if (rank_ != slow->rank) {
    rank_ = slow->rank;
    steps_ = 0;
    seconds_ = 0;
    min_ratio_ = slow->ratio;
  }
  steps_ += steps;
  seconds_ += seconds;
  min_ratio_ = std::min(min_ratio_, slow->ratio);
  if (seconds_ >= limits_.after_s) conclude(*slow);
}

void SlowNodeWatch::conclude(const watch::SlowRank& slow) {
  const auto node = slow.rank < hosts_.size() ? hosts_[slow.rank] : std::string();
  auto why = fmt::format("rank {} ({}) was {:.2f} times as slow as the median in {} for {} steps", slow.rank, node,
                         min_ratio_, name_of(slow.work), steps_);
  if (!refusal_.empty() || node.empty()) {
    if (!std::exchange(has_warned_, true))
      log::run_warning(
          fmt::format("{}; the run continues with that node, which cannot be excluded (failure.exclude_slow): {}", why,
                      refusal_.empty() ? "the name of the node is unknown" : refusal_));
    return;
  }
  found_ = SlowNode{node, std::move(why)};
}

std::string refusal_to_exclude() {
  return Environment::of_process()
      .text("TRAINRT_EXCLUSION")
      .value_or("only `trainrt supervise` in a Slurm job can exclude nodes");
}

}  // namespace trainrt::trainer
