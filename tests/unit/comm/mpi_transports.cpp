#include <catch2/catch.hpp>

#include "comm/mpi/mpi_transports.hpp"

using namespace trainrt;
using namespace trainrt::comm;
using Catch::Matchers::Contains;

TEST_CASE("ranks of one node get no TCP from UCX; in a container, where each may be apart, the loopback device") {
  const Environment nothing;
  CHECK(transport_variables({.whole_step = true}, nothing) == Variables{{"UCX_TLS", "self,sm"}});
  CHECK(transport_variables({.whole_step = true, .in_container = true}, nothing) ==
        Variables{{"UCX_TLS", "self,sm,tcp"}, {"UCX_NET_DEVICES", "lo"}});
  CHECK(transport_variables({}, nothing).empty());
  CHECK(transport_variables({.in_container = true}, nothing).empty());
}

TEST_CASE("without a /dev/shm of use UCX is kept from it, and a line says so") {
  const Environment nothing;
  const std::string obstacle = "/dev/shm cannot be written: Read-only file system";
  CHECK(transport_variables({.whole_step = true, .shm_obstacle = obstacle}, nothing) ==
        Variables{{"UCX_TLS", "self,sysv,cma"}});
  CHECK(transport_variables({.shm_obstacle = obstacle}, nothing) == Variables{{"UCX_TLS", "^posix"}});
  CHECK_THAT(*transport_warning({.shm_obstacle = obstacle}, nothing), Contains(obstacle) && Contains("UCX_POSIX_DIR"));
  CHECK(transport_warning({}, nothing) == std::nullopt);
}

TEST_CASE("without System V shared memory UCX is kept from it, and without both the ranks of one node are refused") {
  const Environment nothing;
  CHECK(transport_variables({.whole_step = true, .sysv_obstacle = "no shmget"}, nothing) ==
        Variables{{"UCX_TLS", "self,posix,cma"}});
  CHECK(transport_variables({.sysv_obstacle = "no shmget"}, nothing) == Variables{{"UCX_TLS", "^sysv"}});
  CHECK(transport_warning({.whole_step = true, .sysv_obstacle = "no shmget"}, nothing) == std::nullopt);
  const NodeFacts neither{
      .whole_step = true, .shares_node = true, .shm_obstacle = "no /dev/shm", .sysv_obstacle = "no shmget"};
  CHECK_THROWS_WITH(transport_variables(neither, nothing), Contains("no /dev/shm; no shmget: MPI has no shared memory"));
  const NodeFacts some_here{.shares_node = true, .shm_obstacle = "no /dev/shm", .sysv_obstacle = "no shmget"};
  CHECK_THROWS_WITH(transport_variables(some_here, nothing), Contains("MPI has no shared memory"));
  const NodeFacts alone{.whole_step = true, .shm_obstacle = "no /dev/shm", .sysv_obstacle = "no shmget"};
  CHECK(transport_variables(alone, nothing) == Variables{{"UCX_TLS", "self"}});
  const NodeFacts of_many{.shm_obstacle = "no /dev/shm", .sysv_obstacle = "no shmget"};
  CHECK(transport_variables(of_many, nothing) == Variables{{"UCX_TLS", "^posix,sysv"}});
  CHECK_THAT(*transport_warning(of_many, nothing), Contains("no /dev/shm; no shmget; MPI goes without both"));
}

TEST_CASE("what the user has set for UCX stays") {
  const Environment chosen(std::map<std::string, std::string>{{"UCX_TLS", "self,posix"}});
  CHECK(transport_variables({.whole_step = true, .in_container = true, .shm_obstacle = "full"}, chosen).empty());
  CHECK_THAT(*transport_warning({.shm_obstacle = "full"}, chosen), Contains("UCX_TLS=self,posix is yours"));
  const Environment device(std::map<std::string, std::string>{{"UCX_NET_DEVICES", "eth0"}});
  CHECK(transport_variables({.whole_step = true, .in_container = true}, device) == Variables{{"UCX_TLS", "self,sm,tcp"}});
  CHECK(transport_variables({.whole_step = true, .shm_obstacle = "full", .sysv_obstacle = "none"}, chosen).empty());
}

TEST_CASE("a folder that is not there, or full, is an obstacle for UCX's shared memory") {
  World world;
  const auto facts_with = [&](const std::string& folder) {
    return node_facts(world, Environment(std::map<std::string, std::string>{{"UCX_POSIX_DIR", folder}}));
  };
  CHECK_THAT(facts_with("/no/such/folder").shm_obstacle, Contains("/no/such/folder cannot be written"));
  world.size = 1 << 30;
  CHECK_THAT(facts_with("/dev/shm").shm_obstacle, Contains("MiB free, and MPI may take"));
}
