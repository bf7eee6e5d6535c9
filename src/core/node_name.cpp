#include "core/node_name.hpp"

#include "core/environment.hpp"
#include "core/host.hpp"

namespace trainrt {

std::string node_name() { return Environment::of_process().text("SLURMD_NODENAME").value_or(host_name()); }

}  // namespace trainrt
