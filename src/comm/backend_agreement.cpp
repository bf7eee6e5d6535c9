#include "comm/backend_agreement.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "comm/comm_error.hpp"
#include "launch/mpi/mpi_library.hpp"

namespace trainrt::comm {

void require_equal_backends(std::span<const std::string> backends) {
  for (std::size_t other = 1; other < backends.size(); ++other)
    if (backends[other] != backends[0])
      throw BackendsDiffer(fmt::format("the ranks request different backends: rank 0 '{}', rank {} '{}'", backends[0],
                                       other, backends[other]));
}

bool agree_before_mpi(launch::Launch& launch, std::string_view backend) {
  const auto& nodes = launch.world().node_of_rank;
  const bool is_one_node = !nodes.empty() && std::ranges::count(nodes, nodes.front()) == std::ssize(nodes);
  if (!is_one_node || !launch.can_gather()) return false;
  auto texts = launch.gather((launch::process_has_mpi() ? '1' : '0') + std::string(backend));
  const bool has_mpi = std::ranges::any_of(texts, [](const auto& text) { return text.starts_with('1'); });
  for (auto& text : texts) text.erase(0, 1);
  require_equal_backends(texts);
  return !has_mpi;
}

}  // namespace trainrt::comm
