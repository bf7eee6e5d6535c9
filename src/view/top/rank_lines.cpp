#include "view/top/rank_lines.hpp"

#include "rundir/records/rank_status.hpp"
#include "view/summary/attempt_words.hpp"

namespace trainrt::view {

namespace {

template <class Number>
std::optional<double> if_known(Number number, Number unknown) {
  return number == unknown ? std::nullopt : std::optional(static_cast<double>(number));
}

RankLine line_of(const rundir::RankStatus& sign, const rundir::AttemptRecord& attempt) {
  constexpr std::int64_t unknown = -1;
  return {.rank = sign.rank,
          .host = sign.host,
          .time = sign.time,
          .phase = phase_of(sign, attempt),
          .waits_in = sign.waits_in,
          .step = attempt.last_step > 0 || sign.step > 0 ? std::optional(sign.step) : std::nullopt,
          .quiet_s = sign.ended ? std::nullopt : std::optional(sign.quiet_s),
          .cpu_s = if_known(sign.cpu_s, -1.0),
          .cpus = if_known(sign.cpus, 0),
          .rss = if_known(sign.rss, unknown),
          .peak = if_known(sign.peak, unknown),
          .read = if_known(sign.read, unknown),
          .written = if_known(sign.written, unknown),
          .gpu = sign.gpu_mean ? sign.gpu_mean : sign.gpu,
          .gpu_memory = if_known(sign.gpu_memory.value_or(unknown), unknown),
          .energy_j = sign.energy_j,
          .ended = sign.ended};
}

}  // namespace

std::vector<RankLine> rank_lines_of(const std::string& run_dir, const rundir::AttemptRecord& attempt) {
  std::vector<RankLine> lines;
  for (const auto& sign : rundir::read_rank_statuses(run_dir, attempt.number))
    if (sign) lines.push_back(line_of(*sign, attempt));
  return lines;
}

}  // namespace trainrt::view
