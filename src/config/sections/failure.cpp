#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "config/section.hpp"

namespace trainrt::config {

namespace {

void check_failure(const Options& options, const RunSpec& spec) {
  constexpr double least_slowness = 1.1;  // what a rank must be behind to be called slow at all
  const double limit = spec.failure.exclude_slow;
  if (limit > 0 && limit < least_slowness)
    throw UsageError(
        fmt::format("{}: failure.exclude_slow is {}: valid are 0 (off) and numbers from {} on, so many times "
                    "the time that the median rank takes",
                    options.find("failure.exclude_slow")->origin, limit, least_slowness));
}

}  // namespace

namespace plugins {

extern const Section failure;
const Section failure{
    .name = "failure",
    .order = 6,
    .help = "how often to try again, and how long to wait",
    .keys = {key(&FailureKeys::max_failures, {.key = "failure.max_failures",
                                              .default_value = "3",
                                              .help = "so often a run is started again in one allocation after a failure: "
                                                      "by `trainrt supervise`, by `trainrt -n`, or "
                                                      "by the ranks themselves if a program fell",
                                              .range = {.least = 0, .most = 1e9}}),
             key(&FailureKeys::max_requeues, {.key = "failure.max_requeues",
                                              .default_value = "100",
                                              .help = "so often a job is requeued; then `trainrt supervise` gives up",
                                              .range = {.least = 0, .most = 1e9}}),
             key(&FailureKeys::max_no_progress,
                 {.key = "failure.max_no_progress",
                  .default_value = "5",
                  .help = "so many attempts of a job in a row that get no further end it with exit 76; 0: any number",
                  .range = {.least = 0, .most = 1e9}}),
             key(&FailureKeys::exclude_bad_nodes,
                 {.key = "failure.exclude_bad_nodes",
                  .default_value = "3",
                  .help =
                      "`trainrt supervise` leaves a node out that so many attempts have ended at (it died, or its ranks "
                      "were killed, crashed or hung), at least half of all that ended at some node; 0: off",
                  .range = {.least = 0, .most = 1e9}}),
             key(&FailureKeys::exclude_slow,
                 {.key = "failure.exclude_slow",
                  .default_value = "0",
                  .help = "1.5: a rank that takes so many times the median rank's time ends the attempt, saved, and "
                          "`trainrt supervise` leaves its node out; 0: off",
                  .range = {.least = 0, .most = 1e6}}),
             key(&FailureKeys::exclude_slow_after_s, {.key = "failure.exclude_slow_after",
                                                      .default_value = "600",
                                                      .help = "if it has lasted so long",
                                                      .range = {.least = 0, .most = 1e9},
                                                      .unit = "seconds"}),
             key(&FailureKeys::max_excluded_nodes,
                 {.key = "failure.max_excluded_nodes",
                  .default_value = "2",
                  .help = "so many nodes of a run are left out at a time, bad and slow ones",
                  .range = {.least = 0, .most = 1e9}}),
             key(&FailureKeys::stop_before_end,
                 {.key = "failure.stop_before_end",
                  .default_value = "auto",
                  .help = "stop and save so long before the job's time is over; auto: as the last saves took"}),
             key(&FailureKeys::hang_timeout,
                 {.key = "failure.hang_timeout",
                  .default_value = "auto",
                  .help = "end the attempt after so long without a step, report or stop point, and say who hangs; of "
                          "programs that report no progress: without output and CPU time on all ranks"}),
             key(&FailureKeys::launch_timeout_s, {.key = "failure.launch_timeout",
                                                  .default_value = "20",
                                                  .help = "how long the ranks wait for each other at the start",
                                                  .range = any_time,
                                                  .unit = "seconds"}),
             key(&FailureKeys::collective_timeout_s,
                 {.key = "failure.collective_timeout",
                  .default_value = "1800",
                  .help = "how long a rank waits in a collective that another does not join; then it is an error",
                  .range = any_time,
                  .unit = "seconds"}),
             key(&FailureKeys::storage_timeout_s,
                 {.key = "failure.storage_timeout",
                  .default_value = "30",
                  .help = "how long a node may take to see a new directory, and the storage may be away",
                  .range = any_time,
                  .unit = "seconds"})},
    .check = check_failure};

}  // namespace plugins

}  // namespace trainrt::config
