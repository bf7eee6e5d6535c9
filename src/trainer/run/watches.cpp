#include "trainer/run/watches.hpp"

#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/host.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "watch/exit_guard.hpp"

namespace trainrt::trainer {

std::function<void(int)> end_of_step_after_crash(launch::Launch& launch) {
  if (launch.world().launcher != "pmix") return {};
  return [&launch](int code) {
    watch::ExitGuard::disarm();
    launch.abort(code);
  };
}

watch::CrashFiles crash_files(const AttemptPlace& place, int rank) {
  return {.report = rundir::crash_report_path(place.spec.run_dir, place.attempt, rank),
          .error = place.spec.run_dir + "/error.txt",
          .error_aside = fmt::format("{}/error-rank-{:05}.txt", place.files.private_dir(), rank)};
}

std::vector<std::string> node_names(const World& world, Communicator& communicator) {
  const auto hosts = communicator.all_gather(node_name());
  std::vector<std::string> names;
  std::set<int> seen;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank)
    if (seen.insert(world.node_of_rank[rank]).second) names.push_back(hosts[rank]);
  return names;
}

std::vector<std::string> hosts_of_ranks(const World& world, const std::vector<std::string>& nodes) {
  std::vector<std::string> hosts;
  std::map<int, std::string> host_of_node;
  for (const int node : world.node_of_rank) {
    if (!host_of_node.contains(node)) host_of_node[node] = nodes.at(host_of_node.size());
    hosts.push_back(host_of_node[node]);
  }
  return hosts;
}

watch::HangWatch watch_for_hangs(const AttemptPlace& place, const TrainCall& function, const Session& session,
                                 launch::Launch& launch, std::vector<std::string> hosts) {
  watch::HangWatch::Attempt attempt{.run_dir = place.spec.run_dir,
                                    .folder = rundir::hang_folder(place.attempt),
                                    .rank = launch.world().rank,
                                    .host_of_rank = std::move(hosts)};
  return {{place.spec.failure.hang_timeout, place.spec.failure.collective_timeout_s},
          std::move(attempt),
          session.life(),
          {.program = function.program,
           .write_down =
               [&place, &session](const std::string& why, const watch::HangVerdict& verdict) {
                 write_down(place, {why, "", ExitCode::failed, verdict.step, session.is_silent(), verdict.node});
               },
           .end_step =
               [&launch] {
                 wait_for_output_delivery();
                 watch::ExitGuard::disarm();
                 launch.abort(static_cast<int>(ExitCode::failed));
               }}};
}

StatusWriter::Place place_of_signs(const AttemptPlace& place, const World& world, const std::vector<std::string>& nodes,
                                   double started_s) {
  return {.path = place.spec.run_dir + "/" + rundir::rank_statuses_name(place.attempt),
          .host = nodes.at(static_cast<std::size_t>(world.node_rank)),
          .rank = world.rank,
          .ranks = world.size,
          .is_first_of_node = world.local_rank == 0,
          .started_s = started_s,
          .is_fenced = [files = place.files] { return files.is_fenced(); }};
}

}  // namespace trainrt::trainer
