#include "view/page/rank_usage.hpp"

#include "rundir/records/rank_status.hpp"
#include "view/summary/attempt_texts.hpp"

namespace trainrt::view::page {

namespace {

template <class Number>
std::optional<double> if_known(Number number, Number unknown) {
  return number == unknown ? std::nullopt : std::optional(static_cast<double>(number));
}

RankUsage usage_of(const rundir::RankStatus& status, const rundir::AttemptRecord& attempt) {
  constexpr std::int64_t unknown = -1;
  return {.rank = status.rank,
          .host = status.host,
          .time = status.time,
          .phase = phase_of(status, attempt),
          .waits_in = status.waits_in,
          .step = attempt.last_step > 0 || status.step > 0 ? std::optional(status.step) : std::nullopt,
          .quiet_s = status.ended ? std::nullopt : std::optional(status.quiet_s),
          .cpu_s = if_known(status.cpu_s, -1.0),
          .cpus = if_known(status.cpus, 0),
          .rss = if_known(status.rss, unknown),
          .peak = if_known(status.peak, unknown),
          .read = if_known(status.read, unknown),
          .written = if_known(status.written, unknown),
          .gpu = status.gpu_mean ? status.gpu_mean : status.gpu,
          .gpu_memory = if_known(status.gpu_memory.value_or(unknown), unknown),
          .energy_j = status.energy_j,
          .ended = status.ended};
}

}  // namespace

std::vector<RankUsage> rank_usages_of(const std::string& run_dir, const rundir::AttemptRecord& attempt) {
  std::vector<RankUsage> usages;
  for (const auto& status : rundir::read_rank_statuses(run_dir, attempt.number))
    if (status) usages.push_back(usage_of(*status, attempt));
  return usages;
}

}  // namespace trainrt::view::page
