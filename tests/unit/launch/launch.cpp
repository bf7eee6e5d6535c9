#include <array>

#include <catch2/catch.hpp>

#include "launch/expected_size.hpp"
#include "launch/launcher.hpp"
#include "launch/pmi/pmi_bridge.hpp"
#include "launch/pmi/process_mapping.hpp"
#include "launch/shell_step.hpp"
#include "launch/slice_launch.hpp"

#include <unistd.h>
#include <trainrt/error.hpp>

using namespace trainrt;
using namespace trainrt::launch;
using Catch::Matchers::Contains;

namespace {

Environment environment(std::map<std::string, std::string> values) { return Environment(std::move(values)); }

}  // namespace

TEST_CASE("a process that no launcher started is a world of one rank") {
  const auto launch = discover(Environment(), {});
  CHECK(launch->world().size == 1);
  CHECK(launch->world().launcher == "alone");
  CHECK(launch->world().node_of_rank == std::vector<int>{0});
}

TEST_CASE("a slice has its own rank and node numbers, and aborting it aborts its parent") {
  struct Parent : Launch {
    int aborted_with = 0;
    Parent() {
      world_ = {.rank = 4, .size = 6, .node_of_rank = {0, 0, 1, 1, 2, 2}, .launcher = "pmi", .gpus = {1}};
      derive_topology(world_);
    }
    void abort(int code) noexcept override { aborted_with = code; }
  } parent;
  SliceLaunch slice(parent, std::array{3, 4, 5});
  const auto& world = slice.world();
  CHECK((world.rank == 1 && world.size == 3 && world.launcher == "pmi"));
  CHECK((world.node_of_rank == std::vector{0, 1, 1} && world.node_count == 2 && world.node_rank == 1));
  CHECK((world.local_rank == 0 && world.local_size == 2));
  CHECK(world.gpus == std::vector{1});
  slice.abort(70);
  CHECK(parent.aborted_with == 70);
}

TEST_CASE("a launch that connects fewer ranks than requested is refused") {
  for (const auto* variable : {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"})
    CHECK_THROWS_WITH(discover(environment({{variable, "4"}}), {}), Contains(variable) && Contains("4 ranks"));
  // mpiexec may start its helpers by srun. SLURM_STEP_NUM_TASKS is then the number of helpers, not of ranks.
  CHECK_NOTHROW(require_expected_size(environment({{"SLURM_STEP_NUM_TASKS", "2"}}), 6, "pmi"));
}

TEST_CASE("the error for an own MPI with fewer ranks than requested names the right way to start the program") {
  const auto unprepared = environment({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_JOB_ID", "7"}, {"PMIX_NAMESPACE", "a"}});
  CHECK_THROWS_WITH(require_expected_size_of_mpi(unprepared, 1),
                    Contains("SLURM_STEP_NUM_TASKS=4 requests 4 ranks") && Contains("prepare_mpi() before MPI_Init"));
  const auto no_mpi = environment({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_JOB_ID", "7"}});
  CHECK_THROWS_WITH(require_expected_size_of_mpi(no_mpi, 1), Contains("srun --mpi=pmi2"));
  CHECK_THROWS_WITH(require_expected_size_of_mpi(environment({{"OMPI_COMM_WORLD_SIZE", "2"}}), 1), Contains("mpiexec"));
  CHECK_NOTHROW(require_expected_size_of_mpi(unprepared, 4));
  CHECK_NOTHROW(require_expected_size_of_mpi(Environment(), 1));
}

TEST_CASE("the number of ranks on this node is known from PMIx, from Hydra, or for a step of one node") {
  World world;
  CHECK(ranks_on_this_node(world, Environment()) == 1);
  world.size = 4;
  CHECK(ranks_on_this_node(world, Environment()) == std::nullopt);
  CHECK(ranks_on_this_node(world, environment({{"MPI_LOCALNRANKS", "2"}, {"SLURM_STEP_NUM_NODES", "1"}})) == 2);
  CHECK(ranks_on_this_node(world, environment({{"SLURM_STEP_NUM_NODES", "1"}})) == 4);
  CHECK(ranks_on_this_node(world, environment({{"SLURM_STEP_NUM_NODES", "2"}})) == std::nullopt);
  world.node_of_rank = {0, 0, 0, 1};
  derive_topology(world);
  CHECK(ranks_on_this_node(world, environment({{"SLURM_STEP_NUM_NODES", "1"}})) == 3);
}

TEST_CASE("a start in the batch shell of several tasks is refused with the advice to use srun") {
  const auto shell = environment({{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "6"}, {"SLURM_PROCID", "0"}});
  CHECK_THROWS_WITH(discover(shell, {}), Contains("start it with srun"));
  CHECK_FALSE(is_shell_of_parallel_job(environment({{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "1"}})));
  CHECK_FALSE(
      is_shell_of_parallel_job(environment({{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "6"}, {"SLURM_STEP_NUM_TASKS", "6"}})));
}

TEST_CASE("a program in an interactive shell of a step is not a rank unless a launcher started it there") {
  const std::map<std::string, std::string> interactive = {
      {"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "2"}, {"SLURM_STEP_ID", "4294967290"}, {"SLURM_STEP_NUM_TASKS", "1"}};
  CHECK(is_shell_step(environment(interactive)));
  CHECK_FALSE(is_in_step(environment(interactive)));
  CHECK(discover(environment(interactive), {})->world().size == 1);

  std::map<std::string, std::string> terminal = {{"SLURM_JOB_ID", "7"},         {"SLURM_STEP_ID", "0"},
                                                 {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PTY_PORT", "4000"},
                                                 {"SLURM_TASK_PID", "1"},       {"PMIX_NAMESPACE", "a"}};
  CHECK(is_shell_step(environment(terminal)));
  terminal["SLURM_STEP_NUM_TASKS"] = "2";  // process 1 is not an interactive shell
  CHECK_FALSE(is_shell_step(environment(terminal)));
  terminal["SLURM_STEP_NUM_TASKS"] = "1";
  terminal["SLURM_TASK_PID"] = std::to_string(getpid());
  CHECK_FALSE(is_shell_step(environment(terminal)));
  terminal["SLURM_TASK_PID"] = "1";
  terminal["MPI_LOCALRANKID"] = "0";
  CHECK_FALSE(is_shell_step(environment(terminal)));
}

TEST_CASE("only the single task of a step may start its own ranks") {
  const auto step = [](const std::string& tasks) {
    return environment({{"SLURM_JOB_ID", "7"}, {"SLURM_STEP_NUM_TASKS", tasks}});
  };
  CHECK_FALSE(is_rank_of_several(environment({{"SLURM_JOB_ID", "7"}})));
  CHECK_FALSE(is_rank_of_several(step("1")));
  CHECK(is_rank_of_several(step("2")));
  CHECK(is_rank_of_several(environment({{"PMIX_NAMESPACE", "a"}})));
}

TEST_CASE("reading a written process mapping returns the same nodes") {
  CHECK(mapping_of_nodes(std::vector{0, 0, 0}) == "(vector,(0,1,3))");
  CHECK(mapping_of_nodes(std::vector{0, 0, 1, 1, 2}) == "(vector,(0,2,2),(2,1,1))");
  CHECK(mapping_of_nodes(std::vector{0, 1, 2, 0, 1, 2}) == "(vector,(0,3,1),(0,3,1))");
  std::vector<int> cyclic;
  for (int rank = 0; rank < 4000; ++rank) cyclic.push_back(rank % 7);
  CHECK(mapping_of_nodes(cyclic) == "(vector,(0,7,1))");
  std::vector<int> jagged;
  for (int rank = 0; rank < 3000; ++rank) jagged.push_back(rank * rank % 999);
  CHECK(mapping_of_nodes(jagged).empty());
  for (const auto& nodes : {std::vector{0}, std::vector{0, 1, 0, 0, 1, 2, 2, 0}, std::vector{0, 0, 1, 2, 2, 1}, cyclic})
    CHECK(nodes_from_mapping(mapping_of_nodes(nodes), static_cast<int>(nodes.size())) == nodes);
}

TEST_CASE("process mappings of even, uneven and cyclic layouts assign a node to each rank") {
  CHECK(nodes_from_mapping("(vector,(0,3,2))", 6) == std::vector{0, 0, 1, 1, 2, 2});
  CHECK(nodes_from_mapping("(vector,(0,1,3),(1,1,2),(2,1,1))", 6) == std::vector{0, 0, 0, 1, 1, 2});
  CHECK(nodes_from_mapping("(vector,(0,3,1))", 6) == std::vector{0, 1, 2, 0, 1, 2});
  CHECK(nodes_from_mapping("nonsense", 2).empty());
  CHECK(nodes_from_mapping("(vector,(0,0,1))", 2).empty());
}

TEST_CASE("local ranks and node ranks are derived from the nodes of the ranks") {
  World world;
  world.size = 6;
  world.rank = 4;
  world.node_of_rank = {5, 5, 5, 9, 9, 2};
  derive_topology(world);
  CHECK(world.node_of_rank == std::vector{0, 0, 0, 1, 1, 2});
  CHECK(world.node_count == 3);
  CHECK(world.node_rank == 1);
  CHECK(world.local_rank == 1);
  CHECK(world.local_size == 2);
}

TEST_CASE("an MPICH without PMIx and an Intel MPI without a PMI library of the user need the bridge") {
  CHECK(needs_bridge("MPICH Version: 4.0.2\nMPICH configure: --with-slurm=/usr --with-pm=hydra", Environment()));
  CHECK_FALSE(needs_bridge("MPICH Version: 4.2.0\nMPICH configure: --with-pmix=/usr", Environment()));
  const std::string intel = "Intel(R) MPI Library 2021.18.1 for Linux* OS";
  CHECK(needs_bridge(intel, Environment()));
  CHECK_FALSE(needs_bridge(intel, environment({{"I_MPI_PMI_LIBRARY", "/usr/lib/libpmi2.so"}})));
  CHECK_FALSE(needs_bridge("Open MPI v4.1.4", Environment()));
}

namespace {

/// Returns rank 0's store of two ranks. It keeps values in memory; the value of rank 1 is a constant.
PmiStore fake_store(std::map<std::string, std::string>& mine) {
  return {.rank = 0,
          .size = 2,
          .space = "job.1",
          .process_mapping = "(vector,(0,2,1))",
          .put = [&mine](const std::string& key, const std::string& value) { mine[key] = value; },
          .fence = [] {},
          .get = [&mine](int rank, const std::string& key) { return rank == 0 ? mine[key] : "card-1=address$one#\n"; },
          .abort = [](int) {},
          .fail = [](const std::string&) {}};
}

}  // namespace

TEST_CASE("a value that a rank puts over PMI-1 can be read by all ranks after the barrier") {
  std::map<std::string, std::string> mine;
  PmiServer server(fake_store(mine));
  CHECK(server.answer("cmd=init pmi_version=1 pmi_subversion=1") ==
        "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
  CHECK(server.answer("cmd=get_my_kvsname") == "cmd=my_kvsname kvsname=job.1");
  CHECK(server.answer("cmd=get_universe_size") == "cmd=universe_size size=2");
  CHECK(server.answer("cmd=put kvsname=job.1 key=card-0 value=address$zero#=") == "cmd=put_result rc=0 msg=success");
  CHECK_THAT(server.answer("cmd=get kvsname=job.1 key=card-1"), Contains("rc=-1"));
  CHECK(server.answer("cmd=barrier_in") == "cmd=barrier_out rc=0");
  CHECK(server.answer("cmd=get kvsname=job.1 key=card-0") == "cmd=get_result rc=0 msg=success value=address$zero#=");
  CHECK(server.answer("cmd=get kvsname=job.1 key=card-1") == "cmd=get_result rc=0 msg=success value=address$one#");
  CHECK(server.answer("cmd=get kvsname=job.1 key=PMI_process_mapping") ==
        "cmd=get_result rc=0 msg=success value=(vector,(0,2,1))");
  CHECK_THAT(server.answer("cmd=spawn"), Contains("rc=-1"));
  CHECK(server.answer("cmd=finalize") == "cmd=finalize_ack");
}

TEST_CASE("a PMI barrier after MPI_Init does not wait for other ranks") {
  std::map<std::string, std::string> mine;
  auto store = fake_store(mine);
  int fences = 0;
  store.fence = [&fences] { ++fences; };
  PmiServer server(std::move(store));
  CHECK(server.answer("cmd=barrier_in") == "cmd=barrier_out rc=0");
  CHECK(fences == 1);
  server.end_start();
  CHECK(server.answer("cmd=barrier_in") == "cmd=barrier_out rc=0");
  CHECK(fences == 1);
}

TEST_CASE("MPI_Finalize of a program's own MPI finalizes PMIx") {
  std::map<std::string, std::string> mine;
  auto store = fake_store(mine);
  bool ended = false;
  store.finalize = [&ended] { ended = true; };
  PmiServer server(std::move(store));
  CHECK(server.answer("cmd=finalize") == "cmd=finalize_ack");
  CHECK(ended);
}

TEST_CASE("a bridge can be destroyed although MPI has not finalized") {
  std::map<std::string, std::string> mine;
  auto bridge = std::make_unique<PmiBridge>(fake_store(mine));
  bridge->start();
  CHECK(std::getenv("PMI_FD") != nullptr);
  CHECK(std::getenv("MPIR_CVAR_PMI_VERSION") == std::string("1"));
  bridge->hide();
  CHECK(std::getenv("PMI_FD") == nullptr);
  CHECK(std::getenv("MPIR_CVAR_PMI_VERSION") == nullptr);
  bridge.reset();  // waits for its thread
}
