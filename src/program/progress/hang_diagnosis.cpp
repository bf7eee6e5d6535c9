#include "program/progress/hang_diagnosis.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/descriptor.hpp"
#include "core/files/guarded_tree.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"

namespace trainrt::program {

namespace {

constexpr std::size_t max_named = 8;

void write_report(const std::string& folder, int rank, const std::string& text) {
  const auto make = [](int directory, const char* name) { return mkdirat(directory, name, 0777); };
  at_entry(folder, make);  // the parent folder logs/ exists
  const auto path = fmt::format("{}/rank-{:05}.txt", folder, rank);
  const Descriptor file(open_guarded(path, O_WRONLY | O_CREAT | O_TRUNC));
  if (!file || write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    log::warning(fmt::format("cannot write the stacks of this rank to '{}': {}", path, std::strerror(errno)));
}

std::string lateness(const IdleRank& rank) {
  if (rank.position.innermost.empty()) return "shows no Python stack";
  return "is not in a collective of torch, but in: " + rank.position.innermost;
}

}  // namespace

HangDiagnosis diagnosis_of(std::span<const IdleRank> ranks, double quiet_s, const std::string& folder) {
  HangDiagnosis diagnosis;
  std::map<std::string, std::int64_t> waiting;
  std::vector<std::string> parts;
  for (std::size_t rank = ranks.size(); rank-- > 0;) {
    if (!ranks[rank].position.collective.empty()) ++waiting[ranks[rank].position.collective];
    if (ranks[rank].position.collective.empty()) diagnosis.late_rank = static_cast<int>(rank);
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    if (ranks[rank].position.collective.empty())
      parts.push_back(fmt::format("rank {} on {} {}", rank, ranks[rank].host, lateness(ranks[rank])));
  if (parts.size() > max_named) {
    const auto more = parts.size() - max_named;
    parts.resize(max_named);
    parts.push_back(fmt::format("and {} more", more));
  }
  for (const auto& [collective, count] : waiting)
    parts.push_back(fmt::format("{} in {}", count == 1 ? "1 rank waits" : fmt::format("{} ranks wait", count), collective));
  diagnosis.message = fmt::format(
      "hang: no program has printed anything or used CPU time for {:.0f} s (failure.hang_timeout): {}. Stacks: {}", quiet_s,
      join(parts, "; "), folder);
  return diagnosis;
}

HangDiagnosis diagnose_hang(Context& ctx, const Child& child, const std::string& folder, double quiet_s) {
  auto& communicator = ctx.communicator();
  freeze(child);
  communicator.barrier("programs that hang");
  const auto stacks = end_with_python_stacks(child);
  const auto position = python_position(stacks);
  write_report(ctx.run_dir() + "/" + folder, ctx.world_rank(),
               fmt::format("rank: {}\nhost: {}\npid: {}\nquiet_s: {:.1f}\nwaits_in: {}\n\nstacks of the program\n{}",
                           ctx.world_rank(), host_name(), child.pid(), quiet_s, position.collective, stacks));
  const auto hosts = communicator.all_gather(host_name());
  const auto collectives = communicator.all_gather(position.collective);
  const auto innermost = communicator.all_gather(position.innermost);
  std::vector<IdleRank> ranks;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank)
    ranks.push_back({hosts[rank], {collectives[rank], innermost[rank]}});
  auto diagnosis = diagnosis_of(ranks, quiet_s, folder);
  const auto late = static_cast<std::size_t>(diagnosis.late_rank);
  diagnosis.message += fmt::format("\nstack of rank {} on {}{}:\n{}", late, hosts[late],
                                   hosts.size() > 1 ? ", for which the other ranks probably wait" : "",
                                   communicator.broadcast_text(stacks, diagnosis.late_rank));
  return diagnosis;
}

}  // namespace trainrt::program
