#include "core/output/output_targets.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

namespace trainrt {

bool OutputTargets::is_one_stream() const {
  if (terminal == Terminal::nothing) return true;
  struct stat first {};
  struct stat second {};
  if (fstat(out, &first) != 0 || fstat(error, &second) != 0) return false;
  return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

std::string rank_log_name(int rank) { return fmt::format("logs/rank-{:05}.log", rank); }

OutputTargets output_targets(ShownOutput shown, const std::string& run_dir, int rank) {
  OutputTargets plan{.log = run_dir + "/" + rank_log_name(rank)};
  if (shown == ShownOutput::all_ranks) {
    plan.terminal = OutputTargets::Terminal::lines;
    plan.prefix = fmt::format("[{}] ", rank);
  } else if (shown == ShownOutput::first_rank && rank == 0) {
    plan.terminal = OutputTargets::Terminal::bytes;
  }
  return plan;
}

}  // namespace trainrt
