// What Slurm says of the job: until when, and is there a signal before the end?
#include <chrono>

#include <fmt/format.h>

#include "cli/doctor_check.hpp"
#include "core/options.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

constexpr const char* hint = "jobs/train.sbatch asks for a signal before the end (--signal=USR1@120) and requeues";

Finding examine(const Examination& examination) {
  const auto& environment = examination.environment();
  const auto id = environment.text("SLURM_JOB_ID");
  if (!id) return ok("no Slurm job", {{"job", nullptr}});
  Json figures = {{"job", *id}, {"restarts", environment.number("SLURM_RESTART_COUNT").value_or(0)}};
  const auto end = parse_integer(environment.text("SLURM_JOB_END_TIME").value_or(""));
  if (!end) return ok(fmt::format("Slurm job {}, which is not told its end; {}", *id, hint), figures);
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const auto left = *end - static_cast<std::int64_t>(now);
  figures["seconds_left"] = left;
  return ok(fmt::format("Slurm job {}, {} min before its end; {}", *id, left / 60, hint), figures);
}

}  // namespace

extern const Check job;
const Check job{.name = "job", .help = "the Slurm job: its end, and the signal before it", .place = 130, .run = examine};

}  // namespace trainrt::cli::doctor::plugins
