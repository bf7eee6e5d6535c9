#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/environment.hpp"
#include "launch/world.hpp"

namespace trainrt::comm {

/// Properties of this node that affect UCX, the library that transfers MPICH's messages.
struct UcxFacts {
  bool all_on_this_node = false;  ///< whether all ranks are known to be on this node
  bool shares_node = false;       ///< whether another rank is known to be on this node
  /// Whether ranks may have Linux namespaces of their own, so that only the loopback device connects them.
  bool in_container = false;
  std::string shm_problem;   ///< the reason why UCX cannot use its folder for shared memory; "" if it can
  std::string sysv_problem;  ///< the reason why System V shared memory is not available; "" if it is
};

/// Determines the properties of this node that affect UCX.
UcxFacts ucx_facts(const World& world, const Environment& environment);

/// Environment variables as pairs of name and value.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// Returns the environment variables to set for MPI_Init. Variables that the user has set are not returned. Pure function.
/// - Without these variables UCX listens on a TCP port of every network device, even if all ranks are on one node.
/// - Without these variables UCX crashes if /dev/shm is too small or read-only, or if System V shared memory is not
///   available.
/// - Throws UsageError if ranks share a node and neither kind of shared memory is available. TCP would connect the ranks,
///   but MPICH before 4.2 may then hang in MPI_Finalize.
Variables transport_variables(const UcxFacts& facts, const Environment& environment);

/// Returns a warning for the user if UCX cannot use its folder for shared memory (/dev/shm by default), otherwise nullopt.
/// Pure function.
std::optional<std::string> transport_warning(const UcxFacts& facts, const Environment& environment);

/// Sets the environment variables of transport_variables() in this process while the object lives. The destructor removes
/// them, because programs that a rank starts may use UCX for other purposes.
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
