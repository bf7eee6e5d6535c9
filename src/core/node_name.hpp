#pragma once
#include <string>

namespace trainrt {

/// This node as Slurm calls it (SLURMD_NODENAME); outside Slurm host_name().
std::string node_name();

}  // namespace trainrt
