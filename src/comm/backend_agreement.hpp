#pragma once
#include <span>
#include <string>
#include <string_view>

#include "launch/launcher.hpp"

namespace trainrt::comm {

/// Throws BackendsDiffer if `backends`, the names of the backends that the ranks request, in rank order, are not all equal.
void require_equal_backends(std::span<const std::string> backends);

/// Returns whether the ranks can communicate without MPI. These conditions must be met:
/// - All ranks are on one node.
/// - The launcher supports Launch::gather(). The names of the requested backends are then compared before MPI starts, and
///   BackendsDiffer is thrown if they differ.
/// - No process has loaded MPI for the program's own use.
///
/// Collective.
bool agree_before_mpi(launch::Launch& launch, std::string_view backend);

}  // namespace trainrt::comm
