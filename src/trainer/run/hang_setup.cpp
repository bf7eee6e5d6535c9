#include "trainer/run/hang_setup.hpp"

#include <utility>

#include <fmt/format.h>

#include "rundir/attempts/attempt_files.hpp"
#include "trainer/run/failure.hpp"
#include "watch/exit_guard.hpp"

namespace trainrt::trainer {

std::function<void(int)> end_of_step_after_crash(launch::Launch& launch) {
  if (launch.world().launcher != "pmix") return {};
  return [&launch](int code) {
    watch::ExitGuard::disarm();
    launch.abort(code);
  };
}

watch::CrashFiles crash_files(const RunningAttempt& attempt, int rank) {
  return {.report = rundir::crash_report_path(attempt.spec.run_dir, attempt.number, rank),
          .error = attempt.spec.run_dir + "/error.txt",
          .error_aside = fmt::format("{}/error-rank-{:05}.txt", attempt.files.private_dir(), rank)};
}

watch::HangWatch watch_for_hangs(const RunningAttempt& attempt, const TrainCall& function, const Session& session,
                                 launch::Launch& launch, std::vector<std::string> hosts) {
  watch::HangWatch::Attempt watched{.run_dir = attempt.spec.run_dir,
                                    .folder = rundir::hang_folder(attempt.number),
                                    .rank = launch.world().rank,
                                    .host_of_rank = std::move(hosts)};
  return {{attempt.spec.failure.hang_timeout, attempt.spec.failure.collective_timeout_s},
          std::move(watched),
          session.life(),
          {.program = function.program,
           .write_down =
               [&attempt, &session](const std::string& why, const watch::HangVerdict& verdict) {
                 record_failure(attempt, {why, "", ExitCode::failed, verdict.step, session.last_iteration(),
                                          session.is_silent(), verdict.node});
               },
           .end_step =
               [&launch] {
                 wait_for_output_delivery();
                 watch::ExitGuard::disarm();
                 launch.abort(static_cast<int>(ExitCode::failed));
               }}};
}

StatusWriter::Target status_target(const RunningAttempt& attempt, const World& world, const std::vector<std::string>& nodes,
                                   double started_s) {
  return {.path = attempt.spec.run_dir + "/" + rundir::rank_statuses_name(attempt.number),
          .host = nodes.at(static_cast<std::size_t>(world.node_rank)),
          .rank = world.rank,
          .ranks = world.size,
          .is_first_of_node = world.local_rank == 0,
          .started_s = started_s,
          .is_fenced = [files = attempt.files] { return files.is_fenced(); }};
}

}  // namespace trainrt::trainer
