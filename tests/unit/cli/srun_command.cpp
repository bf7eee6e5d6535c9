#include "cli/supervise/srun_command.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <catch2/catch.hpp>

using namespace trainrt;
using cli::srun_command;

namespace {

std::string joined(const std::vector<std::string>& command) { return fmt::format("{}", fmt::join(command, " ")); }

}  // namespace

TEST_CASE("a step on all nodes has the fixed options and those of the user") {
  CHECK(joined(srun_command({}, "", false)) == "srun --kill-on-bad-exit=0 --wait=20 --immediate=300");
  CHECK(joined(srun_command({}, "  --cpu-bind=cores\t--gpus=2 ", false)) ==
        "srun --kill-on-bad-exit=0 --wait=20 --immediate=300 --cpu-bind=cores --gpus=2");
}

TEST_CASE("input for the first rank only is an option that the user can override") {
  const auto command = srun_command({}, "--input=all", true);
  const auto ours = std::ranges::find(command, "--input=0"), users = std::ranges::find(command, "--input=all");
  CHECK(ours < users);
  CHECK(users != command.end());
}

TEST_CASE("a step on some nodes names them after the options of the user") {
  const batch::RestartDecision shape{.nodes = {"n1", "n3"}, .tasks = 6};
  CHECK(joined(srun_command(shape, "--nodes=3", false)) ==
        "srun --kill-on-bad-exit=0 --wait=20 --immediate=300 --nodes=3 --nodes=2 --ntasks=6 --nodelist=n1,n3 "
        "--distribution=block");
}

TEST_CASE("a step with more tasks than CPUs lets the tasks of a node share all its CPUs") {
  const batch::RestartDecision shape{.nodes = {"n1"}, .tasks = 4, .shares_cpus = true};
  CHECK(joined(srun_command(shape, "--cpu-bind=cores", false)) ==
        "srun --kill-on-bad-exit=0 --wait=20 --immediate=300 --cpu-bind=cores --nodes=1 --ntasks=4 --nodelist=n1 "
        "--distribution=block --overcommit --cpu-bind=none");
}
