#include "program/environments/environment.hpp"

#include <set>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/process/cpus.hpp"
#include "program/environments/cpus.hpp"

using namespace trainrt;
using namespace trainrt::program;
using Catch::Matchers::Contains;

namespace {

/// Returns the rendezvous of `rank`. Ranks 0 and 1 are on the first node, and rank 2 is on the second.
Rendezvous three_ranks_on_two_nodes(int rank) {
  Rendezvous rendezvous;
  rendezvous.rank = rank;
  rendezvous.size = 3;
  rendezvous.local_rank = rank % 2;
  rendezvous.local_size = rank < 2 ? 2 : 1;
  rendezvous.node_rank = rank < 2 ? 0 : 1;
  rendezvous.node_count = 2;
  rendezvous.run_name = "mine";
  rendezvous.cpus = 4;
  rendezvous.interface = "ib0";
  rendezvous.addresses = {"10.0.0.1", "10.0.0.1", "10.0.0.2"};
  rendezvous.ports = {
      {"torch", {2001, 0, 0}}, {"tensorflow", {2002, 2003, 2004}}, {"jax", {2005, 0, 0}},    {"keras", {2006, 0, 0}},
      {"mpi", {2007, 0, 0}},   {"horovod", {2008, 0, 0}},          {"xgboost", {2009, 0, 0}}};
  rendezvous.nodes = {0, 0, 1};
  rendezvous.sockets = {{"mpi", 9}};
  rendezvous.secret = "secret of the start";
  rendezvous.printed_secret = "another secret";
  return rendezvous;
}

Frameworks all_frameworks() { return chosen_frameworks(std::vector<std::string>{"all"}); }

Variables of_rank(int rank, Variables inherited = {}) {
  return environment_with(std::move(inherited), three_ranks_on_two_nodes(rank), all_frameworks());
}

}  // namespace

TEST_CASE("CUDA_VISIBLE_DEVICES is set for ranks that have GPUs only") {
  auto rendezvous = three_ranks_on_two_nodes(1);
  CHECK(environment_with({{"CUDA_VISIBLE_DEVICES", "7"}}, rendezvous, {}).at("CUDA_VISIBLE_DEVICES") == "7");
  rendezvous.visible_gpus = "0,1";
  CHECK(environment_with({{"CUDA_VISIBLE_DEVICES", "7"}}, rendezvous, {}).at("CUDA_VISIBLE_DEVICES") == "0,1");
  rendezvous.visible_gpus = "";
  rendezvous.hides_gpus = true;
  CHECK(environment_with({{"CUDA_VISIBLE_DEVICES", "7"}}, rendezvous, {}).at("CUDA_VISIBLE_DEVICES") == "");
}

TEST_CASE("ranks of an uneven layout get the variables that torchrun would set") {
  const auto last = of_rank(2);
  const Variables expected = {
      {"RANK", "2"},       {"WORLD_SIZE", "3"},         {"LOCAL_RANK", "0"},     {"LOCAL_WORLD_SIZE", "1"},
      {"GROUP_RANK", "1"}, {"GROUP_WORLD_SIZE", "2"},   {"ROLE_RANK", "2"},      {"ROLE_WORLD_SIZE", "3"},
      {"NODE_RANK", "1"},  {"MASTER_ADDR", "10.0.0.1"}, {"MASTER_PORT", "2001"}, {"TORCHELASTIC_RUN_ID", "mine"},
      {"USE_LIBUV", "0"}};
  for (const auto& [name, value] : expected) {
    INFO(name);
    CHECK(last.at(name) == value);
  }
  CHECK_FALSE(last.contains("TORCHELASTIC_USE_AGENT_STORE"));
  const auto second = of_rank(1);
  CHECK(second.at("LOCAL_RANK") == "1");
  CHECK(second.at("LOCAL_WORLD_SIZE") == "2");
  CHECK(second.at("GROUP_RANK") == "0");
}

TEST_CASE("TF_CONFIG has the address and port of every rank, and the index of this rank") {
  const auto config = nlohmann::json::parse(of_rank(2).at("TF_CONFIG"));
  CHECK(config["cluster"]["worker"] == nlohmann::json{"10.0.0.1:2002", "10.0.0.1:2003", "10.0.0.2:2004"});
  CHECK(config["task"] == nlohmann::json{{"type", "worker"}, {"index", 2}});
}

TEST_CASE("each framework with an address has its own port") {
  const auto variables = of_rank(1);
  CHECK(variables.at("JAX_COORDINATOR_ADDRESS") == "10.0.0.1:2005");
  CHECK(variables.at("KERAS_DISTRIBUTION_JOB_ADDRESSES") == "10.0.0.1:2006");
  CHECK(variables.at("KERAS_DISTRIBUTION_NUM_PROCESSES") == "3");
  CHECK(variables.at("KERAS_DISTRIBUTION_PROCESS_ID") == "1");
}

TEST_CASE("Horovod's ranks get their local and cross ranks, also in an uneven layout") {
  const auto last = of_rank(2);
  const Variables expected = {{"HOROVOD_RANK", "2"},
                              {"HOROVOD_SIZE", "3"},
                              {"HOROVOD_LOCAL_RANK", "0"},
                              {"HOROVOD_LOCAL_SIZE", "1"},
                              {"HOROVOD_CROSS_RANK", "1"},
                              {"HOROVOD_CROSS_SIZE", "2"},
                              {"HOROVOD_HOSTNAME", "node1"},
                              {"HOROVOD_CONTROLLER", "gloo"},
                              {"HOROVOD_CPU_OPERATIONS", "gloo"},
                              {"HOROVOD_GLOO_IFACE", "ib0"},
                              {"HOROVOD_GLOO_RENDEZVOUS_ADDR", "10.0.0.1:2008/secret of the start"},
                              {"HOROVOD_GLOO_RENDEZVOUS_PORT", "2008"}};
  for (const auto& [name, value] : expected) {
    INFO(name);
    CHECK(last.at(name) == value);
  }
  const auto second = of_rank(1);  // the only rank with its local rank
  CHECK(second.at("HOROVOD_CROSS_RANK") == "0");
  CHECK(second.at("HOROVOD_CROSS_SIZE") == "1");
  CHECK(second.at("HOROVOD_HOSTNAME") == of_rank(0).at("HOROVOD_HOSTNAME"));
}

TEST_CASE("XGBoost's workers get the address of the tracker and their rank") {
  const auto variables = of_rank(2);
  CHECK(variables.at("DMLC_TRACKER_URI") == "10.0.0.1");
  CHECK(variables.at("DMLC_TRACKER_PORT") == "2009");
  CHECK(variables.at("DMLC_TASK_ID") == "2-another secret");
  CHECK(variables.at("DMLC_NUM_WORKER") == "3");
  CHECK(variables.at("DMLC_ROLE") == "worker");
}

TEST_CASE("in a Slurm job, its variables describe the rank for any launcher; outside of jobs they are not set") {
  const Variables of_the_batch_script = {
      {"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}, {"SLURM_JOB_NAME", "a"}};
  auto rendezvous = three_ranks_on_two_nodes(2);
  rendezvous.is_in_slurm = true;
  const auto inside = environment_with(of_the_batch_script, rendezvous, all_frameworks());
  CHECK(inside.at("SLURM_PROCID") == "2");
  CHECK(inside.at("SLURM_LOCALID") == "0");
  CHECK(inside.at("SLURM_NODEID") == "1");
  CHECK(inside.at("SLURM_NTASKS") == "3");
  CHECK(inside.at("SLURM_JOB_ID") == "7");
  CHECK(inside.at("SLURM_STEP_NODELIST") == "10.0.0.1,10.0.0.2");
  CHECK(environment_with({{"SLURM_STEP_NODELIST", "n[1-2]"}}, rendezvous, all_frameworks()).at("SLURM_STEP_NODELIST") ==
        "n[1-2]");
  CHECK(inside.at("SLURM_JOB_NAME") == "a");
  for (const auto& [name, value] : of_rank(2)) CHECK_FALSE(name.starts_with("SLURM_"));
}

TEST_CASE("MPI gets the socket of its rank, or no variables without a socket") {
  const auto variables = of_rank(2, {{"PMI_FD", "3"}, {"PMI_RANK", "7"}, {"PMIX_RANK", "7"}, {"MPI_LOCALRANKID", "7"}});
  CHECK(variables.at("PMI_FD") == "9");
  CHECK(variables.at("PMI_RANK") == "2");
  CHECK(variables.at("PMI_SIZE") == "3");
  CHECK(variables.at("MPI_LOCALRANKID") == "0");
  CHECK(variables.at("MPI_LOCALNRANKS") == "1");
  CHECK_FALSE(variables.contains("PMIX_RANK"));
  const auto without = environment_with({{"PMI_FD", "3"}}, three_ranks_on_two_nodes(0), {});
  CHECK_FALSE(without.contains("PMI_FD"));
}

TEST_CASE("an IPv6 address has brackets before a port only") {
  auto rendezvous = three_ranks_on_two_nodes(0);
  rendezvous.addresses = {"fd00::1", "fd00::1", "fd00::2"};
  const auto variables = environment_with({}, rendezvous, all_frameworks());
  CHECK(variables.at("MASTER_ADDR") == "fd00::1");
  CHECK(variables.at("JAX_COORDINATOR_ADDRESS") == "[fd00::1]:2005");
}

TEST_CASE("values of the user replace defaults, but not facts of the attempt") {
  const auto variables = of_rank(0, {{"RANK", "7"},
                                     {"MASTER_ADDR", "elsewhere"},
                                     {"TF_CONFIG", "{}"},
                                     {"GLOO_SOCKET_IFNAME", "eth7"},
                                     {"OMP_NUM_THREADS", "13"},
                                     {"ACCELERATE_USE_CPU", "false"},
                                     {"PMIX_RANK", "0"},
                                     {"HOME", "/home/me"}});
  CHECK(variables.at("RANK") == "0");
  CHECK(variables.at("MASTER_ADDR") == "10.0.0.1");
  CHECK(variables.at("TF_CONFIG") != "{}");
  CHECK(variables.at("GLOO_SOCKET_IFNAME") == "eth7");
  CHECK(variables.at("TP_SOCKET_IFNAME") == "ib0");
  CHECK(variables.at("NCCL_SOCKET_IFNAME") == "=ib0");
  CHECK(variables.at("OMP_NUM_THREADS") == "13");
  CHECK(variables.at("ACCELERATE_USE_CPU") == "false");
  CHECK(variables.at("HOME") == "/home/me");
  CHECK_FALSE(variables.contains("PMIX_RANK"));
}

TEST_CASE("frameworks get a variable for the CPU only without a GPU") {
  CHECK(of_rank(0).at("ACCELERATE_USE_CPU") == "true");
  CHECK(of_rank(0).at("DS_ACCELERATOR") == "cpu");
  auto rendezvous = three_ranks_on_two_nodes(0);
  rendezvous.has_gpu = true;
  const auto variables = environment_with({}, rendezvous, all_frameworks());
  CHECK_FALSE(variables.contains("ACCELERATE_USE_CPU"));
  CHECK_FALSE(variables.contains("DS_ACCELERATOR"));
}

TEST_CASE("a program does not inherit what a supervising process has set for this rank") {
  const auto variables = of_rank(
      0, {{"TRAINRT_SUPERVISED", "1"}, {"TRAINRT_FAILURES", "2"}, {"TRAINRT_OPENED", "/runs/.opened-mine"}, {"MINE", "1"}});
  for (const auto* name : {"TRAINRT_SUPERVISED", "TRAINRT_FAILURES", "TRAINRT_OPENED"})
    CHECK_FALSE(variables.contains(name));
  CHECK(variables.at("MINE") == "1");
}

TEST_CASE("torch's store uses libuv, which connects many ranks faster, from 1,025 ranks or if the user says so") {
  auto rendezvous = three_ranks_on_two_nodes(0);
  CHECK(environment_with({{"USE_LIBUV", "1"}}, rendezvous, all_frameworks()).at("USE_LIBUV") == "1");
  rendezvous.size = 1024;
  CHECK(environment_with({}, rendezvous, all_frameworks()).at("USE_LIBUV") == "0");
  rendezvous.size = 1025;
  CHECK_FALSE(environment_with({}, rendezvous, all_frameworks()).contains("USE_LIBUV"));
}

TEST_CASE("an unknown interface sets no variable") {
  auto rendezvous = three_ranks_on_two_nodes(0);
  rendezvous.interface.clear();
  CHECK_FALSE(environment_with({}, rendezvous, all_frameworks()).contains("GLOO_SOCKET_IFNAME"));
}

TEST_CASE("only chosen frameworks set variables; those of other frameworks keep the values of the user") {
  const std::vector<std::string> names = {"jax"};
  const auto variables =
      environment_with({{"MASTER_ADDR", "elsewhere"}}, three_ranks_on_two_nodes(0), chosen_frameworks(names));
  CHECK(variables.contains("JAX_COORDINATOR_ADDRESS"));
  CHECK(variables.at("MASTER_ADDR") == "elsewhere");
  CHECK_FALSE(variables.contains("TF_CONFIG"));
  CHECK(variables.at("WORLD_SIZE") == "3");
  CHECK(chosen_frameworks({}).empty());
}

TEST_CASE("an unknown or repeated framework is an error") {
  CHECK_THROWS_WITH(chosen_frameworks(std::vector<std::string>{"tensorflo"}),
                    Contains("did you mean 'tensorflow'") && Contains("torch"));
  CHECK_THROWS_WITH(chosen_frameworks(std::vector<std::string>{"jax", "jax"}), Contains("named twice"));
}

TEST_CASE("no two frameworks set the same variable") {
  std::set<std::string> names;
  for (const auto* framework : environment_table()) {
    auto rendezvous = three_ranks_on_two_nodes(0);
    rendezvous.is_in_slurm = true;
    const auto ports = rendezvous.ports.find(framework->name);
    CHECK((framework->ports_of == PortsOf::nobody) == (ports == rendezvous.ports.end()));
    const auto numbers = ports == rendezvous.ports.end() ? std::vector<int>() : ports->second;
    for (const auto& variable : framework->variables(rendezvous, numbers)) {
      INFO(variable.name);
      CHECK(names.insert(variable.name).second);
    }
  }
}

TEST_CASE("ranks with the same CPUs divide them, and each has at least one") {
  CHECK(cpus_each("1111", std::vector<std::string>{"1111", "1111"}) == 2);
  CHECK(cpus_each("0011", std::vector<std::string>{"1100", "0011"}) == 2);
  CHECK(cpus_each("11", std::vector<std::string>{"11", "11", "11"}) == 1);
  CHECK(cpus_each("1111", std::vector<std::string>{"1111", "0011", "1111"}) == 2);
  CHECK(cpus_each(affinity_of_this_thread(), {}) >= 1);
}

TEST_CASE("ranks that share fewer CPUs than ranks, on a node with more, get a warning") {
  const std::vector<std::string> eight(8, "01");
  CHECK(crowding_in_words("01", eight, 64).starts_with("8 ranks share 1 of the 64 CPUs of this node"));
  CHECK(crowding_in_words("1111", std::vector<std::string>(4, "1111"), 64).empty());
  CHECK(crowding_in_words("1", std::vector<std::string>(8, "1"), 1).empty());
  CHECK(crowding_in_words("01", std::vector<std::string>{"01", "10"}, 64).empty());
  CHECK(crowding_in_words("", std::vector<std::string>{"", ""}, 64).empty());
}
