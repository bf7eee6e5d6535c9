#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/environment.hpp"
#include "launch/world.hpp"

namespace trainrt::comm {

/// What this node offers to UCX, the library that carries the messages of MPICH.
struct NodeFacts {
  bool whole_step = false;    ///< all ranks are known to be on this node
  bool shares_node = false;   ///< another rank is known to be on this node
  bool in_container = false;  ///< each rank may be in namespaces of its own, so that only the loopback device joins them
  std::string shm_obstacle;   ///< why the folder of UCX's shared memory cannot take it; "" if it can
  std::string sysv_obstacle;  ///< why there is no System V shared memory; "" if there is
};

NodeFacts node_facts(const World& world, const Environment& environment);

using Variables = std::vector<std::pair<std::string, std::string>>;

/// The environment that MPI_Init is to see. UCX left alone listens on a TCP port of every network device, also if all
/// ranks are on one node, and dies if /dev/shm is too small or read-only, or if there is no System V shared memory. What
/// the user has set is never among them. Throws UsageError if the ranks of one node have neither: TCP would serve, but
/// MPICH before 4.2 may then hang in MPI_Finalize. Pure.
Variables transport_variables(const NodeFacts& facts, const Environment& environment);

/// A sentence for the user if UCX cannot have its shared memory; nullopt if all is well. Pure.
std::optional<std::string> transport_warning(const NodeFacts& facts, const Environment& environment);

/// Sets the variables for the MPI_Init that follows, and takes them out again: a program that a rank starts may use UCX
/// for something else.
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
