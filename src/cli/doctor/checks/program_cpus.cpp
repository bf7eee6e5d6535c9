// How many CPUs each rank's program has for itself, and how many GPUs it sees.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cli/doctor/doctor_check.hpp"
#include "cli/doctor/shared_cpus.hpp"
#include "device/runtime.hpp"
#include "program/environments/cpus.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

std::vector<RankCpus> cpus_of_ranks(const Examination& examination, const std::vector<Json>& of_rank) {
  std::vector<RankCpus> ranks;
  for (std::size_t rank = 0; rank < of_rank.size(); ++rank)
    ranks.push_back({examination.world().node_of_rank[rank], of_rank[rank].at("cpus")});
  return ranks;
}

/// Of each rank, as OMP_NUM_THREADS will say.
std::vector<int> cpus_for_each(const std::vector<RankCpus>& ranks) {
  std::map<int, std::vector<std::string>> of_node;
  for (const auto& rank : ranks) of_node[rank.node].push_back(rank.cpus);
  std::vector<int> numbers;
  for (const auto& rank : ranks) numbers.push_back(program::cpus_each(rank.cpus, of_node.at(rank.node)));
  return numbers;
}

std::vector<Trouble> crowded_ranks(const std::vector<Crowd>& crowds) {
  std::vector<Trouble> troubles;
  for (const auto& crowd : crowds)
    for (const int rank : crowd.ranks)
      troubles.push_back({rank, fmt::format("{} ranks share CPU {}", crowd.ranks.size(), crowd.cpus)});
  return troubles;
}

std::string from_to(const std::vector<int>& numbers) {
  const auto [least, most] = std::ranges::minmax(numbers);
  return least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
}

Finding examine_program_cpus(const Examination& examination) {
  const auto answers = examination.ask([] {
    return Json{{"cpus", program::affinity_of_this_thread()}, {"gpus", device::runtime().count()}};
  });
  if (!answers.well()) return error(examination.describe(answers.troubles), "see `cores` and `cuda`");
  const auto ranks = cpus_of_ranks(examination, answers.of_rank);
  const auto cpus = cpus_for_each(ranks);
  std::vector<int> gpus;
  for (const auto& answer : answers.of_rank) gpus.push_back(answer.at("gpus"));
  const Json figures = {{"cpus_of_rank", cpus}, {"gpus_of_rank", gpus}};
  if (const auto crowds = crowds_among(ranks); !crowds.empty())
    return warning(examination.describe(crowded_ranks(crowds)), program::more_cpus_advice, figures);
  const auto threads = examination.environment().text("OMP_NUM_THREADS");
  return ok(fmt::format("a rank has {} CPU{} for itself{}, and sees {} GPU{}", from_to(cpus),
                        std::ranges::max(cpus) == 1 ? "" : "s",
                        threads ? fmt::format(" (OMP_NUM_THREADS is set to {})", *threads) : "", from_to(gpus),
                        std::ranges::max(gpus) == 1 ? "" : "s"),
            figures);
}

}  // namespace

extern const Check program_cpus;
const Check program_cpus{.name = "program_cpus",
                         .help = "CPUs that each rank's program has for itself, and GPUs that it sees",
                         .place = 230,
                         .run = examine_program_cpus,
                         .of_program = true};

}  // namespace trainrt::cli::doctor::plugins
