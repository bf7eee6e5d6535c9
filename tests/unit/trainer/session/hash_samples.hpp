#pragma once
#include <atomic>
#include <csignal>
#include <string>
#include <vector>

#include <trainrt/trainrt.hpp>

#include "metrics/result_log.hpp"
#include "unit/trainer/runs.hpp"

namespace trainrt::test {

inline std::atomic<int> stop_at_step{-1};  ///< step at which a train function raises SIGUSR1; -1: never

/// A train function with a State that holds a checksum of all samples seen so far, in their order.
inline void hash_samples(Context& ctx) {
  auto data = ctx.dataset("train");
  int epoch = 0;
  std::vector<std::int64_t> hash(1);
  State state;
  state.value("epoch", epoch);
  state.tensor("hash", hash).per_rank();
  ctx.restore(state);
  while (epoch < 3) {
    for (const auto& batch : data.epoch(epoch).batches(7)) {
      for (const auto index : batch.indices())
        hash[0] = static_cast<std::int64_t>(mix_seed(static_cast<std::uint64_t>(hash[0]), index, ctx.step_seed()));
      ctx.communicator().all_reduced(1.0, Op::sum);
      if (ctx.world_rank() == ctx.world_size() - 1 && ctx.step_count() == stop_at_step) raise(SIGUSR1);
      ctx.step();
    }
    ++epoch;
    ctx.report({{"hash", static_cast<double>(hash[0] >> 12)}, {"where", "rank " + std::to_string(ctx.world_rank())}});
  }
}

/// Returns iteration and checksum of each report of the run.
inline std::vector<std::string> reported_hashes(const std::string& run_dir) {
  std::vector<std::string> shown;
  for (const auto& record : metrics::read_results(run_dir))
    shown.push_back(std::to_string(record.iteration) + ":" + std::to_string(std::get<double>(*record.find("hash"))));
  return shown;
}

}  // namespace trainrt::test
