#include "cli/doctor/doctor_container.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "io/files/file.hpp"
#include "launch/launcher.hpp"

namespace trainrt::cli::doctor {

namespace {

const std::string node_memory = "/dev/shm";

}  // namespace

Finding finding_of_step(const launch::StepView& view) {
  const auto gaps = launch::gaps_in(view);
  const Json figures = {{"container", view.container.empty() ? Json() : Json(view.container)}, {"missing", gaps.size()}};
  if (gaps.empty())
    return ok(view.container.empty() ? "none that is known; what PMIx needs is here"
                                     : fmt::format("{}; what PMIx needs is here", view.container),
              figures);
  std::string problems, remedies;
  for (const auto& gap : gaps) {
    problems += (problems.empty() ? "" : "; ") + gap.problem;
    remedies += (remedies.empty() ? "" : "; ") + gap.remedy;
  }
  // Outside of a container the line of the launcher is the error.
  const bool is_error = gaps.front().is_fatal && !view.container.empty();
  return is_error ? error(problems, remedies, figures) : warning(problems, remedies, figures);
}

NodeMemoryProbe::NodeMemoryProbe(const Environment& environment) {
  const auto job = environment.text("SLURM_JOB_ID"), step = environment.text("SLURM_STEP_ID");
  if (!job || !step || !environment.has("PMIX_NAMESPACE")) return;
  step_ = fmt::format("step-{}-{}-", *job, *step);
  try {
    remove_abandoned_probes(node_memory);
    file_.emplace(node_memory, step_ + std::to_string(launch::claimed_rank(environment)));
    io::write_file(file_->path(), "");
  } catch (const Error&) {  // another check says what is wrong with it
    file_.reset();
  }
}

void NodeMemoryProbe::require_shared(const World& world) const {
  if (!file_ || world.launcher != "pmix" || world.local_size < 2) return;
  int seen = 0;
  for (const auto& name : io::list_if_exists(node_memory)) seen += name.find(step_) != std::string::npos ? 1 : 0;
  if (seen >= world.local_size) return;
  throw Error(fmt::format(
      "{} has the files of {} of the {} ranks of this node: they are in containers that do not share it, and MPI "
      "cannot start. Bind the node's /dev/shm (Apptainer does so without --containall and --contain; Docker, "
      "Podman: --ipc=host -v /dev/shm:/dev/shm), or start one container for all ranks of a node",
      node_memory, seen, world.local_size));
}

}  // namespace trainrt::cli::doctor
