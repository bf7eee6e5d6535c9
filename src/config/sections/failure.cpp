#include <fmt/format.h>

#include "config/section.hpp"

namespace trainrt::config {

namespace {

void check_failure(const Options& options, const RunSpec& spec) {
  constexpr double min_ratio = 1.1;  // minimum ratio at which slow_rank_in() (watch/step_times.hpp) calls a rank slow
  const double ratio = spec.failure.exclude_slow;
  if (ratio > 0 && ratio < min_ratio)
    refuse_key(options, "failure.exclude_slow",
               fmt::format("is {}; it must be 0 (off) or a ratio to the median rank's time, {} or more", ratio, min_ratio));
}

}  // namespace

namespace plugins {

extern const Section failure;
const Section failure{
    .name = "failure",
    .order = 6,
    .help = "limits of restarts, exclusion of nodes, and timeouts",
    .keys = {key(&FailureKeys::max_failures,
                 {.key = "failure.max_failures",
                  .default_value = "3",
                  .help = "number of times a failed run is restarted within one allocation: by `trainrt supervise`, by "
                          "`trainrt -n`, or by the ranks themselves if a program failed",
                  .range = {.least = 0, .most = 1e9}}),
             key(&FailureKeys::recovery,
                 {.key = "failure.recovery",
                  .default_value = "restart",
                  .help = "how a run continues after a rank or program has died. restart: all ranks start again from the "
                          "newest checkpoint. live: the ranks also copy their State into memory, during at most 2 % of "
                          "their time, and start again at once from the newest copy. This works on one node, under "
                          "`trainrt -n` and `trainrt supervise`"},
                 {{"restart", Recovery::restart}, {"live", Recovery::live}}),
             key(&FailureKeys::memory_bytes,
                 {.key = "failure.memory",
                  .type = OptionType::bytes,
                  .default_value = "0",
                  .help = "with recovery = live: maximum memory for the copies of all ranks, which is twice the size of "
                          "their State; 0: half of the memory of the node",
                  .form = "a number of bytes: 4 GiB, 0"}),
             key(&FailureKeys::max_requeues,
                 {.key = "failure.max_requeues",
                  .default_value = "100",
                  .help = "number of times `trainrt supervise` requeues a job before it gives up",
                  .range = {.least = 0, .most = 1e9}}),
             key(&FailureKeys::max_no_progress,
                 {.key = "failure.max_no_progress",
                  .default_value = "5",
                  .help = "number of consecutive attempts without progress after which a job ends with exit code 76; 0: no "
                          "limit",
                  .range = {.least = 0, .most = 1e9}}),
             key(&FailureKeys::exclude_bad_nodes,
                 {.key = "failure.exclude_bad_nodes",
                  .default_value = "3",
                  .help = "number of attempts ended by the same node after which `trainrt supervise` excludes the node. A "
                          "node ends an attempt if it dies, or if its ranks are killed, crash or hang. The node is "
                          "excluded only if it ended at least half of all attempts that were ended by nodes; 0: off",
                  .range = {.least = 0, .most = 1e9}}),
             key(&FailureKeys::exclude_slow,
                 {.key = "failure.exclude_slow",
                  .default_value = "0",
                  .help = "ratio of a rank's time to the median rank's time, such as 1.5. If a rank reaches the ratio, the "
                          "attempt saves and ends, and `trainrt supervise` excludes the rank's node; 0: off",
                  .range = {.least = 0, .most = 1e6}}),
             key(&FailureKeys::exclude_slow_after_s, {.key = "failure.exclude_slow_after",
                                                      .default_value = "600",
                                                      .help = "time that a rank must be slow before exclude_slow applies",
                                                      .range = {.least = 0, .most = 1e9},
                                                      .unit = "seconds"}),
             key(&FailureKeys::max_excluded_nodes,
                 {.key = "failure.max_excluded_nodes",
                  .default_value = "2",
                  .help = "maximum number of bad and slow nodes that a run excludes at a time",
                  .range = {.least = 0, .most = 1e9}}),
             key(&FailureKeys::stop_before_end, {.key = "failure.stop_before_end",
                                                 .default_value = "auto",
                                                 .help = "time before the end of the job at which the run saves and stops; "
                                                         "auto derives this time from the duration of the last saves"}),
             key(&FailureKeys::hang_timeout,
                 {.key = "failure.hang_timeout",
                  .default_value = "auto",
                  .help = "time without a step, report or stop point after which an attempt counts as hanging. The attempt "
                          "then ends with a report of the ranks that hang. For a program that reports no progress: time "
                          "during which no rank prints output or uses CPU time"}),
             key(&FailureKeys::launch_timeout_s, {.key = "failure.launch_timeout",
                                                  .default_value = "20",
                                                  .help = "maximum time that the ranks wait for each other at the start",
                                                  .range = any_time,
                                                  .unit = "seconds"}),
             key(&FailureKeys::collective_timeout_s,
                 {.key = "failure.collective_timeout",
                  .default_value = "1800",
                  .help = "maximum time that a rank waits in a collective for another rank; after this time the run fails",
                  .range = any_time,
                  .unit = "seconds"}),
             key(&FailureKeys::storage_timeout_s, {.key = "failure.storage_timeout",
                                                   .default_value = "30",
                                                   .help = "maximum time that a node may take to see a new directory, and "
                                                           "maximum time that the storage may be unavailable",
                                                   .range = any_time,
                                                   .unit = "seconds"})},
    .check = check_failure};

}  // namespace plugins

}  // namespace trainrt::config
