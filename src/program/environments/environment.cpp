#include "program/environments/environment.hpp"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>

#include "program/environments/container.hpp"
#include "program/environments/visible_gpus.hpp"

namespace trainrt::program {

namespace fs = std::filesystem;

namespace {

/// Whether a program would find a GPU, also one that this build knows nothing of.
bool program_has_gpu(const ProgramPlace& place) {
  if (!place.gpus.empty()) return true;
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr && (*visible == '\0' || *visible == '-')) return false;
  std::error_code none;
  return fs::exists("/dev/nvidiactl", none) || fs::exists("/dev/kfd", none);  // NVIDIA's, AMD's
}

void add_numbers(const Meeting& meeting, Variables& variables) {
  variables["RANK"] = std::to_string(meeting.rank);
  variables["WORLD_SIZE"] = std::to_string(meeting.size);
  variables["LOCAL_RANK"] = std::to_string(meeting.local_rank);
  variables["LOCAL_WORLD_SIZE"] = std::to_string(meeting.local_size);
  variables["NODE_RANK"] = std::to_string(meeting.node_rank);
  if (!meeting.visible_gpus.empty() || meeting.hides_gpus) variables["CUDA_VISIBLE_DEVICES"] = meeting.visible_gpus;
  variables.emplace("OMP_NUM_THREADS", std::to_string(meeting.cpus));
}

void add_client(const ProgramPlace& place, int socket, Variables& variables) {
  variables["TRAINRT_RUN_NAME"] = place.run_name;
  variables["TRAINRT_RUN_DIR"] = place.run_dir;
  variables["TRAINRT_FD"] = std::to_string(socket);
  struct stat held {};
  if (fstat(socket, &held) == 0) variables["TRAINRT_FD_INODE"] = std::to_string(held.st_ino);
  variables.emplace("PYTHONUNBUFFERED", "1");  // its output is a pipe, which Python writes to in blocks
  variables.emplace("PYTHONFAULTHANDLER",
                    "1");  // its stacks are printed when it crashes, and when it is asked (python_stacks.hpp)
  if (const auto folder = client_folder(); !folder.empty()) {
    auto& path = variables["PYTHONPATH"];
    path = python_path(folder, path);
  }
  const auto stage = variables.find("TRAINRT_STAGE");
  show_in_containers({place.run_dir, client_folder(), stage == variables.end() ? "" : stage->second}, variables);
}

}  // namespace

Variables environment_with(Variables inherited, const Meeting& meeting, const Frameworks& frameworks) {
  auto variables = without_launcher(std::move(inherited));
  add_numbers(meeting, variables);
  for (const auto* framework : frameworks) {
    const auto ports = meeting.ports.find(framework->name);
    const auto of_ranks = ports == meeting.ports.end() ? std::span<const int>() : std::span<const int>(ports->second);
    for (const auto& [name, value, is_choice] : framework->variables(meeting, of_ranks))
      if (!is_choice || !variables.contains(name)) variables[name] = value;
  }
  return variables;
}

Meeting known_of(const ProgramPlace& place, bool hides_gpus) {
  Meeting known;
  known.local_rank = place.local_rank;
  known.local_size = place.local_size;
  known.node_rank = place.node_rank;
  known.run_name = place.run_name;
  known.hides_gpus = hides_gpus;
  known.has_gpu = !hides_gpus && program_has_gpu(place);
  known.gpus = called(place.gpus, names_of_gpus(std::getenv("CUDA_VISIBLE_DEVICES")));
  known.is_in_slurm = std::getenv("SLURM_JOB_ID") != nullptr;
  return known;
}

Variables program_environment(const ProgramPlace& place, int socket, const Meeting& meeting, const Frameworks& frameworks,
                              const Variables& besides) {
  auto inherited = inherited_environment();
  for (const auto& [name, value] : besides) inherited[name] = value;
  auto variables = environment_with(std::move(inherited), meeting, frameworks);
  add_client(place, socket, variables);
  return variables;
}

}  // namespace trainrt::program
