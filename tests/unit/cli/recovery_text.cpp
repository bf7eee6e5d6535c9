#include "cli/start/recovery_text.hpp"

#include <catch2/catch.hpp>

using namespace trainrt;
using namespace trainrt::cli;

TEST_CASE("a run with copies in memory names its level of recovery") {
  config::RunSpec spec;
  spec.failure.max_failures = 3;
  CHECK(recovery_text(spec, {.nodes = 1}).empty());
  spec.failure.recovery = config::Recovery::live;
  CHECK(recovery_text(spec, {.nodes = 1}) == "from copies in memory (standby processes: 1 per rank)");
  CHECK(recovery_text(spec, {.nodes = 1, .no_standby = "srun starts the ranks"}) ==
        "from copies in memory (no standby processes, because srun starts the ranks)");
  CHECK(recovery_text(spec, {.nodes = 2}) == "from the newest checkpoint, because the ranks are on several nodes");
  CHECK(recovery_text(spec, {}) ==
        "from copies in memory if `trainrt -n` or `trainrt supervise` starts all ranks on one node, otherwise from the "
        "newest checkpoint");
  spec.failure.max_failures = 0;
  CHECK(recovery_text(spec, {.nodes = 1}) == "none, because failure.max_failures = 0 allows no restart");
}
