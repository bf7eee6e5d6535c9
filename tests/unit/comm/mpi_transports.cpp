#include <catch2/catch.hpp>

#include "comm/mpi/mpi_transports.hpp"

using namespace trainrt;
using namespace trainrt::comm;
using Catch::Matchers::Contains;

TEST_CASE("ranks of one node use no TCP, except for the loopback device in containers") {
  const Environment nothing;
  CHECK(transport_variables({.all_on_this_node = true}, nothing) == Variables{{"UCX_TLS", "self,sm"}});
  CHECK(transport_variables({.all_on_this_node = true, .in_container = true}, nothing) ==
        Variables{{"UCX_TLS", "self,sm,tcp"}, {"UCX_NET_DEVICES", "lo"}});
  CHECK(transport_variables({}, nothing).empty());
  CHECK(transport_variables({.in_container = true}, nothing).empty());
}

TEST_CASE("UCX does not use an unusable /dev/shm, and a warning gives the reason") {
  const Environment nothing;
  const std::string problem = "/dev/shm cannot be written: Read-only file system";
  CHECK(transport_variables({.all_on_this_node = true, .shm_problem = problem}, nothing) ==
        Variables{{"UCX_TLS", "self,sysv,cma"}});
  CHECK(transport_variables({.shm_problem = problem}, nothing) == Variables{{"UCX_TLS", "^posix"}});
  CHECK_THAT(*transport_warning({.shm_problem = problem}, nothing), Contains(problem) && Contains("UCX_POSIX_DIR"));
  CHECK(transport_warning({}, nothing) == std::nullopt);
}

TEST_CASE("UCX does not use missing System V shared memory, and several ranks of a node without any are an error") {
  const Environment nothing;
  CHECK(transport_variables({.all_on_this_node = true, .sysv_problem = "no shmget"}, nothing) ==
        Variables{{"UCX_TLS", "self,posix,cma"}});
  CHECK(transport_variables({.sysv_problem = "no shmget"}, nothing) == Variables{{"UCX_TLS", "^sysv"}});
  CHECK(transport_warning({.all_on_this_node = true, .sysv_problem = "no shmget"}, nothing) == std::nullopt);
  const UcxFacts neither{
      .all_on_this_node = true, .shares_node = true, .shm_problem = "no /dev/shm", .sysv_problem = "no shmget"};
  CHECK_THROWS_WITH(transport_variables(neither, nothing),
                    Contains("MPI has no shared memory") && Contains(": no /dev/shm; no shmget. Give"));
  const UcxFacts some_here{.shares_node = true, .shm_problem = "no /dev/shm", .sysv_problem = "no shmget"};
  CHECK_THROWS_WITH(transport_variables(some_here, nothing), Contains("MPI has no shared memory"));
  const UcxFacts alone{.all_on_this_node = true, .shm_problem = "no /dev/shm", .sysv_problem = "no shmget"};
  CHECK(transport_variables(alone, nothing) == Variables{{"UCX_TLS", "self"}});
  const UcxFacts of_many{.shm_problem = "no /dev/shm", .sysv_problem = "no shmget"};
  CHECK(transport_variables(of_many, nothing) == Variables{{"UCX_TLS", "^posix,sysv"}});
  CHECK_THAT(*transport_warning(of_many, nothing), Contains("no /dev/shm; no shmget; MPI uses the network"));
}

TEST_CASE("variables for UCX that the user has set are not changed") {
  const Environment chosen(std::map<std::string, std::string>{{"UCX_TLS", "self,posix"}});
  CHECK(transport_variables({.all_on_this_node = true, .in_container = true, .shm_problem = "full"}, chosen).empty());
  CHECK_THAT(*transport_warning({.shm_problem = "full"}, chosen), Contains("UCX_TLS=self,posix is set in the environment"));
  const Environment device(std::map<std::string, std::string>{{"UCX_NET_DEVICES", "eth0"}});
  CHECK(transport_variables({.all_on_this_node = true, .in_container = true}, device) ==
        Variables{{"UCX_TLS", "self,sm,tcp"}});
  CHECK(transport_variables({.all_on_this_node = true, .shm_problem = "full", .sysv_problem = "none"}, chosen).empty());
}

TEST_CASE("a folder that does not exist or is full is a problem for UCX's shared memory") {
  World world;
  const auto facts_with = [&](const std::string& folder) {
    return ucx_facts(world, Environment(std::map<std::string, std::string>{{"UCX_POSIX_DIR", folder}}));
  };
  CHECK_THAT(facts_with("/no/such/folder").shm_problem, Contains("/no/such/folder cannot be written"));
  world.size = 1 << 30;
  CHECK_THAT(facts_with("/dev/shm").shm_problem, Contains("MiB free, but MPI may need"));
}
