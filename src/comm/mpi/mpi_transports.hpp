#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/environment.hpp"
#include "launch/world.hpp"

namespace trainrt::comm {

/// Properties of this node that affect UCX, the library that sends MPICH's messages.
struct UcxFacts {
  bool all_on_this_node = false;  ///< all ranks are known to be on this node
  bool shares_node = false;       ///< another rank is known to be on this node
  bool in_container = false;      ///< each rank may have its own namespaces, so that only the loopback device connects them
  std::string shm_problem;        ///< why UCX cannot use its folder for shared memory; "" if it can
  std::string sysv_problem;       ///< why System V shared memory is not available; "" if it is
};

/// Determines the properties of this node that affect UCX.
UcxFacts ucx_facts(const World& world, const Environment& environment);

/// Environment variables as pairs of name and value.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// Returns the environment variables to set for MPI_Init. Without them UCX listens on a TCP port of every network device,
/// even if all ranks are on one node, and crashes if /dev/shm is too small or read-only, or if System V shared memory is
/// not available. Variables that the user has set are not returned. Throws UsageError if the ranks of one node have neither
/// kind of shared memory: they could use TCP, but MPICH before 4.2 may then hang in MPI_Finalize. Pure function.
Variables transport_variables(const UcxFacts& facts, const Environment& environment);

/// Returns a warning if UCX cannot use its folder for shared memory, otherwise nullopt. Pure function.
std::optional<std::string> transport_warning(const UcxFacts& facts, const Environment& environment);

/// Sets transport_variables() in the environment of this process while it lives. The variables are removed afterwards,
/// because programs that a rank starts may use UCX for other purposes.
class MpiTransports {
 public:
  explicit MpiTransports(const World& world);
  ~MpiTransports();
  MpiTransports(const MpiTransports&) = delete;
  MpiTransports& operator=(const MpiTransports&) = delete;

 private:
  Variables set_;
};

}  // namespace trainrt::comm
