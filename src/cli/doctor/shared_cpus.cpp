#include "cli/doctor/shared_cpus.hpp"

#include <algorithm>
#include <map>

#include "core/text/text.hpp"

namespace trainrt::cli {

std::string list_of_cpus(const std::string& cpus) {
  std::vector<std::string> ranges;
  for (std::size_t first = cpus.find('1'); first != std::string::npos; first = cpus.find('1', first)) {
    const auto end = std::min(cpus.find('0', first), cpus.size());
    ranges.push_back(end - first == 1 ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(end - 1));
    first = end;
  }
  return join(ranges, ",");
}

std::vector<Crowd> crowds_among(std::span<const RankCpus> ranks) {
  std::map<std::pair<int, std::string>, std::vector<int>> groups;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    groups[{ranks[rank].node, ranks[rank].cpus}].push_back(static_cast<int>(rank));
  std::vector<Crowd> crowds;
  for (const auto& [place, members] : groups) {
    const auto& cpus = place.second;
    if (static_cast<std::ptrdiff_t>(members.size()) <= std::ranges::count(cpus, '1')) continue;
    crowds.push_back({members, list_of_cpus(cpus)});
  }
  return crowds;
}

}  // namespace trainrt::cli
