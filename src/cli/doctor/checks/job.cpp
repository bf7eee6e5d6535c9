// What Slurm says of the job: until when?
#include <fmt/format.h>

#include "batch/lease.hpp"
#include "cli/doctor/doctor_check.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

Finding examine_job(const Examination& examination) {
  const auto& environment = examination.environment();
  const auto id = environment.text("SLURM_JOB_ID");
  if (!id) return ok("no Slurm job", {{"job", nullptr}});
  Json figures = {{"job", *id}, {"restarts", environment.number("SLURM_RESTART_COUNT").value_or(0)}};
  const auto ask = batch::ask_slurm(environment);
  const auto answer = ask ? ask(false) : batch::Lease::Answer();
  if (!answer.known)
    return warning(fmt::format("Slurm job {}: how long it may go on cannot be asked here (no squeue?)", *id),
                   "submit with sbatch --signal=USR1@120, so that a run stops in time", figures);
  if (!answer.seconds) return ok(fmt::format("Slurm job {}, without a time limit", *id), figures);
  figures["seconds_left"] = *answer.seconds;
  return ok(
      fmt::format("Slurm job {}, {:.0f} min before its end; a run stops and saves in time", *id, *answer.seconds / 60),
      figures);
}

}  // namespace

extern const Check job;
const Check job{.name = "job", .help = "the Slurm job, and how long it may go on", .place = 130, .run = examine_job};

}  // namespace trainrt::cli::doctor::plugins
