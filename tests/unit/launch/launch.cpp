#include <array>

#include <catch2/catch.hpp>

#include "launch/expected_size.hpp"
#include "launch/launcher.hpp"
#include "launch/local_ranks.hpp"
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

TEST_CASE("one process by hand is a world of one") {
  const auto launch = discover(Environment(), {});
  CHECK(launch->world().size == 1);
  CHECK(launch->world().launcher == "alone");
  CHECK(launch->world().node_of_rank == std::vector<int>{0});
}

TEST_CASE("a slice numbers its ranks and nodes anew, and what ends it ends all") {
  struct Whole : Launch {
    int aborted_with = 0;
    Whole() {
      world_ = {.rank = 4, .size = 6, .node_of_rank = {0, 0, 1, 1, 2, 2}, .launcher = "pmi", .gpus = {1}};
      derive_topology(world_);
    }
    void abort(int code) noexcept override { aborted_with = code; }
  } whole;
  SliceLaunch slice(whole, std::array{3, 4, 5});
  const auto& world = slice.world();
  CHECK((world.rank == 1 && world.size == 3 && world.launcher == "pmi"));
  CHECK((world.node_of_rank == std::vector{0, 1, 1} && world.node_count == 2 && world.node_rank == 1));
  CHECK((world.local_rank == 0 && world.local_size == 2));
  CHECK(world.gpus == std::vector{1});
  slice.abort(70);
  CHECK(whole.aborted_with == 70);
}

TEST_CASE("a launch that promised more ranks than it made is refused") {
  for (const auto* variable : {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"})
    CHECK_THROWS_WITH(discover(environment({{variable, "4"}}), {}), Contains(variable) && Contains("4 ranks"));
  CHECK_NOTHROW(check_promise(environment({{"SLURM_STEP_NUM_TASKS", "2"}}), 6, "pmi"));  // mpiexec's own srun step
}

TEST_CASE("a program whose own MPI formed fewer ranks than were promised is told how to start it") {
  const auto unprepared = environment({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_JOB_ID", "7"}, {"PMIX_NAMESPACE", "a"}});
  CHECK_THROWS_WITH(check_promise_of_own_mpi(unprepared, 1),
                    Contains("SLURM_STEP_NUM_TASKS=4 promised 4 ranks") && Contains("prepare_mpi() before MPI_Init"));
  const auto no_mpi = environment({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_JOB_ID", "7"}});
  CHECK_THROWS_WITH(check_promise_of_own_mpi(no_mpi, 1), Contains("srun --mpi=pmi2"));
  CHECK_THROWS_WITH(check_promise_of_own_mpi(environment({{"OMPI_COMM_WORLD_SIZE", "2"}}), 1), Contains("mpiexec"));
  CHECK_NOTHROW(check_promise_of_own_mpi(unprepared, 4));
  CHECK_NOTHROW(check_promise_of_own_mpi(Environment(), 1));
}

TEST_CASE("how many ranks share this node is known from PMIx, hydra, or a step of one node, else not at all") {
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

TEST_CASE("the batch shell of several tasks is told to use srun; a step, or a job of one task, is not") {
  const auto shell = environment({{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "6"}, {"SLURM_PROCID", "0"}});
  CHECK_THROWS_WITH(discover(shell, {}), Contains("start it with srun"));
  CHECK_FALSE(is_shell_of_parallel_job(environment({{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "1"}})));
  CHECK_FALSE(
      is_shell_of_parallel_job(environment({{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "6"}, {"SLURM_STEP_NUM_TASKS", "6"}})));
}

TEST_CASE("a shell that is a step of Slurm is none of its ranks, and what a launcher started there is one") {
  const std::map<std::string, std::string> interactive = {
      {"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "2"}, {"SLURM_STEP_ID", "4294967290"}, {"SLURM_STEP_NUM_TASKS", "1"}};
  CHECK(is_shell_step(environment(interactive)));
  CHECK_FALSE(is_in_step(environment(interactive)));
  CHECK(discover(environment(interactive), {})->world().size == 1);

  std::map<std::string, std::string> terminal = {{"SLURM_JOB_ID", "7"},         {"SLURM_STEP_ID", "0"},
                                                 {"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PTY_PORT", "4000"},
                                                 {"SLURM_TASK_PID", "1"},       {"PMIX_NAMESPACE", "a"}};
  CHECK(is_shell_step(environment(terminal)));
  terminal["SLURM_STEP_NUM_TASKS"] = "2";  // and process 1 is no interactive shell
  CHECK_FALSE(is_shell_step(environment(terminal)));
  terminal["SLURM_STEP_NUM_TASKS"] = "1";
  terminal["SLURM_TASK_PID"] = std::to_string(getpid());
  CHECK_FALSE(is_shell_step(environment(terminal)));
  terminal["SLURM_TASK_PID"] = "1";
  terminal["MPI_LOCALRANKID"] = "0";
  CHECK_FALSE(is_shell_step(environment(terminal)));
}

TEST_CASE("the only task of a step may start ranks of its own, one of several may not") {
  const auto step = [](const std::string& tasks) {
    return environment({{"SLURM_JOB_ID", "7"}, {"SLURM_STEP_NUM_TASKS", tasks}});
  };
  CHECK_FALSE(is_rank_of_several(environment({{"SLURM_JOB_ID", "7"}})));
  CHECK_FALSE(is_rank_of_several(step("1")));
  CHECK(is_rank_of_several(step("2")));
  CHECK(is_rank_of_several(environment({{"PMIX_NAMESPACE", "a"}})));
}

TEST_CASE("a mapping that is made of the ranks' nodes gives them back, also a long one") {
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

TEST_CASE("process mappings of even, uneven and cyclic layouts give every rank its node") {
  CHECK(nodes_from_mapping("(vector,(0,3,2))", 6) == std::vector{0, 0, 1, 1, 2, 2});
  CHECK(nodes_from_mapping("(vector,(0,1,3),(1,1,2),(2,1,1))", 6) == std::vector{0, 0, 0, 1, 1, 2});
  CHECK(nodes_from_mapping("(vector,(0,3,1))", 6) == std::vector{0, 1, 2, 0, 1, 2});
  CHECK(nodes_from_mapping("nonsense", 2).empty());
  CHECK(nodes_from_mapping("(vector,(0,0,1))", 2).empty());
}

TEST_CASE("local ranks and node ranks follow from the nodes") {
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

TEST_CASE("only an MPICH without PMIx gets the bridge") {
  CHECK(needs_bridge("MPICH Version: 4.0.2\nMPICH configure: --with-slurm=/usr --with-pm=hydra"));
  CHECK_FALSE(needs_bridge("MPICH Version: 4.2.0\nMPICH configure: --with-pmix=/usr"));
  CHECK_FALSE(needs_bridge("Open MPI v4.1.4"));
}

namespace {

/// The store of two ranks in memory: what rank 1 put is made up.
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

TEST_CASE("PMI-1 is served: what one rank puts all can get after the barrier, and not before") {
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

TEST_CASE("a barrier after MPI_Init waits for nobody: MPI_Finalize would hang in it while others still disconnect") {
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

TEST_CASE("MPI_Finalize ends PMIx first, if MPI is the program's own") {
  std::map<std::string, std::string> mine;
  auto store = fake_store(mine);
  bool ended = false;
  store.finalize = [&ended] { ended = true; };
  PmiServer server(std::move(store));
  CHECK(server.answer("cmd=finalize") == "cmd=finalize_ack");
  CHECK(ended);
}

TEST_CASE("a bridge whose MPI never finalizes ends all the same") {
  std::map<std::string, std::string> mine;
  auto bridge = std::make_unique<PmiBridge>(fake_store(mine));
  bridge->start();
  CHECK(std::getenv("PMI_FD") != nullptr);
  bridge->hide();
  CHECK(std::getenv("PMI_FD") == nullptr);
  bridge.reset();  // waits for its thread
}
