#include "cli/doctor/doctor_container.hpp"

#include "io/files/file.hpp"
#include "launch/launcher.hpp"

namespace trainrt::cli::doctor {

constexpr const char* node_memory = "/dev/shm";

Finding finding_of_step(const launch::StepView& view) {
  const auto gaps = launch::gaps_in(view);
  const auto& container = view.container;
  std::vector<std::string> problems, remedies;
  for (const auto& gap : gaps) {
    problems.push_back(gap.problem);
    remedies.push_back(gap.remedy);
  }
  auto finding = warning_if(join(problems, "; "), join(remedies, "; "),
                            (container.empty() ? "no known container" : container) + "; PMIx has everything it needs");
  finding.figures = {{"container", container.empty() ? Json() : Json(container)}, {"missing", gaps.size()}};
  // Outside a container, the check `launcher` reports this error.
  if (!gaps.empty() && gaps.front().is_fatal && !container.empty()) finding.grade = Grade::error;
  return finding;
}

NodeMemoryProbe::NodeMemoryProbe(const Environment& environment) {
  const auto job = environment.text("SLURM_JOB_ID"), step = environment.text("SLURM_STEP_ID");
  if (!job || !step || !environment.has("PMIX_NAMESPACE")) return;
  step_ = fmt::format("step-{}-{}-", *job, *step);
  try {
    remove_abandoned_probes(node_memory);
    file_.emplace(node_memory, step_ + std::to_string(launch::claimed_rank(environment)));
    io::write_file(file_->path(), "");
  } catch (const Error&) {  // the check `shared_memory` reports the reason
    file_.reset();
  }
}

void NodeMemoryProbe::require_shared(const World& world) const {
  if (!file_ || world.launcher != "pmix" || world.local_size < 2) return;
  int seen = 0;
  for (const auto& name : io::list_if_exists(node_memory)) seen += name.find(step_) != std::string::npos ? 1 : 0;
  if (seen >= world.local_size) return;
  throw Error(fmt::format(
      "{} has the files of only {} of the {} ranks of this node, because the ranks run in containers that do not share "
      "this folder. MPI cannot start. Bind the node's /dev/shm (Apptainer does so without --containall and --contain; "
      "Docker, Podman: --ipc=host -v /dev/shm:/dev/shm), or start one container for all ranks of a node",
      node_memory, seen, world.local_size));
}

}  // namespace trainrt::cli::doctor
