#pragma once
#include <span>
#include <string>
#include <string_view>

#include "launch/launcher.hpp"

namespace trainrt::comm {

/// Throws BackendsDiffer if `backends`, the names of the backends that the ranks request, in rank order, are not all equal.
void require_equal_backends(std::span<const std::string> backends);

/// Compares the names of the backends that the ranks request, before MPI starts and without MPI, if the launcher supports
/// this. Returns whether the ranks can communicate without MPI: whether they are on one node, the launcher supports
/// Launch::gather(), and no process has loaded MPI for the program's own use. Throws BackendsDiffer. Collective.
bool agree_before_mpi(launch::Launch& launch, std::string_view backend);

}  // namespace trainrt::comm
