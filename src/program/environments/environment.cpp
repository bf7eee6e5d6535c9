#include "program/environments/environment.hpp"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>

#include "core/restart_help.hpp"
#include "program/environments/container.hpp"
#include "program/environments/visible_gpus.hpp"

namespace trainrt::program {

namespace fs = std::filesystem;

namespace {

/// Returns whether a program would find a GPU on this node, including GPUs that this build of trainrt does not support.
bool program_has_gpu(const Rendezvous& rendezvous) {
  if (!rendezvous.gpus.empty()) return true;
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr && (*visible == '\0' || *visible == '-')) return false;
  std::error_code none;
  return fs::exists("/dev/nvidiactl", none) || fs::exists("/dev/kfd", none);  // device files of NVIDIA and AMD
}

void add_numbers(const Rendezvous& rendezvous, Variables& variables) {
  variables["RANK"] = std::to_string(rendezvous.rank);
  variables["WORLD_SIZE"] = std::to_string(rendezvous.size);
  variables["LOCAL_RANK"] = std::to_string(rendezvous.local_rank);
  variables["LOCAL_WORLD_SIZE"] = std::to_string(rendezvous.local_size);
  variables["NODE_RANK"] = std::to_string(rendezvous.node_rank);
  if (!rendezvous.visible_gpus.empty() || rendezvous.hides_gpus)
    variables["CUDA_VISIBLE_DEVICES"] = rendezvous.visible_gpus;
  variables.emplace("OMP_NUM_THREADS", std::to_string(rendezvous.cpus));
}

void add_client(const Rendezvous& rendezvous, int socket, Variables& variables) {
  variables["TRAINRT_RUN_NAME"] = rendezvous.run_name;
  variables["TRAINRT_RUN_DIR"] = rendezvous.run_dir;
  variables["TRAINRT_FD"] = std::to_string(socket);
  struct stat held {};
  if (fstat(socket, &held) == 0) variables["TRAINRT_FD_INODE"] = std::to_string(held.st_ino);
  variables.emplace("PYTHONUNBUFFERED", "1");    // otherwise Python buffers its output to a pipe
  variables.emplace("PYTHONFAULTHANDLER", "1");  // prints stacks at a crash, and at the signal of python_stacks.hpp
  if (const auto folder = client_folder(); !folder.empty()) {
    auto& path = variables["PYTHONPATH"];
    path = python_path(folder, path);
  }
  const auto stage = variables.find("TRAINRT_STAGE");
  show_in_containers({rendezvous.run_dir, client_folder(), stage == variables.end() ? "" : stage->second}, variables);
}

}  // namespace

Variables environment_with(Variables inherited, const Rendezvous& rendezvous, const Frameworks& frameworks) {
  auto variables = without_launcher(std::move(inherited));
  // These variables concern this rank's run. A run that the program itself starts has other failures, and another
  // supervising process.
  for (const auto* name : {supervised_variable, failures_variable, opened_variable}) variables.erase(name);
  add_numbers(rendezvous, variables);
  for (const auto* framework : frameworks) {
    const auto ports = rendezvous.ports.find(framework->name);
    const auto of_ranks = ports == rendezvous.ports.end() ? std::span<const int>() : std::span<const int>(ports->second);
    for (const auto& [name, value, is_default] : framework->variables(rendezvous, of_ranks))
      if (!is_default || !variables.contains(name)) variables[name] = value;
  }
  return variables;
}

void add_node_facts(Rendezvous& rendezvous, bool hides_gpus) {
  rendezvous.hides_gpus = hides_gpus;
  rendezvous.has_gpu = !hides_gpus && program_has_gpu(rendezvous);
  rendezvous.gpu_names = names_of_own_gpus(rendezvous.gpus, names_of_gpus(std::getenv("CUDA_VISIBLE_DEVICES")));
  rendezvous.is_in_slurm = std::getenv("SLURM_JOB_ID") != nullptr;
}

Variables program_environment(const Rendezvous& rendezvous, int socket, const Frameworks& frameworks,
                              const Variables& extra) {
  auto inherited = inherited_environment();
  for (const auto& [name, value] : extra) inherited[name] = value;
  auto variables = environment_with(std::move(inherited), rendezvous, frameworks);
  add_client(rendezvous, socket, variables);
  return variables;
}

}  // namespace trainrt::program
